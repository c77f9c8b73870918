"""The statements of lesson 03 about its experiment and its museum hold in the lesson's own cells."""

import math
from functools import partial
from types import SimpleNamespace

import pytest
import torch

from evidence.heads import (
    HEADS,
    LESSONS,
    SEEDS,
    TABLE,
    WITH_HIDDEN_LAYER,
    run_cells,
    task_of,
    train_with_hidden_layer,
)
from mha_lib import (
    MultiHeadAttention,
    dot_product_attention,
    masked_softmax,
    merge_heads,
    padding_mask,
    split_heads,
)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "heads", "seed"),
    [
        ("seeds_explained", 2, 3),
        *(pytest.param("seeds_explained", heads, heads, marks=pytest.mark.whole) for heads in HEADS),
        *(
            pytest.param("hidden_explained", heads, heads, marks=pytest.mark.whole)
            for heads in WITH_HIDDEN_LAYER
        ),
    ],
)
def test_the_table_of_the_seeds_is_that_of_the_lessons_own_cells(name, heads, seed):
    """Some of the trainings behind the table, run again."""
    table, task = run_cells(LESSONS[0], TABLE), task_of(LESSONS[0])
    train = task["train_heads"] if name == "seeds_explained" else partial(train_with_hidden_layer, task)
    assert task["share_explained"](train(heads, seed)) == pytest.approx(table[name][heads][seed], abs=0.01)


def test_the_table_of_the_seeds_shows_what_the_lesson_says_of_it():
    table = run_cells(LESSONS[0], TABLE)
    spans = {1: (0.244, 0.254), 2: (0.46, 0.54), 3: (0.71, 0.75), 4: (0.71, 1), 8: (0.99, 1)}
    for heads in HEADS:
        explained, (low, high) = table["seeds_explained"][heads], spans[heads]
        assert len(explained) == len(SEEDS)
        assert low <= min(explained)
        assert max(explained) <= high
        assert [share for share in explained if share > heads / 4] == ([0.530] if heads == 2 else [])
        assert [share == 1 for share in explained].count(True) == {4: 22, 8: 24}.get(heads, 0)
    hidden = {heads: (min(row), max(row), len(row)) for heads, row in table["hidden_explained"].items()}
    assert hidden == {1: (0.284, 0.639, 24), 2: (0.659, 0.896, 24), 3: (0.749, 0.997, 24)}


def test_any_mixture_explains_a_quarter():
    """Random mixtures, also with weights that the slide does not draw."""
    explained_by = run_cells(LESSONS[0], "imports", "read-mixtures")["explained_by"]
    for shares in torch.rand(24, 4, generator=torch.Generator().manual_seed(1)):
        assert explained_by(shares.tolist()) == pytest.approx(0.25, abs=0.005)


def test_a_head_reads_only_its_subspace_whatever_its_parameters():
    """The cell of the slide ``subspace``, with layers that were not trained."""
    for seed in range(24):
        torch.manual_seed(seed)
        model = SimpleNamespace(
            attention=MultiHeadAttention(96, 4), embed=lambda _: 4 * torch.randn(1, 8, 96)
        )
        given = {"trained": {4: model}, "text": None, "torch": torch, "F": torch.nn.functional}
        names = run_cells(LESSONS[0], "move-a-token", given=given)
        still = names["weights_of_moved"]()
        for head in range(4):
            outside, inside = (
                (names["weights_of_moved"](head, side, 30) - still).abs().amax((1, 2))
                for side in (False, True)
            )
            assert outside[head] < 1e-5
            assert outside.sum() > 0.1
            assert inside[head] > 0.01


@pytest.fixture(scope="module")
def museum():
    cells = ["imports", "head-code", "loop", "exhibits", "relations-code"]
    return run_cells(LESSONS[0], *cells)


def test_each_exhibit_is_caught_as_the_lesson_says(museum):
    """The rows of the slide ``caught``: padding, order, alone, single heads."""
    relations = [museum[name] for name in ("padding", "order", "alone", "single_heads")]
    versions = [museum["right"], *museum["exhibits"]]
    marks = ["".join("✗✓"[relation(version)] for relation in relations) for version in versions]
    assert marks == ["✓✓✓✓", "✗✗✓✗", "✗✓✗✓", "✓✓✓✗", "✗✓✓✓", "✗✓✓✗"]


def test_two_of_the_exhibits_are_the_mistakes_they_are_said_to_be(museum):
    """The correct tensors, computed by the library: exhibit 2 differs only in the root of its divisor."""
    layer, x, lens = museum["layer"], museum["batch"], museum["lens"]
    q, k, v = (split_heads(W(x), 5) for W in (layer.W_q, layer.W_k, layer.W_v))
    mixed, _ = dot_product_attention(q / math.sqrt(5), k, v, padding_mask(lens, 4))  # √100 = √5 · √20
    exhibit_1, exhibit_2 = (museum["exhibits"][number](x, lens) for number in (1, 2))
    torch.testing.assert_close(exhibit_2, layer.W_o(merge_heads(mixed)))
    repeated = torch.cat([lens] * 5)  # 3, 2, 3, 2, …
    mask = padding_mask(repeated, 4).view(2, 5, 1, 4).expand(2, 5, 4, 4)
    weights = masked_softmax(q @ k.mT / math.sqrt(20), mask)
    torch.testing.assert_close(exhibit_1, layer.W_o(merge_heads(weights @ v)))
