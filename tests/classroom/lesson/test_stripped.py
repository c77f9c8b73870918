import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from mha_lib.classroom.lesson import CourseError, list_lessons, make_working_copy, write_stripped
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.lesson.slides import MINUTES
from tests.lessons import copy_course


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course whose students get no solutions."""
    course = copy_course(tmp_path_factory.mktemp("course"), "03_multi_head_attention.ipynb")
    shutil.rmtree(course / "img")  # its copies have no figures of their own
    (course / "notebooks/en/course.json").write_text('{"solutions": "none"}')
    return course


@pytest.fixture(scope="module")
def left(course, tmp_path_factory):
    """Its lessons as they lie in the image of the students' servers."""
    folder = tmp_path_factory.mktemp("left")
    write_stripped(course, folder)
    return folder


@pytest.mark.parametrize("language", ["en", "zh", "zh-Hant"])
def test_copies_of_stripped_lessons_are_those_without_solutions(course, left, language):
    copies = [make_working_copy(root, language)[0] for root in (course, left)]
    for lesson in list_lessons(course, language):
        wanted, found = (read_lesson(copy / lesson.name).cells for copy in copies)
        assert wanted == found


@pytest.mark.parametrize("language", ["en", "zh"])
def test_of_the_notes_the_minutes_alone_stay(left, language):
    for lesson in list_lessons(left, language):
        notes = [note for slide in read_lesson(lesson).slides for note in slide.notes]
        assert any(notes)
        assert not [note for note in notes if note and not MINUTES.fullmatch(note)]


def test_a_lesson_that_cannot_be_read_is_not_handed_out(tmp_path):
    (tmp_path / "notebooks/en").mkdir(parents=True)
    (tmp_path / "notebooks/en/01_one.ipynb").write_text('{"cells": "solution"}')
    with pytest.raises(CourseError, match=r"01_one\.ipynb"):
        write_stripped(tmp_path, tmp_path / "left")
    assert not list(tmp_path.glob("left/**/*.ipynb"))


@pytest.mark.parametrize("kind", ["notes", "skip"])
def test_of_a_lesson_without_slides_no_secret_is_handed_out(tmp_path, kind):
    secret = new_code_cell("SECRET", outputs=[new_output("stream", text="SECRET")])
    secret.metadata = {"slideshow": {"slide_type": kind}, "tags": ["solution"]}
    (tmp_path / "notebooks/en").mkdir(parents=True)
    nbformat.write(new_notebook(cells=[secret]), tmp_path / "notebooks/en/01_one.ipynb")
    write_stripped(tmp_path, tmp_path / "left")
    folder, _ = make_working_copy(tmp_path / "left", "en")
    assert not [file for file in folder.glob("*.ipynb") if "SECRET" in file.read_text()]
