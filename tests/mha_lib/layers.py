"""Shared by the tests of layers: both paths, every device, parameters that hide no mistake."""

from typing import Any

import pytest
import torch
from torch import nn

from mha_lib import padding_mask

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


def output_and_gradients(layer, call, inputs, options):
    """Return the output, the gradients of all that can have one, and the weights if there are any."""
    inputs = [x.detach().requires_grad_() for x in inputs]
    result = call(*inputs, **options)
    output, weights = result if isinstance(result, tuple) else (result, None)
    loss = (output * torch.arange(output.numel(), device=output.device).reshape(output.shape).cos()).sum()
    wanted = [*inputs, *layer.parameters()]
    wanted += [x for x in options.values() if isinstance(x, torch.Tensor) and x.requires_grad]
    gradients = torch.autograd.grad(loss, wanted, allow_unused=True, materialize_grads=True)
    return [output, *gradients], weights


def assert_padding_reaches_nothing(layer, call, bad, with_key_mask):
    """The loss sees valid rows alone; every parameter and every valid token gets the gradient it should."""
    x, valid_lens = torch.randn(3, 5, layer.num_hiddens), torch.tensor([2, 5, 0])
    valid = padding_mask(valid_lens, 5)[:, 0]
    arguments = {"key_mask": valid} if with_key_mask else {"valid_lens": valid_lens}
    found = []
    for padding in (0.0, bad):
        y = x.masked_fill(~valid[..., None], padding).requires_grad_()
        output = call(layer, y, **arguments)[valid]
        found.append([output, *torch.autograd.grad(output.square().sum(), [y, *layer.parameters()])])
    torch.testing.assert_close(*found)


def allowed_by(
    window, batch, num_queries, num_keys, valid_lens=None, key_mask=None, mask=None, is_causal=False
):
    """Return which keys each query may attend to, (B, 1 or H, Q, K)."""
    own, place = torch.arange(num_keys - num_queries, num_keys)[:, None], torch.arange(num_keys)
    allowed = torch.ones(batch, 1, num_queries, num_keys, dtype=torch.bool)
    if valid_lens is not None:
        lengths = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens
        allowed = allowed & (place < lengths[:, None, :, None])
    if key_mask is not None:
        allowed = allowed & key_mask[:, None, None]
    if mask is not None:
        allowed = allowed & (mask[:, None] if mask.dim() == 3 else mask)
    if is_causal:
        allowed = allowed & (place <= own)
    if window is None:
        return allowed
    return allowed & (place > own - window) & (place < own + window)
