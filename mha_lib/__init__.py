"""Multi-head attention, from the formula to the fast path."""

from mha_lib.attention import (
    AdditiveAttention,
    SingleHeadAttention,
    causal_mask,
    dot_product_attention,
    masked_softmax,
    padding_mask,
)
from mha_lib.multihead import KVCache, MultiHeadAttention, merge_heads, split_heads
from mha_lib.positions import alibi_slopes, rotate_by_position, sinusoidal_positions

__all__ = [
    "AdditiveAttention",
    "KVCache",
    "MultiHeadAttention",
    "SingleHeadAttention",
    "alibi_slopes",
    "causal_mask",
    "dot_product_attention",
    "masked_softmax",
    "merge_heads",
    "padding_mask",
    "rotate_by_position",
    "sinusoidal_positions",
    "split_heads",
]
