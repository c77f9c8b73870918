"""The ways to compute attention, and which one a call takes: ``attend``.

One more shape letter: T, the keys of all samples together, where padding has been left out.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from mha_lib import tracing
from mha_lib.attention import ChangeWeights, at_least_float32, attend_with_weights, without_autocast
from mha_lib.masks import Limits, band, blank_padding

# On a CPU, packed samples are computed one by one, and each costs about 40 µs more than in a batch, forward
# and backward. Packing pays where it saves more multiplications a sample than this (measured).
WORTH_SKIPPING = 2_000_000

# How many cells a mask that we build may have (8 MB as booleans). Where queries and keys would need more, the
# queries are computed in chunks, so that memory grows with Q + K and not with Q * K.
MASK_CELLS = 2**23
SMALLEST_CHUNK = 128  # queries
SMALLEST_BLOCK = 64  # queries: with fewer at a time a CPU is not busy


def attend(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    limits: Limits,
    dropout_p: float = 0.0,
    change_weights: ChangeWeights | None = None,
    sink_logits: Tensor | None = None,
    need_weights: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """The heads, ``(B, H, Q, d_v)``, and their weights ``(B, H, Q, K)``, or None where they are not wanted.

        way         where                                                    memory for masks and weights
        packed      ``pack`` has left padding out before keys were projected   none
        explicit    weights are wanted, or something changes them              B · H · Q · K
        one kernel  order alone limits the call, and no window                 none
        blocks      a window, and else only limits that all queries share      2 · Q · window
        chunks      a mask for all queries at once would be too large          MASK_CELLS
        one mask    everything else                                            its cells

    queries ``(B, H, Q, d)``, keys ``(B, G, K, d)``, values ``(B, G, K, d_v)``; packed: keys ``(1, G, T, d)``.
    """
    if limits.rows is not None:
        return packed_attention(queries, keys, values, limits, dropout_p), None
    if need_weights or change_weights is not None or sink_logits is not None:
        heads, weights = attend_with_weights(
            queries, keys, values, limits, dropout_p, change_weights, sink_logits
        )
        return heads, weights if need_weights else None
    if limits.sees_all:
        return attend_in_one_kernel(queries, keys, values, None, dropout_p), None
    # PyTorch's is_causal is aligned at the start, ours at the end: the same for Q = K only.
    if limits.is_by_order and limits.window is None and limits.num_queries == limits.num_keys:
        return attend_in_one_kernel(queries, keys, values, None, dropout_p, is_causal=True), None
    # While PyTorch traces, the way must not depend on the number of queries.
    is_long = limits.window is not None and (tracing.is_tracing() or limits.num_queries > block_size(limits))
    if is_long and limits.is_by_key:
        return attend_in_blocks(queries, keys, values, limits, dropout_p), None
    if limits.num_queries > queries_at_a_time(queries, limits):
        return attend_in_chunks(queries, keys, values, limits, dropout_p), None
    return masked_attention(queries, keys, values, limits, dropout_p), None


def block_size(limits: Limits) -> int:
    assert limits.window is not None
    return max(SMALLEST_BLOCK, limits.window)


def attend_in_blocks(
    queries: Tensor, keys: Tensor, values: Tensor, limits: Limits, dropout_p: float
) -> Tensor:
    """Each block of queries with the block of keys at its own places and the blocks beside it, in one batch.

    A block is as long as the window or longer, so the blocks beside it hold all that its queries see.
    """
    size, num_queries = block_size(limits), limits.num_queries
    num_blocks = (num_queries + size - 1) // size
    if tracing.is_tracing():  # where a single block would pass for what is always one
        num_blocks = num_blocks + 1
    sides = 2 if limits.is_causal else 3  # the blocks before, own and, unless causal, after
    end = num_blocks * size

    def keys_by_block(x: Tensor) -> Tensor:  # (B, ·, K, n) -> (B * blocks, ·, sides * size, n)
        after = end - num_queries + (sides - 2) * size
        x = F.pad(x, (0, 0, size - limits.own, after))  # pads, or leaves out keys that nobody sees
        return x.unfold(2, sides * size, size).permute(0, 2, 1, 4, 3).flatten(0, 1)

    q = F.pad(queries, (0, 0, 0, end - num_queries)).unfold(2, size, size)  # (B, H, blocks, d, size)
    q = q.permute(0, 2, 1, 4, 3).flatten(0, 1)  # (B * blocks, H, size, d)
    k, v = keys_by_block(keys), keys_by_block(values)
    unhidden = limits.unhidden()
    if unhidden is None:
        unhidden = torch.ones(1, limits.num_keys, dtype=torch.bool, device=keys.device)
    there = keys_by_block(unhidden.expand(keys.shape[0], -1)[:, None, :, None])  # False where padded
    order = band(size, sides * size, size, limits.is_causal, limits.window, keys.device)
    mask = order & there.transpose(2, 3)  # (B * blocks, 1, size, sides * size)
    own = Limits(size, sides * size, keys.device, own=size, mask=mask)
    heads = masked_attention(q, k, v, own, dropout_p)
    heads = heads.unflatten(0, (queries.shape[0], num_blocks)).transpose(1, 2).flatten(2, 3)
    return heads.index_select(2, torch.arange(num_queries, device=heads.device))


def attend_in_chunks(
    queries: Tensor, keys: Tensor, values: Tensor, limits: Limits, dropout_p: float
) -> Tensor:
    """Some queries at a time, each with a mask of its own."""
    size = queries_at_a_time(queries, limits)
    chunks = []
    for start in range(0, limits.num_queries, size):
        end = min(start + size, limits.num_queries)
        first, last = limits.seen(start, end)
        q, k, v = queries[:, :, start:end], keys[:, :, first:last], values[:, :, first:last]
        chunk = (q, k, v, limits.part(start, end, first, last), dropout_p)
        if can_recompute((q, k, v)):  # so that the masks of all chunks need not be kept for the gradients
            chunks.append(checkpoint(masked_attention, *chunk, use_reentrant=False))
        else:
            chunks.append(masked_attention(*chunk))
    return torch.cat(chunks, dim=2)  # (B, H, Q, d_v)


def queries_at_a_time(queries: Tensor, limits: Limits) -> int:
    """How many queries get their mask at once: all of them if every query has the same mask."""
    cells = limits.cells_of_a_query(queries.shape[0])
    return max(SMALLEST_CHUNK, MASK_CELLS // cells) if cells else limits.num_queries


def can_recompute(inputs: tuple[Tensor, ...]) -> bool:
    """Whether a gradient is wanted that ``checkpoint`` can compute: it cannot inside ``torch.func``."""
    if torch.compiler.is_compiling():
        return False
    return any(x.requires_grad for x in inputs) and not any(tracing.is_transformed(x) for x in inputs)


def masked_attention(
    queries: Tensor, keys: Tensor, values: Tensor, limits: Limits, dropout_p: float
) -> Tensor:
    """All limits in one mask, for one kernel."""
    dtype, bias = queries.dtype, limits.score_bias
    if bias is None:
        addend, nothing, _ = limits.addend(4, dtype)
        output = attend_in_one_kernel(queries, keys, values, addend, dropout_p)
    else:
        with without_autocast(queries.device):  # it would round the bias
            if bias.dtype != dtype and not takes_precise_bias(bias, dropout_p):
                queries, keys, values = (at_least_float32(x) for x in (queries, keys, values))
            wide = dtype if bias.dtype == dtype else torch.promote_types(dtype, torch.float32)
            addend, nothing, _ = limits.addend(4, wide)
            output = attend_in_one_kernel(queries, keys, values, addend, dropout_p).to(dtype)
    return output if nothing is None else output.masked_fill(nothing, 0.0)


def takes_precise_bias(score_bias: Tensor, dropout_p: float) -> bool:
    """Whether a kernel takes a bias in float32 beside queries in half precision.

    Rounding the bias is no way out: of ALiBi over 2,048 keys, bfloat16 keeps steps of 8. The kernels on a
    CPU take it, but not the slower one for dropout and for a bias with a gradient; those on a GPU refuse it.
    """
    return score_bias.device.type == "cpu" and dropout_p == 0 and not score_bias.requires_grad


def attend_in_one_kernel(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None,
    dropout_p: float,
    is_causal: bool = False,
) -> Tensor:
    """PyTorch's attention. Its fast kernels need inputs of one width: zeros are appended.

    Heads that share keys are computed as one head with H/G times as many queries where nothing tells their
    queries apart, since the kernel for a CPU would repeat the keys for each.
    """
    batch, num_heads, num_queries, head_dim = queries.shape
    num_kv_heads, value_head_dim = keys.shape[1], values.shape[3]
    if head_dim != value_head_dim:
        width = max(head_dim, value_head_dim)
        queries, keys, values = (F.pad(x, (0, width - x.shape[3])) for x in (queries, keys, values))
    shares = num_kv_heads != num_heads
    stacks = shares and mask is None and not is_causal
    if stacks:  # (B, H, Q, d) -> (B, G, H/G*Q, d)
        stacked = num_heads // num_kv_heads * num_queries
        queries = queries.reshape(batch, num_kv_heads, stacked, queries.shape[3])
    output = F.scaled_dot_product_attention(
        queries,
        keys,
        values,
        mask,
        dropout_p,
        is_causal,
        scale=1 / math.sqrt(head_dim),
        **({"enable_gqa": True} if shares and not stacks else {}),
    )
    if stacks:
        output = output.reshape(batch, num_heads, num_queries, output.shape[3])
    if head_dim != value_head_dim:
        output = output[..., :value_head_dim]
    return output


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
    queries: Tensor, num_kv_heads: int, value_head_dim: int, limits: Limits, dropout_p: float
) -> bool:
    """Whether leaving out padded keys is faster than masking them, for projected queries ``(B, H, Q, d)``."""
    if limits.read is None or not limits.is_by_length:
        return False
    batch, num_heads, num_queries, head_dim = queries.shape
    if queries.device.type != "cpu":
        return has_varlen_kernel(queries, value_head_dim, dropout_p)
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
    attend_packed = (
        attend_varlen if has_varlen_kernel(queries, values.shape[-1], dropout_p) else attend_one_by_one
    )
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
    )
