"""Masks, the masked softmax, the two scores, and one head: against published numbers and against loops."""

import math

import pytest
import torch

from mha_lib import (
    AdditiveAttention,
    SingleHeadAttention,
    causal_mask,
    dot_product_attention,
    masked_softmax,
    padding_mask,
)

B, Q, K, H, HEAD = 2, 3, 5, 7, 11


def test_padding_mask_lets_through_the_first_keys_of_each_sample_or_query():
    expected = torch.tensor([[0, 0, 0], [1, 1, 0], [1, 1, 1]], dtype=torch.bool)
    for dtype in (torch.int64, torch.uint8, torch.uint16):
        lengths = torch.tensor([0, 2, 3], dtype=dtype)
        assert torch.equal(padding_mask(lengths, 3), expected[:, None])
        assert torch.equal(padding_mask(lengths[None], 3), expected[None])


@pytest.mark.parametrize("kind", ["dot product", "additive"])
def test_identical_keys_average_the_valid_values(kind):
    """d2l, attention scoring functions: identical keys, values 0 … 39, lengths 2 and 6."""
    keys, valid_lens = torch.ones(2, 10, 2), torch.tensor([2, 6])
    values = torch.arange(40, dtype=torch.float32).reshape(1, 10, 4).repeat(2, 1, 1)
    if kind == "dot product":
        queries, attention = torch.randn(2, 1, 2), dot_product_attention
    else:
        queries, attention = torch.randn(2, 1, 20), AdditiveAttention(8, query_size=20, key_size=2)
    output, _ = attention(queries, keys, values, padding_mask(valid_lens, 10))
    torch.testing.assert_close(output, torch.tensor([[[2.0, 3, 4, 5]], [[10.0, 11, 12, 13]]]))


def test_dot_product_attention_gives_the_numbers_of_the_uva_tutorial():
    queries = torch.tensor([[0.3367, 0.1288], [0.2345, 0.2303], [-1.1229, -0.1863]])
    keys = torch.tensor([[2.2082, -0.6380], [0.4617, 0.2674], [0.5349, 0.8094]])
    values = torch.tensor([[1.1103, -1.6898], [-0.9890, 0.9580], [1.3221, 0.8172]])
    output, weights = dot_product_attention(queries, keys, values)
    expected = torch.tensor([0.4028, 0.2886, 0.3086])
    torch.testing.assert_close(weights[0], expected, atol=5e-5, rtol=0)
    torch.testing.assert_close(output[0], expected @ values, atol=2e-4, rtol=0)


MASKS = [(Q, K), (1, K), (B, Q, K), (B, 1, K), (1, Q, K), (B, H, Q, K), (B, 1, 1, K)]


@pytest.mark.parametrize(
    ("scores_shape", "mask_shape"),
    [
        (scores, mask)
        for scores in ((Q, K), (B, Q, K), (B, H, Q, K))
        for mask in MASKS
        if len(mask) <= len(scores)
    ],
)
def test_masked_softmax_agrees_with_a_loop_for_every_mask(scores_shape, mask_shape):
    scores, mask = torch.randn(scores_shape), torch.rand(mask_shape) < 0.6
    before = scores.clone(), mask.clone()
    weights = masked_softmax(scores, mask)
    assert torch.equal(scores, before[0])
    assert torch.equal(mask, before[1])
    full_mask = mask[:, None] if len(mask_shape) == 3 and len(scores_shape) == 4 else mask
    full_mask = full_mask.expand(scores_shape).reshape(-1, K)
    for row, allowed, got in zip(scores.reshape(-1, K), full_mask, weights.reshape(-1, K), strict=True):
        total = sum(math.exp(row[j]) for j in range(K) if allowed[j])
        expected = [math.exp(row[j]) / total if allowed[j] else 0.0 for j in range(K)]
        torch.testing.assert_close(got, torch.tensor(expected))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_a_row_with_nothing_to_attend_to_and_a_score_of_minus_infinity_have_zero_gradient(dtype):
    low = -math.inf
    scores = torch.tensor([[1.0, 2.0, 3.0], [low, low, low], [low, 1.0, 2.0]], dtype=dtype).requires_grad_()
    weights = masked_softmax(scores, torch.tensor([[False], [True], [True]]).expand(3, 3))
    assert weights.dtype == dtype
    assert not weights[:2].any()
    with torch.autograd.detect_anomaly(check_nan=True):
        (weights * torch.randn(3)).sum().backward()
    assert not scores.grad[:2].any()
    assert scores.grad[2].tolist()[0] == 0
    assert scores.grad[2, 1:].all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_weights_are_the_rounded_weights_of_single_precision(dtype):
    scores = (3 * torch.randn(Q, 3000)).to(dtype)
    mask = torch.rand(Q, 3000) < 0.9
    torch.testing.assert_close(masked_softmax(scores, mask), masked_softmax(scores.float(), mask).to(dtype))


