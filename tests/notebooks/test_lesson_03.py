"""The statements of lesson 03 about its experiment and its museum hold in the lesson's own cells."""

import math
from functools import partial

import pytest
import torch

from evidence.heads import (
    HEADS,
    LESSONS,
    SEEDS,
    TABLE,
    run_cells,
    task_of,
    train_with_hidden_layer,
)
from mha_lib import dot_product_attention, masked_softmax, merge_heads, padding_mask, split_heads


@pytest.mark.ci
@pytest.mark.parametrize(
    ("heads", "seed"),
    [(2, 3), *(pytest.param(heads, heads, marks=pytest.mark.whole) for heads in (*HEADS, None))],
)
def test_the_table_of_the_seeds_is_that_of_the_lessons_own_cells(heads, seed):
    """Some of the trainings behind the table, run again; ``None`` has three heads and a hidden layer."""
    table, task = run_cells(LESSONS[0], TABLE), task_of(LESSONS[0])
    seed = seed or 0
    explained = table["seeds_explained"] | {None: table["hidden_explained"]}
    assert list(explained) == [*HEADS, None]
    assert {len(row) for row in explained.values()} == {len(SEEDS)}
    model = task["train_heads"](heads, seed) if heads else train_with_hidden_layer(task, seed)
    assert task["share_explained"](model) == pytest.approx(explained[heads][seed], abs=0.01)


def test_the_table_of_the_seeds_shows_what_the_lesson_says_of_it():
    table = run_cells(LESSONS[0], TABLE)
    spans = {1: (0.244, 0.254), 2: (0.46, 0.54), 3: (0.71, 0.75), 4: (0.71, 1), 8: (0.99, 1)}
    for heads in HEADS:
        explained, (low, high) = table["seeds_explained"][heads], spans[heads]
        assert low <= min(explained)
        assert max(explained) <= high
        assert [share for share in explained if share > heads / 4] == ([0.530] if heads == 2 else [])
        assert [share == 1 for share in explained].count(True) == {4: 22, 8: 24}.get(heads, 0)
    assert [share > 0.9 for share in table["hidden_explained"]].count(True) == 22


@pytest.fixture(scope="module")
def museum():
    cells = ["imports", "head-code", "loop", "exhibits", "relations-code"]
    return run_cells(LESSONS[0], *cells)


def test_each_exhibit_is_caught_as_the_lesson_says(museum):
    """The rows of the slides ``caught`` and ``seven-more``: padding, order, alone, single heads."""
    relations = [museum[name] for name in ("padding", "order", "alone", "single_heads")]
    marks = {}
    for name, steps in museum["exhibits"].items():
        exhibit = partial(museum["attend"], **steps)
        marks[name] = "".join("✗✓"[relation(exhibit)] for relation in relations)
    assert marks == {
        "correct": "✓✓✓✓",
        "0": "✗✗✓✗",
        "1": "✗✓✗✓",
        "2": "✓✓✓✗",
        "3": "✗✓✓✓",
        "4": "✗✓✓✗",
        "5": "✗✗✓✗",
        "6": "✓✓✓✗",
        "7": "✗✓✓✗",
        "8": "✗✓✓✓",
        **dict.fromkeys(("9", "10", "11"), "✓✓✓✗"),
    }


def test_two_of_the_exhibits_are_the_mistakes_they_are_said_to_be(museum):
    """The correct tensors, computed by the library: exhibit 2 differs only in the root of its divisor."""
    layer, x, lens = museum["layer"], museum["batch"], museum["lens"]
    q, k, v = (split_heads(W(x), 5) for W in (layer.W_q, layer.W_k, layer.W_v))
    mixed, _ = dot_product_attention(q / math.sqrt(5), k, v, padding_mask(lens, 4))  # √100 = √5 · √20
    exhibit_1, exhibit_2 = (museum["attend"](x, lens, **museum["exhibits"][name]) for name in ("1", "2"))
    torch.testing.assert_close(exhibit_2, layer.W_o(merge_heads(mixed)))
    repeated = torch.cat([lens] * 5)  # 3, 2, 3, 2, …
    mask = padding_mask(repeated, 4).view(2, 5, 1, 4).expand(2, 5, 4, 4)
    weights = masked_softmax(q @ k.mT / math.sqrt(20), mask)
    torch.testing.assert_close(exhibit_1, layer.W_o(merge_heads(weights @ v)))
