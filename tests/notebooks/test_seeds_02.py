"""The statements of lesson 02 about numbers that depend on a seed hold for twelve other seeds."""

from functools import cache
from pathlib import Path

import matplotlib as mpl
import pytest
import torch

from mha_lib.classroom.lesson.slides import read_lesson, source

LESSON = Path(__file__).parents[2] / "notebooks" / "en" / "02_self_attention.ipynb"
CELLS = {cell["id"]: source(cell) for cell in read_lesson(LESSON)["cells"]}
TASK = ("make-batch", "one-head-reporter-class", "digits-wanted", "train-code")
STEPS = 400  # of a training, as in the lesson

pytestmark = pytest.mark.whole
each_seed = pytest.mark.parametrize("seed", range(1, 13))


def run(*names, **given):
    """Runs cells of the lesson by their ids, after its imports, and returns their names."""
    mpl.use("Agg")
    defined = dict(given)
    for name in ("imports", "one-thread", *names):
        exec(CELLS[name], defined)
        defined["kept_steps"] = lambda steps, *parts: range(steps)  # a test keeps nothing
    return defined


@cache
def trained(num_reports, seed, steps):
    lesson = run(*TASK)
    torch.manual_seed(seed)
    return lesson["train"](lesson["OneHeadReporter"](num_reports), seed, steps)


def explained(num_reports, seed, steps=STEPS):
    return run(*TASK, "exam-code")["share_explained"](trained(num_reports, seed, steps)).tolist()


@each_seed
def test_one_report_is_exact(seed):
    assert explained(1, seed) == [pytest.approx(1, abs=0.005)]


@each_seed
def test_of_two_reports_one_takes_all(seed):
    assert sorted(explained(2, seed)) == pytest.approx([0, 1], abs=0.005)


@each_seed
def test_of_four_reports_the_previous_and_the_first_take_a_half_each(seed):
    previous, following, first, last = explained(4, seed)
    assert (previous, first) == pytest.approx((0.5, 0.5), abs=0.01)
    assert (following, last) == pytest.approx((0, 0), abs=0.005)
    assert 0.99 < previous + following + first + last < 1.001


def test_trained_on_inner_positions_alone_two_reports_are_split_differently_with_each_seed():
    lesson = run(*TASK, "exam-code")

    def inner_error(reports, tokens, valid_lens, wanted):
        inner = lesson["four_differ"](valid_lens, wanted)
        truth = lesson["digits_wanted"](tokens, wanted)[:, :, : reports.shape[2]]
        return (reports - truth)[inner].square().mean()

    lesson["squared_error"] = inner_error
    shares = []
    for seed in range(1, 5):
        torch.manual_seed(seed)
        model = lesson["train"](lesson["OneHeadReporter"](2), seed)
        shares.append(lesson["share_explained"](model)[0].item())
    assert max(shares) - min(shares) > 0.3


@pytest.mark.parametrize("num_reports", [2, 4])
def test_four_times_as_many_steps_leave_the_sum_at_1(num_reports):
    assert sum(explained(num_reports, seed=1, steps=1600)) == pytest.approx(1, abs=0.01)


@each_seed
def test_the_model_for_four_answers_half_a_3_and_half_a_7_twice(seed):
    answers = run("answers", trained={4: trained(4, seed, STEPS)})["answers"]
    previous, following, first, last = answers
    assert torch.allclose(previous, first, atol=0.1)
    assert all(abs(report[digit] - 0.5) < 0.06 for report in (previous, first) for digit in (3, 7))
    assert (torch.stack([following, last]) - 0.1).abs().max() < 0.08


@each_seed
def test_the_best_linear_read_out_explains_what_was_derived(seed):
    torch.manual_seed(seed)
    run("explained-by", "unequal-weights")
    torch.manual_seed(seed)
    run("explained-by", "two-heads", "read-two-heads")


@each_seed
def test_positions_open_a_gap(seed, monkeypatch):
    torch_seed = torch.manual_seed
    monkeypatch.setattr(torch, "manual_seed", lambda _: torch_seed(seed))
    run("sizes", "equivariance-gap", "order-matters")
