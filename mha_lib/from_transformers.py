"""Our layers with the parameters of attention modules of ``transformers``: a function for each model.

The mapping is the table in ``docs/en/library.md``. What we cannot carry is refused by name: another class, a
parameter of theirs that we lack, a setting that we lack. ``transformers`` is imported only by
``largest_difference``: the course does not install it.
"""

import math
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from mha_lib import (
    EncoderLayer,
    LatentAttention,
    Llama3Scaling,
    MultiHeadAttention,
    Rotary,
    YarnScaling,
    checks,
)

PROJECTIONS = {"W_q": "q_proj", "W_k": "k_proj", "W_v": "v_proj", "W_o": "o_proj"}
GATED = ("gate_proj", "up_proj", "down_proj")
BLOCK = {
    "self_attention_norm": "input_layernorm",
    "feed_forward_norm": "post_attention_layernorm",
    "feed_forward.W_gate": "mlp.gate_proj",
    "feed_forward.W_1": "mlp.up_proj",
    "feed_forward.W_2": "mlp.down_proj",
}


def weights_of(module: Any, names: dict[str, str]) -> dict[str, Tensor]:
    """Their weights under our names."""
    return {f"{ours}.weight": module.get_submodule(theirs).weight for ours, theirs in names.items()}


def check_carried(theirs: Any, kind: str, *names: str, **settings: Any) -> None:
    """``theirs`` must be of this class, hold the weights of these modules alone, and have these settings."""
    if type(theirs).__name__ != kind:
        raise TypeError(
            f"theirs must be a {kind}, got a {type(theirs).__name__}, which may compute otherwise"
        )
    left = {name for name, _ in theirs.named_parameters()} - {f"{name}.weight" for name in names}
    if left:
        raise ValueError(f"our layer has no place for these parameters of theirs: {', '.join(sorted(left))}")
    for part, module in theirs.named_modules():
        checks.check_without_hooks(part or "theirs", module)
    for setting, usual in settings.items():
        came = getattr(theirs, setting, getattr(theirs.config, setting, usual))
        if came != usual:
            raise ValueError(f"{setting} of theirs must be {usual}, which is what our layer does, got {came}")


def loaded(layer: nn.Module, parameters: dict[str, Tensor]) -> Any:
    layer.load_state_dict(parameters)
    return layer.eval()


def rotary_of(parameters: dict[str, Any], halves: bool = True) -> Rotary:
    """What their ``rope_parameters`` say."""
    if parameters.get("partial_rotary_factor") not in (None, 1):
        raise ValueError(f"our layers turn all columns, got {parameters['partial_rotary_factor']=}")
    kind = parameters["rope_type"]
    if kind == "default":
        scaling: float | Llama3Scaling | YarnScaling = 1.0
    elif kind == "linear":
        scaling = parameters["factor"]
    elif kind == "llama3":
        scaling = Llama3Scaling(
            factor=parameters["factor"],
            low=parameters["low_freq_factor"],
            high=parameters["high_freq_factor"],
            original=parameters["original_max_position_embeddings"],
        )
    elif kind == "yarn":
        scaling = YarnScaling(
            factor=parameters["factor"],
            low=parameters.get("beta_slow") or 1,
            high=parameters.get("beta_fast") or 32,
            original=parameters["original_max_position_embeddings"],
            length=parameters.get("attention_factor") or yarn_length(parameters),
            whole=parameters.get("truncate", True),
        )
    else:
        raise ValueError(f"our layers don't turn by rope_type={kind!r}")
    return Rotary(parameters["rope_theta"], scaling, halves)


def yarn_length(parameters: dict[str, Any]) -> float | None:
    """The length of queries and keys where DeepSeek's two numbers give it; None: as in the paper."""
    own, all_parts = parameters.get("mscale"), parameters.get("mscale_all_dim")
    if not own or not all_parts:
        return None
    growth = 0.1 * math.log(max(parameters["factor"], 1))
    return (own * growth + 1) / (all_parts * growth + 1)


