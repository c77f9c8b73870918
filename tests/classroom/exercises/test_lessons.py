"""The exercises of a lesson are found by its file, and the words know every mistake."""

import re
import sys

import pytest

from mha_lib.classroom import exercises
from mha_lib.classroom.exercises import check, find_exercises, names_by_lesson
from mha_lib.classroom.exercises.checks import Check
from mha_lib.classroom.exercises.judge import Exercise
from mha_lib.classroom.exercises.reports import named
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.lesson.slides import source
from tests.classroom.exercises.answers import EXERCISES
from tests.lessons import ENGLISH, name_of

OF_ALL = {"only_zeros", "only_nan"}  # every exercise knows them, and may have a sentence of its own
SENTENCES = words_in("en")["mistakes"]
MISTAKES = {
    exercise.name: {*exercise.mistakes, *getattr(exercise, "rules", ())}
    | (OF_ALL if isinstance(exercise, Exercise) else set())
    for exercise in EXERCISES.values()
}


def test_check_knows_the_exercises_of_all_lessons():
    assert dir(check) == sorted(["reached", "report", "solved", *EXERCISES])
    assert {*names_by_lesson()} <= {lesson.stem for lesson in ENGLISH}


@pytest.mark.parametrize("lesson", ENGLISH, ids=name_of)
def test_the_exercises_of_a_lesson_are_those_that_it_checks_in_its_order(lesson):
    code = "\n".join(source(cell) for cell in read_lesson(lesson).cells if cell["cell_type"] == "code")
    checked = re.findall(r"^check\.(?!report\b|reached\b)(\w+)\(", code, re.MULTILINE)
    assert names_by_lesson().get(lesson.stem, []) == list(dict.fromkeys(checked))


@pytest.fixture
def lesson_99(tmp_path, monkeypatch):
    """Adds a file of exercises to the package, and nothing else."""
    monkeypatch.setattr(exercises, "__path__", [*exercises.__path__, str(tmp_path)])
    yield tmp_path / "lesson_99_new.py"
    sys.modules.pop("mha_lib.classroom.exercises.lesson_99_new", None)
    vars(exercises).pop("lesson_99_new", None)


LESSON = """
from mha_lib.classroom.exercises.judge import Exercise
EXERCISES = (Exercise("{name}", lambda n: 2 * n, lambda draw: (5,)),)
"""


def test_the_exercises_of_a_new_lesson_are_found_by_its_file(lesson_99):
    lesson_99.write_text(LESSON.format(name="brand_new"))
    newest = find_exercises()[-1]
    assert (newest.lesson, newest.name) == ("99_new", "brand_new")


def test_the_name_of_an_exercise_is_unique_over_the_lessons(lesson_99):
    lesson_99.write_text(LESSON.format(name="split_heads"))
    with pytest.raises(ValueError, match=r"unique over all lessons, got \['split_heads'\] twice"):
        Check(*find_exercises())


def test_every_exercise_has_a_name_in_words():
    for language in ("en", "zh"):
        assert {*words_in(language)["exercises"]} == {*EXERCISES}
    assert all(words_in("zh")["exercises"].values())


def test_a_name_of_an_exercise_keeps_the_name_in_code():
    assert named("masked_softmax", words_in("zh")) == "掩蔽 softmax（masked_softmax）"
    assert named("masked_softmax", words_in("zh-Hant")) == "遮罩 softmax（masked_softmax）"
    assert named("masked_softmax", words_in("en")) == "masked_softmax"


def test_every_mistake_has_one_sentence_and_every_sentence_its_mistake():
    for exercise, mistakes in MISTAKES.items():
        own = {*SENTENCES.get(exercise, {})}
        assert own <= mistakes
        assert own.isdisjoint((mistakes & {*SENTENCES["shared"]}) - OF_ALL), exercise
        assert mistakes <= own | {*SENTENCES["shared"]}, exercise
    assert {*SENTENCES} - {"shared"} <= {*EXERCISES}
    sentences = [sentence for said in SENTENCES.values() for sentence in said.values()]
    assert len(sentences) == len({*sentences}), "no sentence stands twice"
    names = {name for said in SENTENCES.values() for name in said}
    assert not names & {*words_in("en")["checks"]}, "no mistake is called as another verdict"
