"""The same heads in another layer: PyTorch's, and one with fewer heads of keys and values."""

import copy
from typing import Any, Self

import torch
from torch import nn

from mha_lib import checks
from mha_lib.cache import CachedAttention


class Conversions(CachedAttention):
    """The conversions of ``MultiHeadAttention``."""

    dropout: float
    key_size: int
    value_size: int
    num_kv_heads: int
    W_q: nn.Linear
    W_k: nn.Linear
    W_v: nn.Linear
    W_o: nn.Linear

    @classmethod
    def from_torch(cls, module: nn.MultiheadAttention) -> Self:
        """The same layer as an ``nn.MultiheadAttention``, with copies of its parameters.

        Inputs are (B, N, ·) here, whatever the module's ``batch_first``; masks are True = may attend. Mode,
        dtype, device and ``requires_grad`` are those of the module.
        Raises TypeError for another class and for subclasses that compute something else, ValueError for
        ``add_bias_kv`` and ``add_zero_attn``, which have no counterpart here.
        """
        check_convertible(module)
        layer = cls(
            module.embed_dim,
            module.num_heads,
            module.dropout,
            bias=module.in_proj_bias is not None,
            key_size=module.kdim,
            value_size=module.vdim,
            device="meta",  # the parameters come from the module
        )
        weights: Any = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
        if module.in_proj_weight is not None:
            weights = module.in_proj_weight.chunk(3)  # (3 D, D)
        biases: Any = [None] * 3 if module.in_proj_bias is None else module.in_proj_bias.chunk(3)
        inputs = (layer.W_q, layer.W_k, layer.W_v)
        for projection, weight, bias in zip(inputs, weights, biases, strict=True):
            projection.weight, projection.bias = copied(weight), copied(bias)
        layer.W_o.weight, layer.W_o.bias = copied(module.out_proj.weight), copied(module.out_proj.bias)
        return layer.train(module.training)

    def to_torch(self) -> nn.MultiheadAttention:
        """The same layer as an ``nn.MultiheadAttention``, with copies of its parameters.

        Its inputs are (B, N, ·), ``batch_first=True``; its masks are True = *ignore*.
        Raises ValueError where PyTorch's layer has no counterpart for an option: fewer key-value heads, heads
        of another width than D/H, rotary positions and so on, or projections of which some are trained alone.
        Raises TypeError for projections that were replaced, and for hooks.
        """
        checks.check_plain_projections(self, "W_q", "W_k", "W_v", "W_o")
        checks.check_without_hooks("layer", self)
        for name, value in self.unusual_options().items():
            if name not in CARRIED_OVER:
                raise ValueError(
                    f"layer must be built without {name} to become an nn.MultiheadAttention, which has none, "
                    f"got {name}={value}"
                )
        module = nn.MultiheadAttention(
            self.num_hiddens,
            self.num_heads,
            self.dropout,
            bias=self.W_q.bias is not None,
            kdim=self.key_size,
            vdim=self.value_size,
            batch_first=True,
            device="meta",  # the parameters come from this layer
        )
        inputs = (self.W_q, self.W_k, self.W_v)
        if module.in_proj_weight is not None:
            module.in_proj_weight = copied(*(projection.weight for projection in inputs))  # (3 D, D)
        else:
            for name, projection in zip("qkv", inputs, strict=True):
                setattr(module, f"{name}_proj_weight", copied(projection.weight))
        if module.in_proj_bias is not None:
            module.in_proj_bias = copied(*(projection.bias for projection in inputs))  # (3 D,)
        module.out_proj.weight, module.out_proj.bias = copied(self.W_o.weight), copied(self.W_o.bias)
        return module.train(self.training)

    @classmethod
    def from_multi_head(cls, layer: Self, num_kv_heads: int) -> Self:
        """A copy of ``layer`` with fewer key-value heads: each is the mean of the heads that it replaces.

        The copy computes another function, unless the pooled heads were equal: it is a start for training.
        Raises TypeError for another class, ValueError where ``num_kv_heads`` does not divide the number of
        key-value heads.

        Source: Ainslie et al. 2023, section 2.1.
        """
        num_kv_heads = checks.checked_size("num_kv_heads", num_kv_heads)
        checks.check_class("layer", layer, cls, FROM_TORCH)
        checks.check_plain_projections(layer, "W_k", "W_v")
        if layer.num_kv_heads % num_kv_heads:
            raise ValueError(
                f"num_kv_heads must divide the number of key-value heads of the layer, {layer.num_kv_heads}, "
                f"got {num_kv_heads}; {checks.divisors_of(layer.num_kv_heads)}"
            )
        pooled = copy.deepcopy(layer)
        pooled.num_kv_heads = num_kv_heads
        for projection in (pooled.W_k, pooled.W_v):
            for name, x in list(projection.named_parameters()):  # weight (G*d, size), bias (G*d,)
                heads = x.detach().unflatten(0, (num_kv_heads, layer.num_kv_heads // num_kv_heads, -1))
                mean = heads.mean(dim=1).flatten(0, 1)  # the heads that are pooled are the second axis
                setattr(projection, name, nn.Parameter(mean, requires_grad=x.requires_grad))
            projection.out_features = len(projection.weight)
        return pooled


FROM_TORCH = "MultiHeadAttention.from_torch makes one of an nn.MultiheadAttention"
# The options that ``to_torch`` hands over.
CARRIED_OVER = ("dropout", "bias", "key_size", "value_size")


def copied(*parameters: Any) -> Any:
    """One parameter that holds copies of these, one below the other; None where there is none."""
    if parameters[0] is None:
        return None
    checks.check_trained_alike(parameters)
    copies = torch.cat([x.detach() for x in parameters])
    return nn.Parameter(copies, requires_grad=parameters[0].requires_grad)


def check_convertible(module: nn.MultiheadAttention) -> None:
    """The module must compute something that ``MultiHeadAttention`` can compute too."""
    checks.check_torch_module(module, nn.MultiheadAttention)
    if type(module.out_proj).forward is not nn.Linear.forward:
        raise TypeError(
            f"the out_proj of module must be an nn.Linear, got {type(module.out_proj).__name__}; "
            "undo the quantization or the wrapper first"
        )
    for option, used in (("add_bias_kv", module.bias_k is not None), ("add_zero_attn", module.add_zero_attn)):
        if used:
            raise ValueError(
                f"module must be built without {option}, got {option}=True, which adds a key of its own; "
                "append it to keys and values yourself"
            )
