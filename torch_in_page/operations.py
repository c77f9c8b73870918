"""The operations that the interpreter knows, and PyTorch's operations that each of them computes."""

import operator
from collections.abc import Callable
from typing import Any

import torch

# Each number on its own; the names are PyTorch's.
ALONE = """
neg abs sign exp expm1 log log1p sqrt rsqrt reciprocal sin cos tanh sigmoid relu erf gelu floor ceil trunc
round isnan isinf
"""
COMPARISONS = frozenset(["eq", "ne", "lt", "le", "gt", "ge"])
ATEN = {
    **{name: f"{name}.default" for name in ALONE.split()},
    "logical_not": "logical_not.default bitwise_not.default",
    "clamp": "clamp.default clamp.Tensor",
    "cast": "_to_copy.default clone.default alias.default detach.default lift_fresh_copy.default",
    # two or three tensors, broadcast
    "add": "add.Tensor add.Scalar",
    "sub": "sub.Tensor sub.Scalar",
    "mul": "mul.Tensor mul.Scalar",
    "div": "div.Tensor div.Scalar div.Tensor_mode div.Scalar_mode",
    "pow": "pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar",
    "fmod": "fmod.Tensor fmod.Scalar",
    "remainder": "remainder.Tensor remainder.Scalar",
    "maximum": "maximum.default",
    "minimum": "minimum.default",
    **{name: f"{name}.Tensor {name}.Scalar" for name in COMPARISONS},
    **{f"logical_{name}": f"logical_{name}.default bitwise_{name}.Tensor" for name in ["and", "or", "xor"]},
    "where": "where.self where.ScalarOther where.ScalarSelf where.Scalar",
    # new tensors
    "full": "full.default",
    "scalar": "scalar_tensor.default",
    "full_like": "full_like.default",
    "arange": "arange.start_step",
    # other shapes, other places
    "view": "view.default _unsafe_view.default reshape.default",
    "expand": "expand.default",
    "permute": "permute.default",
    "unsqueeze": "unsqueeze.default",
    "squeeze": "squeeze.dim squeeze.dims",
    "select": "select.int",
    "slice": "slice.Tensor",
    "flip": "flip.default",
    "cat": "cat.default",
    "split": "split_with_sizes.default",
    "repeat": "repeat.default",
    "pad": "constant_pad_nd.default",
    "embedding": "embedding.default",
    "index": "index.Tensor",
    "index_select": "index_select.default",
    "gather": "gather.default",
    # sums, and what is largest
    "sum": "sum.default sum.dim_IntList",
    "mean": "mean.default mean.dim",
    "var": "var.correction",
    "prod": "prod.default prod.dim_int",
    "amax": "amax.default max.default",
    "amin": "amin.default min.default",
    "any": "any.default any.dim any.dims",
    "argmax": "argmax.default",
    "argmin": "argmin.default",
    "max": "max.dim",
    "min": "min.dim",
    "cumsum": "cumsum.default",
    "sort": "sort.default sort.stable",
    "topk": "topk.default",
    "softmax": "_softmax.default",
    "log_softmax": "_log_softmax.default",
    "layer_norm": "native_layer_norm.default",
    # products of matrices
    "matmul": "mm.default bmm.default",
    "addmm": "addmm.default",
    # lengths
    "size": "sym_size.int",
    "check": "_assert_scalar.default",
}

# Python's own operations, on lengths.
LENGTHS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "not": torch.sym_not,
    "least": torch.sym_min,
    "most": torch.sym_max,
    "item": operator.getitem,
}


def overload(name: str) -> Any:
    packet, kind = name.split(".")
    return getattr(getattr(torch.ops.aten, packet), kind)


# PyTorch first turns the numbers beside a tensor into the tensor's dtype.
ARITHMETIC = "add sub mul div pow fmod remainder clamp maximum minimum where"
WITH_NUMBERS = COMPARISONS.union(ARITHMETIC.split())

NAMES: dict[Any, str] = {
    overload(written): name for name, listed in ATEN.items() for written in listed.split()
}
NAMES |= {target: name for name, target in LENGTHS.items()}
KNOWN = sorted(set(NAMES.values()))
