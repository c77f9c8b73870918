"""The seam between weights and values: a caller's function acts there, whatever else the call has."""

import pytest
import torch

from mha_lib import EncoderLayer, KVCache, LatentAttention, MultiHeadAttention, alibi_slopes, causal_mask
from tests.mha_lib.bad_calls import BadCalls, assert_refused, each_bad_call
from tests.mha_lib.layers import PATHS, output_of

B, N, H, D = 2, 7, 6, 24
LAYERS = {
    "plain": {},
    "biased, wider values": {"bias": True, "value_head_dim": 3},
    "shared keys": {"num_kv_heads": 2},
    "rotary, norms": {"rotary": True, "qk_norm": True},
    "window": {"window": 3},
}
CALLS = {
    "full": {},
    "lengths": {"valid_lens": torch.tensor([7, 4])},
    "lengths below K": {"valid_lens": torch.tensor([2, 5])},
    "causal, lengths": {"valid_lens": torch.tensor([7, 0]), "is_causal": True},
    "key mask, bias": {"key_mask": torch.rand(B, N) < 0.6, "score_bias": torch.randn(1, H, N, N)},
    "head mask": {"head_mask": torch.tensor([1.0, 0, 1, 2, 1, 1])},
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("kind", LAYERS)
def test_weights_that_stay_as_they_are_change_nothing(kind, call):
    layer, x = MultiHeadAttention(D, H, **LAYERS[kind]), torch.randn(B, N, D)
    output, weights = layer(x, change_weights=lambda weights, allowed: weights, need_weights=True, **call)
    expected, expected_weights = layer(x, need_weights=True, **call)
    torch.testing.assert_close((output, weights), (expected, expected_weights))
    torch.testing.assert_close(layer(x, change_weights=lambda weights, allowed: weights, **call), expected)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("kind", LAYERS)
def test_the_function_learns_which_keys_are_allowed(kind, call):
    layer, x = MultiHeadAttention(D, H, **LAYERS[kind]), torch.randn(B, N, D)
    seen = []

    def look(weights, allowed):
        seen.append((weights.clone(), allowed.clone()))
        return weights

    layer(x, change_weights=look, **call)
    ((weights, allowed),) = seen
    assert weights.shape == allowed.shape == (B, H, N, N)
    assert allowed.dtype == torch.bool
    assert torch.equal(weights > 0, allowed)


@PATHS
@pytest.mark.parametrize("kind", LAYERS)
def test_changed_weights_meet_the_values_of_their_own_head(kind, need_weights):
    """Weights of 1 for the first key: each head gives the first value, as a layer with that key alone."""
    layer, x = MultiHeadAttention(D, H, **LAYERS[kind]), torch.randn(B, N, D)

    def first(weights, allowed):
        return torch.zeros_like(weights).index_fill(3, torch.tensor([0]), 1.0)

    output = output_of(layer, x, change_weights=first, need_weights=need_weights)
    torch.testing.assert_close(output[:, :1], layer(x[:, :1]))
    torch.testing.assert_close(output, output[:, :1].expand(-1, N, -1))


def test_changed_weights_are_returned_dropped_and_differentiated():
    layer, x = MultiHeadAttention(D, H, dropout=1.0, bias=True), torch.randn(B, N, D)
    output, weights = layer(x, change_weights=lambda weights, _: weights / 2, need_weights=True)
    torch.testing.assert_close(weights.sum(-1), torch.full((B, H, N), 0.5))
    torch.testing.assert_close(output, layer.W_o.bias.expand(B, N, D))  # every weight was dropped
    gate = torch.ones(H, 1, 1, requires_grad=True)
    layer.eval()(x, change_weights=lambda weights, _: weights * gate).sum().backward()
    by_mask = torch.ones(H, requires_grad=True)
    layer(x, head_mask=by_mask).sum().backward()
    torch.testing.assert_close(gate.grad[:, 0, 0], by_mask.grad)


@torch.no_grad()
@pytest.mark.parametrize("kind", LAYERS)
def test_the_function_sees_the_keys_that_a_cache_holds(kind):
    layer, x = MultiHeadAttention(D, H, **LAYERS[kind]), torch.randn(B, N, D)

    def even(weights, allowed):
        return allowed / allowed.sum(-1, keepdim=True)

    expected = layer(x, is_causal=True, change_weights=even)
    cache, parts = KVCache(layer, B, N), []
    for chunk in x.split([2, 1, 4], dim=1):
        parts.append(layer(chunk, cache=cache, is_causal=True, change_weights=even))
    torch.testing.assert_close(torch.cat(parts, dim=1), expected)


def test_an_encoder_layer_and_latent_attention_pass_it_on():
    x = torch.randn(B, N, D)
    layer = EncoderLayer(D, H, 5)
    _, weights = layer(x, change_weights=lambda weights, _: weights / 4, need_weights=True)
    torch.testing.assert_close(weights, layer(x, need_weights=True)[1] / 4)
    layer = LatentAttention(D, H, 5, 2)
    for absorb in (False, True):
        _, weights = layer(x, change_weights=lambda w, _: w / 4, need_weights=True, absorb=absorb)
        torch.testing.assert_close(weights, layer(x, need_weights=True)[1] / 4)


DISTANCE = torch.arange(N)[:, None] - torch.arange(N)
ALIBI = -alibi_slopes(H)[None, :, None, None] * DISTANCE.abs()


@pytest.mark.parametrize(
    "options",
    [
        {"valid_lens": torch.tensor([7, 4])},
        {"valid_lens": torch.tensor([2, 5])},
        {"score_bias": ALIBI, "mask": causal_mask(N, N)},
    ],
    ids=["lengths", "lengths below K", "bias, mask"],
)
def test_doubled_weights_double_the_output_on_every_way(attend, options):
    layer, x = MultiHeadAttention(D, H), torch.randn(B, N, D)
    doubled = attend(layer, x, change_weights=lambda weights, _: 2 * weights, **options)
    torch.testing.assert_close(doubled, 2 * attend(layer, x, **options))


LAYER, X = MultiHeadAttention(D, H), torch.zeros(B, N, D)
# fmt: off
BAD_CALLS: BadCalls = {
    "nothing returned": (lambda: LAYER(X, change_weights=lambda w, _: None), TypeError,
        "change_weights must return weights, got NoneType; return a tensor like the weights"),
    "another shape": (lambda: LAYER(X, change_weights=lambda w, _: w[:, :1]), ValueError,
        "change_weights must return torch.float32 of shape (2, 6, 7, 7) … got … of shape (2, 1, 7, 7)"),
    "another dtype": (lambda: LAYER(X, change_weights=lambda w, _: w.double()), ValueError,
        "change_weights … got torch.float64 of shape … return a tensor like the weights"),
}
# fmt: on


@each_bad_call(BAD_CALLS)
def test_a_bad_call_says_what_came_and_the_way_out(call, error, words):
    assert_refused(call, error, words)
