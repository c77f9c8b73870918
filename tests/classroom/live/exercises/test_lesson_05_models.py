"""The exercises of lesson 05 about whole models, against the library."""

import pytest
import torch

from mha_lib import KVCache, MultiHeadAttention
from mha_lib.classroom.live.exercises.judge import Check
from mha_lib.classroom.live.exercises.lesson_05_models import MODELS, describe_model
from tests.classroom.live.exercises.slips import EXERCISES, assert_right, right_answer, said, written
from tests.classroom.live.exercises.slips_05 import SOURCES

DESCRIBE = EXERCISES["describe_model"]


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


STYLES = {
    "bytes as a float": ("cache_bytes", {"bits // 8": "bits / 8"}),
    "bytes as a tensor": ("cache_bytes", {"return ": "return torch.tensor(1) * "}),
    "a plan of tuples": ("plan_shards", {"append(device)": "append(tuple(device))"}),
    "a plan as a tensor": ("plan_shards", {"return plan": "return torch.tensor(plan)"}),
    "a plan of numbers as tensors": ("plan_shards", {"range(num_devices)": "torch.arange(num_devices)"}),
    "a plan that asks for the heads too": (
        "plan_shards",
        {"if num_kv_heads % num_devices != 0": "if num_heads % num_devices or num_kv_heads % num_devices"},
    ),
    "an empty tensor where there is no plan": ("plan_shards", {"return []": "return torch.zeros(0, 4)"}),
    "an empty tuple where there is no plan": ("plan_shards", {"return []": "return ()"}),
}


@pytest.mark.parametrize("style", STYLES)
def test_the_answer_in_another_style_is_right(style):
    exercise, changes = STYLES[style]
    assert_right(exercise, written(SOURCES[exercise], changes))


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

    check = Check(DESCRIBE)
    check.describe_model(in_other_words)
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
