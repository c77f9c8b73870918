"""Latent attention: its formula, and its two forms, which give the same."""

import math

import pytest
import torch

from mha_lib import KVCache, LatentAttention, Rotary, causal_mask, rotate_by_position
from tests.mha_lib.layers import PATHS, output_of, with_random_parameters

B, N, H, D, C, R, HEAD, VALUE = 2, 7, 3, 10, 5, 4, 6, 11
FORMS = pytest.mark.parametrize("absorb", [False, True], ids=["expanded", "absorbed"])
KINDS = {"direct queries": {}, "latent queries": {"query_latent_dim": 8, "rotary": Rotary(500, halves=True)}}
OPTIONS = {
    "full": {},
    "lengths": {"valid_lens": torch.tensor([7, 0])},
    "causal, bias": {"is_causal": True, "score_bias": torch.randn(1, H, N, N)},
    "key mask, heads": {"key_mask": torch.rand(B, N) < 0.6, "head_mask": torch.tensor([1.0, 0.0, 3.0])},
    "mask": {"mask": torch.rand(B, H, N, N) < 0.7},
}


def make_layer(kind="direct queries", **options):
    layer = LatentAttention(D, H, C, R, head_dim=HEAD, value_head_dim=VALUE, **KINDS[kind], **options)
    return with_random_parameters(layer).double()


def tokens(**options):
    return torch.randn(B, N, D, dtype=torch.double, **options)


@FORMS
@PATHS
@pytest.mark.parametrize("kind", KINDS)
def test_latent_attention_follows_its_formula(kind, need_weights, absorb):
    layer, x, places = make_layer(kind), tokens(), torch.arange(N)

    def normed(y, norm):
        return y * (y.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * norm.weight

    latent = normed(x @ layer.W_dkv.weight.T, layer.latent_norm)
    turned = rotate_by_position(x @ layer.W_kr.weight.T, places, layer.rotary)
    y = x if kind == "direct queries" else normed(x @ layer.W_dq.weight.T, layer.query_norm)
    heads = []
    for i in range(H):
        part, turning = slice(i * HEAD, (i + 1) * HEAD), slice(i * R, (i + 1) * R)
        query = y @ layer.W_uq.weight[part].T
        turned_query = rotate_by_position(y @ layer.W_qr.weight[turning].T, places, layer.rotary)
        scores = query @ (latent @ layer.W_uk.weight[part].T).mT + turned_query @ turned.mT
        scores = (scores / math.sqrt(HEAD + R)).masked_fill(~causal_mask(N, N), -math.inf)
        heads.append(scores.softmax(-1) @ (latent @ layer.W_uv.weight[i * VALUE : (i + 1) * VALUE].T))
    expected = torch.cat(heads, dim=-1) @ layer.W_o.weight.T
    output = output_of(layer, x, is_causal=True, absorb=absorb, need_weights=need_weights)
    torch.testing.assert_close(output, expected)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_both_forms_give_the_same_output_weights_and_gradients(kind, options):
    layer, x = make_layer(kind), tokens(requires_grad=True)
    wanted = [x, *layer.parameters()]
    found = []
    for absorb in (False, True):
        output, weights = layer(x, absorb=absorb, need_weights=True, **options)
        torch.testing.assert_close(layer(x, absorb=absorb, **options), output)
        found.append([output, weights, *torch.autograd.grad(output.square().sum(), wanted)])
    torch.testing.assert_close(*found)


@torch.no_grad()
@pytest.mark.parametrize("absorb", [False, True, None])
@pytest.mark.parametrize("sizes", [(1,) * N, (3, 1, 3), (N,)])
@pytest.mark.parametrize("kind", KINDS)
def test_steps_give_what_all_tokens_at_once_give(kind, sizes, absorb):
    layer, x = make_layer(kind), tokens()
    cache = KVCache(layer, B, N)
    steps = [layer(chunk, cache=cache, is_causal=True, absorb=absorb) for chunk in x.split(sizes, dim=1)]
    torch.testing.assert_close(torch.cat(steps, dim=1), layer(x, is_causal=True))
    kept = cache.keys[0, :, 0].numel() + cache.values[0, :, 0].numel()
    assert kept == C + R, "what is kept of a token does not depend on the number of heads"


@FORMS
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_bad_numbers_in_padding_reach_no_valid_row_and_no_gradient(absorb, bad):
    layer, x = make_layer("latent queries"), tokens()
    lengths = torch.tensor([N, 4])
    spoilt = x.clone()
    spoilt[1, 4:] = bad
    found = []
    for y in (x.masked_fill((x != spoilt), 0.0), spoilt):
        output = layer(y, lengths, absorb=absorb)
        valid = torch.cat([output[0], output[1, :4]])
        found.append([valid, *torch.autograd.grad(valid.square().sum(), [*layer.parameters()])])
    torch.testing.assert_close(*found)


@FORMS
def test_dropout_is_for_training_only_and_drops_weights(absorb):
    layer, x = make_layer(dropout=1.0), tokens()
    assert not layer(x, absorb=absorb).any()
    assert layer.eval()(x, absorb=absorb).all()


@FORMS
def test_a_head_mask_scales_the_output_of_each_head(absorb):
    layer, x, scales = make_layer(), tokens(), torch.tensor([2.0, 0.0, -1.0])
    output = layer(x, absorb=absorb, head_mask=scales)
    with torch.no_grad():
        layer.W_o.weight.mul_(scales.repeat_interleave(VALUE))  # the columns of each head
    torch.testing.assert_close(layer(x, absorb=absorb), output)


@FORMS
def test_what_a_mask_forbids_gets_no_weight(absorb):
    mask, key_mask = torch.rand(B, H, N, N) < 0.7, torch.rand(B, N) < 0.6
    _, weights = make_layer()(tokens(), mask=mask, key_mask=key_mask, absorb=absorb, need_weights=True)
    assert torch.equal(weights > 0, mask & key_mask[:, None, None])


@FORMS
@torch.no_grad()
def test_a_key_that_came_as_padding_may_be_seen_later(absorb):
    layer, x, key_mask = make_layer(), tokens(), torch.ones(B, 5, dtype=torch.bool)
    key_mask[1, 2:4] = False
    cache = KVCache(layer, B, N)
    layer(x[:, :5], cache=cache, key_mask=key_mask, is_causal=True, absorb=absorb)
    output = layer(x[:, 5:], cache=cache, is_causal=True, absorb=absorb)
    torch.testing.assert_close(output, layer(x, is_causal=True)[:, 5:])


@torch.no_grad()
def test_keys_are_expanded_for_many_tokens_and_not_for_one_beside_many_in_a_cache():
    layer, x, expanded = make_layer(), tokens(), []
    layer.W_uk.register_forward_hook(lambda module, inputs, output: expanded.append(output.shape[1]))
    cache = KVCache(layer, B, N)
    for chunk in x.split([5, 1, 1], dim=1):
        layer(chunk, cache=cache, is_causal=True)
    assert expanded == [5]
