"""Attention without its weights: what ``dot_product_attention`` gives, never building (B, H, Q, K)."""

from torch import Tensor
from torch.nn import functional as F


def fused_attention(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None, dropout_p: float = 0.0
) -> Tensor:
    """``dot_product_attention`` without its weights."""
    if mask is None:
        return F.scaled_dot_product_attention(queries, keys, values, dropout_p=dropout_p)
    nothing = ~mask.any(-1, keepdim=True)
    heads = F.scaled_dot_product_attention(queries, keys, values, mask | nothing, dropout_p)
    return heads.masked_fill(nothing, 0.0)
