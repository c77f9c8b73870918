"""The exercises on the heads of today against the library."""

from types import SimpleNamespace

import pytest
import torch

import mha_lib
from mha_lib import KVCache, MultiHeadAttention, merge_heads, split_heads
from mha_lib.classroom.live.exercises.judge import Check, same
from mha_lib.classroom.live.exercises.lesson_06_heads_today import MODELS, describe_model
from tests.classroom.live.exercises.slips import EXERCISES, randn, right_answer, said

DESCRIBE = EXERCISES["describe_model"]


@pytest.mark.parametrize("num_kv_heads", [1, 2, 3, 6])
def test_grouped_queries_attend_as_in_the_layer(num_kv_heads):
    layer = MultiHeadAttention(24, 6, head_dim=5, value_head_dim=7, num_kv_heads=num_kv_heads)
    x = randn(2, 3, 24)
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


def test_absorbed_matrices_give_what_expanded_keys_and_values_give():
    q, latents, W_uk, W_uv = randn(3, 4, 6), randn(11, 5), randn(3, 5, 6), randn(3, 5, 7)
    expanded, _ = mha_lib.dot_product_attention(q, latents @ W_uk, latents @ W_uv)
    torch.testing.assert_close(right_answer("absorb")(q, latents, W_uk, W_uv), expanded)


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

    right = right_answer("online_softmax")
    assert all(same(at_once(*call), right(*call)) for call in calls_of("online_softmax"))
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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("num_kv_heads", [1, 2, 6])
def test_the_bytes_are_those_of_the_library(num_kv_heads, dtype):
    layer = MultiHeadAttention(30, 6, num_kv_heads=num_kv_heads, dtype=dtype)
    cache = KVCache(layer, 3, 7)
    with torch.no_grad():
        layer(torch.randn(3, 7, 30, dtype=dtype), cache=cache, is_causal=True)
    counted = right_answer("cache_bytes")(4, 30, 6, num_kv_heads, 7, 3, 8 * dtype.itemsize)
    assert counted == 4 * (cache.keys.nbytes + cache.values.nbytes)


def test_the_bytes_are_those_that_everybody_quotes():
    count = right_answer("cache_bytes")
    assert round(count(32, 4096, 32, 32, 32_768, 1, 16) / 1e9, 2) == 17.18
    assert round(count(32, 4096, 32, 8, 32_768, 1, 16) / 1e9, 2) == 4.29


@pytest.mark.parametrize(
    ("num_heads", "num_kv_heads", "devices"), [(12, 4, 2), (12, 4, 4), (9, 3, 3), (6, 6, 2)]
)
def test_the_parts_of_the_plan_add_up_to_the_layer(num_heads, num_kv_heads, devices):
    layer, x = MultiHeadAttention(20, num_heads, head_dim=5, num_kv_heads=num_kv_heads), torch.randn(2, 3, 20)
    plan = right_answer("plan_shards")(num_heads, num_kv_heads, 5, devices)
    output = torch.zeros_like(x)
    with torch.no_grad():
        for first, end, kv_first, kv_end in plan.int().tolist():
            part = MultiHeadAttention(
                20, num_heads // devices, head_dim=5, num_kv_heads=num_kv_heads // devices
            )
            part.W_q.weight.copy_(layer.W_q.weight[first:end])
            part.W_k.weight.copy_(layer.W_k.weight[kv_first:kv_end])
            part.W_v.weight.copy_(layer.W_v.weight[kv_first:kv_end])
            part.W_o.weight.copy_(layer.W_o.weight[:, first:end])
            output += part(x)
        torch.testing.assert_close(output, layer(x))


def test_some_cases_cannot_be_planned_and_some_can():
    calls = list(EXERCISES["plan_shards"].calls())
    empty = [len(right_answer("plan_shards")(*call)) == 0 for call in calls]
    assert 2 <= sum(empty) <= len(calls) - 2
    divided = [call[0] % call[3] == 0 for call, none in zip(calls, empty, strict=True) if none]
    assert any(divided)  # the heads could be divided, but not their keys


def test_a_plan_of_nothing_is_not_always_right():
    assert EXERCISES["plan_shards"].judge(lambda *_: []).state == "wrong"


def described(**changes):
    """The right layer, with these arguments changed."""

    def layer_of(config):
        arguments = {
            "num_hiddens": config["hidden_size"],
            "num_heads": config["num_attention_heads"],
            "bias": config["attention_bias"],
            "head_dim": config.get("head_dim"),
            "num_kv_heads": config.get("num_key_value_heads"),
            "rotary": config["positions"] == "rotary",
        }
        return MultiHeadAttention(**arguments | {name: change(config) for name, change in changes.items()})

    return layer_of


