"""Read the attention weights of a model of ``transformers``.

Its attention modules ask one function for weights and output (``AttentionInterface``), by the name in the
model's configuration. We run a copy of the model that has its parameters and a configuration with our name:
our function calls the module's own eager one, so that the weights are the model's own, and keeps them. The
model itself stays as it is, whatever runs it in another thread at the same time.
"""

import inspect
import math
import sys
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from mha_lib.classroom.heads.changes import Head

OURS = "mha_lib"  # the name of our function among the attention functions of transformers
# Where a model's output keeps its attentions, and how we call them.
KINDS = {
    "encoder_attentions": "encoder",
    "attentions": "self",
    "decoder_attentions": "decoder",
    "cross_attentions": "cross",
}
MOST_HELD = 2**30  # bytes of weights; of more, those in float32 are held in float16
ROUNDING = 0.02  # of a row's sum, in bfloat16


@dataclass(frozen=True)
class Layer:
    """The attention of one layer, for one text; ``read_batch`` puts an axis of texts before the heads."""

    weights: Tensor  # (H, Q, K)
    allowed: Tensor  # (H, Q, K), boolean; all True if the model does not show its mask
    number: int  # as the model counts its layers, of which some may have no attention
    module: nn.Module | None = None  # None if the model computes attention by itself

    @property
    def sink(self) -> Tensor | None:
        """The weight (H, Q) that goes to no token, where the layer has a sink."""
        return sink_of(self.module, self.weights)


def sink_of(module: nn.Module | None, weights: Tensor) -> Tensor | None:
    """The weight (…, Q) that goes to no token: some models' softmax has a sink (gpt-oss, MiMo).

    None for a module without one, and where rows sum to 1: Granite's sink scales what the weights give.
    """
    if getattr(module, "sinks", None) is None and not hasattr(module, "sink_proj"):
        return None
    rest = (1 - weights.float().sum(-1)).clamp(min=0)
    return rest if float(rest.max()) > ROUNDING else None


@dataclass(frozen=True)
class ModelAttention:
    """The weights that a model's heads give in one text: for each kind of attention its layers.

    The kinds are "self", or those of an encoder and a decoder: "encoder", "decoder", "cross".
    """

    model: nn.Module
    layers: dict[str, list[Layer]]

    @property
    def heads(self) -> list[Head]:
        return [
            Head(kind, layer.number, head)
            for kind, layers in self.layers.items()
            for layer in layers
            for head in range(len(layer.weights))
        ]


def unwrapped(model: Any) -> Any:
    """The model itself, where it was handed to ``torch.compile`` or to ``DataParallel``."""
    model = getattr(model, "_orig_mod", model)
    parallel = (nn.DataParallel, nn.parallel.DistributedDataParallel)
    return model.module if isinstance(model, parallel) else model


def as_arguments(model: nn.Module, inputs: Any) -> dict[str, Any]:
    """The inputs, of one text, as the model takes them: a mapping as it is, a tensor under its main name."""
    if isinstance(inputs, Mapping) or hasattr(inputs, "keys"):
        arguments = {name: inputs[name] for name in inputs}
    elif isinstance(inputs, Tensor):
        arguments = {getattr(model, "main_input_name", "input_ids"): inputs}
    else:
        raise TypeError(
            "inputs must be a tensor or a mapping, as a tokenizer returns it with return_tensors='pt', "
            f"got {type(inputs).__name__}"
        )
    if any(arguments.get(name) is not None for name in ("past_key_values", "cache_params")):
        raise ValueError("inputs must hold the whole text, got past_key_values; pass all tokens without them")
    if arguments.get("return_dict") is False:
        raise ValueError("inputs must leave return_dict out, since attentions are read by their name")
    for name, value in arguments.items():
        if isinstance(value, list):
            raise TypeError(
                f"inputs must hold tensors, got a list in {name}; call the tokenizer with return_tensors='pt'"
            )
        if not isinstance(value, Tensor):
            continue
        if value.dim() == 1 or (value.dim() and len(value) != 1):
            one = f"{name}[None]" if value.dim() == 1 else f"{name}[:1]"
            raise ValueError(
                f"inputs must hold one text or picture, its first axis of length 1, got {name} of shape "
                f"{tuple(value.shape)}; pass one of them, such as {one}"
            )
        if value.numel() == 0:
            raise ValueError(f"inputs must hold at least one token, got {name} of shape {tuple(value.shape)}")
        place = next((each.device for each in getattr(model, "parameters", list)()), value.device)
        if value.device != place and not hasattr(model, "hf_device_map"):
            raise ValueError(
                f"inputs must be on the model's device, {place}, got {name} on {value.device}; pass "
                f"inputs.to({str(place)!r})"
            )
    needs_target = getattr(getattr(model, "config", None), "is_encoder_decoder", False)
    if needs_target and not arguments.keys() & {"decoder_input_ids", "decoder_inputs_embeds", "labels"}:
        raise ValueError(
            "inputs must hold decoder_input_ids too, since the model has a decoder: the text so far, such as "
            "what model.generate(**inputs) returns"
        )
    return arguments


