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
from mha_lib.pruning import prune_heads
from mha_lib.transformer import (
    ByAttention,
    DecoderCache,
    DecoderLayer,
    EncoderDecoder,
    EncoderLayer,
    FeedForward,
)

__all__ = [
    "AdditiveAttention",
    "ByAttention",
    "DecoderCache",
    "DecoderLayer",
    "EncoderDecoder",
    "EncoderLayer",
    "FeedForward",
    "KVCache",
    "MultiHeadAttention",
    "SingleHeadAttention",
    "alibi_slopes",
    "causal_mask",
    "dot_product_attention",
    "masked_softmax",
    "merge_heads",
    "padding_mask",
    "prune_heads",
    "rotate_by_position",
    "sinusoidal_positions",
    "split_heads",
]
