"""Every exercise judges right, wrong and unfinished answers; they stand in one file for each lesson."""

from importlib import import_module
from typing import Any

import pytest
import torch

from mha_lib.classroom.exercises import names_by_lesson
from mha_lib.classroom.exercises.judge import Exercise, Judged, say, sentence_of
from mha_lib.classroom.exercises.lesson_04_layers import look
from mha_lib.classroom.exercises.small import Small
from mha_lib.classroom.lesson.language import words_in
from tests.classroom.exercises.answers import EXERCISES, Answers, written

ANSWERS = {
    lesson: {
        name: value
        for name, value in vars(import_module(f"{__package__}.lesson_{lesson}")).items()
        if isinstance(value, Answers)
    }
    for lesson in names_by_lesson()
}
EACH = [(name, answers) for lesson in ANSWERS.values() for name, answers in lesson.items()]
RANDOM = [exercise for exercise in EXERCISES.values() if isinstance(exercise, Exercise)]
SMALL = [exercise for exercise in EXERCISES.values() if isinstance(exercise, Small)]
MISTAKES: list[tuple[Judged, str, Any]] = [
    *((exercise, name, code) for exercise in RANDOM for (name,), code in exercise.single_mistakes()),
    *((exercise, name, value) for exercise in SMALL for name, value in exercise.mistakes.items()),
]


def named(value):
    return getattr(value, "name", value if isinstance(value, str) else "")


def right_rows():
    """(exercise, answer, pieces of the verdict)"""
    for exercise, answers in EACH:
        for row in answers.right:
            answer, *pieces = row if isinstance(row, tuple) else (row,)
            yield exercise, answers.function(answer), pieces
        if answers.text:
            yield exercise, written(answers.text), []


def wrong_rows():
    """(exercise, names of the mistakes, answer, pieces of the verdict)"""
    for exercise, answers in EACH:
        for first, *rest in answers.wrong:
            names = {first, rest.pop(0)} if isinstance(rest[0], str) else {first}
            yield exercise, names, answers.function(rest[0]), rest[1:]
        for names in answers.together:
            yield exercise, {*names}, written(answers.text, *map(answers.changes, names)), []


@pytest.mark.parametrize("lesson", ANSWERS)
def test_every_exercise_has_a_right_answer(lesson):
    assert {*ANSWERS[lesson]} == {*names_by_lesson()[lesson]}
    assert [name for name, answers in ANSWERS[lesson].items() if not (answers.right or answers.text)] == []


@pytest.mark.parametrize(("exercise", "answer", "pieces"), [*right_rows()])
def test_a_right_answer_is_right_in_any_style(exercise, answer, pieces):
    verdict = EXERCISES[exercise].judge(answer)
    assert verdict.state == "solved", verdict
    for piece in pieces:
        assert piece in verdict.sentence


@pytest.mark.parametrize(("exercise", "names", "answer", "pieces"), [*wrong_rows()])
def test_a_wrong_answer_is_told_its_mistake(exercise, names, answer, pieces):
    """Two mistakes are both named. A sentence that differs from answer to answer is known by its pieces."""
    verdict = EXERCISES[exercise].judge(answer)
    assert (verdict.state, {*verdict.names}) == ("wrong", names), verdict
    for piece in pieces:
        assert piece in verdict.sentence
    if not pieces and not names & {*words_in("en")["checks"]}:
        sentences = [sentence_of("mistakes", exercise, name) for name in verdict.names]
        both = say("two_mistakes", first=sentences[0], second=sentences[-1])
        assert verdict.sentence == (both if len(sentences) > 1 else sentences[0])


@pytest.mark.parametrize(("exercise", "name", "code"), MISTAKES, ids=named)
def test_a_mistake_that_an_exercise_knows_gets_its_own_sentence(exercise, name, code):
    assert exercise.judge(code)[:2] == ("wrong", sentence_of("mistakes", exercise.name, name))


@pytest.mark.parametrize("exercise", RANDOM, ids=named)
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


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=named)
def test_an_unfinished_answer_is_not_yet_solved(exercise):
    takes_a_function = type(exercise).judge is Judged.judge
    answer = (lambda *_: ...) if takes_a_function else ...
    assert exercise.judge(answer).state == "not yet"


@pytest.mark.parametrize("exercise", RANDOM, ids=named)
def test_an_answer_that_is_wrong_in_a_new_way_is_told_what_came(exercise):
    verdict = exercise.judge(lambda *arguments: exercise.answer(*arguments) * 1.7 + 0.3)
    assert verdict.state == "wrong"
    assert "values are not right" in verdict.sentence


def test_the_layer_of_the_exercise_two_hops_finds_the_last_key_that_is_equal():
    values = look(torch.tensor([5, 8, 2]), torch.tensor([2, 5, 2, 1]), torch.tensor([10, 11, 12, 13]))
    assert values.tolist() == [11, -1, 12]
