import re
from contextlib import suppress
from dataclasses import replace

import pytest
import torch

from mha_lib.classroom.exercises.judge import MOST_PRINTED, Exercise
from mha_lib.classroom.exercises.small import Small

DOUBLED = Exercise("doubled", lambda x: 2 * x, lambda draw: draw.tensors((2, 3)))
NUMBER = Exercise("number", lambda n: 2 * n, lambda draw: (5,))
TABLE = Exercise("table", lambda n: torch.arange(6.0).view(2, 3)[:n], lambda draw: (2,))
NOTHING = Exercise("table", lambda n: torch.zeros(0, 3), lambda draw: (2,))


def raises(error):
    raise error


def test_an_unknown_name_is_named_with_the_ways_out():
    verdict = DOUBLED.judge(lambda x: raises(NameError("name 'F' is not defined", name="F")))
    assert verdict.names == ("name_unknown",)
    assert "uses F, which Python does not know here" in verdict.sentence


def turned(q, k, mask):
    return q @ k.T


def not_turned(q, k, mask):
    return q @ k


def one_truth(q, k, mask):
    return (q @ k.mT).masked_fill(not mask, 0)


def one_axis_missing(q, k, mask):
    scores = torch.ones(2, 9, 3, 4)
    return scores.masked_fill(mask, 0)


def root_of_a_number(q, k, mask):
    return q @ k.mT / torch.sqrt(7)


def other_sign(q, k, mask):
    return q @ k.mT / 7 ^ 0.5


SHAPES = "Shapes in this line: "
POWER = ["The square root of a number d is"]


@pytest.mark.filterwarnings("ignore:The use of `x.T`")
@pytest.mark.parametrize(
    ("answer", "error", "hints"),
    [
        (turned, "RuntimeError", [f"{SHAPES}q (2, 3, 5), k (2, 4, 5).", "With more than two axes, .T turns"]),
        (not_turned, "RuntimeError", [f"{SHAPES}q (2, 3, 5), k (2, 4, 5).", "In a matrix product the last"]),
        (one_truth, "RuntimeError", ["`not`, `and`, `or` and `if` take one"]),
        (
            one_axis_missing,
            "RuntimeError",
            [f"{SHAPES}scores (2, 9, 3, 4), mask (2, 3, 4).", "Axes are"],
        ),
        (root_of_a_number, "TypeError", POWER),
        (other_sign, "NotImplementedError", POWER),  # of PyTorch: this is no stub
    ],
)
def test_beside_an_error_stands_what_to_look_for(answer, error, hints):
    exercise = Exercise(
        "scores", lambda q, k, mask: q @ k.mT, lambda draw: draw.tensors((2, 3, 5), (2, 4, 5), (2, 3, 4))
    )
    verdict = exercise.judge(lambda q, k, mask: answer(q, k, mask > 0))
    said, *lines = verdict.sentence.split("\n")
    assert f"raised {error}: " in said
    assert [line.startswith(hint) for line, hint in zip(lines, hints, strict=True)] == [True] * len(hints)
    assert verdict.names == ("line_raised",)


def test_a_function_that_is_not_implemented_is_not_yet_solved():
    state, sentence, _ = DOUBLED.judge(lambda x: raises(NotImplementedError))
    assert (state, sentence) == ("not yet", "not yet: write the function above, then run both cells again.")


@pytest.mark.parametrize(
    ("exercise", "answer", "sentence"),
    [
        (DOUBLED, torch.ones(2), "hand over the function itself, without calling it; this is a tensor (2,)."),
        (DOUBLED, lambda x: torch.nn.ReLU(), "a tensor is wanted, and this returned a module (ReLU)."),
        (NUMBER, lambda n: "heads", "a number is wanted, and this returned 'heads'."),
        (DOUBLED, lambda x: x.mT, "for (a tensor (2, 3)) the shape (2, 3) is wanted, got (3, 2)."),
        (
            TABLE,
            lambda n: torch.tensor([[0, 1, 7], [8, 4, 5]]),
            "the values are not right: for (2) the entry [0, 2] should be 2 and is 7.",
        ),
        (
            Exercise("sum", lambda lengths: lengths.sum(), lambda draw: (torch.tensor([3, 2]),)),
            lambda lengths: lengths.max(),
            "the values are not right: for (a tensor (2,) [3, 2]) the number should be 5 and is 3.",
        ),
        (
            DOUBLED,
            lambda x: (2 * x)[:, None],
            "the numbers are right, but for (a tensor (2, 3)) the shape (2, 3) is wanted, got (2, 1, 3).",
        ),
        (DOUBLED, eval("lambda x: 1 / 0"), "your function raised ZeroDivisionError: division by zero"),
    ],
)
def test_what_came_instead_is_said(exercise, answer, sentence):
    assert exercise.judge(answer)[:2] == ("wrong", sentence)


