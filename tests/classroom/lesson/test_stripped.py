import json
import shutil
from pathlib import Path

import pytest

from mha_lib.classroom.lesson import (
    CourseError,
    list_languages,
    list_lessons,
    make_working_copy,
    write_stripped,
)
from mha_lib.classroom.lesson.slides import MINUTES, read_lesson, read_slides

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course whose students get no solutions."""
    course = tmp_path_factory.mktemp("course")
    shutil.copytree(ROOT / "notebooks", course / "notebooks")
    (course / "notebooks/en/course.json").write_text('{"solutions": "none"}')
    return course


@pytest.fixture(scope="module")
def left(course, tmp_path_factory):
    """Its lessons as they lie in the image of the students' servers."""
    folder = tmp_path_factory.mktemp("left")
    write_stripped(course, folder)
    return folder


@pytest.mark.parametrize("language", list_languages(ROOT))
def test_copies_of_stripped_lessons_are_those_without_solutions(course, left, language):
    copies = [make_working_copy(root, language)[0] for root in (course, left)]
    for lesson in list_lessons(course, language):
        wanted, found = (read_lesson(copy / lesson.name)["cells"] for copy in copies)
        assert wanted == found


@pytest.mark.parametrize("language", list_languages(ROOT))
def test_of_the_notes_the_minutes_stay(course, left, language):
    for full, stripped in zip(list_lessons(course, language), list_lessons(left, language), strict=True):
        wanted, found = (
            [(slide.minutes, slide.is_optional) for slide in slides_of(each)] for each in (full, stripped)
        )
        assert wanted == found
        notes = [note for slide in slides_of(stripped) for note in slide.notes]
        assert not [note for note in notes if note and not MINUTES.fullmatch(note)]


def slides_of(lesson):
    return read_slides(read_lesson(lesson)["cells"])


def test_a_lesson_that_cannot_be_read_is_not_handed_out(tmp_path):
    for name in ("01_one", "02_two"):
        (tmp_path / "notebooks/en").mkdir(parents=True, exist_ok=True)
        (tmp_path / f"notebooks/en/{name}.ipynb").write_text(json.dumps({"cells": "solution"}))
    with pytest.raises(CourseError, match=r"0[12]_\w+\.ipynb"):
        write_stripped(tmp_path, tmp_path / "left")
    assert not list(tmp_path.glob("left/**/*.ipynb"))
