"""Keys and values kept from call to call give the numbers of one call, with every other argument."""

import pytest
import torch

from mha_lib import KVCache, MultiHeadAttention
from tests.mha_lib.layers import PATHS, output_of

B, N, M, H, D = 2, 7, 5, 6, 24

LAYERS = {
    "plain": {},
    "biased": {"bias": True, "value_head_dim": 3},
    "shared keys": {"num_kv_heads": 2},
    "rotary": {"rotary": True},
    "rotary, shared keys": {"rotary": True, "num_kv_heads": 3},
}


@pytest.fixture(autouse=True)
def without_gradients():
    with torch.no_grad():
        yield


def make_layer(kind):
    return MultiHeadAttention(D, H, **LAYERS[kind])


def in_chunks(layer, x, sizes=(3, 4), cache=None, **arguments):
    """Call ``layer`` with a few tokens at a time."""
    cache = KVCache(layer, len(x), x.shape[1]) if cache is None else cache
    outputs = [layer(chunk, cache=cache, **arguments) for chunk in x.split(sizes, dim=1)]
    return torch.cat(outputs, dim=1)


def test_without_causality_a_chunk_sees_all_that_is_held():
    layer, x = make_layer("plain"), torch.randn(B, N, D)
    output = in_chunks(layer, x)
    torch.testing.assert_close(output[:, :3], layer(x[:, :3]))
    torch.testing.assert_close(output[:, 3:], layer(x[:, 3:], x))


@PATHS
@pytest.mark.parametrize("kind", ["plain", "biased", "shared keys"])
def test_fixed_keys_of_cross_attention_are_given_once(kind, need_weights):
    layer, x, memory = make_layer(kind), torch.randn(B, N, D), torch.randn(B, M, D)
    cache, projected = KVCache(layer, B, M), []
    layer.W_k.register_forward_hook(lambda module, inputs, output: projected.append(output.shape[1]))
    expected = layer(x, memory)
    projected.clear()
    for i in range(N):
        new = memory if i == 0 else memory[:, :0]
        output = output_of(layer, x[:, i : i + 1], new, cache=cache, need_weights=need_weights)
        torch.testing.assert_close(output, expected[:, i : i + 1])
        assert len(cache) == M
    assert projected == [M] + [0] * (N - 1)


def test_keys_and_values_of_their_own_may_be_kept():
    layer = MultiHeadAttention(D, H, key_size=3, value_size=4)
    x, keys, values = torch.randn(B, N, D), torch.randn(B, N, 3), torch.randn(B, N, 4)
    cache = KVCache(layer, B, N)
    layer(x, keys[:, :4], values[:, :4], cache=cache)
    output = layer(x, keys[:, 4:], values[:, 4:], cache=cache)
    torch.testing.assert_close(output, layer(x, keys, values))


def test_the_room_is_taken_once_and_shared_heads_need_less():
    bytes_kept = {}
    for num_kv_heads in (6, 2, 1):
        layer = MultiHeadAttention(D, H, num_kv_heads=num_kv_heads)
        cache = KVCache(layer, B, 100)
        rooms = set()
        for i in range(3):
            layer(torch.randn(B, 1, D), cache=cache)
            rooms.add(cache.keys.data_ptr())
            assert len(cache) == i + 1
        cache.reset()
        layer(torch.randn(B, 1, D), cache=cache)
        assert rooms == {cache.keys.data_ptr()}
        bytes_kept[num_kv_heads] = cache.keys.nbytes + cache.values.nbytes
    assert bytes_kept == {g: 2 * B * g * 100 * (D // H) * 4 for g in (6, 2, 1)}


def test_a_cache_that_was_filled_in_inference_mode_goes_on_outside_it():
    layer, x = make_layer("plain"), torch.randn(B, N, D)
    cache = KVCache(layer, B, N)
    with torch.inference_mode():
        first = layer(x[:, :3], cache=cache, is_causal=True)
    rest = layer(x[:, 3:], cache=cache, is_causal=True)
    torch.testing.assert_close(torch.cat([first, rest], dim=1), layer(x, is_causal=True))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_the_cache_holds_what_the_layer_computes_in(dtype):
    layer, x = MultiHeadAttention(D, H, dtype=dtype), torch.randn(B, N, D, dtype=dtype)
    cache = KVCache(layer, B, N)
    output = in_chunks(layer, x, cache=cache, is_causal=True)
    assert cache.keys.dtype == cache.values.dtype == dtype
    tolerance = {"atol": 2e-2, "rtol": 2e-2} if dtype == torch.bfloat16 else {}
    torch.testing.assert_close(output, layer(x, is_causal=True), **tolerance)


def test_after_a_reset_the_dtype_may_be_another_one():
    layer, x = make_layer("plain"), torch.randn(B, N, D)
    cache = KVCache(layer, B, N)
    layer(x, cache=cache)
    cache.reset()
    with torch.autocast("cpu", torch.bfloat16):
        output = in_chunks(layer, x, cache=cache, is_causal=True)
        expected = layer(x, is_causal=True)
    assert cache.keys.dtype == torch.bfloat16
    torch.testing.assert_close(output, expected, atol=2e-2, rtol=2e-2)


def test_steps_compile_to_one_graph():
    layer, x = make_layer("rotary, shared keys"), torch.randn(B, N, D)
    torch.compiler.reset()
    compiled, cache = torch.compile(layer, fullgraph=True, backend="aot_eager"), KVCache(layer, B, N)
    parts = [compiled(part, cache=cache, is_causal=True) for part in x.split([3, 1, 1, 2], dim=1)]
    torch.testing.assert_close(torch.cat(parts, dim=1), layer(x, is_causal=True))


@pytest.mark.parametrize("lens", [[4, 6], [2, 1]], ids=str)
def test_padding_of_a_cache_is_masked_on_every_way_and_not_left_out(attend, lens):
    layer, x, valid_lens = make_layer("plain"), torch.randn(B, N, D), torch.tensor(lens)
    cache = KVCache(layer, B, N)
    attend(layer, x[:, :5], cache=cache, valid_lens=torch.tensor([3, 4]))
    output = attend(layer, x[:, 5:], cache=cache, valid_lens=valid_lens)
    torch.testing.assert_close(output, attend(layer, x[:, 5:], x, valid_lens=valid_lens))
    assert len(cache) == N
