"""Heads over several devices: each computes some of them, and one sum brings them together.

Everything here is PyTorch's own tensor parallelism. Heads need nothing of one another until ``W_o`` mixes
them, so they are where a layer is cut: ``output = sum over heads of head_i W_o,i``, and a device that has
some heads and their rows of ``W_o`` computes its part of that sum.
"""

from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    ParallelStyle,
    RowwiseParallel,
    parallelize_module,
)

from mha_lib import checks
from mha_lib.multihead import MultiHeadAttention, check_layer


def shard_heads(layer: MultiHeadAttention, mesh: DeviceMesh) -> MultiHeadAttention:
    """Give each device of ``mesh`` its share of the heads; change ``layer`` and return it.

        device r of n:  heads r H/n … (r + 1) H/n − 1,  output = Σ_r concat(heads of r) W_o[rows of r]

    ``W_q``, ``W_k`` and ``W_v`` are split by columns, ``W_o`` by rows. Every process of the mesh calls this
    with the same layer, and calls the layer with the same inputs; each gets the whole output ``(B, Q, D)``
    and its own part of the gradients. A forward pass sums once over the devices (one all-reduce).

    Afterwards ``layer.num_heads`` and ``layer.num_kv_heads`` count the heads of this device: weights, a
    ``head_mask`` and a mask or bias with a head axis belong to its own heads. Dropout draws on each
    device for itself.

    Raises TypeError for another class of layer or mesh, ValueError for a mesh of several axes, for a layer
    with ``sinks``, and if the number of devices does not divide the heads or the key-value heads.

    Source: Shoeybi et al. 2019 (Megatron-LM), section 3. Elsewhere: ``ColwiseParallel`` and
    ``RowwiseParallel`` (PyTorch), tensor parallelism.
    """
    check_sharding(layer, mesh)
    plan: dict[str, ParallelStyle] = {name: ColwiseParallel() for name in ("W_q", "W_k", "W_v")}
    plan["W_o"] = RowwiseParallel()
    parallelize_module(layer, mesh, plan)
    layer.num_heads //= mesh.size()
    layer.num_kv_heads //= mesh.size()
    return layer


def check_sharding(layer: MultiHeadAttention, mesh: DeviceMesh) -> None:
    """The mesh must have one axis, whose devices divide the heads of the layer evenly."""
    check_layer(layer)
    checks.check_plain_projections(layer, "W_q", "W_k", "W_v", "W_o")
    checks.check_class("mesh", mesh, DeviceMesh, "torch.distributed.device_mesh.init_device_mesh makes one")
    if mesh.ndim != 1:
        raise ValueError(f"mesh must have one axis, got {mesh.ndim}; take one of its axes: mesh['name']")
    if layer.sinks:
        raise ValueError("layer must be built without sinks to be sharded, got sinks=True")
    for name in ("num_heads", "num_kv_heads"):
        heads = getattr(layer, name)
        if heads % mesh.size():
            raise ValueError(f"{name}={heads} must be divisible by the {mesh.size()} devices of mesh")
