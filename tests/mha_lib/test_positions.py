import math

import pytest
import torch

from mha_lib import (
    KVCache,
    Llama3Scaling,
    MultiHeadAttention,
    Rotary,
    YarnScaling,
    alibi_slopes,
    rotate_by_position,
    sinusoidal_positions,
    split_heads,
)
from mha_lib.positions import kept_table, waves_like


def test_positions_follow_the_formula_of_the_paper():
    positions = sinusoidal_positions(100_001, 6)
    for i in (*range(31), 100_000):  # far ones are as exact
        for j in range(3):
            angle = i / 10000 ** (2 * j / 6)
            assert math.isclose(positions[i, 2 * j], math.sin(angle), abs_tol=1e-6)
            assert math.isclose(positions[i, 2 * j + 1], math.cos(angle), abs_tol=1e-6)


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


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_turned_in_single_precision(dtype):
    x, positions = torch.randn(2, 5, 6).to(dtype), torch.arange(40_000, 40_005)
    got = rotate_by_position(x, positions)
    assert got.dtype == dtype
    assert torch.equal(got, rotate_by_position(x.float(), positions).to(dtype))
    assert torch.equal(Rotary().turn(x, 40_000), got)
    assert torch.equal(Rotary().turn(x[:, :1], torch.tensor([40_000])), got[:, :1])


def test_far_positions_are_turned_as_exactly_as_near_ones():
    got = rotate_by_position(torch.tensor([[1.0, 0.0, 1.0, 0.0]]), torch.tensor([100_000]))
    expected = [math.cos(100_000), math.sin(100_000), math.cos(1000), math.sin(1000)]
    torch.testing.assert_close(got[0], torch.tensor(expected), atol=1e-6, rtol=0)


# Linear biases


def test_alibi_slopes_are_those_of_the_paper():
    """Press et al. 2022, section 3, for 8 heads; for 6 heads as in their published code."""
    assert alibi_slopes(8).tolist() == [2.0**-n for n in range(1, 9)]
    assert alibi_slopes(1).tolist() == [2.0**-8]
    torch.testing.assert_close(alibi_slopes(6), torch.tensor([2.0**-n for n in (2, 4, 6, 8, 1, 3)]))
    torch.testing.assert_close(alibi_slopes(16), torch.tensor([2.0 ** (-n / 2) for n in range(1, 17)]))
    torch.testing.assert_close(alibi_slopes(12)[8:], torch.tensor([2.0 ** (-n / 2) for n in (1, 3, 5, 7)]))


def test_very_low_biases_mean_the_same_on_every_way(attend):
    """Every way gives what the formula gives in double precision."""
    layer, x = MultiHeadAttention(12, 2), torch.randn(2, 5, 12)
    bias = torch.randn(2, 5, 5)
    bias[:, 1] = bias[:, 2, :3] = torch.finfo(torch.float32).min
    mask = torch.ones(5, 5).tril(2).bool()
    output = attend(layer, x, score_bias=bias[None], mask=mask)
    q, k, v = (split_heads(W(x), 2) for W in (layer.W_q, layer.W_k, layer.W_v))
    scores = (q @ k.mT / math.sqrt(6) + bias).masked_fill(~mask, -math.inf)
    heads = scores.double().softmax(-1).nan_to_num(0).float() @ v
    torch.testing.assert_close(output, layer.W_o(heads.transpose(1, 2).flatten(2)))


@pytest.mark.parametrize(("dropout", "trained"), [(0.0, False), (1e-9, False), (0.0, True)])
def test_a_bias_in_single_precision_is_not_rounded_to_the_dtype_of_the_queries(attend, dropout, trained):
    """The largest numbers decide, and bfloat16 knows no odd number above 256."""
    layer, x = MultiHeadAttention(8, 2, dropout), torch.randn(1, 2048, 8)
    slopes = torch.tensor([0.3, 0.07])  # numbers up to 614, with differences that half precision rounds away
    bias = (slopes[:, None, None] * torch.arange(2048))[None].requires_grad_(trained)
    expected = layer(x[:, -1:], x, score_bias=bias)
    with torch.autocast("cpu", torch.bfloat16):
        output = attend(layer, x[:, -1:], x, score_bias=bias)
    assert (output - expected).abs().max() < 0.02 * expected.abs().max()


