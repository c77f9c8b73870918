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
    with pytest.raises(CourseError, match=r"01_one\.ipynb is not a notebook this can read: .*'outputs'"):
        read_lesson(file)
