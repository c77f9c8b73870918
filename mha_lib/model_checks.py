"""Checks of whole layers and models: PyTorch's layers, heads that are to stay, tokens, head masks.

As ``checks.py``, nothing to read the first time.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from mha_lib.checks import (
    can_be_read,
    check_device,
    check_plain_projection,
    check_tensor,
    checked_size,
)

if TYPE_CHECKING:
    from mha_lib.multihead import MultiHeadAttention
    from mha_lib.transformer import ByAttention


def checked_heads_to_keep(
    layer: "MultiHeadAttention", expected: "type[MultiHeadAttention]", keep: Sequence[int]
) -> list[int]:
    """The heads of ``layer`` that are to stay, as Python's integers."""
    if not isinstance(layer, expected):
        raise TypeError(f"layer must be a {expected.__name__}, got {type(layer).__name__}")
    for name in ("W_q", "W_k", "W_v", "W_o"):
        check_plain_projection(layer, name)
    if layer.num_kv_heads != layer.num_heads:
        raise ValueError(
            f"layer must have keys and values for each head, got num_kv_heads={layer.num_kv_heads} for "
            f"num_heads={layer.num_heads}: what is left of heads that share keys may not share them evenly"
        )
    heads = [checked_size("keep", head, minimum=0) for head in keep]
    if not heads or max(heads) >= layer.num_heads or len(set(heads)) < len(heads):
        raise ValueError(
            f"keep must name some of the heads 0 to {layer.num_heads - 1}, each once, got {heads}; "
            "a head_mask of zeros silences all heads"
        )
    return heads


def check_torch_layer(module: nn.Module, expected: "type[nn.Module]") -> None:
    """PyTorch's encoder or decoder layer, built as ours are."""
    if not isinstance(module, expected):
        raise TypeError(f"module must be an nn.{expected.__name__}, got {type(module).__name__}")
    if type(module).forward is not expected.forward:
        raise TypeError(
            f"module must compute what nn.{expected.__name__} does, "
            f"got {type(module).__name__} with a forward of its own"
        )
    if not module.norm_first:
        raise ValueError(
            "module must norm before each sum, norm_first=True, got norm_first=False; "
            "a layer trained one way does not work the other way"
        )
    if module.activation is not nn.functional.relu and not isinstance(module.activation, nn.ReLU):
        raise ValueError(f"the activation of module must be a ReLU, got {module.activation}")


def check_token_numbers(name: str, tokens: Tensor, embedding: nn.Embedding) -> None:
    """Tokens ``(B, N)`` as integers that ``embedding`` knows."""
    check_tensor(name, tokens)
    if tokens.dtype not in (torch.int32, torch.int64):
        raise TypeError(f"{name} must hold tokens as integers, got {tokens.dtype}; try {name}.long()")
    if tokens.dim() != 2:
        way_out = f"; for a single sample: {name}[None]" if tokens.dim() == 1 else ""
        raise ValueError(f"{name} must be (B, N), got shape {tuple(tokens.shape)}{way_out}")
    check_device(name, tokens, embedding.weight.device)
    # Reading numbers on a GPU would wait for it; there PyTorch itself stops at a wrong one.
    if tokens.device.type == "cpu" and can_be_read(tokens) and tokens.numel():
        smallest, largest = (int(token) for token in tokens.aminmax())
        if smallest < 0 or largest >= embedding.num_embeddings:
            raise ValueError(
                f"{name} must hold tokens from 0 to {embedding.num_embeddings - 1}, "
                f"got {smallest} to {largest}; {name}_vocab_size says how many there are"
            )


def check_source_mask(source_mask: Tensor | None, source: Tensor) -> None:
    if source_mask is None:
        return
    check_tensor("source_mask", source_mask)
    if source_mask.dtype != torch.bool:
        raise TypeError(
            f"source_mask must be boolean (True = may attend), got {source_mask.dtype}; "
            "try source != padding with the token that fills up"
        )
    if source_mask.shape != source.shape:
        raise ValueError(
            f"source_mask must be (B, S) = {tuple(source.shape)}, as source, "
            f"got shape {tuple(source_mask.shape)}"
        )


def checked_head_masks(
    attention: str, head_masks: "ByAttention | None", num_layers: int
) -> Sequence[Tensor | None]:
    """The head masks of one attention, one for each layer; None for each where there are none."""
    if head_masks is None:
        return [None] * num_layers
    masks = getattr(head_masks, attention, None)
    if masks is None or isinstance(masks, Tensor) or len(masks) != num_layers:
        came = type(head_masks).__name__ if masks is None else type(masks).__name__
        came += "" if masks is None else f" of length {len(masks)}"
        raise ValueError(
            f"head_masks must be a ByAttention whose {attention} holds a mask for each of the {num_layers} "
            f"layers, got {came}; try ByAttention([mask] * {num_layers}, …)"
        )
    return masks
