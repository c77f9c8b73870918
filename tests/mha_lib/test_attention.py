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


def test_padding_mask_lets_through_the_first_keys_of_each_sample():
    expected = torch.tensor([[[0, 0, 0]], [[1, 1, 0]], [[1, 1, 1]]], dtype=torch.bool)
    assert torch.equal(padding_mask(torch.tensor([0, 2, 3]), 3), expected)


def test_padding_mask_takes_a_length_for_each_query():
    expected = torch.tensor([[[0, 0, 0], [1, 0, 0]], [[1, 1, 0], [1, 1, 1]]], dtype=torch.bool)
    assert torch.equal(padding_mask(torch.tensor([[0, 1], [2, 3]]), 3), expected)


def test_causal_mask_is_aligned_at_the_end():
    expected = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]], dtype=torch.bool)
    assert torch.equal(causal_mask(3, 5), expected)


def test_masked_softmax_is_the_softmax_of_what_the_mask_allows():
    scores = torch.tensor([[math.log(1), math.log(3), 50.0]])
    mask = torch.tensor([[True, True, False]])
    torch.testing.assert_close(masked_softmax(scores, mask), torch.tensor([[0.25, 0.75, 0.0]]))


def test_a_row_with_nothing_to_attend_to_is_all_zeros():
    weights = masked_softmax(torch.randn(2, K), torch.tensor([[False], [True]]).expand(2, K))
    assert torch.equal(weights[0], torch.zeros(K))
    torch.testing.assert_close(weights[1].sum(), torch.tensor(1.0))


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


def test_single_head_attends_with_its_three_projections():
    head = SingleHeadAttention(D := 13, head_dim=4, value_dim=3, bias=True)
    x = torch.randn(B, K, D)
    output, weights = head(x, is_causal=True)
    expected, expected_weights = dot_product_attention(
        head.W_q(x), head.W_k(x), head.W_v(x), torch.ones(K, K).tril().bool()
    )
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(weights, expected_weights)
    assert output.shape == (B, K, 3)
