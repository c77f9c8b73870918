"""Keys and values kept from call to call give the numbers of one call, also after the cache was changed."""

import random

import pytest
import torch

import mha_lib.multihead
from mha_lib import KVCache, LatentAttention, MultiHeadAttention, Rotary

B, N, M, H, D = 2, 7, 5, 6, 24

LAYERS = {
    "plain": lambda: MultiHeadAttention(D, H),
    "biased": lambda: MultiHeadAttention(D, H, bias=True, value_head_dim=3),
    "rotary": lambda: MultiHeadAttention(D, H, num_kv_heads=2, rotary=True, qk_norm=True),
    "halves": lambda: MultiHeadAttention(D, H, rotary=Rotary(base=100, halves=True)),
    "latent": lambda: LatentAttention(D, H, 5, 4),
}


@pytest.fixture(autouse=True)
def without_gradients():
    with torch.no_grad():
        yield


def test_without_causality_a_chunk_sees_all_that_is_held():
    layer, x = LAYERS["plain"](), torch.randn(B, N, D)
    cache = KVCache(layer, B, N)
    torch.testing.assert_close(layer(x[:, :3], cache=cache), layer(x[:, :3]))
    torch.testing.assert_close(layer(x[:, 3:], cache=cache), layer(x[:, 3:], x))


def test_fixed_keys_of_cross_attention_are_given_once():
    layer, x, memory = LAYERS["biased"](), torch.randn(B, N, D), torch.randn(B, M, D)
    cache, projected = KVCache(layer, B, M), []
    expected = layer(x, memory)
    layer.W_k.register_forward_hook(lambda module, inputs, output: projected.append(output.shape[1]))
    for i in range(N):
        output = layer(x[:, i : i + 1], memory if i == 0 else memory[:, :0], cache=cache)
        torch.testing.assert_close(output, expected[:, i : i + 1])
        assert len(cache) == M
    assert projected == [M] + [0] * (N - 1)