def grouped_attention(config: Any, rope_parameters: dict[str, Any], **arguments: Any) -> Any:
    return MultiHeadAttention(
        config.hidden_size,
        config.num_attention_heads,
        head_dim=config.head_dim,
        num_kv_heads=config.num_key_value_heads,
        rotary=rotary_of(rope_parameters),
        **arguments,
    )


def from_llama(theirs: Any) -> MultiHeadAttention:
    check_carried(theirs, "LlamaAttention", *PROJECTIONS.values(), scaling=theirs.head_dim**-0.5)
    layer = grouped_attention(theirs.config, theirs.config.rope_parameters)
    return loaded(layer, weights_of(theirs, PROJECTIONS))


def from_qwen3(theirs: Any) -> MultiHeadAttention:
    names = PROJECTIONS | {"q_norm": "q_norm", "k_norm": "k_norm"}
    check_carried(theirs, "Qwen3Attention", *names.values(), scaling=theirs.head_dim**-0.5)
    options = {"qk_norm": True, "window": theirs.sliding_window}
    layer = grouped_attention(theirs.config, theirs.config.rope_parameters, **options)
    layer.q_norm.eps, layer.k_norm.eps = theirs.q_norm.variance_epsilon, theirs.k_norm.variance_epsilon
    return loaded(layer, weights_of(theirs, names))


def from_gemma3(theirs: Any) -> MultiHeadAttention:
    config, names = theirs.config, (*PROJECTIONS.values(), "q_norm", "k_norm")
    check_carried(theirs, "Gemma3Attention", *names, attn_logit_softcapping=None, is_causal=True)
    layer = grouped_attention(
        config, config.rope_parameters[theirs.layer_type], qk_norm=True, window=theirs.sliding_window
    )
    # Their scores are divided by √query_pre_attn_scalar, ours by √head_dim.
    scale = (config.head_dim / config.query_pre_attn_scalar) ** 0.5
    gains = {
        "q_norm.weight": (1 + theirs.q_norm.weight) * scale,
        "k_norm.weight": 1 + theirs.k_norm.weight,
    }
    layer.q_norm.eps, layer.k_norm.eps = theirs.q_norm.eps, theirs.k_norm.eps
    return loaded(layer, weights_of(theirs, PROJECTIONS) | gains)


def from_deepseek_v3(theirs: Any) -> LatentAttention:
    config = theirs.config
    kept = ["kv_a_proj_with_mqa", "kv_a_layernorm", "kv_b_proj", "o_proj"]
    kept += ["q_proj"] if config.q_lora_rank is None else ["q_a_proj", "q_a_layernorm", "q_b_proj"]
    check_carried(theirs, "DeepseekV3Attention", *kept)
    layer = LatentAttention(
        config.hidden_size,
        config.num_attention_heads,
        config.kv_lora_rank,
        config.qk_rope_head_dim,
        head_dim=config.qk_nope_head_dim,
        value_head_dim=config.v_head_dim,
        query_latent_dim=config.q_lora_rank,
        rotary=rotary_of(config.rope_parameters, halves=not config.rope_interleave),
    )

    def split_by_head(projection: nn.Linear, width: int) -> list[Tensor]:
        """The first ``width`` rows of each head, and the others."""
        heads = projection.weight.unflatten(0, (layer.num_heads, -1))  # (H, rows of a head, in)
        return [heads[:, :width].flatten(0, 1), heads[:, width:].flatten(0, 1)]

    layer.latent_norm.eps = theirs.kv_a_layernorm.variance_epsilon
    parameters = weights_of(theirs, {"W_o": "o_proj", "latent_norm": "kv_a_layernorm"})
    queries = theirs.q_proj
    if config.q_lora_rank is not None:
        queries, layer.query_norm.eps = theirs.q_b_proj, theirs.q_a_layernorm.variance_epsilon
        parameters |= weights_of(theirs, {"W_dq": "q_a_proj", "query_norm": "q_a_layernorm"})
    growth = theirs.scaling * theirs.qk_head_dim**0.5  # of the scores, by YaRN: our queries bring it along
    W_uq, W_qr = (growth * rows for rows in split_by_head(queries, layer.head_dim))
    W_dkv, W_kr = theirs.kv_a_proj_with_mqa.weight.split([layer.latent_dim, layer.rope_dim])
    W_uk, W_uv = split_by_head(theirs.kv_b_proj, layer.head_dim)
    names = ("W_uq", "W_qr", "W_dkv", "W_kr", "W_uk", "W_uv")
    weights = (W_uq, W_qr, W_dkv, W_kr, W_uk, W_uv)
    return loaded(layer, parameters | {f"{name}.weight": x for name, x in zip(names, weights, strict=True)})


