"""Multi-head attention, from the formula to the fast path."""

try:
    import torch  # noqa: F401
except (ImportError, OSError) as error:
    raise ImportError(f"PyTorch does not work here: {error}. Install it anew: pip install torch") from None

from mha_lib.attention import (
    AdditiveAttention,
    SingleHeadAttention,
    dot_product_attention,
    masked_softmax,
)
from mha_lib.cache import KVCache
from mha_lib.encoder_decoder import ByAttention, DecoderCache, EncoderDecoder
from mha_lib.language_model import LanguageModel
from mha_lib.latent import LatentAttention
from mha_lib.masks import causal_mask, padding_mask
from mha_lib.multihead import MultiHeadAttention, merge_heads, split_heads
from mha_lib.positions import (
    Llama3Scaling,
    Rotary,
    YarnScaling,
    alibi_slopes,
    rotate_by_position,
    sinusoidal_positions,
)
from mha_lib.pruning import prune_heads
from mha_lib.transformer import DecoderLayer, EncoderLayer, FeedForward

__all__ = [
    "AdditiveAttention",
    "ByAttention",
    "DecoderCache",
    "DecoderLayer",
    "EncoderDecoder",
    "EncoderLayer",
    "FeedForward",
    "KVCache",
    "LanguageModel",
    "LatentAttention",
    "Llama3Scaling",
    "MultiHeadAttention",
    "Rotary",
    "SingleHeadAttention",
    "YarnScaling",
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
