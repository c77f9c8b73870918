"""A lesson's file says what it is, and one table says what the tags of its cells mean."""

import shutil

import pytest

from mha_lib.classroom import begin_lesson
from mha_lib.classroom.exercises import progress
from mha_lib.classroom.lesson import make_deck_copy, make_working_copy, prepare_lessons
from mha_lib.classroom.lesson.grammar import Identity, identity_in, identity_of
from mha_lib.classroom.lesson.lessons import language_in
from tests.lessons import ENGLISH, TRANSLATED, copy_course, name_of

each_lesson = pytest.mark.parametrize("lesson", ENGLISH + TRANSLATED, ids=name_of)
NAME = "03_multi_head_attention.ipynb"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return copy_course(tmp_path_factory.mktemp("course"), NAME)


def said_by(file):
    identity = identity_in(file)
    assert identity, f"{file} says nothing of itself"
    return identity


@each_lesson
def test_a_lesson_says_what_it_is(lesson):
    assert identity_in(lesson) == Identity(lesson.stem, lesson.parent.name, "source")


def test_a_copy_says_whose_it_is_and_of_which_edition(course):
    student, _ = make_working_copy(course, "zh")
    deck, _ = make_deck_copy(course, "zh", NAME)
    copies = [said_by(folder / NAME) for folder in (student, deck)]
    assert [(copy.lesson, copy.language, copy.kind) for copy in copies] == [
        (NAME.removesuffix(".ipynb"), "zh", "student"),
        (NAME.removesuffix(".ipynb"), "zh", "deck"),
    ]
    (edition,) = {copy.edition for copy in copies}
    source = course / "notebooks" / "zh" / NAME
    source.write_text(source.read_text(encoding="utf-8").replace("# 多头注意力", "# 多头"), encoding="utf-8")
    make_deck_copy(course, "zh", NAME)
    assert said_by(deck / NAME).edition not in (edition, "")
    assert language_in(prepare_lessons(course, "zh-Hant")[0]) == "zh-Hant"


@pytest.mark.parametrize(
    "block", [None, "zh", {"lesson": "a"}, {"lesson": "a", "language": "en", "kind": "thief"}]
)
def test_a_notebook_without_a_whole_block_is_no_lesson(block):
    assert identity_of({"metadata": {"mha": block}}) is None


def test_a_copy_that_was_renamed_and_moved_keeps_what_was_solved(course, tmp_path, monkeypatch):
    student, _ = make_working_copy(course, "zh")
    shutil.copy(student / NAME, tmp_path / "mine.ipynb")
    monkeypatch.chdir(tmp_path)
    assert progress.file_here() is None
    monkeypatch.setenv("JPY_SESSION_NAME", "somewhere/mine.ipynb")  # as Jupyter's server names it
    assert progress.file_here() == tmp_path / progress.FILE


def test_where_no_server_names_the_file_it_is_that_of_the_number(course, monkeypatch):
    student, _ = make_working_copy(course, "zh")
    deck, _ = make_deck_copy(course, "zh", NAME)
    for folder, number, file in (
        (student, "03", student / progress.FILE),
        (student, "02", None),
        (deck, "03", None),
    ):
        monkeypatch.chdir(folder)
        begin_lesson(number, "zh")
        assert progress.file_here() == file
