"""The statements of lesson 06 about one seed hold for others. Run by hand, with ``-m whole``.

The translators are those of ``test_seeds_05.py``, kept in build/translators/; where it lacks one, it is
trained, in about a minute.
"""

import re
from functools import partial

import pytest
import torch

from evidence.heads import run_cells, source_of
from evidence.translator import ROOT
from mha_lib.classroom.trainings.threads import one_thread
from mha_lib.classroom.translator import train_translator

pytestmark = pytest.mark.whole
LESSON = ROOT / "notebooks" / "en" / "06_heads_today.ipynb"  # the code cells are the same in each language
each_seed = pytest.mark.parametrize("seed", range(5))
SOLUTIONS = (
    "cache-bytes",
    "grouped-query-attention",
    "pool-heads",
    "absorb",
    "rotate",
    "plan-shards",
    "attend-with-cache",
    "online-softmax",
)


@pytest.fixture(scope="module", autouse=True)
def in_one_thread():
    with one_thread():
        yield


def with_seed(seed, *names):
    """The names that cells of the lesson define when every seed in them is replaced."""
    namespace = run_cells(LESSON, "imports", "table")
    torch.manual_seed(seed)
    for name in names:
        code = re.sub(
            r"manual_seed\((\d+)\)",
            lambda found: f"manual_seed({10 * seed + int(found[1])})",
            source_of(LESSON, name),
        )
        exec(compile(code, name, "exec"), namespace)
    return namespace


@pytest.fixture(scope="module", params=range(5), ids=lambda seed: f"seed{seed}")
def converted(request, in_one_thread):
    """The shares of right numbers for each number of key heads: trained, pooled, and after more steps."""
    lesson = run_cells(LESSON, "imports", "exam")
    lesson["train_translator"] = partial(
        train_translator, seed=request.param, folder=ROOT / "build" / "translators"
    )
    exec(source_of(LESSON, "translator"), lesson)
    right, pooled, tuned = lesson["right"], lesson["pooled_to"], lesson["tuned_to"]
    return {
        heads: (right(lesson["translator"]), right(pooled[heads]), right(tuned[heads])) for heads in (4, 2, 1)
    }


def test_pooled_heads_are_not_those_that_were_trained_and_a_good_start(converted):
    assert converted[4][0] == converted[4][1] == converted[4][2] > 0.99
    assert max(converted[2][1], converted[1][1]) < 0.02
    assert converted[2][2] > 0.975
    assert 0.8 < converted[1][2] < 0.97


@each_seed
def test_the_same_token_is_likeliest_at_distance_0_wherever_it_stands(seed):
    lesson = with_seed(seed, "over-distance", "distance-asserts")
    for query_at in (31, 100, 1000):
        assert (lesson["scores_over_distance"]("rotary", query_at).argmax(1) == 0).all()
        assert (lesson["likeliness"]("ALiBi", query_at)[:, 0] == 1).all()


@each_seed
def test_the_steepest_head_looks_nearest(seed, capsys):
    lesson = with_seed(seed, "alibi-code")
    far = lesson["mean_distance"]
    assert far[0] < 3 < 4 < far[-1]


@pytest.mark.parametrize("seed", range(20))
def test_the_solutions_hold_for_any_random_numbers(seed, capsys):
    with_seed(seed, *(f"{name}-solution" for name in SOLUTIONS))
    assert capsys.readouterr().out.count("not your answer: right on") == len(SOLUTIONS)
