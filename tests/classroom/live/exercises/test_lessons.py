"""Rules for every exercise of every lesson."""

import re
import sys
from dataclasses import replace

import pytest
import torch

from mha_lib.classroom.course.slides import read_lesson, source
from mha_lib.classroom.live import exercises
from mha_lib.classroom.live.exercises import check, find_exercises, names_by_lesson
from mha_lib.classroom.live.exercises.judge import Check, Exercise, sentence_of
from tests.lessons import ENGLISH, name_of

EXERCISES = [exercise for exercise in find_exercises() if isinstance(exercise, Exercise)]
MISTAKES = [(exercise, name, code) for exercise in EXERCISES for (name,), code in exercise.single_mistakes()]


def named(value):
    return getattr(value, "name", value if isinstance(value, str) else "")


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_right_answer_passes(exercise):
    """Our own answers may call the library."""
    assert replace(exercise, rules={}).judge(exercise.answer).state == "solved"


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_a_right_answer_that_writes_into_its_input_is_told_so(exercise):
    written_into = []

    def spoils_its_input(*arguments):
        result = torch.as_tensor(exercise.answer(*arguments)).clone()
        for value in arguments:
            if isinstance(value, torch.Tensor):
                written_into.append(value.fill_(9))
        return result

    verdict = exercise.judge(spoils_its_input)
    assert verdict.names == (("overwritten",) if written_into else ())


@pytest.mark.parametrize(("exercise", "name", "code"), MISTAKES, ids=named)
def test_mistake_gets_its_own_sentence(exercise, name, code):
    assert exercise.judge(code)[:2] == ("wrong", sentence_of("mistakes", exercise.name, name))


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_wrong_in_a_new_way_still_fails(exercise):
    verdict = exercise.judge(lambda *arguments: exercise.answer(*arguments) * 1.7 + 0.3)
    assert verdict.state == "wrong"
    assert "values are not right" in verdict.sentence


@pytest.mark.parametrize("nothing", [None, ...])
@pytest.mark.parametrize("exercise", find_exercises(), ids=named)
def test_stub_is_not_yet_solved(exercise, nothing):
    assert exercise.judge(lambda *_: nothing).state == "not yet"


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_wrong_shape_and_wrong_type_say_what_came(exercise):
    assert "is wanted, got (1, 1, 2, 3)" in exercise.judge(lambda *_: torch.ones(1, 1, 2, 3)).sentence
    assert "returned 'heads'" in exercise.judge(lambda *_: "heads").sentence


def test_check_knows_the_exercises_of_all_lessons():
    assert dir(check) == sorted(["report", "solved", *(exercise.name for exercise in find_exercises())])


@pytest.mark.parametrize("lesson", ENGLISH, ids=name_of)
def test_the_exercises_of_a_lesson_are_those_that_it_checks_in_its_order(lesson):
    code = "\n".join(source(cell) for cell in read_lesson(lesson)["cells"] if cell["cell_type"] == "code")
    checked = re.findall(r"^check\.(?!report\b)(\w+)\(", code, re.MULTILINE)
    assert names_by_lesson().get(lesson.stem, []) == list(dict.fromkeys(checked))


@pytest.fixture
def lesson_99(tmp_path, monkeypatch):
    """Adds a file of exercises to the package, and nothing else."""
    monkeypatch.setattr(exercises, "__path__", [*exercises.__path__, str(tmp_path)])
    yield tmp_path / "lesson_99_new.py"
    sys.modules.pop("mha_lib.classroom.live.exercises.lesson_99_new", None)
    vars(exercises).pop("lesson_99_new", None)


LESSON = """
from mha_lib.classroom.live.exercises.judge import Exercise
EXERCISES = (Exercise("{name}", lambda n: 2 * n, lambda draw: (5,)),)
"""


def test_the_exercises_of_a_new_lesson_are_found_by_its_file(lesson_99):
    lesson_99.write_text(LESSON.format(name="brand_new"))
    newest = find_exercises()[-1]
    assert (newest.lesson, newest.name) == ("99_new", "brand_new")


def test_the_name_of_an_exercise_is_unique_over_the_lessons(lesson_99):
    lesson_99.write_text(LESSON.format(name="split_heads"))
    with pytest.raises(ValueError, match=r"\['split_heads'\] twice"):
        Check(*find_exercises())
