"""A window: no query sees further back, no more memory is needed than for it, and a cache forgets."""

import pytest
import torch
import torch._dynamo.testing
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from mha_lib import KVCache, MultiHeadAttention, causal_mask

B, N, H, D, W = 2, 11, 3, 12, 4


def test_the_mask_of_a_window_is_a_band():
    rows = ["1000000", "1100000", "1110000", "0111000", "0011100"]
    expected = torch.tensor([[int(c) for c in row] for row in rows]).bool()
    assert torch.equal(causal_mask(5, 5, window=3), expected[:, :5])
    assert torch.equal(causal_mask(2, 5, window=3), expected[3:, :5])
    assert torch.equal(causal_mask(5, 5, window=9), causal_mask(5, 5))


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


@pytest.mark.parametrize("sinks", [False, True])
def test_memory_grows_with_the_tokens_and_not_with_their_square(sinks):
    layer = MultiHeadAttention(8, 2, window=16, sinks=sinks)
    largest = []
    for num_tokens in (1024, 2048):
        x = torch.randn(1, num_tokens, 8, requires_grad=True)
        with Largest() as seen:
            layer(x, is_causal=True).sum().backward()
        largest.append(seen.count)
    assert largest[1] <= 2 * largest[0]
    assert largest[1] <= 2048 * 2 * (64 + sinks)  # each query and the keys of two blocks


def test_windows_take_any_length_in_one_graph():
    layer = MultiHeadAttention(8, 2, window=5, rotary=True).eval()
    sizes = {0: torch.export.Dim("batch", min=2), 1: torch.export.Dim("tokens", min=2)}
    program = torch.export.export(layer, (torch.randn(2, 9, 8),), dynamic_shapes={"queries": sizes}).module()
    graphs = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(layer, backend=graphs, dynamic=True, fullgraph=True)
    for num_tokens in (3, 64, 200):
        x = torch.randn(4, num_tokens, 8)
        torch.testing.assert_close(program(x), layer(x))
        torch.testing.assert_close(compiled(x), layer(x))
    assert graphs.frame_count == 1


@torch.no_grad()
def test_a_cache_with_a_window_goes_on_for_ever_in_the_memory_of_three_windows():
    layer = MultiHeadAttention(D, H, rotary=True, window=W)
    x = torch.randn(B, 50, D)
    cache = KVCache(layer, B, 3 * W)
    steps = torch.cat([layer(token, cache=cache, is_causal=True) for token in x.split(1, dim=1)], dim=1)
    torch.testing.assert_close(steps, layer(x, is_causal=True))
    assert cache.keys.shape == (B, H, 3 * W, D // H)
    cache = KVCache(layer, B, 1000)
    layer(x, cache=cache, is_causal=True)
    assert cache.keys.shape[2] == 3 * W
