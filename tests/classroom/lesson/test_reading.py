"""A lesson is read once, as nbformat validates it."""

import json

import pytest

from mha_lib.classroom.lesson import CourseError
from mha_lib.classroom.lesson.reading import as_file, read_lesson
from tests.lessons import ENGLISH, TRANSLATED, name_of


@pytest.mark.parametrize("lesson", [ENGLISH[0], TRANSLATED[-1]], ids=name_of)
def test_a_lesson_is_read_once_and_written_as_it_was(lesson):
    read = read_lesson(lesson)
    assert read_lesson(lesson) is read
    copy = read.copy()
    copy["cells"].clear()
    assert as_file(read.notebook) == lesson.read_text(encoding="utf-8")
    assert (read.name, read.language) == (lesson.stem, lesson.parent.name)
    assert read.slides[0].title == read.title


def test_what_nbformat_refuses_is_no_lesson(tmp_path):
    cell = {"id": "a", "cell_type": "code", "source": "1", "metadata": {}}  # without outputs
    file = tmp_path / "01_one.ipynb"
    file.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    with pytest.raises(
        CourseError, match=r"01_one\.ipynb is not a notebook this can read: cells\[0\]: 'outputs'"
    ):
        read_lesson(file)


def test_cells_without_ids_get_the_same_ones_whenever_they_are_read(tmp_path):
    cells = [{"cell_type": "markdown", "source": text, "metadata": {}} for text in "aab"]
    names = []
    for minor, kept in ((4, cells), (5, cells[1:])):  # a cell before them is deleted
        file = tmp_path / f"{minor}.ipynb"
        file.write_text(json.dumps({"cells": kept, "metadata": {}, "nbformat": 4, "nbformat_minor": minor}))
        names.append([cell["id"] for cell in read_lesson(file).cells])
    assert len({*names[0]}) == len(cells)
    same = [cell | {"id": "same"} for cell in cells]
    file.write_text(json.dumps({"cells": same, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    first, *others = (cell["id"] for cell in read_lesson(file).cells)
    assert (first, others) == ("same", [names[0][0], names[0][2]])
    assert names[1] == [names[0][0], names[0][2]]
