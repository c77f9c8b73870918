"""Attention from its parts: masks, the masked softmax, the dot product, one head.

Shape letters, here and in every file of the library:

    B  batch      Q  queries      K  keys (and values)
    D  num_hiddens      H  heads      d  head dimension (D/H unless said otherwise)

One rule for masks: boolean, True = may attend.
"""

import math

import torch
from torch import Tensor, nn


def padding_mask(valid_lens: Tensor, num_keys: int) -> Tensor:
    """True for the first ``valid_lens`` keys: ``(B,) -> (B, 1, K)`` or ``(B, Q) -> (B, Q, K)``."""
    if valid_lens.is_floating_point() or valid_lens.is_complex() or valid_lens.dtype == torch.bool:
        raise TypeError(f"valid_lens must hold integers, got {valid_lens.dtype}; try valid_lens.long()")
    if valid_lens.dim() not in (1, 2):
        raise ValueError(
            f"valid_lens must be (B,) or (B, Q), got shape {tuple(valid_lens.shape)}; "
            "one length a sample, or one a query"
        )
    if valid_lens.numel() and (valid_lens.min() < 0 or valid_lens.max() > num_keys):
        raise ValueError(
            f"valid_lens must lie between 0 and the number of keys, {num_keys}, "
            f"got {int(valid_lens.min())} to {int(valid_lens.max())}"
        )
    mask = torch.arange(num_keys, device=valid_lens.device) < valid_lens[..., None]  # (B, K) or (B, Q, K)
    return mask[:, None] if valid_lens.dim() == 1 else mask


def causal_mask(num_queries: int, num_keys: int) -> Tensor:
    """True where the key is not later than the query: ``(Q, K)``, aligned at the end."""
    if num_queries > num_keys:
        raise ValueError(
            f"a causal mask needs num_queries <= num_keys, got {num_queries} > {num_keys}; "
            "the first queries would see nothing"
        )
    return torch.ones(num_queries, num_keys, dtype=torch.bool).tril(num_keys - num_queries)


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the keys that ``mask`` allows; a row with none of them is all zeros."""
    if mask is None:
        return scores.softmax(dim=-1, dtype=torch.float32 if scores.element_size() < 4 else None).to(
            scores.dtype
        )
    if mask.dtype != torch.bool:
        raise TypeError(
            f"mask must be boolean (True = may attend), got {mask.dtype}; "
            "for lengths use padding_mask(valid_lens, num_keys)"
        )
    weights = masked_softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min))
    return weights.masked_fill(~mask, 0.0)


def dot_product_attention(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None, dropout_p: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention: ``softmax(QK^T / sqrt(d)) V``, and its weights ``(..., Q, K)``."""
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])  # (..., Q, K)
    weights = masked_softmax(scores, mask)
    return nn.functional.dropout(weights, dropout_p) @ values, weights


class SingleHeadAttention(nn.Module):
    """One head: three projections and a dot-product attention."""

    def __init__(self, num_hiddens: int, head_dim: int, value_dim: int | None = None, bias: bool = False):
        super().__init__()
        self.W_q = nn.Linear(num_hiddens, head_dim, bias=bias)
        self.W_k = nn.Linear(num_hiddens, head_dim, bias=bias)
        self.W_v = nn.Linear(num_hiddens, value_dim or head_dim, bias=bias)

    def forward(
        self,
        queries: Tensor,
        keys: Tensor | None = None,
        values: Tensor | None = None,
        valid_lens: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor]:
        keys = queries if keys is None else keys
        values = keys if values is None else values
        mask = combine_masks(queries.shape[1], keys.shape[1], valid_lens, mask, is_causal, queries.device)
        return dot_product_attention(self.W_q(queries), self.W_k(keys), self.W_v(values), mask)


def combine_masks(
    num_queries: int,
    num_keys: int,
    valid_lens: Tensor | None,
    mask: Tensor | None,
    is_causal: bool,
    device: torch.device,
) -> Tensor | None:
    """All that is forbidden, in one mask that broadcasts to ``(B, Q, K)``; None if nothing is."""
    parts = [] if mask is None else [mask]
    if valid_lens is not None:
        parts.append(padding_mask(valid_lens, num_keys).to(device))
    if is_causal:
        parts.append(causal_mask(num_queries, num_keys).to(device))
    combined = None
    for part in parts:
        combined = part if combined is None else combined & part
    return combined
