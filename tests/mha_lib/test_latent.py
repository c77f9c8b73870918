"""Latent attention: each of its two forms gives what its formula gives."""

import math

import pytest
import torch

from mha_lib import KVCache, LatentAttention, Rotary, rotate_by_position
from tests.mha_lib.layers import allowed_by, assert_padding_reaches_nothing, with_random_parameters

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


def formula(layer, x, *, score_bias=0.0, head_mask=None, **limits):
    """Return the output and the weights that the docstring of the layer promises."""

    def normed(y, norm):
        return y * (y.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * norm.weight

    places, allowed = torch.arange(N), allowed_by(None, B, N, N, **limits).expand(B, H, N, N)
    latent = normed(x @ layer.W_dkv.weight.T, layer.latent_norm)
    turned = rotate_by_position(x @ layer.W_kr.weight.T, places, layer.rotary)
    y = x if layer.query_latent_dim is None else normed(x @ layer.W_dq.weight.T, layer.query_norm)
    scores, values = [], []
    for i in range(H):
        part, turning = slice(i * HEAD, (i + 1) * HEAD), slice(i * R, (i + 1) * R)
        query = y @ layer.W_uq.weight[part].T
        turned_query = rotate_by_position(y @ layer.W_qr.weight[turning].T, places, layer.rotary)
        scores.append(query @ (latent @ layer.W_uk.weight[part].T).mT + turned_query @ turned.mT)
        values.append(latent @ layer.W_uv.weight[i * VALUE : (i + 1) * VALUE].T)
    shares = (torch.stack(scores, 1) / math.sqrt(HEAD + R) + score_bias).exp() * allowed
    weights = shares / shares.sum(-1, keepdim=True).clamp(min=1e-30)  # a row of nothing is a row of zeros
    scales = torch.ones(H) if head_mask is None else head_mask
    heads = weights @ torch.stack(values, 1) * scales[:, None, None]
    return heads.transpose(1, 2).flatten(2) @ layer.W_o.weight.T, weights


@FORMS
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_latent_attention_follows_its_formula(kind, options, absorb):
    layer, x = make_layer(kind), tokens(requires_grad=True)
    wanted, found = [x, *layer.parameters()], layer(x, absorb=absorb, need_weights=True, **options)
    expected = formula(layer, x, **options)
    torch.testing.assert_close(found, expected)
    for output in (found[0], layer(x, absorb=absorb, **options)):
        torch.testing.assert_close(output, expected[0])
        gradients = (
            torch.autograd.grad(each.square().sum(), wanted, retain_graph=True)
            for each in (output, expected[0])
        )
        torch.testing.assert_close(*gradients)


@FORMS
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_bad_numbers_in_padding_reach_no_valid_row_and_no_gradient(absorb, bad):
    def attend(layer, x, **limits):
        return layer(x, absorb=absorb, **limits)

    layer = make_layer("latent queries").float()
    assert_padding_reaches_nothing(layer, attend, bad, with_key_mask=False)


@FORMS
def test_dropout_is_for_training_only_and_drops_weights(absorb):
    layer, x = make_layer(dropout=1.0), tokens()
    assert not layer(x, absorb=absorb).any()
    assert layer.eval()(x, absorb=absorb).all()


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
    project = layer.project
    layer.project = lambda *args: expanded.append(not args[-1]) or project(*args)
    cache = KVCache(layer, B, N)
    for chunk in x.split([5, 1, 1], dim=1):
        layer(chunk, cache=cache, is_causal=True)
    assert expanded == [True, False, False]
    kept = cache.keys[0, :, 0].numel() + cache.values[0, :, 0].numel()
    assert kept == C + R, "what is kept of a token does not depend on the number of heads"


def test_what_is_more_than_its_weight_is_not_absorbed():
    layer, x = make_layer(), tokens()
    layer.W_uv.register_forward_hook(lambda module, inputs, output: 2 * output)
    with pytest.raises(TypeError, match="W_uv of the layer must be without hooks"):
        layer(x, absorb=True)