def check_model(model: Any) -> None:
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a module of PyTorch, got {type(model).__name__}")
    if model.training:
        raise ValueError(
            "model must be in evaluation mode, since dropout changes the weights; call model.eval() first"
        )
    taken = inspect.signature(model.forward).parameters.values()
    if not any(each.name == "output_attentions" or each.kind == each.VAR_KEYWORD for each in taken):
        raise ValueError(
            f"model must take output_attentions=True and return attentions, as models of transformers do; "
            f"{type(model).__name__}.forward does not take it"
        )
    config = getattr(model, "config", None)
    if getattr(config, "attention_window", None):
        raise ValueError(
            f"model must have weights (queries, keys), got {type(model).__name__}, whose keys are places in "
            "a window that moves along; take a model that attends to all tokens"
        )
    if getattr(config, "return_dict", True) is False:
        raise ValueError("model must return attentions by name; set model.config.return_dict = True")


def most_tokens(model: nn.Module) -> int | None:
    """The longest text that a model has positions for; None if it sets no limit.

    RoBERTa and its kin count positions from the one behind that of padding: of 514 they use 512.
    """
    for name, part in model.named_modules():
        if name.endswith("position_embeddings") and getattr(part, "padding_idx", None) is not None:
            return int(part.num_embeddings) - int(part.padding_idx) - 1
    return getattr(getattr(model, "config", None), "max_position_embeddings", None)


def misfit(model: nn.Module, arguments: Mapping[str, Any]) -> str:
    """Say which text is too long for the model, or holds a token that it does not know; "" if none does."""
    config = getattr(model, "config", None)
    most, words = most_tokens(model), getattr(config, "vocab_size", None)
    for name in ("input_ids", "decoder_input_ids"):
        tokens = arguments.get(name)
        if not isinstance(tokens, Tensor):
            continue
        if most and tokens.shape[-1] > most:
            return (
                f"inputs must hold at most {most} tokens, the number of {type(model).__name__}'s positions, "
                f"got {name} of {tokens.shape[-1]}; pass a part of the text, such as {name}[:, :{most}]"
            )
        if tokens.is_floating_point() or int(tokens.min()) < 0:
            return f"inputs must hold numbers of tokens from 0, got {name} from {tokens.min().item():.3g}"
        if words and int(tokens.max()) >= words:
            return (
                f"inputs must hold numbers of tokens below {words}, the size of the vocabulary, got "
                f"{int(tokens.max())} in {name}; is it the tokenizer of another model?"
            )
    return ""


@torch.no_grad()
def read_attention(model: nn.Module, inputs: Any) -> ModelAttention:
    """Run the model on one text, and return the weights of all its heads.

    ``inputs`` is what the model is called with: a tensor, or a mapping such as a tokenizer returns. The model
    may compute attention in any way (sdpa, flash): for this one run it uses its eager function.
    """
    model = unwrapped(model)
    check_model(model)
    layers = {
        kind: [replace(layer, weights=layer.weights[0], allowed=layer.allowed[0]) for layer in found]
        for kind, found in read_batch(model, as_arguments(model, inputs), may_switch=True).items()
    }
    return ModelAttention(model, layers)


@torch.no_grad()
def read_batch(
    model: nn.Module, arguments: dict[str, Any], *, may_switch: bool = False
) -> dict[str, list[Layer]]:
    """Return the layers of each kind of attention as ``ModelAttention`` has them, for B texts at once.

    Their weights and allowed cells are (B, H, Q, K).

    Raises ValueError for a model that cannot be read, and unless it ``may_switch`` for one that goes over to
    another kind of attention for these texts (BigBird for short ones).
    """
    seen: list[tuple[nn.Module, Tensor, Tensor]] = []
    are_many = are_too_many(model, arguments)

    def keep(module: nn.Module, weights: Tensor, allowed: Tensor) -> Tensor:
        weights = weights.half() if are_many else weights
        seen.append((module, weights, allowed))
        return weights

    watched = watched_copy(model, keep)
    before = attention_types(watched)
    try:
        output = watched(**arguments, output_attentions=True)
    except (IndexError, RuntimeError) as error:
        if reason := misfit(model, arguments):
            raise ValueError(reason) from error
        raise
    if not may_switch and attention_types(watched) != before:
        raise ValueError(f"{type(model).__name__} attends in another way to texts as short as these")
    counts = (len(value) for value in arguments.values() if isinstance(value, Tensor) and value.dim())
    texts = max(counts, default=1)
    layers = {
        name: numbered([as_layer(kind, at, weights, seen, texts) for at, weights in enumerate(found)])
        for kind, name in KINDS.items()
        if (found := getattr(output, kind, None))
    }
    if not layers:
        raise ValueError(
            f"model must return attentions when it is called with output_attentions=True, as models of "
            f"transformers do; {type(model).__name__} returned none of {', '.join(KINDS)}. Does it attend "
            "at all?"
        )
    for name, found in layers.items():
        shapes = {tuple(layer.weights.shape[-2:]) for layer in found}
        is_square = all(queries == keys for queries, keys in shapes)
        if len(shapes) > 1 or not (is_square or name == "cross"):
            raise ValueError(
                f"attention of kind {name!r} must go over the same tokens in all layers, as queries and as "
                f"keys, got (Q, K) of {', '.join(map(str, sorted(shapes)))}; {type(model).__name__} pools "
                "its tokens, and can't be shown"
            )
    return layers


