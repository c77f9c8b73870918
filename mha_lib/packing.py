"""Leave padding out, so that nothing of it is computed: all samples lie end to end.

The shape letters are those of ``attention.py``, and one more: T, the tokens of all samples together.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from mha_lib import tracing
from mha_lib.fused import attend
from mha_lib.masks import Limits, blank_padding

# On a CPU, packed samples are computed one by one, and each costs about 40 µs more than in a batch, forward
# and backward. Packing pays where it saves more multiplications a sample than this (measured).
WORTH_SKIPPING = 2_000_000


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
    num_heads: int,
    num_kv_heads: int,
    head_dim: int,
    value_head_dim: int,
    limits: Limits,
    dropout_p: float,
) -> bool:
    """Whether leaving out padded keys is faster than masking them, for queries ``(B, Q, ·)`` to project."""
    if limits.read is None or not limits.is_by_length or limits.sinks is not None:
        return False
    batch, num_queries = queries.shape[:2]
    device = queries.device
    if device.type != "cpu":
        dtype = torch.get_autocast_dtype(device.type) if tracing.autocasts(device) else queries.dtype
        return has_varlen_kernel(device, dtype, head_dim, value_head_dim, dropout_p)
    skipped_keys = batch * limits.num_keys - int(limits.read.sum())
    saved = skipped_keys * num_heads * head_dim * (num_queries + num_kv_heads * head_dim)
    return saved > WORTH_SKIPPING * batch


def cut(keys: Tensor, values: Tensor, limits: Limits) -> tuple[Tensor, Tensor, Limits]:
    """Leave out the keys ``(B, K, ·)`` at the end that are padding in all samples."""
    shown = limits.last_shown
    if shown == limits.num_keys:
        return keys, values, limits
    shown_keys = keys[:, :shown]
    shown_values = shown_keys if values is keys else values[:, :shown]
    return shown_keys, shown_values, limits.part(0, limits.num_queries, 0, shown)


def pack(keys: Tensor, values: Tensor, limits: Limits) -> tuple[Tensor, Tensor, Limits]:
    """Leave out the padding of all samples: ``(B, K, ·) -> (1, T, ·)``, end to end."""
    if limits.shortest == 0:  # a sample of length 0 keeps one key, which is padding
        keys, values = blank_padding(keys, values, limits)
    rows = first_rows(kept_counts(counts_of(limits)), limits.num_keys)  # (T,)
    packed_keys = keys.flatten(0, 1).index_select(0, rows)[None]
    packed_values = packed_keys if values is keys else values.flatten(0, 1).index_select(0, rows)[None]
    return packed_keys, packed_values, limits._replace(rows=rows)


def counts_of(limits: Limits) -> Counts:
    assert limits.read is not None  # worth_packing has checked both
    assert limits.lengths is not None
    return Counts(limits.read, limits.lengths)


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
    queries: Tensor, keys: Tensor, values: Tensor, limits: Limits, dropout_p: float
) -> Tensor:
    """Queries ``(B, H, Q, d)`` with what ``pack`` has left, projected: keys ``(1, G, T, d)`` and values."""
    keys, values = keys[0].transpose(0, 1), values[0].transpose(0, 1)  # (T, G, d) and (T, G, d_v)
    lengths, num_keys = counts_of(limits), limits.num_keys
    batch, _, num_queries, _ = queries.shape
    widths = (queries.shape[-1], values.shape[-1])
    has_kernel = has_varlen_kernel(queries.device, queries.dtype, *widths, dropout_p)
    attend_packed = attend_varlen if has_kernel else attend_one_by_one
    packed_queries = queries.transpose(1, 2).flatten(0, 1)  # (B*Q, H, d)
    key_counts = kept_counts(lengths)
    if limits.is_causal:
        # Causality limits the first queries only. The later ones stand behind the last valid key of their
        # sample, and see all of its keys. So the queries are split into these two groups.
        held_counts = key_counts.each(lambda n: (n - (num_keys - num_queries)).clamp(min=0))
        free_counts = held_counts.each(lambda n: num_queries - n)
        held = first_rows(held_counts, num_queries)  # (T_held,)
        first_free = torch.arange(batch, device=held.device) * num_queries + held_counts.there
        free = rows_of(first_free, free_counts)  # (T_free,)
        q_held, q_free = (packed_queries.index_select(0, rows) for rows in (held, free))
        heads_held = attend_packed(q_held, keys, values, held_counts, key_counts, dropout_p, is_causal=True)
        heads_free = attend_packed(q_free, keys, values, free_counts, key_counts, dropout_p, is_causal=False)
        places = torch.cat([held, free]).argsort()  # (B*Q,)
        output = torch.cat([heads_held, heads_free]).index_select(0, places)  # (B*Q, H, d_v)
    else:
        counts = lengths.each(lambda n: torch.full_like(n, num_queries))
        output = attend_packed(packed_queries, keys, values, counts, key_counts, dropout_p, is_causal=False)
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
    outputs = []
    for q, k, v in samples:
        num_queries, num_keys = q.shape[2], k.shape[2]
        limits = Limits(num_queries, num_keys, q.device, num_keys - num_queries, is_causal=is_causal)
        outputs.append(with_lost_nan(attend(q, k, v, limits, dropout_p)[0], q, k))  # (1, H, N, d_v)
    return torch.cat([output[0].transpose(0, 1) for output in outputs])


def with_lost_nan(output: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """Put NaN where no score of a query is a number: PyTorch's kernel for a CPU without a mask gives 0."""
    if tracing.can_be_read(output) and output.all():
        return output
    first = keys[:, :, :1].sum(dim=2, keepdim=True)  # every query sees the first key
    first = first.repeat_interleave(queries.shape[1] // keys.shape[1], dim=1)  # (B, H, 1, d)
    scores = (queries * first).sum(dim=3, keepdim=True)  # (B, H, Q, 1)
    return output.masked_fill(scores.isnan(), math.nan)


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


def has_varlen_kernel(
    device: torch.device, dtype: torch.dtype, head_dim: int, value_head_dim: int, dropout_p: float
) -> bool:
    """Whether ``varlen_attn``, which is FlashAttention without dropout, can take such heads."""
    return (
        device.type == "cuda"
        and dtype in (torch.float16, torch.bfloat16)
        and head_dim == value_head_dim
        and head_dim % 8 == 0
        and head_dim <= 256
        and dropout_p == 0
        and torch.version.hip is None  # AMD's GPUs are called cuda as well
        and torch.backends.cuda.is_flash_attention_available()  # PyTorch may be built without it
        and torch.cuda.get_device_capability(device) >= (8, 0)
    )
