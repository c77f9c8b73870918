"""Natural wrong answers and unusual right ones, five and two or more for each exercise."""

from importlib import import_module

import pytest

from mha_lib.classroom.live.exercises import names_by_lesson
from mha_lib.classroom.live.exercises.judge import Exercise
from tests.classroom.live.exercises.slips import EXERCISES, assert_right

LESSONS = {lesson: import_module(f"{__package__}.answers_{lesson}") for lesson in names_by_lesson()}


def cases(kind):
    """(exercise, answer) or, if wrong, (exercise, name of its mistake, answer), with a name for the test."""
    for lesson in LESSONS.values():
        for exercise, answers in getattr(lesson, kind).items():
            for number, answer in enumerate(answers):
                case = answer if isinstance(answer, tuple) else (answer,)
                names = [part for part in case if isinstance(part, str)]
                yield pytest.param(exercise, *case, id="-".join([exercise, *names, str(number)]))


@pytest.mark.parametrize(("exercise", "mistake", "answer"), [*cases("WRONG")])
def test_a_wrong_answer_is_told_its_mistake(exercise, mistake, answer):
    verdict = EXERCISES[exercise].judge(answer)
    assert (verdict.state, verdict.names) == ("wrong", (mistake,)), verdict


@pytest.mark.parametrize(("exercise", "answer"), [*cases("RIGHT")])
def test_an_unusual_right_answer_is_right(exercise, answer):
    assert_right(exercise, answer)


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_exercise_has_five_wrong_answers_and_two_right_ones(lesson):
    answers = LESSONS[lesson]
    for name in names_by_lesson()[lesson]:
        if not isinstance(EXERCISES[name], Exercise):
            continue  # its answers are no tensors: they stand in the tests of its lesson
        assert len(answers.WRONG[name]) >= 5, name
        assert len(answers.RIGHT[name]) >= 2, name