def are_too_many(model: nn.Module, arguments: dict[str, Any]) -> bool:
    """Whether all weights of a text take more than ``MOST_HELD`` bytes, as far as the configuration says."""
    config, tokens = getattr(model, "config", None), arguments.get("input_ids")
    counts = [getattr(config, name, 0) for name in ("num_hidden_layers", "num_attention_heads")]
    if not isinstance(tokens, Tensor) or not all(isinstance(count, int) for count in counts):
        return False
    return (
        math.prod(counts) * tokens.shape[-1] ** 2 * getattr(model, "dtype", torch.float32).itemsize
        > MOST_HELD
    )


def as_layer(
    kind: str, at: int, weights: Any, seen: list[tuple[nn.Module, Tensor, Tensor]], texts: int
) -> Layer:
    """The weights that a model has returned, with the module that made them and its mask."""
    if not isinstance(weights, Tensor) or weights.dim() != 4 or len(weights) != texts:
        got = "None" if weights is None else str(tuple(getattr(weights, "shape", ())))
        if isinstance(weights, Tensor):
            raise ValueError(
                f"{kind}[{at}] must be weights (1, H, Q, K), got {got}: they are no weights of queries and "
                "keys (RWKV), or those of windows (Swin), which can't be shown"
            )
        raise ValueError(
            f"{kind}[{at}] must be weights ({texts}, H, Q, K), got {got}; does the layer compute them? "
            'Load the model with attn_implementation="eager"'
        )
    for module, ours, allowed in seen:
        if ours is weights:
            return Layer(weights, allowed, at, module)
    return Layer(weights, torch.ones_like(weights, dtype=torch.bool), at)


def numbered(layers: list[Layer]) -> list[Layer]:
    """The layers with the numbers that their modules have in the model, or else those of their places.

    A hybrid model has attention in some of its layers alone; in ALBERT one module serves them all.
    """
    numbers: list[Any] = [getattr(layer.module, "layer_idx", None) for layer in layers]
    if None in numbers or len({*numbers}) < len(numbers):
        return layers
    return [replace(layer, number=number) for layer, number in zip(layers, numbers, strict=True)]


def attention_types(model: nn.Module) -> list[Any]:
    return [getattr(part, "attention_type", None) for part in model.modules()]


def watched_copy(model: nn.Module, keep: Callable[[nn.Module, Tensor, Tensor], Tensor]) -> nn.Module:
    """A copy of the model with the same tensors, whose modules ask our function for attention.

    ``keep`` gets a module, its weights (B, H, Q, K) and the allowed cells in the same shape, and returns the
    weights that the model goes on with.
    """
    held = (vars(part).values() for part in model.modules())
    tensors = chain(model.parameters(), model.buffers(), *held)
    shared = {id(value): value for value in tensors if isinstance(value, Tensor)}
    try:
        watched = deepcopy(model, shared)
    except (RuntimeError, TypeError) as error:
        raise ValueError(
            f"model must be one that copy.deepcopy copies, since a copy of it is read, got "
            f"{type(model).__name__}: {error}"
        ) from error
    configurations = [config for part in watched.modules() if (config := getattr(part, "config", None))]
    for configuration in configurations:
        if hasattr(configuration, "_attn_implementation"):
            register()
            configuration._attn_implementation = OURS
    for part in watched.modules():
        part.keep_weights = keep  # type: ignore[assignment]
    return watched


def register() -> None:
    """Make our function known to ``transformers``, with the masks that its eager functions take."""
    utilities, masks = import_module("transformers"), import_module("transformers.masking_utils")
    utilities.AttentionInterface.register(OURS, attend)
    masks.AttentionMaskInterface.register(OURS, masks.eager_mask)


def attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **options: Any,
) -> tuple[Tensor, Tensor]:
    """Output (B, Q, H, d) and weights (B, H, Q, K) as the module computes them itself."""
    output, weights = eager_function(module)(module, query, key, value, attention_mask, **options)
    return output, module.keep_weights(module, weights, allowed_cells(attention_mask, weights))


def eager_function(module: nn.Module) -> Callable[..., tuple[Tensor, Tensor]]:
    """The eager function that stands beside the module's class, or beside the one that it inherits from."""
    for kind in type(module).__mro__:
        if function := getattr(sys.modules[kind.__module__], "eager_attention_forward", None):
            return function
    raise ValueError(f"{type(module).__name__} has no eager_attention_forward beside it, so no weights")


def allowed_cells(mask: Tensor | None, weights: Tensor) -> Tensor:
    """Where a query may attend, (B, H, Q, K); masks are boolean, or added to the scores."""
    if mask is None:
        return torch.ones_like(weights, dtype=torch.bool)
    mask = mask[..., : weights.shape[-1]]
    allowed = mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2
    return allowed.expand(weights.shape)
