"""Reads a model whose weights in a text are too many to be held: each layer's come from a run of its own."""

import itertools
import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from mha_lib.classroom.heads.attention import (
    KINDS,
    WATCHING,
    Layer,
    ModelAttention,
    as_arguments,
    check_model,
    numbers_of,
    read_attention,
    watched,
)

MOST_HELD = 2**30  # bytes of weights


class Enough(Exception):
    """Ends a run of the model when the weights that were asked for are there."""


def is_too_large(model: nn.Module, arguments: dict[str, Any]) -> bool:
    """Whether all weights of a text would take more than ``MOST_HELD`` bytes, as the configuration says."""
    config, tokens = getattr(model, "config", None), arguments.get("input_ids")
    counts = [getattr(config, name, 0) for name in ("num_hidden_layers", "num_attention_heads")]
    dtype = getattr(model, "dtype", torch.float32)
    if not isinstance(tokens, Tensor) or not all(isinstance(count, int) for count in counts):
        return False
    return math.prod(counts) * tokens.shape[-1] ** 2 * dtype.itemsize > MOST_HELD


class Runs:
    """Runs a model for the weights of one of its layers, and holds those of the last one.

    What changed the heads when it was made changes them in each run.
    """

    def __init__(self, model: nn.Module, arguments: dict[str, Any]):
        self.model, self.arguments, self.watching = model, arguments, [*WATCHING]
        self.seen: list[tuple[nn.Module, tuple[int, ...], Tensor]] = []  # of each call, as the model got it
        self.number, self.held = -1, (torch.empty(0), torch.empty(0))

    def layer(self, number: int) -> tuple[Tensor, Tensor]:
        """Weights and allowed cells, (H, Q, K) each, of a call of attention."""
        if number != self.number:
            self.held = (torch.empty(0), torch.empty(0))  # first, so that there are never two
            with suppress(Enough):
                self.run(number)
            self.number = number
        return self.held

    @torch.no_grad()
    def run(self, wanted: int = -1) -> Any:
        calls = itertools.count()

        def give(module: nn.Module, weights: Tensor, allowed: Tensor) -> Tensor:
            """Hand an empty tensor to the model, which would keep all weights until it returns."""
            if next(calls) == wanted:
                self.held = weights[0], allowed[0]
                raise Enough
            empty = weights.new_empty(0)
            if wanted < 0:
                self.seen.append((module, tuple(weights.shape[1:]), empty))
            return empty

        now, WATCHING[:] = [*WATCHING], self.watching
        try:
            with watched(self.model, give=give):
                return self.model(**self.arguments, output_attentions=True)
        finally:
            WATCHING[:] = now


class LayerOnDemand(Layer):
    """A layer whose weights come from another run of the model when they are asked for."""

    def __init__(self, runs: Runs, call: int, number: int):
        module, shape, _ = runs.seen[call]
        own = {"read": partial(runs.layer, call), "shape_read": shape, "number": number, "module": module}
        for name, value in own.items():
            object.__setattr__(self, name, value)  # the fields of Layer are frozen

    read: Callable[[], tuple[Tensor, Tensor]]
    shape_read: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.shape_read

    @property
    def weights(self) -> Tensor:
        return self.read()[0]

    @property
    def allowed(self) -> Tensor:
        return self.read()[1]


def read_what_fits(model: nn.Module, inputs: Any) -> ModelAttention:
    """As ``read_attention``; weights that are too many to be held are computed when they are asked for."""
    check_model(model)
    arguments = as_arguments(model, inputs)
    if is_too_large(model, arguments) and (found := read_on_demand(model, arguments)):
        return found
    return read_attention(model, inputs)


def read_on_demand(model: nn.Module, arguments: dict[str, Any]) -> ModelAttention | None:
    """The layers of a model; None if it computes attention by itself, or can't read the text."""
    runs = Runs(model, arguments)
    try:
        output = runs.run()
    except (IndexError, RuntimeError):
        return None
    calls = {id(empty): call for call, (*_, empty) in enumerate(runs.seen)}
    layers: dict[str, list[Layer]] = {}
    for kind, name in KINDS.items():
        found = [calls.get(id(weights), -1) for weights in getattr(output, kind, None) or ()]
        if -1 in found:
            return None
        numbers = numbers_of([runs.seen[call][0] for call in found])
        of_kind = [LayerOnDemand(runs, call, at) for call, at in zip(found, numbers, strict=True)]
        layers |= {name: [*of_kind]} if of_kind else {}
    return ModelAttention(model, layers)