def block_from(theirs: Any, attention: Any) -> EncoderLayer:
    """The decoder layer of Llama or Qwen around our attention."""
    config = theirs.self_attn.config
    kind = type(theirs.self_attn).__name__.replace("Attention", "DecoderLayer")
    inside = [f"self_attn.{name}" for name in (*PROJECTIONS.values(), "q_norm", "k_norm")]
    check_carried(theirs, kind, *BLOCK.values(), *inside)
    check_carried(theirs.mlp, kind.replace("DecoderLayer", "MLP"), *GATED, hidden_act="silu")
    layer = EncoderLayer(
        config.hidden_size,
        config.num_attention_heads,
        config.intermediate_size,
        head_dim=config.head_dim,
        num_kv_heads=config.num_key_value_heads,
        rotary=attention.rotary,
        qk_norm=attention.q_norm is not None,
        window=attention.window,
        gated=True,
        norm=partial(nn.RMSNorm, eps=config.rms_norm_eps),
    )
    layer.self_attention = attention
    return loaded(layer, layer.state_dict() | weights_of(theirs, BLOCK))


# Their names and our functions, by the ``model_type`` of a configuration.
MODELS = {
    "llama": ("Llama", from_llama),
    "qwen3": ("Qwen3", from_qwen3),
    "gemma3_text": ("Gemma3Text", from_gemma3),
    "deepseek_v3": ("DeepseekV3", from_deepseek_v3),
}
WHOLE_BLOCKS = ("llama", "qwen3")  # of the others we have the attention, and other blocks around it


def relative_difference(output: Tensor, expected: Tensor) -> float:
    """The largest difference of two outputs, as a share of the largest that was expected."""
    return ((output - expected).abs().max() / expected.abs().max()).item()


@torch.no_grad()
def largest_difference(config: Mapping[str, Any], num_tokens: int) -> float:
    """Compare the first layer of a model of ``transformers`` with ours, with random parameters.

    config  as published beside the weights, with ``model_type``

    Returns the largest difference of two outputs, as a share of their largest output.
    Raises ImportError where ``transformers`` is not installed.
    """
    transformers = import_module("transformers")
    (name, convert), is_whole = MODELS[config["model_type"]], config["model_type"] in WHOLE_BLOCKS
    smaller = {"num_hidden_layers": 1, "vocab_size": 3, "pad_token_id": 0}  # the layer itself keeps its size
    if not is_whole:
        smaller["intermediate_size"] = 8  # of the part that is not compared
    settings = getattr(transformers, f"{name}Config")(**{**config, **smaller})
    settings._attn_implementation = "eager"
    model = getattr(transformers, f"{name}Model")(settings).eval()
    generator = torch.Generator().manual_seed(0)
    for parameter in model.layers.parameters():
        drawn = torch.randn(parameter.shape, generator=generator)
        if parameter.dim() == 1:  # gains of norms: near where they begin, but no two alike
            parameter.add_(0.3 * drawn)
        else:  # so that scores are neither flat nor sharp
            parameter.copy_(drawn * parameter.shape[-1] ** -0.5)
    theirs = model.layers[0] if is_whole else model.layers[0].self_attn
    attention: Any = convert(model.layers[0].self_attn)
    ours = block_from(theirs, attention) if is_whole else attention
    calls: list[tuple[Tensor, Tensor]] = []

    def take(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        calls.append((args[0] if args else kwargs["hidden_states"], result))

    with theirs.register_forward_hook(take, with_kwargs=True):
        x = torch.randn(1, num_tokens, settings.hidden_size, generator=generator)
        model(inputs_embeds=x, use_cache=False)
    ((came, result),) = calls
    expected = result[0] if isinstance(result, tuple) else result
    return relative_difference(ours(came, is_causal=True), expected)
