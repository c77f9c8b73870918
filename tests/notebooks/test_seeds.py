"""The statements of lessons 01, 02 and 06 about numbers that depend on a seed hold for other seeds, too."""

import matplotlib as mpl
import pytest
import torch

from evidence.heads import run_cells
from mha_lib import SingleHeadAttention
from tests.lessons import ENGLISH

pytestmark = pytest.mark.whole
LESSONS = {lesson.name[:2]: lesson for lesson in ENGLISH}
SOLUTIONS = ("attend-with-cache", "online-softmax", "slide-cache", "rebuild-block")


@pytest.fixture(params=range(1, 25))
def run(request, monkeypatch):
    """Runs cells of a lesson after its imports, every seed shifted, and returns their names."""
    mpl.use("Agg")
    set_seed = torch.manual_seed
    monkeypatch.setattr(torch, "manual_seed", lambda seed: set_seed(seed + 10_007 * request.param))
    return lambda lesson, *cells: run_cells(LESSONS[lesson], "imports", *cells)


def test_the_sum_of_many_embeddings_loses_most_of_its_words(run):
    recovered = run("01", "recover", "summary-loses")["recovered"]
    assert 0.77 < recovered[4] < 0.86
    assert 0.35 < recovered[16] < 0.39
    assert 0.24 < recovered[64] < 0.28


def test_32_recurrent_steps_leave_less_than_a_millionth_of_the_gradient(run):
    names = run("01", "gradient-of-first-word")
    assert names["by_steps"] < 1e-6
    assert abs(names["at_once"] - 4 / 32) < 1e-6


def test_the_variance_of_a_dot_product_is_d(run):
    run("01", "variance-is-d", "variance-asserted")


def test_unscaled_the_median_query_loses_its_gradient_and_the_mean_much_less_of_it(run):
    names = run("01", "measure-softmax", "scaling-saves-the-gradient")
    assert names["medians"][0] / names["medians"][-1] > 2_000
    assert 4 < names["means"][0] / names["means"][-1] < 12


def test_heads_with_other_weights_are_equivariant_and_positions_end_it(run):
    run("02", "one-thread", "sizes", "lesson-one-after-projections", "equivariance-gap")


def test_a_head_learns_whom_a_pronoun_means_and_needs_a_task_that_asks_for_it(run, monkeypatch):
    monkeypatch.setattr("mha_lib.classroom.trainings.kept_steps", lambda steps, *parts: range(steps))
    lesson = run("02", "one-thread", "features", "reader", "numbered", "train-head")
    _, after = lesson["train_head"]()
    he, tom = 6, 2
    assert after[0][he, tom] < 0.15
    assert after[50][[3, 6, 8], [0, 2, 4]].min() > 0.5
    assert after[400][[3, 6, 8], [0, 2, 4]].min() > 0.75

    x = lesson["embed"](lesson["words"])  # now a pronoun must report the features of its noun
    head = SingleHeadAttention(5, 4, 5)
    optimizer = torch.optim.Adam(head.parameters(), lr=0.05)
    for _ in range(401):
        outputs, weights = head(x)
        loss = (outputs[:, lesson["pronouns"]] - x[:, lesson["nouns"]]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 1e-6
    assert weights[0, he, tom] < 0.7


def test_the_solutions_of_lesson_06_hold_for_any_random_numbers(run, capsys):
    run("06", *(f"{name}-solution" for name in SOLUTIONS))
    assert capsys.readouterr().out.count("not your answer: right on") == len(SOLUTIONS)