@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("scaling", [1.0, 8.0])
def test_a_pair_turns_at_the_speed_that_base_and_scaling_give_it(halves, scaling):
    """One pair after the other, as a complex number that is multiplied by e^(i angle)."""
    rotary, d = Rotary(base=500.0, scaling=scaling, halves=halves), 10
    x, positions = torch.randn(3, 6, d, dtype=torch.double), torch.tensor([0, 1, 2, 9, 40, 1000])
    found = rotate_by_position(x, positions, rotary)
    for j in range(d // 2):
        a, b = (j, j + d // 2) if halves else (2 * j, 2 * j + 1)
        speed = 500.0 ** (-2 * j / d) / scaling
        turned = torch.complex(x[..., a], x[..., b]) * torch.exp(1j * speed * positions.double())
        torch.testing.assert_close(torch.complex(found[..., a], found[..., b]), turned)


def test_llama_3_scaling_keeps_fast_pairs_blends_and_slows_slow_ones():
    """With Llama 3.1's numbers: 500,000, 8, 1, 4, 8192 and heads of width 128."""
    plain = Rotary(base=500_000).angles(torch.tensor([1]), 128)[0]
    scaled = Rotary(base=500_000, scaling=Llama3Scaling()).angles(torch.tensor([1]), 128)[0]
    ratio = plain / scaled
    assert torch.equal(ratio[:29], torch.ones(29, dtype=torch.double))
    assert torch.equal(ratio[35:], torch.full((29,), 8.0, dtype=torch.double))
    assert ((ratio[29:35] > 1) & (ratio[29:35] < 8)).all()


def test_yarn_keeps_fast_pairs_blends_and_slows_slow_ones():
    """With Qwen 3's numbers, 1,000,000, 4, 1, 32, 32,768 and heads of width 128: pairs 23 to 40 are blended.

    64 ln(32,768 / 64 π) / ln 1,000,000 = 23.6, and 64 ln(32,768 / 2 π) / ln 1,000,000 = 39.65.
    """
    plain = Rotary(base=1e6).angles(torch.tensor([1]), 128)[0]
    ratio = plain / Rotary(base=1e6, scaling=YarnScaling()).angles(torch.tensor([1]), 128)[0]
    expected = [
        1 / (1 - slowed + slowed / 4) for slowed in (min(max((j - 23) / 17, 0), 1) for j in range(64))
    ]
    torch.testing.assert_close(ratio, torch.tensor(expected, dtype=torch.double))


@pytest.mark.parametrize(("length", "expected"), [(None, 0.1 * math.log(4) + 1), (1.5, 1.5)])
def test_yarn_makes_queries_and_keys_longer(length, expected):
    x = torch.randn(5, 6, dtype=torch.double)
    rotary = Rotary(500.0, YarnScaling(original=40, length=length))
    found = rotate_by_position(x, torch.arange(100, 105), rotary)
    torch.testing.assert_close(found.norm(dim=-1), expected * x.norm(dim=-1))
    assert torch.equal(rotary.turn(x, 100), found)


@pytest.mark.parametrize("base", [20.0, 1e9])
def test_yarn_takes_heads_in_which_all_pairs_are_fast_or_all_are_slow(base):
    ratio = Rotary(base).angles(torch.tensor([1]), 4) / Rotary(base, YarnScaling(original=8)).angles(
        torch.tensor([1]), 4
    )
    assert ratio.isfinite().all()
    assert ((ratio >= 1) & (ratio <= 4)).all()


def test_kept_tables_serve_every_mode_dtype_and_length():
    kept_table.cache_clear()
    layer, x = MultiHeadAttention(8, 2, rotary=True), torch.randn(1, 70, 8)
    with torch.inference_mode():
        first = layer(x[:, :3])
    y = x.clone().requires_grad_()
    torch.testing.assert_close(layer(y[:, :3]), first)
    assert torch.autograd.grad(layer(y).sum(), y)[0].isfinite().all()
    torch.testing.assert_close(layer.double()(x.double()).float(), layer.float()(x))


def test_kept_angles_are_those_of_the_positions_wherever_sections_begin():
    rotary, width = Rotary(100.0), 6
    for start in (0, 1, 63, 64, 65, 2**20 - 1):
        for count in (1, 2, 64, 129):
            x = torch.randn(1, count, width)
            expected = rotate_by_position(x, torch.arange(start, start + count), rotary)
            assert torch.equal(rotary.turn(x, start), expected)
            rows = sinusoidal_positions(200, width)[min(start, 50) : min(start, 50) + count]
            assert torch.equal(waves_like(x[:, : len(rows)], min(start, 50)), rows)


def test_far_tokens_need_angles_for_themselves_alone_and_all_layers_share_them():
    kept_table.cache_clear()
    layers = [MultiHeadAttention(8, 2, rotary=True, window=3) for _ in range(4)]
    for layer in layers:
        cache = KVCache(layer, 1, 9)
        cache.num_seen = 2**20
        with torch.no_grad():
            for token in torch.randn(1, 5, 8).split(1, dim=1):
                layer(token, cache=cache, is_causal=True)
    place = (torch.device("cpu"), 4, torch.float32)
    cos, sin = kept_table(Rotary.cos_and_sin, Rotary(), 2**20, 2**20 + 64, *place)
    assert cos.shape == sin.shape == (64, 4)
    assert kept_table.cache_info().currsize == 1
