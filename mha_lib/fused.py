"""Attention without its weights: the output of ``dot_product_attention``, never building (B, H, Q, K).

There are two ways. ``fused_attention`` masks what is forbidden, and works for every mask.
``packed_attention`` works where each sample has one length: padded keys are left out before they are even
projected, and the T keys that remain, those of all samples, stand end to end in one tensor.

One more shape letter: G, the key-value heads; H/G heads in a row share one.
"""

import inspect
import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from mha_lib import tracing
from mha_lib.attention import (
    ChangeWeights,
    additive_mask,
    at_least_float32,
    attend_with_weights,
    without_autocast,
)
from mha_lib.masks import Limits, combine_masks, may_hide_all, part_of_scores

# On a CPU, packed samples are computed one by one, and each costs about 40 µs more than in a batch, forward
# and backward. Packing pays where it saves more multiplications a sample than this (measured).
WORTH_SKIPPING = 2_000_000

# How many cells a mask that we build may have (8 MB as booleans). Where queries and keys would need more, the
# queries are computed in chunks, so that memory grows with Q + K and not with Q * K.
MASK_CELLS = 2**23
SMALLEST_CHUNK = 128  # queries


def fused_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    limits: Limits | None = None,
    dropout_p: float = 0.0,
    score_bias: Tensor | None = None,
) -> Tensor:
    """The output of ``dot_product_attention`` for heads.

    queries     ``(B, H, Q, d)``
    keys        ``(B, G, K, d)``
    values      ``(B, G, K, d_v)``
    limits      checked; their mask may have a head axis
    score_bias  as in ``dot_product_attention``

    Returns ``(B, H, Q, d_v)``.
    """
    limits = Limits() if limits is None else limits
    num_queries, num_keys = queries.shape[2], keys.shape[2]
    if limits.is_causal and num_queries == 1 and limits.window is None:  # it stands at the end: it sees all
        limits = Limits(limits.valid_lens, limits.key_mask, limits.mask, shortest=limits.shortest)
    is_masked = any(x is not None for x in (limits.valid_lens, limits.key_mask, limits.mask, score_bias))
    # PyTorch's is_causal is aligned at the start, ours at the end: the same for Q = K only.
    if not is_masked and limits.window is None and (not limits.is_causal or num_queries == num_keys):
        return attend_in_one_kernel(queries, keys, values, None, dropout_p, limits.is_causal)
    size = queries_at_a_time(queries, num_keys, limits)
    if num_queries <= size and limits.window is None:
        return masked_attention(queries, keys, values, limits, dropout_p, score_bias)
    chunks = []
    for start in range(0, num_queries, size):
        end = min(start + size, num_queries)
        own = num_keys - num_queries + start  # the key at which the first query of this chunk stands
        first = 0 if limits.window is None else max(0, own - limits.window + 1)
        last = own + end - start if limits.is_causal else num_keys
        chunk = (
            queries[:, :, start:end],
            keys[:, :, first:last],
            values[:, :, first:last],
            limits.part(start, end, first, last),
            dropout_p,
            None if score_bias is None else part_of_scores(score_bias, start, end, first, last),
        )
        if can_recompute(chunk[:3]):  # so that the masks of all chunks need not be kept for the gradients
            chunks.append(checkpoint(masked_attention, *chunk, use_reentrant=False))
        else:
            chunks.append(masked_attention(*chunk))
    return chunks[0] if len(chunks) == 1 else torch.cat(chunks, dim=2)  # (B, H, Q, d_v)


