import math

import pytest
import torch

from mha_lib import (
    MultiHeadAttention,
    alibi_slopes,
    causal_mask,
    dot_product_attention,
    merge_heads,
    padding_mask,
    rotate_by_position,
    sinusoidal_positions,
    split_heads,
)


def test_positions_follow_the_formula_of_the_paper():
    positions = sinusoidal_positions(31, 6)
    for i in range(31):
        for j in range(3):
            angle = i / 10000 ** (2 * j / 6)
            assert math.isclose(positions[i, 2 * j], math.sin(angle), abs_tol=1e-6)
            assert math.isclose(positions[i, 2 * j + 1], math.cos(angle), abs_tol=1e-6)


def test_moving_by_one_position_is_the_same_rotation_everywhere():
    pairs = torch.view_as_complex(sinusoidal_positions(50, 8).unflatten(1, (4, 2)).double())  # sin + i cos
    steps = pairs[1:] / pairs[:-1]
    torch.testing.assert_close(steps, steps[:1].expand_as(steps), atol=1e-5, rtol=0)


def test_far_positions_are_as_exact_as_near_ones():
    last = sinusoidal_positions(100_001, 6)[-1]
    expected = [f(100_000 / 10000 ** (j / 3)) for j in range(3) for f in (math.sin, math.cos)]
    torch.testing.assert_close(last, torch.tensor(expected), atol=1e-6, rtol=0)


def test_positions_have_the_default_dtype():
    assert sinusoidal_positions(3, 4).dtype == torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        positions = sinusoidal_positions(100, 4)
        assert positions.dtype == alibi_slopes(3).dtype == torch.float64
        assert abs(positions[99, 0].item() - math.sin(99)) < 1e-15
    finally:
        torch.set_default_dtype(torch.float32)


# Rotary positions


