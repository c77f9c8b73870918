"""Ask PyTorch what it is doing with a tensor: tracing it, differentiating it, casting it.

Only private names of PyTorch answer some of these questions. They stand in this file alone, and its tests
run with every version of PyTorch that the library supports.
Nothing here computes attention: skip this file when reading the library for the first time.
"""

import torch
from torch import Tensor
from torch._ops import _len_torch_dispatch_stack_pre_dispatch
from torch._subclasses.fake_tensor import FakeTensor
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import get_proxy_mode


def is_transformed(x: Tensor) -> bool:
    """Whether ``x`` stands for another tensor inside ``torch.func``'s vmap, grad or jvp."""
    return not torch.compiler.is_compiling() and torch._C._functorch.is_functorch_wrapped_tensor(x)


def is_tracing() -> bool:
    """Whether torch.compile, ``torch.export``, ``make_fx`` or ``FakeTensorMode`` record what is computed."""
    if torch.compiler.is_compiling():
        return True
    # Both modes stand on one of these stacks; asking for their lengths takes a tenth of looking into them.
    if not torch._C._len_torch_dispatch_stack() and not _len_torch_dispatch_stack_pre_dispatch():
        return False
    return torch._guards.active_fake_mode() is not None or get_proxy_mode() is not None


def only_computes(x: Tensor) -> bool:
    """Whether no gradients are taken, and ``x``, a plain tensor, is neither traced nor transformed."""
    return not (
        torch.is_grad_enabled()
        or torch._C._get_tracing_state() is not None
        or torch.compiler.is_compiling()
        or torch._C._len_torch_dispatch_stack()
        or torch._C._functorch.is_functorch_wrapped_tensor(x)
    )


def is_inside_backward() -> bool:
    """Whether a backward pass is running, as where ``checkpoint`` computes something again."""
    return not torch.compiler.is_compiling() and torch._C._current_graph_task_id() != -1


def is_exporting() -> bool:
    """Whether ``torch.export`` or ``make_fx`` record what will run without the objects it changes now."""
    return torch.compiler.is_exporting() or (
        not torch.compiler.is_compiling() and get_proxy_mode() is not None
    )


def can_be_read(x: Tensor) -> bool:
    """Whether Python may read the numbers in ``x``.

    It may not on the meta device, nor while torch.compile, ``make_fx``, ``FakeTensorMode`` or ``vmap`` trace.
    """
    return not (is_tracing() or x.is_meta or isinstance(x, FakeTensor) or is_transformed(x))


def nobody_differentiates(x: Tensor) -> bool:
    """Whether ``x`` may be overwritten: none of PyTorch's ways will take a gradient through it."""
    return not (
        torch.compiler.is_compiling()
        or (x.requires_grad and torch.is_grad_enabled())
        or is_transformed(x)
        or forward_ad._current_level >= 0  # inside dual_level(), where unpack_dual would take longer to ask
    )


def autocasts(device: torch.device) -> bool:
    """Whether ``torch.autocast`` is on for this kind of device."""
    return torch.amp.is_autocast_available(device.type) and torch.is_autocast_enabled(device.type)
