"""Shared by the tests of layers: both paths, every device, parameters that hide no mistake."""

from typing import Any

import pytest
import torch
from torch import nn

PATHS = pytest.mark.parametrize("need_weights", [False, True], ids=["fast", "readable"])
NEEDS_GPU = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="no GPU that CUDA finds: run them on a machine with one"
)
DEVICES = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=NEEDS_GPU)])


def output_of(layer, *inputs, need_weights, **arguments):
    """Return the output of a layer along one of its two paths, without the weights."""
    result = layer(*inputs, need_weights=need_weights, **arguments)
    return result[0] if need_weights else result


def with_random_parameters(module: nn.Module, std: float = 0.5) -> Any:
    """Draw all parameters at random: biases start at 0 and norms at 1, which would hide a mistake."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=std)
    return module
