"""The exercises of lesson 05 against the library."""

from types import SimpleNamespace

import pytest
import torch

import mha_lib
from mha_lib import KVCache, MultiHeadAttention, merge_heads, split_heads
from tests.classroom.live.exercises.slips import EXERCISES, assert_right, right_answer


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