def queries_at_a_time(queries: Tensor, num_keys: int, limits: Limits) -> int:
    """How many queries get their mask at once: all of them if every query has the same mask."""
    batch, _, num_queries, _ = queries.shape
    has_lens_per_query = limits.valid_lens is not None and limits.valid_lens.dim() == 2
    if not (limits.is_causal or has_lens_per_query):
        return num_queries
    differs_by_sample = limits.valid_lens is not None or limits.key_mask is not None
    rows = batch if differs_by_sample else 1
    if limits.mask is not None:
        rows = max(rows, math.prod(limits.mask.shape[:-2]))
    most = num_queries
    if limits.window is not None:  # a chunk of W queries sees 2 W keys: less work than longer chunks
        most, num_keys = limits.window, 2 * limits.window
    return max(SMALLEST_CHUNK, min(most, MASK_CELLS // max(1, rows * num_keys)))


def can_recompute(inputs: tuple[Tensor, ...]) -> bool:
    """Whether a gradient is wanted that ``checkpoint`` can compute: it cannot inside ``torch.func``."""
    if torch.compiler.is_compiling():
        return False
    return any(x.requires_grad for x in inputs) and not any(tracing.is_transformed(x) for x in inputs)


def masked_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    limits: Limits,
    dropout_p: float,
    score_bias: Tensor | None,
) -> Tensor:
    """``fused_attention`` with all limits in one mask."""
    dtype, scores_shape = queries.dtype, (*queries.shape[:3], keys.shape[2])  # (B, H, Q, K)
    mask = combine_masks(limits, scores_shape, queries.device)
    if score_bias is None:
        addend, nothing = additive_mask(mask, None, 4, dtype, may_hide_all(limits))
        output = attend_in_one_kernel(queries, keys, values, addend, dropout_p, False)
    else:
        with without_autocast(queries.device):  # it would round the bias
            if score_bias.dtype != dtype and not takes_precise_bias(score_bias, dropout_p):
                queries, keys, values = (at_least_float32(x) for x in (queries, keys, values))
            wide = dtype if score_bias.dtype == dtype else torch.promote_types(dtype, torch.float32)
            addend, nothing = additive_mask(mask, score_bias, 4, wide)
            output = attend_in_one_kernel(queries, keys, values, addend, dropout_p, False).to(dtype)
    return output if nothing is None else output.masked_fill(nothing, 0.0)


def takes_precise_bias(score_bias: Tensor, dropout_p: float) -> bool:
    """Whether a kernel takes a bias in float32 beside queries in half precision.

    Rounding the bias is no way out: of ALiBi over 2,048 keys, bfloat16 keeps steps of 8. The kernels on a
    CPU take it, but not the slower one for dropout and for a bias with a gradient; those on a GPU refuse it.
    """
    return score_bias.device.type == "cpu" and dropout_p == 0 and not score_bias.requires_grad


def attend_in_one_kernel(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, dropout_p: float, is_causal: bool
) -> Tensor:
    """PyTorch's attention. Its fast kernels need inputs of one width: zeros are appended."""
    num_heads, head_dim, value_head_dim = queries.shape[1], queries.shape[3], values.shape[3]
    if head_dim != value_head_dim:
        width = max(head_dim, value_head_dim)
        queries, keys, values = (F.pad(x, (0, width - x.shape[3])) for x in (queries, keys, values))
    output = F.scaled_dot_product_attention(
        queries,
        keys,
        values,
        mask,
        dropout_p,
        is_causal,
        scale=1 / math.sqrt(head_dim),
        **({"enable_gqa": True} if keys.shape[1] != num_heads else {}),
    )
    return output[..., :value_head_dim]


def attend(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    limits: Limits,
    dropout_p: float,
    score_bias: Tensor | None,
    change_weights: ChangeWeights | None,
    need_weights: bool,
) -> tuple[Tensor, Tensor | None]:
    """``fused_attention`` unless the weights ``(B, H, Q, K)`` are wanted, or changed; None if not wanted."""
    if not need_weights and change_weights is None:
        return fused_attention(queries, keys, values, limits, dropout_p, score_bias), None
    scores_shape = (*queries.shape[:3], keys.shape[2])
    mask = combine_masks(limits, scores_shape, queries.device)
    heads, weights = attend_with_weights(
        queries, keys, values, mask, dropout_p, score_bias, change_weights, may_hide_all(limits)
    )
    return heads, weights if need_weights else None


# Packing


class Counts(NamedTuple):
    """How many tokens each sample has ``(B,)``: ``here`` for Python, ``there`` for the kernels.

    Python would wait for the GPU if it read numbers from there. So the lengths are sent to the GPU once, and
    each sum and difference is computed in both places.
    """

    here: Tensor  # on the CPU
    there: Tensor  # on the device of the queries

    def each(self, function: Callable[[Tensor], Tensor]) -> "Counts":
        return Counts(function(self.here), function(self.there))

    @property
    def total(self) -> int:
        return int(self.here.sum())

    @property
    def longest(self) -> int:
        return int(self.here.max())


def worth_packing(
    queries: Tensor,
    num_kv_heads: int,
    num_keys: int,
    value_head_dim: int,
    limits: Limits,
    lengths: Tensor | None,
    dropout_p: float,
) -> bool:
    """Whether leaving out padded keys is faster than masking them, for projected queries ``(B, H, Q, d)``.

    The lengths are those of the limits, on the CPU.
    """
    if lengths is None or limits.valid_lens is None or lengths.dim() != 1 or not tracing.can_be_read(lengths):
        return False
    if limits.key_mask is not None or limits.mask is not None or limits.window is not None:
        return False
    batch, num_heads, num_queries, head_dim = queries.shape
    if queries.device.type != "cpu":
        return has_varlen_kernel(queries, value_head_dim, dropout_p)
    skipped_keys = batch * num_keys - int(lengths.sum())
    saved = skipped_keys * num_heads * head_dim * (num_queries + num_kv_heads * head_dim)
    return saved > WORTH_SKIPPING * batch


def rows_of(first: Tensor, counts: Counts) -> Tensor:
    """Return ``counts`` row numbers for each sample, ``first``, ``first + 1`` …, end to end: ``(T,)``."""
    before = counts.there.cumsum(0) - counts.there  # (B,), how many rows precede those of a sample
    shifts = torch.repeat_interleave(first - before, counts.there, output_size=counts.total)  # (T,)
    return shifts + torch.arange(counts.total, device=first.device)


def first_rows(counts: Counts, num_tokens: int) -> Tensor:
    """Return the row numbers of the first ``counts`` tokens of each sample in ``(B*N, ...)``: ``(T,)``."""
    return rows_of(torch.arange(len(counts.here), device=counts.there.device) * num_tokens, counts)


def kept_counts(lengths: Counts) -> Counts:
    """A sample of length 0 keeps one token, since some kernels cannot take none."""
    return lengths.each(lambda n: n.clamp(min=1))


def packed_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    lengths: Counts,
    num_keys: int,
    dropout_p: float = 0.0,
    is_causal: bool = False,
) -> Tensor:
    """The output of ``dot_product_attention`` where each sample has a different number of keys.

    queries    ``(B, H, Q, d)``
    keys       ``(T, G, d)``: the keys of all samples end to end, ``kept_counts`` of each
    values     ``(T, G, d_v)``
    lengths    ``(B,)``, how many keys each sample has
    num_keys   K, the padding included: causality aligns the last query with the last of these

    Returns ``(B, H, Q, d_v)``.
    """
    batch, _, num_queries, _ = queries.shape
    attend = attend_varlen if has_varlen_kernel(queries, values.shape[-1], dropout_p) else attend_one_by_one
    packed_queries = queries.transpose(1, 2).flatten(0, 1)  # (B*Q, H, d)
    key_counts = kept_counts(lengths)
    if is_causal:
        # Causality limits the first queries only. The later ones stand behind the last valid key of their
        # sample, and see all of its keys. So the queries are split into these two groups.
        held_counts = key_counts.each(lambda n: (n - (num_keys - num_queries)).clamp(min=0))
        free_counts = held_counts.each(lambda n: num_queries - n)
        held = first_rows(held_counts, num_queries)  # (T_held,)
        first_free = torch.arange(batch, device=held.device) * num_queries + held_counts.there
        free = rows_of(first_free, free_counts)  # (T_free,)
        q_held, q_free = (packed_queries.index_select(0, rows) for rows in (held, free))
        heads_held = attend(q_held, keys, values, held_counts, key_counts, dropout_p, is_causal=True)
        heads_free = attend(q_free, keys, values, free_counts, key_counts, dropout_p, is_causal=False)
        places = torch.cat([held, free]).argsort()  # (B*Q,)
        output = torch.cat([heads_held, heads_free]).index_select(0, places)  # (B*Q, H, d_v)
    else:
        counts = lengths.each(lambda n: torch.full_like(n, num_queries))
        output = attend(packed_queries, keys, values, counts, key_counts, dropout_p, is_causal=False)
    output = output.unflatten(0, (batch, num_queries)).transpose(1, 2)  # (B, H, Q, d_v)
    if lengths.here.min() > 0:
        return output
    return output.masked_fill((lengths.there == 0)[:, None, None, None], 0.0)


