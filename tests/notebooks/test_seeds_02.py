"""The statements of lesson 02 about numbers that depend on a seed hold for twenty-four other seeds."""

from pathlib import Path

import matplotlib as mpl
import pytest
import torch

from mha_lib import SingleHeadAttention
from mha_lib.classroom.lesson.slides import read_lesson, source

LESSON = Path(__file__).parents[2] / "notebooks" / "en" / "02_self_attention.ipynb"
CELLS = {cell["id"]: source(cell) for cell in read_lesson(LESSON)["cells"]}

pytestmark = pytest.mark.whole
each_seed = pytest.mark.parametrize("seed", range(1, 25))


@each_seed
def test_heads_with_other_weights_are_equivariant_and_positions_end_it(seed, monkeypatch):
    mpl.use("Agg")
    set_seed = torch.manual_seed
    monkeypatch.setattr(torch, "manual_seed", lambda _: set_seed(seed))
    names: dict[str, object] = {}
    for cell in ("imports", "one-thread", "sizes", "lesson-one-after-projections", "equivariance-gap"):
        exec(CELLS[cell], names)


@each_seed
def test_two_tokens_that_change_places_leave_three_outputs_of_a_causal_head(seed):
    """The answer to the small exercise kept_places."""
    torch.manual_seed(seed)
    head, x = SingleHeadAttention(8, 5, 7), torch.randn(1, 5, 8)
    swapped = x[:, [0, 2, 1, 3, 4]]
    before, after = (head(each, is_causal=True)[0][0] for each in (x, swapped))
    moved = (after - before).abs().amax(-1)
    assert (moved < 1e-6).tolist() == [True, False, False, True, True]