def test_the_room_is_taken_once_and_is_that_of_the_heads_of_keys():
    layer = MultiHeadAttention(D, H, num_kv_heads=2)
    cache, rooms = KVCache(layer, B, 100), set()
    for _ in range(3):
        layer(torch.randn(B, 1, D), cache=cache)
        rooms.add(cache.keys.data_ptr())
    cache.reset()
    layer(torch.randn(B, 1, D), cache=cache)
    assert rooms == {cache.keys.data_ptr()}
    assert cache.keys.nbytes + cache.values.nbytes == 2 * B * 2 * 100 * (D // H) * 4


def test_a_cache_that_was_filled_in_inference_mode_goes_on_outside_it():
    layer, x = LAYERS["plain"](), torch.randn(B, N, D)
    cache = KVCache(layer, B, N)
    with torch.inference_mode():
        first = layer(x[:, :3], cache=cache, is_causal=True)
    rest = layer(x[:, 3:], cache=cache, is_causal=True)
    torch.testing.assert_close(torch.cat([first, rest], dim=1), layer(x, is_causal=True))


def test_after_a_reset_the_dtype_may_be_another_one():
    layer, x = LAYERS["plain"](), torch.randn(B, N, D)
    cache = KVCache(layer, B, N)
    layer(x, cache=cache)
    cache.reset()
    with torch.autocast("cpu", torch.bfloat16):
        steps = [layer(chunk, cache=cache, is_causal=True) for chunk in x.split([3, 4], dim=1)]
        expected = layer(x, is_causal=True)
    assert cache.keys.dtype == torch.bfloat16
    torch.testing.assert_close(torch.cat(steps, dim=1), expected, atol=2e-2, rtol=2e-2)


@pytest.mark.ci
def test_steps_compile_to_one_graph():
    layer, x = LAYERS["rotary"](), torch.randn(B, N, D)
    torch.compiler.reset()
    compiled, cache = torch.compile(layer, fullgraph=True, backend="aot_eager"), KVCache(layer, B, N)
    parts = [compiled(part, cache=cache, is_causal=True) for part in x.split([3, 1, 1, 2], dim=1)]
    torch.testing.assert_close(torch.cat(parts, dim=1), layer(x, is_causal=True))


def test_a_token_alone_takes_the_short_way_and_one_that_fails_there_changes_nothing(monkeypatch):
    layer, x = LAYERS["rotary"]().eval(), torch.randn(B, N, D)
    layer.dropout = 1.0
    expected, cache = layer(x, is_causal=True), KVCache(layer, B, N)
    layer(x[:, :-1], cache=cache, is_causal=True)
    monkeypatch.setattr(mha_lib.multihead, "checked_limits", None)  # the long way
    with monkeypatch.context() as patch:
        patch.setattr(layer.W_o, "forward", broken)
        with pytest.raises(RuntimeError, match="that fails"):
            layer(x[:, -1:], cache=cache, is_causal=True)
    assert len(cache) == cache.num_seen == N - 1
    torch.testing.assert_close(layer(x[:, -1:], cache=cache, is_causal=True), expected[:, -1:])
    cache.crop(N - 1)
    assert not layer.train()(x[:, -1:], cache=cache).any()


def test_padding_of_a_cache_is_masked_on_every_way_and_not_left_out(attend):
    layer, x, valid_lens = LAYERS["plain"](), torch.randn(B, N, D), torch.tensor([4, 6])
    cache = KVCache(layer, B, N)
    attend(layer, x[:, :5], cache=cache, valid_lens=torch.tensor([3, 4]))
    output = attend(layer, x[:, 5:], cache=cache, valid_lens=valid_lens)
    torch.testing.assert_close(output, attend(layer, x[:, 5:], x, valid_lens=valid_lens))
    assert len(cache) == N


# A cache may be changed: sinks kept, guesses taken back, samples put in another order


def broken(*_):
    raise RuntimeError("a function that fails")


@pytest.mark.parametrize("kind", ["biased", "rotary", "halves", "latent", "window"])
@pytest.mark.parametrize("seed", range(8))
def test_whatever_was_done_to_a_cache_it_holds_the_tokens_that_are_left(kind, seed):
    """Positions are counted within the cache, as StreamingLLM does: the layer alone suffices to compare.

    A call that fails, and a change that is refused, leave the cache as it was.
    """
    draw, window = random.Random(seed), 4 if kind == "window" else None
    layer = MultiHeadAttention(D, H, rotary=True, window=window) if window else LAYERS[kind]()
    room = 36 if window else 12
    cache, held = KVCache(layer, B, room), torch.zeros(B, 0, D)
    taken_back = 0  # since the last step
    for _ in range(25):
        size = held.shape[1]
        new = torch.randn(len(held), min(draw.choice([1, 1, 5, 11]), room - size), D)
        match draw.choice(["step", "step", "failing step", "keep", "crop", "reorder", "reset"]):
            case "step":
                taken_back = 0 if new.shape[1] else taken_back
                held = torch.cat([held, new], dim=1)
                output = layer(new, cache=cache, is_causal=True)
                torch.testing.assert_close(output, layer(held, is_causal=True)[:, size:])
            case "failing step" if new.shape[1]:
                with pytest.raises(RuntimeError, match="that fails"):
                    layer(new, cache=cache, is_causal=True, change_weights=broken)
            case "keep":
                first, last = draw.choice([0, 2, 4]), draw.choice([0, 1, 4])
                if window:
                    with pytest.raises(ValueError, match=r"cache\.keep needs a layer without window"):
                        cache.keep(first, last)
                elif size > first + last:
                    cache.keep(first, last)
                    held = torch.cat([held[:, :first], held[:, size - last :]], dim=1)
            case "crop":
                removed = draw.randint(0, len(cache))
                taken_back += removed
                if window and taken_back >= window:  # a window less one can be taken back always
                    continue
                cache.crop(len(cache) - removed)
                held = held[:, : size - removed]
            case "reorder" if size:
                index = draw.choices(range(len(held)), k=draw.choice([1, 2, 3]))
                cache.reorder(torch.tensor(index))
                held = held[index]
            case "reset" if len(held) == B:
                cache.reset()
                held = held[:, :0]
        assert len(cache) == (min(held.shape[1], window - 1) if window else held.shape[1])


def test_a_call_without_new_keys_does_not_write():
    """Two queries over one fixed cache may share a backward pass."""
    layer = MultiHeadAttention(D, H)
    memory, cache = torch.randn(B, 5, D), KVCache(layer, B, 5)
    layer(memory[:, :1], memory, cache=cache)
    queries = torch.randn(2, B, 3, D, requires_grad=True)
    layer.W_k.requires_grad_(False)
    layer.W_v.requires_grad_(False)
    with torch.enable_grad():
        outputs = [layer(q, memory[:, :0], cache=cache, need_weights=True)[0] for q in queries]
        expected = [layer(q, memory) for q in queries]
        found, wanted = (
            torch.autograd.grad(sum(y.square().sum() for y in each), queries) for each in (outputs, expected)
        )
    torch.testing.assert_close(found, wanted)


def test_first_keys_that_move_many_times_are_those_that_move_once():
    """Turning what has been turned already would add up roundings."""
    layer, keys = LAYERS["rotary"](), torch.randn(B, H, 100, 4, dtype=torch.bfloat16)
    often, once = KVCache(layer, B, 7), KVCache(layer, B, 100)
    for key in keys.split(1, dim=2):
        often.extend(key, key)
        often.keep(2, 4)
    once.extend(keys, keys)
    once.keep(2, 4)
    assert torch.equal(often.keys[:, :, :6], once.keys[:, :, :6])
