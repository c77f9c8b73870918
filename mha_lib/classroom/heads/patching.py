"""Activation patching: put what one run of a model computes into another run, and see what comes back.

It serves any model of ``transformers`` that asks the AttentionInterface for attention, without converting
its weights; the model is the same afterwards.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from mha_lib.classroom.heads.attention import as_arguments, read_attention, watched
from mha_lib.classroom.heads.parts import Trace, first, own_modules, same

Outputs = dict[nn.Module, Tensor]  # what a module has computed, its heads (B, N, H, d) apart


@dataclass(frozen=True)
class Patched:
    """The recovery of a metric by patching each part: 0 as in the corrupted run, 1 as in the clean one."""

    layers: list[int]  # the number of each of the L layers with attention
    heads: Tensor  # (L, H); NaN where a layer has fewer heads
    streams: Tensor  # (L,), the output of the whole layer
    networks: Tensor  # (L,); NaN where no part of the layer is found that writes beside its attention
    clean: float  # the metric of the clean run, the mean over the pairs
    corrupted: float
    pairs: int  # of texts


@torch.no_grad()
def patched_heads(
    model: nn.Module,
    clean: Any,
    corrupted: Any,
    metric: Callable[[Any], Any],
    position: int | None = None,
) -> Patched:
    """Return how much of the metric comes back when a part of the corrupted run is the clean run's.

        recovery = (metric with the part − metric corrupted) / (metric clean − metric corrupted)

    clean, corrupted  what the model is called with, B pairs of texts of one shape: the texts of a pair differ
                      in the word the answer depends on, and have their padding in the same places
    metric            takes the model's output and returns a number, such as the mean difference of two
                      logits, or a number for each pair (B,), of which we take the mean
    position          the one token at which parts are patched, counted from the end where negative; all
                      tokens without it

    A layer's network is whatever adds to the stream beside the attention, under any name: the parts whose
    outputs, added to the stream, are the layer's output. In a layer that is no such sum it is the part called
    ``mlp``, if there is one.

    Runs the model 4 + L (H + 2) times. Raises TypeError or ValueError for inputs of two shapes, for a model
    with an encoder and a decoder or whose attention can't be changed, for an unknown position, and for a
    metric that does not tell the two texts apart.

    Source: Meng et al. 2022 (causal tracing); Wang et al. 2022 (heads).
    """
    inputs, others = (as_arguments(model, given, many=True) for given in (clean, corrupted))
    one = {name: value[:1] if isinstance(value, Tensor) else value for name, value in inputs.items()}
    attention = read_attention(model, one)
    if [*attention.layers] != ["self"]:
        raise ValueError(f"model must have one text, got attention of {', '.join(attention.layers)}")
    layers = attention.layers["self"]
    modules = own_modules(model, layers)
    check_pair(inputs, others)
    count = layers[0].weights.shape[1]
    if position is not None and position not in range(-count, count):
        raise ValueError(f"position must be from {-count} to {count - 1} for {count} tokens, got {position}")
    trace = Trace(model, one)
    blocks = [block_of(trace, module) for module in modules]
    networks = [trace.networks(block, module) for block, module in zip(blocks, modules, strict=True)]
    kept: Outputs = {}
    with keeping(model, [*blocks, *chain(*networks)], kept):
        before = mean_of(metric(model(**inputs)))
    pairs = len(kept[modules[0]])
    for part, output in kept.items():
        if output.dim() == 2:  # a network may see all texts as one (OPT)
            kept[part] = output.unflatten(0, (pairs, -1))

    def recovery(parts: list[nn.Module], head: int | None = None) -> float:
        if not parts:
            return float("nan")
        with patching(model, {part: kept[part] for part in parts}, head, position):
            return (mean_of(metric(model(**others))) - after) / (before - after)

    with watched(model):
        after = mean_of(metric(model(**others)))
    if abs(before - after) <= 1e-6 * max(abs(before), abs(after)):
        raise ValueError(
            f"metric must differ between the two texts, got {before:.6g} and {after:.6g}; let it ask for "
            "what the changed word decides, such as the difference of two answers' logits"
        )
    most = max(len(layer.weights) for layer in layers)
    heads = torch.full((len(layers), most), torch.nan)
    for at, module in enumerate(modules):
        for head in range(len(layers[at].weights)):
            heads[at, head] = recovery([module], head)
    return Patched(
        [layer.number for layer in layers],
        heads,
        torch.tensor([recovery([block]) for block in blocks]),
        torch.tensor([recovery(network) for network in networks]),
        before,
        after,
        pairs,
    )


def mean_of(value: Any) -> float:
    """The mean over the pairs of what a metric has returned."""
    return float(value.float().mean() if isinstance(value, Tensor) else value)


def check_pair(clean: dict[str, Any], corrupted: dict[str, Any]) -> None:
    for name, value in clean.items():
        other = corrupted.get(name)
        if isinstance(value, Tensor) and (not isinstance(other, Tensor) or other.shape != value.shape):
            got = tuple(other.shape) if isinstance(other, Tensor) else type(other).__name__
            raise ValueError(
                f"corrupted must have {name} of the same shape as clean, {tuple(value.shape)}, got {got}; "
                "take words of as many tokens"
            )
    masks = [given.get("attention_mask") for given in (clean, corrupted)]
    if masks[0] is not None and not same(*masks):
        raise ValueError(
            "corrupted must have its padding where clean has it, got two other masks; take words of as many "
            "tokens"
        )


def block_of(trace: Trace, module: nn.Module) -> nn.Module:
    found = trace.block(module)
    if found is None:
        raise ValueError(
            f"{type(module).__name__} must stand in a list of layers (nn.ModuleList), got it alone"
        )
    return found[0]


@contextmanager
def keeping(model: nn.Module, parts: list[nn.Module], kept: Outputs) -> Iterator[None]:
    """Keep the outputs of all heads, and of these parts."""

    def keep(module: nn.Module, outputs: Tensor, _: Tensor) -> Tensor:
        kept[module] = outputs.clone()
        return outputs

    def keep_part(module: nn.Module, _: Any, output: Any) -> None:
        kept[module] = first(output).clone()

    with ExitStack() as stack:
        for part in parts:
            stack.callback(part.register_forward_hook(keep_part).remove)
        stack.enter_context(watched(model, outputs=keep))
        yield


@contextmanager
def patching(model: nn.Module, clean: Outputs, head: int | None, position: int | None) -> Iterator[None]:
    """Put clean outputs in the place of those of parts, or of one head of an attention module."""
    tokens = slice(None) if position is None else position
    place = (slice(None), tokens) if head is None else (slice(None), tokens, head)

    def put(module: nn.Module, outputs: Tensor, _: Any = None) -> Tensor:
        if module not in clean:
            return outputs
        outputs = outputs.clone()
        outputs[place] = clean[module][place]
        return outputs

    def put_part(module: nn.Module, _: Any, output: Any) -> Any:
        changed = put(module, first(output).reshape(clean[module].shape)).reshape(first(output).shape)
        return changed if isinstance(output, Tensor) else (changed, *output[1:])

    with ExitStack() as stack:
        for part in clean if head is None else ():
            stack.callback(part.register_forward_hook(put_part).remove)
        stack.enter_context(watched(model, outputs=put if head is not None else None))
        yield
