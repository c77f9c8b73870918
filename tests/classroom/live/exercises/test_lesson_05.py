"""The exercises of lesson 05 against the library, and right answers in several styles."""

from types import SimpleNamespace

import pytest
import torch

import mha_lib
from mha_lib import KVCache, MultiHeadAttention, merge_heads, split_heads
from tests.classroom.live.exercises.slips import EXERCISES, assert_right, right_answer, written


def randn(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.mark.parametrize("num_kv_heads", [1, 2, 3, 6])
def test_grouped_queries_attend_as_in_the_layer(num_kv_heads):
    layer, x = (
        MultiHeadAttention(24, 6, head_dim=5, value_head_dim=7, num_kv_heads=num_kv_heads),
        randn(2, 3, 24),
    )
    queries = split_heads(layer.W_q(x), 6)
    keys, values = (split_heads(W(x), num_kv_heads) for W in (layer.W_k, layer.W_v))
    heads = right_answer("grouped_query_attention")(queries, keys, values)
    torch.testing.assert_close(layer.W_o(merge_heads(heads)), layer(x))


@pytest.mark.parametrize("num_kv_heads", [1, 2, 3, 6])
def test_heads_are_pooled_as_the_library_pools_them(num_kv_heads):
    layer = MultiHeadAttention(24, 6, head_dim=5, value_head_dim=7)
    pooled = MultiHeadAttention.from_multi_head(layer, num_kv_heads)
    for name in ("W_k", "W_v"):
        by_hand = right_answer("pool_heads")(getattr(layer, name).weight.T, 6, num_kv_heads)
        torch.testing.assert_close(by_hand, getattr(pooled, name).weight.T)


def test_tokens_are_turned_as_by_the_library():
    x, positions = randn(3, 5, 8), torch.tensor([0, 3, 17, 18, 39])
    turned = right_answer("rotate")(x, positions)
    torch.testing.assert_close(turned, mha_lib.rotate_by_position(x, positions), atol=2e-5, rtol=1e-5)


def test_steps_with_a_cache_are_those_of_the_library():
    layer = MultiHeadAttention(8, 1, head_dim=5, value_head_dim=7)
    W_q, W_k, W_v, W_o = (each.weight.T for each in (layer.W_q, layer.W_k, layer.W_v, layer.W_o))
    ours = SimpleNamespace(keys=torch.zeros(2, 0, 5), values=torch.zeros(2, 0, 7))
    cache = KVCache(layer, 2, 6)
    with torch.no_grad():
        for chunk in randn(2, 6, 8).split([3, 1, 2], dim=1):
            step = right_answer("attend_with_cache")(chunk, W_q, W_k, W_v, ours) @ W_o
            torch.testing.assert_close(step, layer(chunk, cache=cache, is_causal=True))
    torch.testing.assert_close(ours.keys, cache.keys[:, 0])
    torch.testing.assert_close(ours.values, cache.values[:, 0])


@pytest.mark.parametrize("size", [1, 4, 11])
@pytest.mark.parametrize("loudness", [1, 100])
def test_tiles_give_what_all_keys_at_once_give(size, loudness):
    queries, keys, values = loudness * randn(3, 5), randn(11, 5), randn(11, 7)
    tiles = zip(keys.split(size), values.split(size), strict=True)
    at_once, _ = mha_lib.dot_product_attention(queries[None], keys[None], values[None])
    torch.testing.assert_close(right_answer("online_softmax")(queries, tiles), at_once[0])


def test_the_cases_of_the_tiles_are_those_that_the_library_answers_too():
    def at_once(queries, tiles):
        keys, values = (torch.cat(parts)[None] for parts in zip(*tiles, strict=True))
        return mha_lib.dot_product_attention(queries[None], keys, values)[0][0]

    assert_right("online_softmax", at_once)
    largest = [
        (queries @ torch.cat([keys for keys, _ in tiles]).T).amax(1) / queries.shape[1] ** 0.5
        for queries, tiles in calls_of("online_softmax")
    ]
    assert any(scores.max() > 100 and scores.min() < -110 for scores in largest)  # exp gives infinity and 0
    assert any(scores.abs().max() < 20 for scores in largest)


def calls_of(name):
    return list(EXERCISES[name].calls())


def test_a_cache_begins_empty_or_not_and_gets_one_token_or_several():
    calls = calls_of("attend_with_cache")
    assert {cache.keys.shape[1] for *_, cache in calls} == {0, 2}
    assert {x.shape[1] for x, *_ in calls} == {1, 3, 4}
    assert all(first[-1] is second[-1] for first, second in zip(calls[::3], calls[1::3], strict=True))


# Other right answers: by broadcasting, einsum, in place, in another dtype.
STYLES = {
    "grouped by a group axis": (
        "grouped_query_attention",
        """
def answer(queries, keys, values):
    grouped = queries.unflatten(1, (keys.shape[1], -1))
    scores = torch.einsum("bghqd,bgkd->bghqk", grouped, keys) * keys.shape[-1] ** -0.5
    return torch.einsum("bghqk,bgkv->bghqv", scores.softmax(-1), values).flatten(1, 2)
""",
    ),
    "grouped by broadcasting": (
        "grouped_query_attention",
        """
def answer(queries, keys, values):
    B, H, Q, d = queries.shape
    scores = queries.reshape(B, keys.shape[1], -1, Q, d) @ keys.unsqueeze(2).mT / math.sqrt(d)
    return (scores.softmax(-1) @ values.unsqueeze(2)).reshape(B, H, Q, -1)
""",
    ),
    "grouped by longer lists of queries": (
        "grouped_query_attention",
        """
def answer(queries, keys, values):
    B, H, Q, d = queries.shape
    rows = queries.reshape(B, keys.shape[1], -1, d)
    return ((rows @ keys.mT / d**0.5).softmax(-1) @ values).reshape(B, H, Q, -1)
""",
    ),
    "grouped by PyTorch": (
        "grouped_query_attention",
        """
def answer(queries, keys, values):
    return torch.nn.functional.scaled_dot_product_attention(queries, keys, values, enable_gqa=True)
""",
    ),
    "grouped in float64": (
        "grouped_query_attention",
        """
def answer(queries, keys, values):
    keys, values = (x.double().repeat_interleave(queries.shape[1] // x.shape[1], 1) for x in (keys, values))
    return (queries.double() @ keys.mT / keys.shape[-1] ** 0.5).softmax(-1) @ values
""",
    ),
    "pooled by view": (
        "pool_heads",
        """
def answer(W, num_heads, num_kv_heads):
    return W.view(len(W), num_kv_heads, num_heads // num_kv_heads, -1).mean(dim=-2).view(len(W), -1)
""",
    ),
    "pooled by a matrix": (
        "pool_heads",
        """
def answer(W, num_heads, num_kv_heads):
    size, d = num_heads // num_kv_heads, W.shape[1] // num_heads
    P = torch.eye(num_kv_heads).repeat_interleave(size, 0) / size
    return W @ torch.kron(P, torch.eye(d))
""",
    ),
    "pooled by lists of heads": (
        "pool_heads",
        """
def answer(W, num_heads, num_kv_heads):
    heads = W.chunk(num_heads, dim=1)
    size = num_heads // num_kv_heads
    groups = [heads[first : first + size] for first in range(0, num_heads, size)]
    return torch.cat([sum(group) / size for group in groups], dim=1)
""",
    ),
    "turned in place": (
        "rotate",
        """
def answer(x, positions):
    d = x.shape[-1]
    angles = torch.outer(positions.float(), 10000.0 ** (-torch.arange(0, d, 2) / d))
    cos, sin = angles.cos(), angles.sin()
    a = x[..., 0::2].clone()
    x[..., 0::2] = a * cos - x[..., 1::2] * sin
    x[..., 1::2] = a * sin + x[..., 1::2] * cos
    return x
""",
    ),
    "turned as complex numbers": (
        "rotate",
        """
def answer(x, positions):
    d = x.shape[-1]
    angles = positions[:, None].double() / 10000 ** (torch.arange(0, d, 2).double() / d)
    turned = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)))
    turned = turned * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2)
""",
    ),
    "turned by matrices": (
        "rotate",
        """
def answer(x, positions):
    d = x.shape[-1]
    out = torch.empty_like(x)
    for n, p in enumerate(positions.tolist()):
        angles = [p / 10000 ** (2 * j / d) for j in range(d // 2)]
        blocks = [[[math.cos(t), math.sin(t)], [-math.sin(t), math.cos(t)]] for t in angles]
        out[:, n] = x[:, n] @ torch.block_diag(*map(torch.tensor, blocks))
    return out
""",
    ),
    "turned by interleaved tables": (
        "rotate",
        """
def answer(x, positions):
    d = x.shape[-1]
    angles = (positions[:, None] / 10000 ** (torch.arange(0, d, 2) / d)).repeat_interleave(2, -1)
    swapped = torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2)
    return x * angles.cos() + swapped * angles.sin()
""",
    ),
    "cached, attended token by token": (
        "attend_with_cache",
        """
def answer(x, W_q, W_k, W_v, cache):
    outputs = []
    for token in x.split(1, dim=1):
        cache.keys = torch.cat((cache.keys, token @ W_k), 1)
        cache.values = torch.cat((cache.values, token @ W_v), 1)
        weights = (token @ W_q @ cache.keys.mT / math.sqrt(W_k.shape[1])).softmax(-1)
        outputs.append(weights @ cache.values)
    return torch.cat(outputs, 1)
""",
    ),
    "cached, attended by PyTorch": (
        "attend_with_cache",
        """
def answer(x, W_q, W_k, W_v, cache):
    cache.keys = torch.cat([cache.keys, x @ W_k], dim=1)
    cache.values = torch.cat([cache.values, x @ W_v], dim=1)
    mask = mha_lib.causal_mask(x.shape[1], cache.keys.shape[1])
    return torch.nn.functional.scaled_dot_product_attention(x @ W_q, cache.keys, cache.values, mask)
""",
    ),
    "cached in float64": (
        "attend_with_cache",
        """
def answer(x, W_q, W_k, W_v, cache):
    q, k, v = (x.double() @ W.double() for W in (W_q, W_k, W_v))
    cache.keys, cache.values = torch.cat([cache.keys, k], 1), torch.cat([cache.values, v], 1)
    mask = mha_lib.causal_mask(x.shape[1], cache.keys.shape[1])
    return mha_lib.dot_product_attention(q, cache.keys, cache.values, mask)[0]
""",
    ),
    "tiles, divided as one goes": (
        "online_softmax",
        """
def answer(queries, tiles):
    output, total, largest = 0, torch.zeros(len(queries), 1), torch.full((len(queries), 1), -torch.inf)
    for keys, values in tiles:
        scores = queries @ keys.T / math.sqrt(queries.shape[1])
        new = torch.maximum(largest, scores.amax(1, keepdim=True))
        before = total * (largest - new).exp()
        total = before + (scores - new).exp().sum(1, keepdim=True)
        output = output * before / total + (scores - new).exp() @ values / total
        largest = new
    return output
""",
    ),
    "tiles, by logarithms of sums": (
        "online_softmax",
        """
def answer(queries, tiles):
    output, logs = 0, torch.full((len(queries), 1), -torch.inf)
    for keys, values in tiles:
        scores = queries @ keys.T / math.sqrt(queries.shape[1])
        new = torch.logaddexp(logs, scores.logsumexp(1, keepdim=True))
        output = output * (logs - new).exp() + (scores - new).exp() @ values
        logs = new
    return output
""",
    ),
    "tiles, in place, one query after the other": (
        "online_softmax",
        """
def answer(queries, tiles):
    rows = []
    for query in queries:
        largest, total, output = -math.inf, 0.0, torch.zeros(tiles[0][1].shape[1])
        for keys, values in tiles:
            for key, value in zip(keys, values):
                score = (query @ key).item() / math.sqrt(len(query))
                new = max(largest, score)
                shrink, share = math.exp(largest - new), math.exp(score - new)
                total = total * shrink + share
                output.mul_(shrink).add_(share * value)
                largest = new
        rows.append(output / total)
    return torch.stack(rows)
""",
    ),
    "tiles, in float64": (
        "online_softmax",
        """
def answer(queries, tiles):
    queries, total, output, largest = queries.double(), 0, 0, -1e30
    for keys, values in tiles:
        scores = queries @ keys.double().T / queries.shape[1] ** 0.5
        new = scores.amax(1, keepdim=True).clamp(min=largest)
        total = total * (largest - new).exp() + (scores - new).exp().sum(1, keepdim=True)
        output = output * (largest - new).exp() + (scores - new).exp() @ values.double()
        largest = new
    return output / total
""",
    ),
}


@pytest.mark.parametrize("style", STYLES)
def test_the_answer_in_another_style_is_right(style):
    exercise, source = STYLES[style]
    assert_right(exercise, written(source))


def test_a_cache_that_is_left_broken_shows_the_line_that_meets_it():
    def keeps_no_values(x, W_q, W_k, W_v, cache):
        cache.keys = torch.cat([cache.keys, x @ W_k], dim=1)
        return (x @ W_q @ cache.keys.mT).softmax(-1) @ cache.values

    state, sentence = EXERCISES["attend_with_cache"].judge(keeps_no_values)[:2]
    assert state == "wrong"
    assert sentence.startswith("your line `return (x @ W_q @ cache.keys.mT)")


def test_a_cache_handed_back_with_the_output_is_no_tensor():
    right = right_answer("attend_with_cache")
    verdict = EXERCISES["attend_with_cache"].judge(lambda *call: (right(*call), call[-1]))
    assert verdict[:2] == ("wrong", "a tensor is wanted, and this returned a tuple.")


def test_an_unknown_mistake_with_a_cache_names_the_call_and_no_numbers_of_the_cache():
    right = right_answer("attend_with_cache")
    verdict = EXERCISES["attend_with_cache"].judge(lambda *call: right(*call) * 1.5)
    assert "a SimpleNamespace) the entry [0, 0, 0] should be" in verdict.sentence
