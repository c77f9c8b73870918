"""The seam between weights and values: a caller's function acts there, whatever else the call has."""

import torch

from mha_lib import EncoderLayer, LatentAttention, MultiHeadAttention
from tests.mha_lib.bad_calls import BadCalls, assert_refused, each_bad_call

B, N, H, D = 2, 7, 6, 24


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


def test_an_encoder_layer_and_latent_attention_pass_it_on():
    x = torch.randn(B, N, D)
    layer = EncoderLayer(D, H, 5)
    _, weights = layer(x, change_weights=lambda weights, _: weights / 4, need_weights=True)
    torch.testing.assert_close(weights, layer(x, need_weights=True)[1] / 4)
    layer = LatentAttention(D, H, 5, 2)
    for absorb in (False, True):
        _, weights = layer(x, change_weights=lambda w, _: w / 4, need_weights=True, absorb=absorb)
        torch.testing.assert_close(weights, layer(x, need_weights=True)[1] / 4)


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
