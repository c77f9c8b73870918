"""The operations that the interpreter knows, and PyTorch's operations that each of them computes."""

import operator
from collections.abc import Callable
from typing import Any

import torch

ATEN = {
    # each number on its own
    **{name: f"{name}.default" for name in ("neg", "bitwise_not", "rsqrt", "sin", "cos", "sigmoid", "relu")},
    "cast": "_to_copy.default clone.default alias.default detach.default lift_fresh_copy.default",
    # two or three tensors, broadcast
    "add": "add.Tensor add.Scalar",
    "sub": "sub.Tensor sub.Scalar",
    "mul": "mul.Tensor mul.Scalar",
    "div": "div.Tensor div.Scalar",
    "pow": "pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar",
    "le": "le.Tensor le.Scalar",
    "ge": "ge.Tensor ge.Scalar",
    "logical_and": "logical_and.default",
    "bitwise_and": "bitwise_and.Tensor",
    "bitwise_or": "bitwise_or.Tensor",
    "where": "where.self",
    # new tensors
    "full": "full.default",
    "scalar": "scalar_tensor.default",
    "arange": "arange.start_step",
    # other shapes, other places
    "view": "view.default _unsafe_view.default reshape.default",
    "expand": "expand.default",
    "permute": "permute.default",
    "unsqueeze": "unsqueeze.default",
    "squeeze": "squeeze.dim squeeze.dims",
    "slice": "slice.Tensor",
    "flip": "flip.default",
    "cat": "cat.default",
    "embedding": "embedding.default",
    # sums
    "mean": "mean.dim",
    "any": "any.dim",
    "softmax": "_softmax.default",
    "layer_norm": "native_layer_norm.default",
    # products of matrices
    "matmul": "mm.default bmm.default",
    "addmm": "addmm.default",
    # lengths
    "size": "sym_size.int",
}

# Python's own operations, on lengths.
LENGTHS: dict[str, Callable[..., Any]] = {
    "*": operator.mul,
    "+": operator.add,
    "-": operator.sub,
    "item": operator.getitem,
}


def overload(name: str) -> Any:
    packet, kind = name.split(".")
    return getattr(getattr(torch.ops.aten, packet), kind)


NAMES: dict[Any, str] = {
    overload(written): name for name, listed in ATEN.items() for written in listed.split()
}
NAMES |= {target: name for name, target in LENGTHS.items()}
KNOWN = sorted(set(NAMES.values()))