def test_each_pair_of_columns_is_turned_by_its_angle():
    """Su et al. 2021, equation 34, one pair at a time."""
    x, positions = torch.randn(2, 5, 6).double(), torch.tensor([0, 1, 7, 100, 3])
    got = rotate_by_position(x, positions)
    for n, position in enumerate(positions.tolist()):
        for j in range(3):
            angle = position / 10000 ** (2 * j / 6)
            turn = torch.tensor([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
            expected = x[:, n, 2 * j : 2 * j + 2] @ turn.double().mT
            torch.testing.assert_close(got[:, n, 2 * j : 2 * j + 2], expected, atol=1e-6, rtol=0)


def test_position_zero_turns_nothing_and_no_position_changes_a_length():
    x = torch.randn(4, 5, 6)
    assert torch.equal(rotate_by_position(x, torch.zeros(5)), x)
    torch.testing.assert_close(rotate_by_position(x, torch.arange(5)).norm(dim=-1), x.norm(dim=-1))


def test_dot_products_of_turned_vectors_depend_on_the_distance_alone():
    q, k = torch.randn(2, 3, 1, 8).double(), torch.randn(2, 3, 1, 8).double()

    def score(i, j):
        return rotate_by_position(q, torch.tensor([i])) @ rotate_by_position(k, torch.tensor([j])).mT

    for shift in (1, 50, 5000):
        torch.testing.assert_close(score(9 + shift, 4 + shift), score(9, 4))
    assert not score(9, 4).allclose(score(9, 5), atol=1e-3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_turned_in_single_precision(dtype):
    x, positions = torch.randn(2, 5, 6).to(dtype), torch.arange(40_000, 40_005)
    got = rotate_by_position(x, positions)
    assert got.dtype == dtype
    assert torch.equal(got, rotate_by_position(x.float(), positions).to(dtype))


def test_far_positions_are_turned_as_exactly_as_near_ones():
    got = rotate_by_position(torch.tensor([[1.0, 0.0, 1.0, 0.0]]), torch.tensor([100_000]))
    expected = [math.cos(100_000), math.sin(100_000), math.cos(1000), math.sin(1000)]
    torch.testing.assert_close(got[0], torch.tensor(expected), atol=1e-6, rtol=0)


@pytest.mark.parametrize("is_causal", [False, True])
def test_a_rotary_layer_turns_queries_and_keys_but_not_values(attend, is_causal):
    layer, x, y = MultiHeadAttention(24, 6, rotary=True), torch.randn(2, 3, 24), torch.randn(2, 5, 24)
    q, k, v = (split_heads(W(z), 6) for W, z in ((layer.W_q, x), (layer.W_k, y), (layer.W_v, y)))
    q = rotate_by_position(q, torch.arange(2, 5))  # the last query stands at the last key
    k = rotate_by_position(k, torch.arange(5))
    valid_lens = torch.tensor([2, 5])
    mask = padding_mask(valid_lens, 5) & (causal_mask(3, 5) if is_causal else torch.tensor(True))
    heads, _ = dot_product_attention(q, k, v, mask)
    expected = layer.W_o(merge_heads(heads))
    torch.testing.assert_close(attend(layer, x, y, valid_lens=valid_lens, is_causal=is_causal), expected)


def test_a_rotary_layer_sees_distances_but_not_positions(attend):
    """The same tokens behind more padding give the same output; in another order they do not."""
    layer, x = MultiHeadAttention(24, 6, rotary=True), torch.randn(2, 5, 24)
    behind = torch.cat([torch.randn(2, 3, 24), x], dim=1)
    key_mask = torch.arange(8).expand(2, 8) >= 3
    expected = attend(layer, x)
    torch.testing.assert_close(
        attend(layer, behind, key_mask=key_mask)[:, 3:], expected, atol=1e-5, rtol=1e-4
    )
    order = torch.tensor([2, 0, 1, 4, 3])
    assert not attend(layer, x[:, order]).allclose(expected[:, order], atol=1e-3)


# Linear biases


def test_alibi_slopes_are_those_of_the_paper():
    """Press et al. 2022, section 3, for 8 heads; for 6 heads as in their published code."""
    assert alibi_slopes(8).tolist() == [2.0**-n for n in range(1, 9)]
    assert alibi_slopes(1).tolist() == [2.0**-8]
    torch.testing.assert_close(alibi_slopes(6), torch.tensor([2.0**-n for n in (2, 4, 6, 8, 1, 3)]))
    torch.testing.assert_close(alibi_slopes(16), torch.tensor([2.0 ** (-n / 2) for n in range(1, 17)]))
    torch.testing.assert_close(alibi_slopes(12)[8:], torch.tensor([2.0 ** (-n / 2) for n in (1, 3, 5, 7)]))


@pytest.mark.parametrize("is_causal", [False, True])
def test_a_linear_bias_is_added_to_the_scaled_scores(attend, is_causal):
    layer, x, y = MultiHeadAttention(24, 6), torch.randn(2, 3, 24), torch.randn(2, 5, 24)
    distance = (torch.arange(2, 5)[:, None] - torch.arange(5)).abs()
    bias = -alibi_slopes(6)[:, None, None] * distance  # (H, Q, K)
    q, k, v = (split_heads(W(z), 6) for W, z in ((layer.W_q, x), (layer.W_k, y), (layer.W_v, y)))
    scores = q @ k.mT / 2 + bias
    if is_causal:
        scores = scores.masked_fill(~causal_mask(3, 5), -torch.inf)
    expected = layer.W_o(merge_heads(scores.softmax(-1) @ v))
    got = attend(layer, x, y, score_bias=bias[None], is_causal=is_causal)
    torch.testing.assert_close(got, expected)


def test_a_bias_never_brings_back_what_a_mask_forbids(attend):
    layer, x = MultiHeadAttention(24, 6), torch.randn(2, 5, 24)
    key_mask = torch.tensor([[1, 1, 1, 0, 0], [0, 0, 0, 0, 0]]).bool()
    bias = torch.where(key_mask, 0.0, 1e4)[:, None]  # (B, 1, K)
    got = attend(layer, x, key_mask=key_mask, score_bias=bias)
    torch.testing.assert_close(got, attend(layer, x, key_mask=key_mask))
    assert not got[1].any()
