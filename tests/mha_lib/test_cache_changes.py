"""What a cache holds may be changed: sinks kept, guesses taken back, samples put in another order."""

import random

import pytest
import torch

from mha_lib import KVCache, LatentAttention, MultiHeadAttention, Rotary

B, N, D, H = 2, 12, 24, 6
LAYERS = {
    "plain": lambda: MultiHeadAttention(D, H, bias=True),
    "rotary": lambda: MultiHeadAttention(D, H, num_kv_heads=2, rotary=True, qk_norm=True),
    "halves": lambda: MultiHeadAttention(D, H, rotary=Rotary(base=100, halves=True)),
    "latent": lambda: LatentAttention(D, H, 5, 4),
}


@pytest.fixture(autouse=True)
def without_gradients():
    with torch.no_grad():
        yield


def broken(weights, allowed):
    raise RuntimeError("a change of weights that fails")


@pytest.mark.parametrize("kind", [*LAYERS, "window"])
@pytest.mark.parametrize("seed", range(25))
def test_whatever_was_done_to_a_cache_it_holds_the_tokens_that_are_left(kind, seed):
    """Positions are counted within the cache, as StreamingLLM does: the layer alone suffices to compare.

    A call that fails, and a change that is refused, leave the cache as it was.
    """
    draw, window = random.Random(seed), 4 if kind == "window" else None
    layer = MultiHeadAttention(D, H, rotary=True, window=window) if window else LAYERS[kind]()
    room = 3 * N if window else N
    cache, held = KVCache(layer, B, room), torch.zeros(B, 0, D)
    for _ in range(25):
        size = held.shape[1]
        new = torch.randn(len(held), min(draw.choice([1, 1, 5, 11]), room - size), D)
        match draw.choice(["step", "step", "failing step", "keep", "crop", "reorder", "reset"]):
            case "step":
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
                left = draw.randint(0, len(cache))
                if left < len(cache) < size:
                    with pytest.raises(ValueError, match="cache must still hold"):
                        cache.crop(left)
                else:
                    held = held[:, : size - len(cache) + left]
                    cache.crop(left)
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
        found = torch.autograd.grad(sum(output.square().sum() for output in outputs), queries)
        torch.testing.assert_close(
            found, torch.autograd.grad(sum(output.square().sum() for output in expected), queries)
        )


@pytest.mark.parametrize("kind", ["rotary", "halves"])
def test_first_keys_that_move_many_times_are_those_that_move_once(kind):
    """Turning what has been turned already would add up roundings."""
    layer, keys = LAYERS[kind](), torch.randn(B, H, 100, 4, dtype=torch.bfloat16)
    often, once = KVCache(layer, B, 7), KVCache(layer, B, 100)
    for key in keys.split(1, dim=2):
        often.extend(key, key)
        often.keep(2, 4)
    once.extend(keys, keys)
    once.keep(2, 4)
    assert torch.equal(often.keys[:, :, :6], once.keys[:, :, :6])
