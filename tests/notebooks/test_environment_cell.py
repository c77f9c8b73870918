"""One cell makes the environment of a lesson that is alone: in Colab, or in an empty folder."""

import builtins
import importlib.util
import json
import subprocess

import pytest

from mha_lib.classroom.lesson.grammar import tags
from mha_lib.classroom.lesson.hosted import archive_of, with_archive
from mha_lib.classroom.lesson.language import LANGUAGE_ALONE, language_here
from mha_lib.classroom.lesson.slides import ENVIRONMENT, read_lesson, slide_type, source
from tests.lessons import ENGLISH, MADE, TRANSLATED, name_of

LESSONS = ENGLISH + TRANSLATED
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=name_of)
ARCHIVE = "https://example.org/attention.zip"


def run_cell(lesson, archive=""):
    cells = with_archive(read_lesson(lesson), archive)["cells"]
    exec(source(next(cell for cell in cells if cell["id"] == ENVIRONMENT)), {"__builtins__": builtins})


@pytest.fixture
def commands(monkeypatch):
    """The commands that a lesson would run."""
    called: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", lambda command, check: called.append(command))
    monkeypatch.setenv(LANGUAGE_ALONE, "")  # the cell sets it; this restores it after the test
    return called


@pytest.fixture
def without_software(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


@each_lesson
def test_is_the_first_code_of_the_lesson_and_on_no_slide(lesson):
    cells = read_lesson(lesson)["cells"]
    first = next(cell for cell in cells if cell["cell_type"] == "code")
    assert first["id"] == ENVIRONMENT
    assert slide_type(first) == "skip"
    assert tags(first) == [], "neither the setup of a deck nor a handout has a use for it"


@each_lesson
def test_holds_the_address_that_course_json_names(lesson):
    settings = json.loads(lesson.with_name("course.json").read_text(encoding="utf-8"))
    assert with_archive(read_lesson(lesson), archive_of(settings["repository"])) == read_lesson(lesson)


def test_runs_nothing_where_the_software_is(commands):
    run_cell(LESSONS[0], ARCHIVE)
    assert commands == []


@each_lesson
def test_installs_what_a_lesson_needs_where_the_software_is_missing(lesson, commands, without_software):
    run_cell(lesson, ARCHIVE)
    assert [command[1:] for command in commands] == [
        ["-m", "pip", "install", "-q", f"mha-lib[lesson] @ {ARCHIVE}"]
    ]


def test_without_an_address_one_sentence_says_how_to_go_on(commands, without_software):
    with pytest.raises(ImportError, match=r"pip install '\.\[lesson\]'") as failure:
        run_cell(LESSONS[0])
    assert commands == []
    assert "\n" not in str(failure.value)


@pytest.mark.usefixtures("made_lessons")
@pytest.mark.parametrize("lesson", [*LESSONS, *MADE], ids=name_of)
def test_a_lesson_alone_in_a_folder_speaks_its_own_language(lesson, commands, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_cell(lesson)
    assert language_here() == lesson.parent.name


def test_the_folder_of_a_course_tells_the_language_whatever_the_cell_has_said(monkeypatch):
    monkeypatch.setenv(LANGUAGE_ALONE, "en")
    monkeypatch.chdir(TRANSLATED[0].parent)
    assert language_here() == TRANSLATED[0].parent.name
