"""The statements of lesson 01 about numbers that depend on a seed hold for twenty-four other seeds."""

import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

from mha_lib.classroom.lesson.slides import read_lesson, source

LESSON = Path(__file__).parents[2] / "notebooks" / "en" / "01_single_head_attention.ipynb"
CELLS = {cell["id"]: source(cell) for cell in read_lesson(LESSON)["cells"]}

pytestmark = pytest.mark.whole


@pytest.fixture(params=range(1, 25))
def run(request):
    """Runs cells of the lesson by their ids, every seed shifted, and returns their names."""
    mpl.use("Agg")
    shift = 10_007 * request.param

    def run_cells(*ids):
        names: dict[str, Any] = {}
        for name in ("imports", "print-options", *ids):
            exec(re.sub(r"manual_seed\((\w+)\)", rf"manual_seed(\1 + {shift})", CELLS[name]), names)
        return names

    return run_cells


def test_the_sum_of_many_embeddings_loses_most_of_its_words(run):
    recovered = run("recover", "summary-loses")["recovered"]
    assert 0.77 < recovered[4] < 0.86
    assert 0.35 < recovered[16] < 0.39
    assert 0.24 < recovered[64] < 0.28


def test_32_recurrent_steps_leave_less_than_a_millionth_of_the_gradient(run):
    names = run("gradient-of-first-word")
    assert names["by_steps"] < 1e-6
    assert abs(names["at_once"] - 4 / 32) < 1e-6


def test_the_variance_of_a_dot_product_is_d(run):
    run("variance-is-d", "variance-asserted")


def test_unscaled_the_median_query_loses_its_gradient_and_the_mean_much_less_of_it(run):
    measured = run("measure-softmax")["measured"][False]
    (at_4, mean_at_4, _), *_, (at_1024, mean_at_1024, _) = measured
    assert at_4 / at_1024 > 2_000
    assert 4 < mean_at_4 / mean_at_1024 < 12
