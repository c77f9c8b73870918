"""The measures of heads, in cases with a known answer and in relations that must hold."""

import pytest
import torch

from mha_lib.classroom.heads import Head, evened, permuted, silenced
from mha_lib.classroom.translator import (
    alignment,
    alignment_scores,
    all_heads,
    chance_of_alignment,
    entropies,
    head_masks_without,
    importance_by_gradient,
    importance_by_removal,
    least_important_first,
    make_batch,
    make_translator,
    translate,
    translation_loss,
    weights_of,
    with_changed_weights,
)
from tests.classroom.translator.conftest import NUMBERS

MIXED = [0, 345, 7, 900, 12, 101, 23_045]
HEADS = 4


@pytest.fixture
def batch():
    return make_batch(MIXED)


@pytest.fixture
def fresh():
    """Return a translator whose heads matter: it has learnt nothing, but its weights are uneven."""
    model = make_translator(HEADS, seed=3).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
    return model.eval()


def test_a_head_that_looks_at_the_right_words_has_an_alignment_of_one(batch, monkeypatch):
    """Two heads look at the right words, the third at the first word, the last evenly at all."""
    model = make_translator(HEADS)
    known = weights_of(model, batch)
    cross = torch.zeros_like(known.cross[0])
    for sample, number in enumerate(MIXED):
        for row, word in enumerate(alignment(number)):
            cross[sample, :2, row, word or 0] = 1
    cross[:, 2, :, 0] = 1
    cross[:, 3] = (batch.source_mask / batch.source_mask.sum(1, keepdim=True))[:, None]
    known = known._replace(cross=[cross])
    monkeypatch.setattr("mha_lib.classroom.translator.heads.weights_of", lambda *_: known)
    scores = alignment_scores(model, batch)[0]
    assert scores[:2].tolist() == [1, 1]
    first = [word == 0 for number in MIXED for word in alignment(number) if word is not None]
    assert scores[2].item() == pytest.approx(sum(first) / len(first))
    assert scores[3].item() == pytest.approx(chance_of_alignment(batch))


def test_a_trained_translator_looks_at_the_right_words(trained):
    batch = make_batch(NUMBERS)
    assert max(alignment_scores(trained, batch)[0]) > 1.8 * chance_of_alignment(batch)
    fresh = alignment_scores(make_translator(HEADS), batch)[0]
    torch.testing.assert_close(fresh, torch.full((HEADS,), chance_of_alignment(batch)), atol=0.05, rtol=0)


def test_padding_counts_for_nothing(trained):
    """The entropy of a batch is the mean over all queries of its numbers alone."""
    whole = entropies(trained, make_batch(MIXED))
    alone = [entropies(trained, make_batch([number])) for number in MIXED]
    sources = torch.tensor([make_batch([number]).source.shape[1] for number in MIXED])
    targets = torch.tensor([make_batch([number]).target.shape[1] - 1 for number in MIXED])
    for name, counts in (("encoder", sources), ("decoder", targets), ("cross", targets)):
        parts = torch.stack([getattr(each, name)[0] for each in alone])
        mean = torch.einsum("n...,n->...", parts, counts / counts.sum())
        torch.testing.assert_close(getattr(whole, name)[0], mean)


def test_importance_by_removal_is_the_loss_without_the_head(fresh, batch):
    importance = importance_by_removal(fresh, batch)
    for head in (Head("encoder", 0, 1), Head("decoder", 0, 3), Head("cross", 0, 0)):
        without = with_changed_weights(fresh, [head], silenced)
        expected = translation_loss(without, batch) - translation_loss(fresh, batch)
        torch.testing.assert_close(getattr(importance, head.attention)[0][head.head].double(), expected)


def test_importance_by_gradient_is_the_slope_of_the_loss(fresh, batch):
    """Compute the slope of each number alone, by a small step of the head mask."""
    importance = importance_by_gradient(fresh, batch)
    tokens = sum(len(alignment(number)) + 1 for number in MIXED)
    for head in (Head("encoder", 0, 2), Head("decoder", 0, 0), Head("cross", 0, 3)):
        slopes = 0.0
        for number in MIXED:
            losses = []
            for step in (1e-5, -1e-5):
                masks = head_masks_without(fresh)
                getattr(masks, head.attention)[0] = getattr(masks, head.attention)[0].double()
                getattr(masks, head.attention)[0][head.head] += step
                losses.append(translation_loss(fresh, make_batch([number]), masks).item())
            slopes += abs(losses[0] - losses[1]) / 2e-5 * (len(alignment(number)) + 1) / tokens
        found = getattr(importance, head.attention)[0][head.head].item()
        assert found == pytest.approx(slopes, rel=1e-4)
    assert all(parameter.grad is None for parameter in fresh.parameters())


def test_heads_are_ordered_from_the_least_important():
    model = make_translator(2)
    masks = head_masks_without(model)
    for value, head in zip((3.0, 1.0, 2.0, 6.0, 5.0, 4.0), all_heads(model), strict=True):
        getattr(masks, head.attention)[head.layer][head.head] = value
    order = least_important_first(masks)
    assert [(head.attention, head.head) for head in order] == [
        ("encoder", 1), ("decoder", 0), ("encoder", 0), ("cross", 1), ("cross", 0), ("decoder", 1)
    ]  # fmt: skip


def test_even_and_permuted_weights_stay_weights():
    allowed = torch.ones(3, 5, 5).tril().bool()
    weights = torch.rand(3, 5, 5).masked_fill(~allowed, 0)
    weights /= weights.sum(-1, keepdim=True)
    even, dealt = evened(weights, allowed), permuted(weights, allowed)
    for changed in (even, dealt):
        assert not changed[~allowed].any()
        torch.testing.assert_close(changed.sum(-1), torch.ones(3, 5))
    torch.testing.assert_close(even[:, 3, :4], torch.full((3, 4), 0.25))
    assert torch.equal(dealt.sort(-1).values, weights.sort(-1).values)
    assert not torch.equal(dealt, weights)
    nowhere = torch.tensor([[[False, False], [True, True]]])
    assert evened(torch.rand(1, 2, 2), nowhere).tolist() == [[[0, 0], [0.5, 0.5]]]


@pytest.mark.parametrize("name", ["encoder", "decoder", "cross"])
def test_weights_are_changed_in_the_heads_that_are_named_and_nowhere_else(trained, batch, name):
    heads = [Head(name, 0, 1), Head(name, 0, 2)]
    same = with_changed_weights(trained, heads, lambda weights, allowed: weights)
    inputs = (batch.source, batch.target[:, :-1], batch.source_mask)
    torch.testing.assert_close(same(*inputs), trained(*inputs))
    even = with_changed_weights(trained, heads, evened)
    before, after = (getattr(weights_of(model, batch), name)[0] for model in (trained, even))
    for head in range(HEADS):
        assert torch.allclose(before[:, head], after[:, head]) == (head not in (1, 2))
    without = with_changed_weights(trained, heads, silenced)
    assert translate(without, NUMBERS) == translate(trained, NUMBERS, head_masks_without(trained, heads))


@pytest.mark.parametrize("head", [("cros", 0, 1), ("cross", 1, 0), ("decoder", 0, 99)])
def test_a_head_that_there_is_not_is_an_error(head):
    model = make_translator(HEADS)
    for use in (head_masks_without, lambda model, heads: with_changed_weights(model, heads, evened)):
        with pytest.raises(ValueError, match=r"heads must be .*; there are 'encoder': 1 layers of 4 heads"):
            use(model, [Head(*head)])
