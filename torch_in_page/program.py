"""A program for the page: what ``export_for_page`` returns."""

import base64
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

# The dtypes that the interpreter has; in the page an int64 is a float64, exact up to 2⁵³.
DTYPES = {getattr(torch, name): name for name in ("float32", "float64", "int64", "bool")}


@dataclass(frozen=True)
class PageProgram:
    """A function that PyTorch recorded, and all that it takes to compute it elsewhere.

    inputs   for each input its name and dtype
    nodes    the operations: ``[name, dtype of the result, *arguments]``, where ``"$7"`` is value 7; values
             are the inputs, the constants and the results of the nodes, in this order
    outputs  for each output its value
    weights  the constants
    graph    the same as PyTorch's own graph: a function of the weights and the inputs
    """

    inputs: list[dict[str, Any]]
    nodes: list[list[Any]]
    outputs: dict[str, str]
    weights: list["Weight"]
    graph: torch.fx.Graph

    def as_dict(self) -> dict[str, Any]:
        """Return what ``load`` of interpreter.js reads; it can be written as JSON."""
        blob, constants = b"", []
        for weight in self.weights:
            blob += bytes(-len(blob) % 8)  # a typed array begins at a multiple of its size
            constants.append(weight.described() | {"offset": len(blob)})
            blob += weight.stored.numpy().tobytes()
        return {
            "inputs": self.inputs,
            "constants": constants,
            "nodes": self.nodes,
            "outputs": self.outputs,
            "weights": base64.b64encode(blob).decode(),
        }

    def rounded(self) -> "PageProgram":
        """Return the same with float32 weights stored as float16, where that changes them little."""
        return replace(self, weights=[Weight.of(weight.value, half=True) for weight in self.weights])

    @torch.no_grad()
    def run(self, **inputs: Tensor) -> dict[str, Tensor]:
        """Compute the outputs in Python, with the weights that the page has."""
        names = [given["name"] for given in self.inputs]
        values = [weight.value for weight in self.weights] + [inputs[name] for name in names]
        outputs = torch.fx.Interpreter(torch.nn.Module(), graph=self.graph).run(*values)
        return dict(zip(self.outputs, outputs, strict=True))


@dataclass(frozen=True)
class Weight:
    """A constant of a program: as the page stores it, and as it computes with it."""

    stored: Tensor
    value: Tensor

    @classmethod
    def of(cls, tensor: Tensor, *, half: bool = False) -> "Weight":
        """Store a tensor; ``half`` rounds a float32 to float16 if that changes none of it by much."""
        value = stored = tensor.detach().cpu().contiguous()
        if half and value.dtype == torch.float32 and is_close(value, value.half().float()):
            stored = value.half()
            value = stored.float()
        elif value.dtype == torch.int64:
            stored = value.int() if value.int().equal(value) else value.double()
        return cls(stored, value)

    def described(self) -> dict[str, Any]:
        stored = str(self.stored.dtype).removeprefix("torch.")
        return {"dtype": DTYPES[self.value.dtype], "stored": stored, "shape": list(self.value.shape)}


def is_close(value: Tensor, rounded: Tensor) -> bool:
    """Whether no number moved by more than float16 moves the largest: false for 1e6 and for 1e-9."""
    finite = value.isfinite()
    largest = value[finite].abs().amax() if finite.any() else 0
    return torch.allclose(value, rounded, rtol=0, atol=float(largest) / 2**11, equal_nan=True)


def named_leaves(structure: Any, path: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the leaves of nested dicts, tuples and lists, each under the names that lead to it."""
    parts: Iterable[tuple[Any, Any]]
    if isinstance(structure, dict):
        parts = structure.items()
    elif hasattr(structure, "_fields"):
        parts = zip(structure._fields, structure, strict=True)
    elif isinstance(structure, (list, tuple)):
        parts = enumerate(structure)
    else:
        return {".".join(path) or "output": structure}
    return {name: leaf for key, part in parts for name, leaf in named_leaves(part, (*path, str(key))).items()}


def names_of_leaves(spec: pytree.TreeSpec) -> list[str]:
    return list(named_leaves(pytree.tree_unflatten(range(spec.num_leaves), spec)))
