"""Activation patching: put what one run of a model computes into another run, and see what comes back.

It serves any model of ``transformers`` that asks the AttentionInterface for attention, without converting
its weights; the model is the same afterwards.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from mha_lib.classroom.heads.attention import as_arguments, read_attention, watched

Outputs = dict[nn.Module, Tensor]  # what a module has computed, its heads (1, N, H, d) apart


@dataclass(frozen=True)
class Patched:
    """The recovery of a metric by patching each part: 0 as in the corrupted run, 1 as in the clean one."""

    layers: list[int]  # the number of each of the L layers with attention
    heads: Tensor  # (L, H); NaN where a layer has fewer heads
    streams: Tensor  # (L,), the output of the whole layer
    networks: Tensor  # (L,); NaN where the layer has no part called mlp
    clean: float  # the metric of the clean run
    corrupted: float


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

    clean, corrupted  what the model is called with, one text each and of the same shape: two texts that
                      differ in the word the answer depends on
    metric            takes the model's output and returns a number, such as the difference of two logits
    position          the one token at which parts are patched, counted from the end where negative; all
                      tokens without it

    Runs the model 3 + L (H + 2) times. Raises TypeError or ValueError for inputs of two shapes, for a model
    with an encoder and a decoder or whose attention can't be changed, for an unknown position, and for a
    metric that does not tell the two texts apart.

    Source: Meng et al. 2022 (causal tracing); Wang et al. 2022 (heads).
    """
    attention = read_attention(model, clean)
    if [*attention.layers] != ["self"]:
        raise ValueError(f"model must have one text, got attention of {', '.join(attention.layers)}")
    layers = attention.layers["self"]
    modules = [layer.module for layer in layers if layer.module is not None]
    if len({*modules}) < len(layers):
        raise ValueError(
            f"each layer of {type(model).__name__} must ask the AttentionInterface of transformers for its "
            f"attention, and have a module of its own; {len({*modules})} of {len(layers)} do"
        )
    inputs, others = as_arguments(model, clean), as_arguments(model, corrupted)
    check_pair(inputs, others)
    count = layers[0].weights.shape[1]
    if position is not None and position not in range(-count, count):
        raise ValueError(f"position must be from {-count} to {count - 1} for {count} tokens, got {position}")
    blocks = [block_of(model, module) for module in modules]
    networks = [getattr(block, "mlp", None) for block in blocks]
    kept: Outputs = {}
    with keeping(model, [*blocks, *filter(None, networks)], kept):
        before = float(metric(model(**inputs)))

    def recovery(module: nn.Module | None, head: int | None = None) -> float:
        if module is None:
            return float("nan")
        with patching(model, module, kept[module], head, position):
            return (float(metric(model(**others))) - after) / (before - after)

    with watched(model):
        after = float(metric(model(**others)))
    if abs(before - after) <= 1e-6 * max(abs(before), abs(after)):
        raise ValueError(
            f"metric must differ between the two texts, got {before:.6g} and {after:.6g}; let it ask for "
            "what the changed word decides, such as the difference of two answers' logits"
        )
    most = max(len(layer.weights) for layer in layers)
    heads = torch.full((len(layers), most), torch.nan)
    for at, module in enumerate(modules):
        for head in range(len(layers[at].weights)):
            heads[at, head] = recovery(module, head)
    return Patched(
        [layer.number for layer in layers],
        heads,
        torch.tensor([recovery(block) for block in blocks]),
        torch.tensor([recovery(network) for network in networks]),
        before,
        after,
    )


def check_pair(clean: dict[str, Any], corrupted: dict[str, Any]) -> None:
    for name, value in clean.items():
        other = corrupted.get(name)
        if isinstance(value, Tensor) and (not isinstance(other, Tensor) or other.shape != value.shape):
            got = tuple(other.shape) if isinstance(other, Tensor) else type(other).__name__
            raise ValueError(
                f"corrupted must have {name} of the same shape as clean, {tuple(value.shape)}, got {got}; "
                "take words of as many tokens"
            )


def block_of(model: nn.Module, module: nn.Module) -> nn.Module:
    """The layer that a module belongs to: the nearest part around it that stands in a list of layers."""
    path = next(name for name, part in model.named_modules() if part is module).split(".")
    for end in range(len(path), 0, -1):
        if isinstance(model.get_submodule(".".join(path[: end - 1])), nn.ModuleList):
            return model.get_submodule(".".join(path[:end]))
    raise ValueError(f"{type(module).__name__} must stand in a list of layers, got it at {'.'.join(path)}")


def first(output: Any) -> Tensor:
    """The stream in the output of a layer, which may hold other things behind it."""
    found: Tensor = output if isinstance(output, Tensor) else output[0]
    return found


@contextmanager
def keeping(model: nn.Module, parts: list[nn.Module], kept: Outputs) -> Iterator[None]:
    """Keep the outputs of all heads, and of these parts."""

    def keep(module: nn.Module, outputs: Tensor) -> Tensor:
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
def patching(
    model: nn.Module, patched: nn.Module, clean: Tensor, head: int | None, position: int | None
) -> Iterator[None]:
    """Put the clean output in the place of a part's, or of one head of an attention module."""
    tokens = slice(None) if position is None else position
    place = (slice(None), tokens) if head is None else (slice(None), tokens, head)

    def put(module: nn.Module, outputs: Tensor) -> Tensor:
        if module is not patched:
            return outputs
        outputs = outputs.clone()
        outputs[place] = clean[place]
        return outputs

    def put_part(module: nn.Module, _: Any, output: Any) -> Any:
        changed = put(module, first(output))
        return changed if isinstance(output, Tensor) else (changed, *output[1:])

    with ExitStack() as stack:
        if head is None:
            stack.callback(patched.register_forward_hook(put_part).remove)
        stack.enter_context(watched(model, outputs=put))
        yield
