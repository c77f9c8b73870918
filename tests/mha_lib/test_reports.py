"""Situations from public reports on attention libraries, each with the right value or a refusal."""

import copy
import pickle

import pytest
import torch
from torch import nn
from torch.nn.attention.bias import causal_lower_right
from torch.nn.utils import prune
from torch.utils.checkpoint import checkpoint

from mha_lib import (
    EncoderLayer,
    KVCache,
    LatentAttention,
    Llama3Scaling,
    MultiHeadAttention,
    Rotary,
    YarnScaling,
    prune_heads,
)
from tests.mha_lib.layers import with_random_parameters

D, H = 16, 4


def filled(layer, x):
    cache = KVCache(layer, len(x), 12)
    layer(x, cache=cache, is_causal=True)
    return cache


def hooked(layer):
    layer.W_v.register_forward_hook(lambda module, inputs, output: 3 * output)


def pruned(layer):
    prune.l1_unstructured(layer.W_v, "weight", 0.5)


def with_a_forward_of_its_own(layer):
    layer.W_v.forward = lambda x: x


@pytest.mark.parametrize("change", [hooked, pruned, with_a_forward_of_its_own])
@pytest.mark.parametrize(
    "convert",
    [
        MultiHeadAttention.to_torch,
        lambda layer: prune_heads(layer, [0]),
        lambda layer: MultiHeadAttention.from_multi_head(layer, 2),
    ],
)
def test_what_a_projection_computes_beside_its_weight_is_not_lost(change, convert):
    layer = MultiHeadAttention(D, H)
    change(layer)
    with pytest.raises(TypeError, match="W_v of the layer must"):
        convert(layer)


@pytest.mark.parametrize(
    "scaling", [1.0, 3.0, Llama3Scaling(original=20), YarnScaling(40), YarnScaling(40, length=2.0)]
)
@pytest.mark.parametrize("kind", [MultiHeadAttention, LatentAttention])
@torch.no_grad()
def test_first_keys_move_by_any_scaling_and_keep_their_length(scaling, kind):
    sizes, rotary = (D, H) if kind is MultiHeadAttention else (D, H, 6, 4), Rotary(scaling=scaling)
    layer, x = with_random_parameters(kind(*sizes, rotary=rotary)).double(), torch.randn(2, 9, D).double()
    cache = filled(layer, x[:, :8])
    cache.keep(first=2, last=3)
    expected = layer(x[:, [0, 1, 5, 6, 7, 8]], is_causal=True)[:, -1:]
    torch.testing.assert_close(layer(x[:, 8:], cache=cache, is_causal=True), expected)


@pytest.mark.parametrize(
    "copied",
    [KVCache.copy, copy.copy, copy.deepcopy, lambda cache: pickle.loads(pickle.dumps(cache))],
    ids=["copy", "copy.copy", "deepcopy", "pickle"],
)
@torch.no_grad()
def test_copies_of_a_cache_go_on_by_themselves_with_the_same_layer(copied):
    layer, x = MultiHeadAttention(D, H, rotary=True).eval(), torch.randn(2, 5, D)
    cache = filled(layer, x[:, :3])
    first, second = copied(cache), copied(cache)
    for token, each in ((3, first), (4, second), (4, first), (3, second)):
        order = [0, 1, 2, 3, 4] if each is first else [0, 1, 2, 4, 3]
        found = layer(x[:, token : token + 1], cache=each, is_causal=True)
        expected = layer(x[:, order[: len(each)]], is_causal=True)[:, -1:]
        torch.testing.assert_close(found, expected)
    assert len(cache) == 3
    with pytest.raises(ValueError, match="must have been made for this layer"):
        MultiHeadAttention(D, H, rotary=True)(x, cache=first)
    with pytest.raises(ValueError, match=r"got 2 of 8|made for this layer"):
        MultiHeadAttention(D, 2, rotary=True)(x[:, :1], cache=copied(cache))


def test_a_model_and_its_cache_are_copied_together():
    layer, x = MultiHeadAttention(D, H), torch.randn(2, 3, D)
    with torch.no_grad():
        other, cache = copy.deepcopy([layer, filled(layer, x)])
        expected = layer(torch.cat([x, x[:, :1]], dim=1), is_causal=True)[:, -1:]
        torch.testing.assert_close(other(x[:, :1], cache=cache, is_causal=True), expected)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_a_cache_does_not_grow_once_more_inside_a_backward_pass(use_reentrant):
    layer, x = MultiHeadAttention(D, H), torch.randn(1, 6, D, requires_grad=True)
    layer.W_k.requires_grad_(False)
    layer.W_v.requires_grad_(False)
    memory, cache = torch.randn(1, 3, D), KVCache(layer, 1, 6)
    output = checkpoint(lambda q: layer(q, memory, cache=cache), x, use_reentrant=use_reentrant)
    with pytest.raises(RuntimeError, match="cache must not grow inside a backward pass"):
        output.sum().backward()