DESCRIPTIONS = [
    ({"num_heads": lambda config: 1, "num_kv_heads": lambda config: 1}, "num_heads is 1, and 32 is wanted"),
    ({"num_kv_heads": lambda config: None}, "Llama 2 70B: num_kv_heads is 64, and 8 is wanted"),
    ({"num_kv_heads": lambda config: 1}, "Llama 2 7B: num_kv_heads is 1, and 32 is wanted"),
    ({"head_dim": lambda config: None}, "PaLM 540B: head_dim is 384, and 256 is wanted"),
    ({"bias": lambda config: False}, "GPT-2 small: bias is False, and True is wanted"),
    ({"bias": lambda config: True}, "Llama 2 7B: bias is True, and False is wanted"),
    ({"rotary": lambda config: False}, "Llama 2 7B: rotary is False, and True is wanted"),
    ({"rotary": lambda config: True}, "GPT-2 small: rotary is True, and False is wanted"),
    ({"rotary": lambda config: config["positions"] != "learned"}, "BLOOM 176B: rotary is True"),
    ({"num_heads": lambda config: 1}, "num_heads is 1, and 32 is wanted"),
    ({"value_head_dim": lambda config: 64}, "Llama 2 7B: value_head_dim is 64, and 128 is wanted"),
    ({"key_size": lambda config: 64}, "come in (4096, 64, 4096) wide, and (4096, 4096, 4096) is wanted"),
    ({"num_hiddens": lambda config: 2 * config["hidden_size"]}, "num_hiddens is 8192, and 4096 is wanted"),
]


@pytest.mark.parametrize(("changes", "sentence"), DESCRIPTIONS)
def test_what_differs_from_the_model_is_named(changes, sentence):
    state, said_of_it = DESCRIBE.judge(described(**changes))[:2]
    assert state == "wrong"
    assert sentence in said_of_it
    assert "two mistakes" not in said_of_it  # what follows from a wrong size is not counted again


def test_two_things_that_differ_are_both_named():
    sentence = DESCRIBE.judge(described(bias=lambda config: True, rotary=lambda config: False)).sentence
    assert sentence.startswith("there are two mistakes at once. First: Llama 2 7B: ")
    assert "bias is True" in sentence
    assert "rotary is False" in sentence


def test_the_right_layers_name_their_models(capsys):
    def in_other_words(config):
        D, H = config["hidden_size"], config["num_attention_heads"]
        kv_heads = config.get("num_key_value_heads") or H
        width = config.get("head_dim", D // H)
        rotary = config["positions"] == "rotary"
        return MultiHeadAttention(
            D, H, 0.0, config["attention_bias"], head_dim=width, num_kv_heads=kv_heads, rotary=rotary
        )

    Check(DESCRIBE).describe_model(in_other_words)
    assert capsys.readouterr().out == f"✓ describe_model: right on {', '.join(MODELS)}.\n"


def test_a_missing_entry_is_explained():
    state, sentence = DESCRIBE.judge(lambda config: MultiHeadAttention(32, 4, head_dim=config["head_dim"]))[
        :2
    ]
    assert state == "wrong"
    assert "raised KeyError: 'head_dim'" in sentence
    assert sentence.endswith(*said("describe_model", "entry_missing"))


def test_another_error_is_not_explained_by_a_missing_entry():
    sentence = DESCRIBE.judge(lambda config: MultiHeadAttention(33, 4)).sentence
    assert "num_hiddens=33 must be divisible by num_heads=4" in sentence
    assert not sentence.endswith(*said("describe_model", "entry_missing"))


@pytest.mark.parametrize(
    ("given", "named"), [(7, "7"), (torch.ones(2), "a tensor (2,)"), (torch.nn.ReLU(), "a model")]
)
def test_what_is_no_layer_is_named(given, named):
    assert DESCRIBE.judge(lambda config: given)[:2] == (
        "wrong",
        f"a MultiHeadAttention is wanted, and this returned {named}.",
    )


def test_an_answer_may_spoil_its_configuration():
    def spoils(config):
        layer = describe_model(config)
        config.clear()
        return layer

    assert DESCRIBE.judge(spoils).state == DESCRIBE.judge(spoils).state == "solved"


def test_the_models_are_those_of_their_papers():
    """Vaswani's layer has 4 D² parameters; the others differ from it as their papers say."""

    def parameters(model):
        with torch.device("meta"):
            return sum(p.numel() for p in describe_model(MODELS[model]).parameters())

    assert parameters("GPT-2 small") == 2_362_368
    assert parameters("Llama 2 7B") == 4 * 4096**2
    assert parameters("Llama 2 70B") == 2 * 8192**2 + 2 * 8192 * 8 * 128
    assert parameters("PaLM 540B") == 2 * 18432 * 48 * 256 + 2 * 18432 * 256