def attend_one_by_one(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    query_counts: Counts,
    key_counts: Counts,
    dropout_p: float,
    is_causal: bool,
) -> Tensor:
    """Attend with packed queries ``(T, H, d)``, keys and values, one sample at a time -> ``(T, H, d_v)``."""

    def heads(x: Tensor, counts: Counts) -> list[Tensor]:
        return [sample.transpose(0, 1)[None] for sample in x.split(counts.here.tolist())]  # (1, H, N, d) each

    samples = zip(
        heads(queries, query_counts), heads(keys, key_counts), heads(values, key_counts), strict=True
    )
    limits = Limits(is_causal=is_causal)
    outputs = [fused_attention(q, k, v, limits, dropout_p) for q, k, v in samples]  # (1, H, N, d_v) each
    return torch.cat([output[0].transpose(0, 1) for output in outputs])


def attend_varlen(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    query_counts: Counts,
    key_counts: Counts,
    dropout_p: float,
    is_causal: bool,
) -> Tensor:
    """Compute ``attend_one_by_one`` for all samples in one kernel."""
    from torch.nn.attention.varlen import varlen_attn  # imported where it is used: it takes seconds

    if len(queries) == 0:
        return queries

    def offsets(counts: Counts) -> Tensor:  # where each sample begins, and where the last one ends: (B + 1,)
        return F.pad(counts.there.cumsum(0, dtype=torch.int32), (1, 0))

    ahead = 0 if is_causal else -1  # how many keys after its own a query may see; -1: all
    output = varlen_attn(
        queries,
        keys,
        values,
        offsets(query_counts),
        offsets(key_counts),
        query_counts.longest,
        key_counts.longest,
        window_size=(-1, ahead),
        enable_gqa=queries.shape[1] != keys.shape[1],
    )
    assert isinstance(output, Tensor)  # varlen_attn returns a pair only if it is asked for the log-sum-exp
    return output


def has_varlen_kernel(queries: Tensor, value_head_dim: int, dropout_p: float) -> bool:
    """Whether ``varlen_attn``, which is FlashAttention without dropout, can take such heads."""
    head_dim = queries.shape[-1]
    return (
        queries.is_cuda
        and queries.dtype in (torch.float16, torch.bfloat16)
        and head_dim == value_head_dim
        and head_dim % 8 == 0
        and head_dim <= 256
        and dropout_p == 0
        and torch.version.hip is None  # AMD's GPUs are called cuda as well
        and torch.backends.cuda.is_flash_attention_available()  # PyTorch may be built without it
        and torch.cuda.get_device_capability(queries.device) >= (8, 0)
        and knows_varlen_attn()
    )


@cache
def knows_varlen_attn() -> bool:
    """Whether this PyTorch has ``varlen_attn``, with the arguments that are needed here: since 2.11 or so."""
    try:
        from torch.nn.attention.varlen import varlen_attn
    except ImportError:
        return False
    return {"window_size", "enable_gqa"} <= inspect.signature(varlen_attn).parameters.keys()