def test_additive_attention_follows_its_formula():
    attention = AdditiveAttention(7, query_size=3, key_size=5)
    queries, keys, values = torch.randn(B, Q, 3), torch.randn(B, K, 5), torch.randn(B, K, 2)
    mask = torch.rand(B, Q, K) < 0.7
    output, weights = attention(queries, keys, values, mask)
    W_q, W_k, w_v = attention.W_q.weight, attention.W_k.weight, attention.w_v.weight[0]
    for b in range(B):
        scores = torch.stack(
            [torch.stack([w_v @ (W_q @ q + W_k @ k).tanh() for k in keys[b]]) for q in queries[b]]
        )
        torch.testing.assert_close(weights[b], masked_softmax(scores, mask[b]))
        torch.testing.assert_close(output[b], weights[b] @ values[b])


@pytest.mark.parametrize("kind", ["dot product", "additive"])
def test_dropped_weights_are_0_and_the_others_rescaled(kind):
    """One-hot values show the weights that were used; a column of ones shows that all columns use them."""
    attend = dot_product_attention if kind == "dot product" else AdditiveAttention(7)
    x, values = torch.randn(B, 40, 7), torch.cat([torch.eye(40), torch.ones(40, 1)], dim=1).expand(B, 40, 41)
    plain, expected = attend(x, x, values)
    torch.testing.assert_close(plain[..., :40], expected)
    output, weights = attend(x, x, values, dropout_p=0.25)
    torch.testing.assert_close(weights, expected)
    used = output[..., :40]
    torch.testing.assert_close(output[..., 40], used.sum(dim=-1))
    dropped = used == 0
    torch.testing.assert_close(used, (weights / 0.75).masked_fill(dropped, 0.0))
    assert abs(dropped.float().mean() - 0.25) < 0.05
    assert not torch.equal(dropped[:, :1].expand_as(dropped), dropped)  # each query has its own
    assert not torch.equal(dropped[:1].expand_as(dropped), dropped)


def test_single_head_obeys_lengths_mask_and_causality_at_once():
    head, x, y = SingleHeadAttention(13, 4, 3, bias=True), torch.randn(B, Q, 13), torch.randn(B, K, 13)
    mask, key_mask = torch.rand(B, Q, K) < 0.8, torch.tensor([[0, 1, 0, 1, 1], [1, 1, 0, 0, 1]]).bool()
    limits = {"valid_lens": torch.tensor([3, 5]), "key_mask": key_mask, "mask": mask}
    output, weights = head(x, y, y.flip(1), **limits, is_causal=True)
    allowed = mask & causal_mask(Q, K) & padding_mask(torch.tensor([3, 5]), K) & key_mask[:, None]
    assert torch.equal(weights > 0, allowed)
    inputs = ((head.W_q, x), (head.W_k, y), (head.W_v, y.flip(1)))
    q, k, v = (tokens @ W.weight.mT + W.bias for W, tokens in inputs)
    expected, _ = dot_product_attention(q, k, v, allowed)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(head(x, y), head(x, y, y))


@pytest.mark.parametrize("lowest", [torch.finfo(torch.float32).min, -1e38, -math.inf], ids=str)
def test_however_low_scores_are_the_mask_forbids_and_the_others_share(lowest):
    """A score of −∞ forbids a key as the mask does, and a row of nothing else is all zeros."""
    scores = torch.tensor([[lowest, 3.0], [lowest, lowest]])
    mask = torch.tensor([[True, False], [True, True]])
    first = 0.0 if lowest == -math.inf else 1.0
    expected = torch.tensor([[first, 0.0], [first / 2, first / 2]])
    assert torch.equal(masked_softmax(scores, mask), expected)
    assert torch.equal(masked_softmax(scores), torch.tensor([[0.0, 1.0], [first / 2, first / 2]]))


def test_scores_that_are_no_numbers_stay_so():
    assert masked_softmax(torch.tensor([[math.nan, 1.0]])).isnan().all()
