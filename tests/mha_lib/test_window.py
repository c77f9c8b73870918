"""A window: no query sees further back, no more memory is needed than for it, and a cache forgets."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from mha_lib import KVCache, MultiHeadAttention, causal_mask
from tests.mha_lib.bad_calls import BadCalls, assert_refused, each_bad_call
from tests.mha_lib.layers import PATHS, output_of

B, N, H, D, W = 2, 11, 3, 12, 4
KINDS = {
    "plain": {},
    "shared keys, bias": {"num_kv_heads": 1, "bias": True},
    "rotary": {"rotary": True},
    "rotary, norms": {"rotary": True, "qk_norm": True},
}


def pair(kind, window):
    """Return a layer with a window, and the same layer without."""
    layer, whole = (
        MultiHeadAttention(D, H, window=window, **KINDS[kind]),
        MultiHeadAttention(D, H, **KINDS[kind]),
    )
    whole.load_state_dict(layer.state_dict())
    return layer, whole


def test_the_mask_of_a_window_is_a_band():
    rows = ["1000000", "1100000", "1110000", "0111000", "0011100"]
    expected = torch.tensor([[int(c) for c in row] for row in rows]).bool()
    assert torch.equal(causal_mask(5, 5, window=3), expected[:, :5])
    assert torch.equal(causal_mask(2, 5, window=3), expected[3:, :5])
    assert torch.equal(causal_mask(5, 5, window=9), causal_mask(5, 5))


@pytest.mark.parametrize("window", [1, 2, W, N - 1, N, 99])
@pytest.mark.parametrize("kind", KINDS)
def test_a_window_is_the_mask_of_that_band(attend, kind, window):
    layer, whole = pair(kind, window)
    x = torch.randn(B, N, D, requires_grad=True)
    options = {"valid_lens": torch.tensor([N, 5])}
    output = attend(layer, x, is_causal=True, **options)
    expected = attend(whole, x, mask=causal_mask(N, N, window=window), **options)
    torch.testing.assert_close(output, expected)
    (found,) = torch.autograd.grad(output.square().sum(), x)
    torch.testing.assert_close(found, torch.autograd.grad(expected.square().sum(), x)[0])


def test_without_causality_only_the_past_is_cut(attend):
    layer, whole = pair("plain", W)
    x = torch.randn(B, N, D)
    mask = torch.ones(N, N).triu(1 - W).bool()
    torch.testing.assert_close(attend(layer, x), attend(whole, x, mask=mask))
    other = torch.rand(N, N) < 0.8
    torch.testing.assert_close(attend(layer, x, mask=other), attend(whole, x, mask=mask & other))


def test_more_keys_than_queries_lengths_and_biases_move_along(attend):
    layer, whole = pair("plain", W)
    queries, keys = torch.randn(B, 5, D), torch.randn(B, N, D)
    for options in (
        {"valid_lens": torch.tensor([[9, 8, 11, 3, 7], [6, 11, 0, 1, 10]])},
        {"key_mask": torch.rand(B, N) < 0.7},
        {"score_bias": torch.randn(B, H, 5, N)},
        {"mask": torch.rand(B, H, 5, N) < 0.8},
    ):
        expected = attend(whole, queries, keys, **whole_options(options))
        torch.testing.assert_close(attend(layer, queries, keys, is_causal=True, **options), expected)


def whole_options(options):
    band = causal_mask(5, N, window=W)
    return options | {"mask": options["mask"] & band if "mask" in options else band}


class Largest(TorchDispatchMode):
    """Watches how many numbers the largest tensor of a computation has."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        sizes = [x.numel() for x in tree_leaves(result) if isinstance(x, torch.Tensor)]
        self.count = max([self.count, *sizes])
        return result


def test_memory_grows_with_the_tokens_and_not_with_their_square():
    layer = MultiHeadAttention(8, 2, window=16)
    largest = []
    for num_tokens in (1024, 2048):
        x = torch.randn(1, num_tokens, 8, requires_grad=True)
        with Largest() as seen:
            layer(x, is_causal=True).sum().backward()
        largest.append(seen.count)
    assert largest[1] <= 2 * largest[0]
    assert largest[1] < 2048 * 2048 / 20


@PATHS
@torch.no_grad()
@pytest.mark.parametrize("sizes", [(1,) * N, (3, 1, 1, 6), (9, 2), (11,), (1, 10)])
@pytest.mark.parametrize("kind", KINDS)
def test_steps_give_what_all_tokens_at_once_give_though_the_cache_forgets(kind, sizes, need_weights):
    layer, _ = pair(kind, W)
    x = torch.randn(B, N, D)
    expected = layer(x, is_causal=True)
    cache, parts, seen = KVCache(layer, B, N), [], 0
    for chunk in x.split(sizes, dim=1):
        parts.append(output_of(layer, chunk, cache=cache, is_causal=True, need_weights=need_weights))
        seen += chunk.shape[1]
        assert len(cache) == min(seen, W - 1)
    torch.testing.assert_close(torch.cat(parts, dim=1), expected)


@torch.no_grad()
def test_a_cache_with_a_window_goes_on_for_ever_in_the_memory_of_two_windows():
    layer, _ = pair("rotary", W)
    x = torch.randn(B, 50, D)
    cache = KVCache(layer, B, 2 * W)
    steps = torch.cat([layer(token, cache=cache, is_causal=True) for token in x.split(1, dim=1)], dim=1)
    torch.testing.assert_close(steps, layer(x, is_causal=True))
    assert cache.keys.shape == (B, H, 2 * W, D // H)
    cache = KVCache(layer, B, 1000)
    layer(x, cache=cache, is_causal=True)
    assert cache.keys.shape[2] == 2 * W


# fmt: off
BAD_CALLS: BadCalls = {
    "no window": (lambda: MultiHeadAttention(D, H, window=0), ValueError, "window must be at least 1, got 0"),
    "a float": (lambda: MultiHeadAttention(D, H, window=2.0), TypeError,
        "window must be an integer, got 2.0; try int(window)"),
    "of a mask": (lambda: causal_mask(3, 3, window=0), ValueError, "window must be at least 1, got 0"),
}
# fmt: on


@each_bad_call(BAD_CALLS)
def test_a_bad_call_says_what_came_and_the_way_out(call, error, words):
    assert_refused(call, error, words)