@pytest.mark.parametrize("kind", [MultiHeadAttention, LatentAttention, EncoderLayer])
@torch.no_grad()
def test_samples_padded_on_the_right_are_written_as_if_they_were_alone(kind):
    sizes = {MultiHeadAttention: (D, H), LatentAttention: (D, H, 6, 4), EncoderLayer: (D, H, 9)}[kind]
    layer = kind(*sizes) if kind is LatentAttention else kind(*sizes, rotary=True)
    layer, x = layer.double(), torch.randn(2, 6, D).double()
    cache = KVCache(getattr(layer, "self_attention", layer), 2, 6)
    there = torch.tensor([[True] * 3 + [False] * 2, [True] * 5])
    layer(x[:, :5], key_mask=there, cache=cache, is_causal=True)
    there, places = torch.cat([there, there[:, :1]], 1), torch.tensor([[3], [5]])
    found = layer(x[:, 5:], key_mask=there, cache=cache, is_causal=True, positions=places)
    for sample, kept in enumerate(there):
        alone = layer(x[sample : sample + 1, kept], is_causal=True)[0, -1:]
        torch.testing.assert_close(found[sample], alone)


@pytest.mark.parametrize("need_weights", [False, True])
def test_positions_of_each_sample_turn_its_queries_and_keys(need_weights):
    layer = MultiHeadAttention(D, H, num_kv_heads=2, rotary=Rotary(halves=True))
    x, valid_lens = torch.randn(2, 5, D), torch.tensor([3, 5])
    places = torch.tensor([[0, 1, 2, 0, 1], [4, 3, 0, 9, 1]])
    found = layer(x, valid_lens=valid_lens, positions=places, need_weights=need_weights)
    spread = torch.zeros(1, 10, D)
    spread[0, places[1]] = x[1]
    key_mask = torch.zeros(1, 10, dtype=torch.bool)
    key_mask[0, places[1]] = True
    expected = layer(spread, key_mask=key_mask)[0, places[1]]
    torch.testing.assert_close((found[0] if need_weights else found)[1], expected)


def test_nan_in_padding_reaches_nothing_where_a_hook_makes_each_input_another_tensor():
    layer, x = MultiHeadAttention(D, H), torch.randn(1, 4, D)
    x[:, 3] = torch.nan
    layer.register_full_backward_hook(lambda *_: None)
    layer(x.requires_grad_(), x, x, torch.tensor([3]))[:, :3].sum().backward()
    assert all(p.grad.isfinite().all() for p in layer.parameters())


def test_sinks_that_were_made_on_the_meta_device_are_filled():
    layer = MultiHeadAttention(D, H, sinks=True, device="meta").to_empty(device="cpu")
    layer.sink_logits.data.fill_(torch.nan)
    layer.reset_parameters()
    assert not layer.sink_logits.any()


@torch.no_grad()
def test_what_a_window_has_forgotten_is_taken_off_lengths_and_masks_as_the_error_says():
    layer, x, lengths = MultiHeadAttention(D, H, window=4), torch.randn(1, 8, D), torch.tensor([5])
    key_mask = torch.arange(8)[None] < 5
    expected = layer(x, valid_lens=lengths, is_causal=True)[:, 7:]
    for hint, wrong, right in (
        (r"\(valid_lens - 4\)", {"valid_lens": lengths}, {"valid_lens": (lengths - 4).clamp(0)}),
        (r"key_mask\[:, 4:\]", {"key_mask": key_mask}, {"key_mask": key_mask[:, 4:]}),
    ):
        cache = filled(layer, x[:, :7])
        with pytest.raises(ValueError, match=hint):
            layer(x[:, 7:], cache=cache, is_causal=True, **wrong)
        torch.testing.assert_close(layer(x[:, 7:], cache=cache, is_causal=True, **right), expected)


class BlockMask:
    pass


X, LAYER = torch.zeros(2, 5, D), MultiHeadAttention(D, H)
REFUSED = {
    "must not be traced by torch.jit": lambda: torch.jit.trace(lambda x: LAYER(x), X),
    "got a Proxy of torch.fx.*leaf": lambda: torch.fx.symbolic_trace(nn.Sequential(LAYER)),
    "got a CausalBias; try is_causal=True": lambda: LAYER(X, mask=causal_lower_right(5, 5)),
    "got a BlockMask; try create_mask": lambda: LAYER(X, mask=BlockMask()),
    r"\(B\*H, Q, K\): mask.unflatten\(0, \(2, 4\)\)": lambda: LAYER(X, mask=torch.ones(8, 5, 5).bool()),
    r"try valid_lens\[::4\]": lambda: LAYER(X, valid_lens=torch.ones(8).long()),
    "positions must be integers": lambda: MultiHeadAttention(D, H, rotary=True)(
        X, positions=torch.ones(2, 4)
    ),
    "positions must be those of self-attention": lambda: LAYER(X, positions=torch.ones(2, 5).long()),
}


@pytest.mark.parametrize("words", REFUSED)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch.jit
def test_a_call_that_fits_other_libraries_is_refused_with_a_way_out(words):
    with pytest.raises((TypeError, ValueError), match=words):
        REFUSED[words]()
