"""Record a function with ``torch.export``."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram

from torch_in_page.program import PageProgram
from torch_in_page.writer import Writer

Dynamic = Mapping[str, Mapping[int, str]]


@torch.no_grad()
def export_for_page(
    function: Callable[..., Any],
    example_inputs: Mapping[str, Tensor],
    dynamic: Dynamic | None = None,
    *,
    half: bool = True,
) -> PageProgram:
    """Record what a function or a module computes, so that a page can compute it.

    function        called as ``function(**example_inputs)``; returns a tensor, or dicts, tuples and lists of
                    tensors. In ``{"maps": (a, b)}`` the outputs are named ``maps.0`` and ``maps.1``
    example_inputs  tensors by name; their numbers don't matter, but their dtypes and shapes do
    dynamic         the lengths that are free: ``{"source": {1: "S"}, "target": {1: "T"}}``; where the same
                    name stands, the length is the same. The example's must be 2 or more
    half            whether float32 weights are stored as float16, half as large; ``PageProgram.run`` then
                    computes with the same rounded weights

    Raises NotImplementedError for an operation that the page does not know, and what ``torch.export`` raises
    for what it can't record.
    """
    recorded = record(function, example_inputs, dynamic or {})
    program = Writer(recorded, list(example_inputs)).program()
    return program.rounded() if half else program


class Called(nn.Module):
    """Calls a function with a dict of inputs, whose order ``torch.export`` keeps."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, inputs: dict[str, Tensor]) -> Any:
        return self.function(**inputs)


def record(
    function: Callable[..., Any], example_inputs: Mapping[str, Tensor], dynamic: Dynamic
) -> ExportedProgram:
    dims = {length: Dim(length) for axes in dynamic.values() for length in axes.values()}
    shapes = {
        name: {axis: dims[length] for axis, length in dynamic.get(name, {}).items()}
        for name in example_inputs
    }
    # One tensor given twice would be recorded as one input.
    inputs = {name: tensor.detach().clone() for name, tensor in example_inputs.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # PyTorch's own
        return torch.export.export(
            Called(function),
            (inputs,),
            dynamic_shapes=(shapes,),
            prefer_deferred_runtime_asserts_over_guards=True,
        ).run_decompositions()
