"""The statements of lesson 03 about its experiment and its museum hold in the lesson's own cells."""

import math

import pytest
import torch

from evidence.heads import (
    HEADS,
    LESSONS,
    SEEDS,
    TABLE,
    run_cells,
    source_of,
    task_of,
    train_with_hidden_layer,
)
from mha_lib import dot_product_attention, masked_softmax, merge_heads, padding_mask, split_heads

each_lesson = pytest.mark.parametrize("lesson", LESSONS[:1], ids=lambda path: path.parent.name)


@pytest.mark.parametrize(
    ("heads", "seed"),
    [(2, 3), *(pytest.param(heads, heads, marks=pytest.mark.whole) for heads in (*HEADS, None))],
)
def test_the_table_of_the_seeds_is_that_of_the_lessons_own_cells(heads, seed):
    """Some of the trainings behind the table, run again; ``None`` has three heads and a hidden layer."""
    table, task = run_cells(LESSONS[0], TABLE), task_of(LESSONS[0])
    seed = seed or 0
    for name in ("explained", "right"):
        assert list(table[f"seeds_{name}"]) == list(HEADS)
        table[f"seeds_{name}"][None] = table[f"hidden_{name}"]
        assert {len(row) for row in table[f"seeds_{name}"].values()} == {len(SEEDS)}
    model = task["train_heads"](heads, seed) if heads else train_with_hidden_layer(task, seed)
    explained, right = task["score"](model)
    assert explained == pytest.approx(table["seeds_explained"][heads][seed], abs=0.01)
    assert right == pytest.approx(table["seeds_right"][heads][seed], abs=0.01)


@each_lesson
def test_the_table_of_the_seeds_shows_what_the_lesson_says_of_it(lesson):
    table = run_cells(lesson, TABLE)
    spans = {1: (0.244, 0.254), 2: (0.44, 0.54), 3: (0.70, 0.75), 8: (0.99, 1)}
    for heads in HEADS:
        explained, right = table["seeds_explained"][heads], table["seeds_right"][heads]
        low, high = spans.get(heads, (0, 1))
        assert low <= min(explained)
        assert max(explained) <= high
        assert heads == 4 or {share > 0.99 for share in right} == {heads > 3}
        assert [share for share in explained if share > heads / 4] == ([0.530] if heads == 2 else [])
        assert [share == 1 for share in right].count(True) == {4: 11, 8: 12}.get(heads, 0)
    assert 0.70 <= min(table["hidden_explained"]) <= max(table["hidden_explained"]) <= 0.95
    assert sorted(table["hidden_right"])[:3] == [0.302, 0.351, pytest.approx(0.935, abs=0.012)]


def relations_of(lesson):
    cells = ["sum-over-heads", "head-code", "museum-input", "museum-code", "exhibits-code", "relations-code"]
    return run_cells(lesson, "imports", *cells)


def seven_more(layer):
    """The mistakes of the slide ``seven-more``, by the names in its table's rows."""

    def attend(x, lens, *, values=layer.W_v, scale=1.0, over=-1, mask=padding_mask, merge=merge_heads):
        q, k, v = (split_heads(W(x), 5) for W in (layer.W_q, layer.W_k, values))
        scores = q @ k.mT * scale / math.sqrt(20)
        scores = scores.masked_fill(~mask(lens, 4)[:, None], -1e4)
        return layer.W_o(merge(scores.softmax(over) @ v))

    def version(**changes):
        return lambda x, lens: attend(x, lens, **changes)

    return [
        version(merge=lambda heads: heads.reshape(-1, 4, 100)),
        version(scale=20.0),
        version(over=-2),
        version(mask=lambda lens, n: ~padding_mask(lens, n)),
        version(mask=lambda lens, n: torch.ones(len(lens), 1, n, dtype=torch.bool)),
        version(mask=lambda lens, n: padding_mask(lens, n).mT),
        version(values=layer.W_k),
    ], version()


@each_lesson
def test_each_of_the_seven_more_mistakes_is_caught_as_the_slide_says(lesson):
    lab = relations_of(lesson)
    relations = [lab[name] for name in ("padding", "order", "alone", "single_heads")]
    mistakes, right = seven_more(lab["layer"])
    assert all(relation(right) for relation in relations)
    assert ["".join("✗✓"[relation(wrong)] for relation in relations) for wrong in mistakes] == marks(lesson)


def marks(lesson):
    """The marks in the table of the slide, row by row."""
    rows = [line for line in source_of(lesson, "seven-more").splitlines() if "✓" in line or "✗" in line]
    return ["".join(letter for letter in row if letter in "✓✗") for row in rows]


@each_lesson
def test_two_of_the_exhibits_are_the_mistakes_they_are_said_to_be(lesson):
    """The correct tensors, computed by the library: exhibit 2 differs only in the root of its divisor."""
    lab = relations_of(lesson)
    layer, x, lens = lab["layer"], lab["batch"], lab["lens"]
    q, k, v = (split_heads(W(x), 5) for W in (layer.W_q, layer.W_k, layer.W_v))
    right, _ = dot_product_attention(q / math.sqrt(5), k, v, padding_mask(lens, 4))  # √100 = √5 · √20
    torch.testing.assert_close(lab["exhibit_2"](x, lens), layer.W_o(merge_heads(right)))
    repeated = torch.cat([lens] * 5)  # 3, 2, 3, 2, …
    weights = masked_softmax(
        q @ k.mT / math.sqrt(20), padding_mask(repeated, 4).view(2, 5, 1, 4).expand(2, 5, 4, 4)
    )
    torch.testing.assert_close(lab["exhibit_1"](x, lens), layer.W_o(merge_heads(weights @ v)))