def test_lists_of_lists_of_numbers_stand_for_a_tensor_with_two_axes():
    assert TABLE.judge(lambda n: ((0, 1.0, 2), [3, torch.tensor(4), 5])).state == "solved"
    for rows in ([torch.arange(3), torch.arange(3)], [[0, 1], [2]]):
        assert TABLE.judge(lambda n, rows=rows: rows).names == ("tensor_wanted",)


def test_an_empty_list_stands_for_a_tensor_without_entries_and_for_no_other():
    assert NOTHING.judge(lambda n: []).state == "solved"
    assert TABLE.judge(lambda n: []).state == "wrong"


def test_numbers_that_differ_little_are_written_with_as_many_digits_as_show_it():
    sentence = DOUBLED.judge(lambda x: 2 * x + 2e-4).sentence
    wanted, given = re.search(r"should be (.*) and is (.*)\.$", sentence).groups()
    assert float(given) - float(wanted) == pytest.approx(2e-4, rel=0.1)


def test_a_right_answer_that_changes_an_argument_or_a_part_of_it_is_told_which():
    exercise = Exercise(
        "parts", lambda pairs, sizes: 2 * pairs[0][1], lambda draw: ([(1, torch.ones(2))], {1: 2})
    )
    empties = exercise.judge(lambda pairs, sizes: sizes.clear() or 2 * pairs[0][1])
    doubles = exercise.judge(lambda pairs, sizes: pairs[0][1].mul_(2))
    assert "has changed its argument sizes," in empties.sentence
    assert "has changed its argument pairs," in doubles.sentence
    assert exercise.judge(lambda pairs, sizes: pairs[0][1].add_(2)).names == ("wrong_entry",)


def test_a_broken_rule_is_named_only_where_the_result_is_right():
    exercise = replace(DOUBLED, name="cost_factor", rules={"both_twice": lambda given, call: len(call) == 1})
    assert exercise.judge(lambda x: 2 * x).names == ("both_twice",)
    assert exercise.judge(lambda x: 3 * x).names == ("wrong_entry",)


def test_nan_where_a_number_is_wanted_is_wrong_and_nan_where_nan_is_wanted_is_right():
    assert DOUBLED.judge(lambda x: x * torch.nan).state == "wrong"
    exercise = Exercise("nan", lambda n: torch.tensor(torch.nan), lambda draw: (1,))
    assert exercise.judge(lambda n: torch.tensor(torch.nan)).state == "solved"


def test_judging_leaves_the_number_of_threads_as_it_was(monkeypatch):
    threads: list[int] = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: 7)
    monkeypatch.setattr(torch, "set_num_threads", threads.append)
    DOUBLED.judge(lambda x: x)
    assert threads == [1, 7]


def prints_without_end(x):
    while True:
        with suppress(Exception):
            print(x)


def test_an_answer_that_prints_without_end_is_stopped_and_one_that_prints_a_little_is_judged(capsys):
    assert DOUBLED.judge(prints_without_end).names == ("prints_too_much",)
    assert MOST_PRINTED / 2 < len(capsys.readouterr().out) <= MOST_PRINTED
    assert DOUBLED.judge(lambda x: print("seen") or 2 * x).state == "solved"
    assert capsys.readouterr().out == DOUBLED.rounds * "seen\n"


def test_an_interrupt_while_an_answer_runs_is_one_sentence_and_no_mistake():
    verdict = DOUBLED.judge(lambda x: raises(KeyboardInterrupt()))
    assert (verdict.state, verdict.names) == ("not yet", ())
    assert "does a loop in it never end" in verdict.sentence


@pytest.mark.parametrize(
    ("right", "given", "name", "said"),
    [
        ([4, 2], [4, 2, 2], "wrong_length", "a list of 2 numbers is wanted, and this has the shape (3,)"),
        ([4, 2], 4, "wrong_length", "a list of 2 numbers is wanted"),
        ([4, 2], [4, 3], "another_value", "[4.0, 3.0] is another value"),
        (4, [4], "number_wanted", "a number is wanted"),
    ],
)
def test_of_a_small_answer_of_the_wrong_length_the_length_is_said(right, given, name, said):
    verdict = Small("small", right).judge(given)
    assert verdict.names == (name,)
    assert said in verdict.sentence
