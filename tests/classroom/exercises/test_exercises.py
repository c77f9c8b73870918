import pytest
import torch

from mha_lib.classroom.exercises import check
from mha_lib.classroom.exercises.judge import Check

EXERCISES = check._exercises.values()
WRONG = [(exercise, sentence) for exercise in EXERCISES for sentence in exercise.wrong]


def named(value):
    return getattr(value, "name", None) or " ".join(str(value).split()[:6])


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_right_answer_passes(exercise):
    assert exercise.judge(exercise.answer)[0] == "right"


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_answer_that_writes_into_its_input_is_judged_by_what_it_returns(exercise):
    def spoils_its_input(*arguments):
        result = torch.as_tensor(exercise.answer(*arguments)).clone()
        for value in arguments:
            if isinstance(value, torch.Tensor):
                value.zero_()
        return result

    assert exercise.judge(spoils_its_input)[0] == "right"


@pytest.mark.parametrize(("exercise", "sentence"), WRONG, ids=named)
def test_known_wrong_answer_gets_its_own_sentence(exercise, sentence):
    assert exercise.judge(exercise.wrong[sentence]) == ("wrong", sentence)


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_wrong_in_a_new_way_still_fails(exercise):
    verdict, sentence = exercise.judge(lambda *arguments: exercise.answer(*arguments) * 1.01 + 0.01)
    assert verdict == "wrong"
    assert "values are not right" in sentence


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
@pytest.mark.parametrize("stub", [lambda *_: ..., lambda *_: None])
def test_stub_is_not_yet_solved(exercise, stub):
    assert exercise.judge(stub)[0] == "not yet"


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_wrong_shape_and_wrong_type_say_what_came(exercise):
    assert "is wanted, got (1, 1, 2, 3)" in exercise.judge(lambda *_: torch.ones(1, 1, 2, 3))[1]
    assert "returned 'heads'" in exercise.judge(lambda *_: "heads")[1]
    assert "without calling it" in exercise.judge(torch.ones(2))[1]


def test_error_shows_the_students_own_line():
    def answer(x, num_heads):
        return x.view(-1, 12345)

    sentence = check._exercises["split_heads"].judge(answer)[1]
    assert "your line `return x.view(-1, 12345)` raised RuntimeError" in sentence


def test_report_counts_the_students_answers_and_not_the_solutions(capsys):
    mine = Check(*EXERCISES)
    right = check._exercises["split_heads"].answer

    def split_heads_solution(x, num_heads):
        return right(x, num_heads)

    mine.split_heads(lambda x, num_heads: ...)
    mine.split_heads(split_heads_solution)
    capsys.readouterr()
    mine.report()
    assert capsys.readouterr().out == "○ split_heads\n0 of 1 solved\n"
    mine.split_heads(right)
    capsys.readouterr()
    mine.report()
    assert capsys.readouterr().out == "✓ split_heads\n1 of 1 solved\n"


def test_unknown_exercise_lists_the_known_ones():
    with pytest.raises(AttributeError, match=r"no exercise 'split_head'; there are: .*split_heads"):
        check.split_head(None)
