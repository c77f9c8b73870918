"""Our layers compute what the attention of six models of ``transformers`` computes, with their parameters.

Their models run whole and small, with random parameters and masks of their own making. Hooks take down what
comes into an attention, or into a block, and what goes out of it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

from mha_lib import KVCache, LatentAttention, MultiHeadAttention, Rotary, from_transformers
from mha_lib.from_transformers import (
    PROJECTIONS,
    block_from,
    from_deepseek_v3,
    from_gemma3,
    from_llama,
    from_qwen3,
    grouped_attention,
    largest_difference,
    loaded,
    weights_of,
)
from tests.mha_lib.layers import with_random_parameters

transformers = pytest.importorskip("transformers")

BATCH, TOKENS = 2, 13


class Case(NamedTuple):
    """A model, and the layer of it that is compared."""

    config_class: Any
    model_class: Any
    settings: dict[str, Any]
    convert: Callable[[Any], Any]
    layer: int = 0


def from_gpt2(theirs: Any) -> MultiHeadAttention:
    parameters = {"W_o.weight": theirs.c_proj.weight.T, "W_o.bias": theirs.c_proj.bias}
    for name, weight, bias in zip(
        ("W_q", "W_k", "W_v"),
        theirs.c_attn.weight.T.chunk(3),  # theirs is (in, out), (D, 3 D)
        theirs.c_attn.bias.chunk(3),
        strict=True,
    ):
        parameters |= {f"{name}.weight": weight, f"{name}.bias": bias}
    return loaded(MultiHeadAttention(theirs.embed_dim, theirs.num_heads, bias=True), parameters)


def from_gpt_oss(theirs: Any) -> MultiHeadAttention:
    options = {"bias": True, "window": theirs.sliding_window, "sinks": True}
    layer = grouped_attention(theirs.config, theirs.config.rope_parameters, **options)
    biases = {f"{ours}.bias": getattr(theirs, name).bias for ours, name in PROJECTIONS.items()}
    return loaded(layer, weights_of(theirs, PROJECTIONS) | biases | {"sink_logits": theirs.sinks})


LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500.0,  # of the five pairs, two keep their speed, one is blended, two are slowed down
    "factor": 7.0,
    "low_freq_factor": 1.5,
    "high_freq_factor": 5.0,
    "original_max_position_embeddings": 199,
}
LLAMA = Case(
    transformers.LlamaConfig,
    transformers.LlamaModel,
    {
        "hidden_size": 42,
        "intermediate_size": 17,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "head_dim": 10,
        "rms_norm_eps": 1e-5,
        "rope_parameters": LLAMA3,
    },
    from_llama,
)
QWEN3 = Case(
    transformers.Qwen3Config,
    transformers.Qwen3Model,
    {
        "hidden_size": 37,
        "intermediate_size": 19,
        "num_attention_heads": 6,
        "num_key_value_heads": 3,
        "head_dim": 14,
        "rope_parameters": {"rope_type": "default", "rope_theta": 70.0},
    },
    from_qwen3,
)
SLIDING = {
    "num_hidden_layers": 2,
    "hidden_size": 28,
    "intermediate_size": 23,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 6,
    "sliding_window": 5,
    "layer_types": ["sliding_attention", "full_attention"],
}
GEMMA3 = Case(
    transformers.Gemma3TextConfig,
    transformers.Gemma3TextModel,
    SLIDING
    | {
        "query_pre_attn_scalar": 11,
        "rope_parameters": {
            "sliding_attention": {"rope_type": "default", "rope_theta": 30.0},
            "full_attention": {"rope_type": "linear", "rope_theta": 90.0, "factor": 3.0},
        },
    },
    from_gemma3,
)
DEEPSEEK_V3 = Case(
    transformers.DeepseekV3Config,
    transformers.DeepseekV3Model,
    {
        "first_k_dense_replace": 1,
        "hidden_size": 17,
        "intermediate_size": 23,
        "num_attention_heads": 3,
        "num_key_value_heads": 3,
        "q_lora_rank": 13,
        "kv_lora_rank": 11,
        "qk_nope_head_dim": 5,
        "qk_rope_head_dim": 4,
        "v_head_dim": 7,
        "rope_parameters": {"rope_type": "default", "rope_theta": 20.0},
    },
    from_deepseek_v3,
)
GPT_OSS = Case(
    transformers.GptOssConfig,
    transformers.GptOssModel,
    SLIDING
    | {
        "num_local_experts": 2,
        "num_experts_per_tok": 1,
        "attention_bias": True,
        "rope_parameters": {"rope_type": "default", "rope_theta": 30.0},
    },
    from_gpt_oss,
)


def changed(case: Case, **settings: Any) -> Case:
    return case._replace(settings=case.settings | settings)


# Of the pairs some keep their speed, some are blended, some are slowed down.
YARN = {"rope_type": "yarn", "rope_theta": 500.0, "factor": 7.0, "original_max_position_embeddings": 199}
YARN |= {"beta_fast": 5.0, "beta_slow": 1.5}
CASES = {
    "gpt2": Case(
        transformers.GPT2Config,
        transformers.GPT2Model,
        {"hidden_size": 35, "num_attention_heads": 5},
        from_gpt2,
    ),
    "llama3": LLAMA,
    "qwen3": QWEN3,
    "gemma3 sliding": GEMMA3,
    "gemma3 global": GEMMA3._replace(layer=1),
    "gpt-oss sliding": GPT_OSS,
    "gpt-oss global": GPT_OSS._replace(layer=1),
    "deepseek-v3": DEEPSEEK_V3,
    "deepseek-v3 without q_lora_rank": changed(DEEPSEEK_V3, q_lora_rank=None),
    "deepseek-v3 halves": changed(DEEPSEEK_V3, rope_interleave=False),
    "qwen3 yarn": changed(QWEN3, rope_parameters=YARN),
    "qwen3 yarn, a length": changed(QWEN3, rope_parameters=YARN | {"attention_factor": 1.3}),
    "gpt-oss yarn": changed(GPT_OSS, rope_parameters=YARN | {"truncate": False}),
    "deepseek-v3 yarn": changed(
        DEEPSEEK_V3, rope_parameters=YARN | {"mscale": 0.7, "mscale_all_dim": 1.2, "rope_theta": 50.0}
    ),
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
each_block = pytest.mark.parametrize("case", [LLAMA, QWEN3], ids=["llama3", "qwen3"])


class Call(NamedTuple):
    """What came into a module and what went out of it."""

    x: Tensor
    arguments: dict[str, Any]
    output: Tensor
    weights: Tensor | None


def model_of(case: Case) -> Any:
    """Their whole model, small and with random parameters."""
    sizes = {"num_hidden_layers": 1, "vocab_size": 3, "pad_token_id": 0, "max_position_embeddings": 211}
    config = case.config_class(**sizes | case.settings)
    config._attn_implementation = "eager"  # the one that returns weights
    config._experts_implementation = "eager"  # others want widths of another kind
    return with_random_parameters(case.model_class(config).eval())


def block_of(model: Any, case: Case) -> Any:
    return (model.layers if hasattr(model, "layers") else model.h)[case.layer]


def attention_of(model: Any, case: Case) -> Any:
    block = block_of(model, case)
    return block.self_attn if hasattr(block, "self_attn") else block.attn


def call_within(model: Any, module: nn.Module, x: Tensor, **arguments: Any) -> Call:
    """Run their model, and return how it called one of its modules."""
    calls = []

    def take(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        given = dict(kwargs)
        came = args[0] if args else given.pop("hidden_states")
        output, weights = result if isinstance(result, tuple) else (result, None)
        calls.append(Call(came, given, output, weights))

    with module.register_forward_hook(take, with_kwargs=True):
        model(inputs_embeds=x, **arguments)
    (call,) = calls
    return call


def assert_equal(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.fixture(autouse=True)
def in_float64(monkeypatch):
    """Run their code in float64, where a mistake cannot pass for a rounding.

    Their norms, softmax and angles ask for float32 by name, whatever the dtype of a model. That name stands
    for float64 here.
    """
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    monkeypatch.setattr(torch, "float", torch.float64)
    monkeypatch.setattr(torch, "float32", torch.float64)
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
    with torch.no_grad():
        yield
    torch.set_default_dtype(before)


@pytest.fixture
def model(case):
    return model_of(case)


@pytest.fixture
def x(case):
    return torch.randn(BATCH, TOKENS, case.settings["hidden_size"])


def forms_of(layer):
    """The arguments for each way in which a layer computes the same."""
    return [{"absorb": False}, {"absorb": True}] if isinstance(layer, LatentAttention) else [{}]


@each_case
def test_outputs_and_weights_are_theirs(case, model, x):
    theirs = attention_of(model, case)
    ours = case.convert(theirs)
    call = call_within(model, theirs, x)
    for form in forms_of(ours):
        output, weights = ours(call.x, is_causal=True, need_weights=True, **form)
        assert_equal(weights, call.weights)
        assert_equal(output, call.output)
        assert_equal(ours(call.x, is_causal=True, **form), call.output)


@each_case
def test_a_cache_gives_what_their_cache_gives(case, model, x):
    theirs = attention_of(model, case)
    ours = case.convert(theirs)
    for form in forms_of(ours):
        their_cache, cache = transformers.DynamicCache(config=model.config), KVCache(ours, BATCH, TOKENS)
        for chunk in x.split([4, 1, 1, 5, 2], dim=1):
            call = call_within(model, theirs, chunk, past_key_values=their_cache, use_cache=True)
            output, weights = ours(call.x, cache=cache, is_causal=True, need_weights=True, **form)
            assert_equal(weights, call.weights)
            assert_equal(output, call.output)


@each_case
def test_padding_is_masked_as_theirs_is(case, model, x):
    theirs = attention_of(model, case)
    ours = case.convert(theirs)
    key_mask = torch.ones(BATCH, TOKENS, dtype=torch.bool)
    key_mask[0, :3] = False  # on the left
    key_mask[1, -2:] = False  # on the right
    call = call_within(model, theirs, x, attention_mask=key_mask.long())
    for form in forms_of(ours):
        output, weights = ours(call.x, key_mask=key_mask, is_causal=True, need_weights=True, **form)
        assert_equal(weights.transpose(1, 2)[key_mask], call.weights.transpose(1, 2)[key_mask])
        assert_equal(output[key_mask], call.output[key_mask])


@each_block
def test_a_whole_block_is_theirs(case, model, x):
    theirs = block_of(model, case)
    ours = block_from(theirs, case.convert(theirs.self_attn))
    small = x * 1e-2  # so that the number that a norm adds to the mean square counts
    call = call_within(model, theirs, small)
    attention = call_within(model, theirs.self_attn, small)
    output, weights = ours(small, is_causal=True, need_weights=True)
    assert_equal(weights, attention.weights)
    assert_equal(output, call.output)
    assert_equal(ours(small, is_causal=True), call.output)


def test_a_difference_is_a_share_of_the_largest_output_of_either_sign():
    output, expected = torch.tensor([-4.0, 1.5]), torch.tensor([-5.0, 1.0])
    assert from_transformers.relative_difference(output, expected) == pytest.approx(1 / 5)


COMPARED = {"llama": LLAMA, "qwen3": QWEN3, "gemma3_text": GEMMA3, "deepseek_v3": DEEPSEEK_V3}


@pytest.mark.parametrize("model_type", COMPARED)
def test_one_number_tells_a_rounding_from_a_layer_that_turns_otherwise(model_type, monkeypatch):
    one_layer = {"model_type": model_type, "num_hidden_layers": 1, "layer_types": None}
    config = COMPARED[model_type].settings | one_layer
    assert largest_difference(config, TOKENS) < 1e-5
    monkeypatch.setattr(from_transformers, "rotary_of", lambda *_, **__: Rotary(3.0, halves=True))
    assert largest_difference(config, TOKENS) > 1e-2
