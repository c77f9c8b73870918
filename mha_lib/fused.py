"""The ways to compute attention, and which one a call takes: ``attend``."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from mha_lib import tracing
from mha_lib.attention import ChangeWeights, at_least_float32, attend_with_weights, without_autocast
from mha_lib.masks import Limits, band

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
    need_weights: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """The heads, ``(B, H, Q, d_v)``, and their weights ``(B, H, Q, K)``, or None where they are not wanted.

        way         where                                                    memory for masks and weights
        explicit    weights are wanted or changed, or a single query has sinks  B · H · Q · K
        one kernel  order alone limits the call, and no window                 none
        blocks      a window, and else only limits that all queries share      2 · Q · window
        chunks      a mask for all queries at once would be too large          MASK_CELLS
        one mask    everything else                                            its cells

    ``packing.packed_attention`` is one more way. queries ``(B, H, Q, d)``, keys ``(B, G, K, d)``, values
    ``(B, G, K, d_v)``.
    """
    sinks = limits.sinks
    # For a single query its weights are fewer numbers than the copies of keys and values that sinks need.
    if need_weights or change_weights is not None or (sinks is not None and limits.num_queries == 1):
        heads, weights = attend_with_weights(queries, keys, values, limits, dropout_p, change_weights)
        return heads, weights if need_weights else None
    if limits.sees_all:
        return attend_in_one_kernel(queries, keys, values, None, dropout_p, sinks=sinks), None
    # PyTorch's is_causal is aligned at the start, ours at the end: the same for Q = K only.
    if limits.is_by_order and limits.window is None and limits.num_queries == limits.num_keys:
        return attend_in_one_kernel(queries, keys, values, None, dropout_p, True, sinks), None
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
    own = Limits(size, sides * size, keys.device, own=size, mask=mask, sinks=limits.sinks)
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
    dtype, bias, sinks = queries.dtype, limits.score_bias, limits.sinks
    if bias is None:
        addend, nothing, _ = limits.addend(4, dtype)
        output = attend_in_one_kernel(queries, keys, values, addend, dropout_p, sinks=sinks)
    else:
        with without_autocast(queries.device):  # it would round the bias
            if bias.dtype != dtype and not takes_precise_bias(bias, dropout_p):
                queries, keys, values = (at_least_float32(x) for x in (queries, keys, values))
            wide = dtype if bias.dtype == dtype else torch.promote_types(dtype, torch.float32)
            addend, nothing, _ = limits.addend(4, wide)
            output = attend_in_one_kernel(queries, keys, values, addend, dropout_p, sinks=sinks).to(dtype)
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
    sinks: Tensor | None = None,
) -> Tensor:
    """PyTorch's attention. Its fast kernels need inputs of one width: zeros are appended.

    A sink is one more key in front, whose value is zero. Its score is the sink: two columns more in each
    query hold it, times √d, as the number that the dtype rounds it to and what this leaves of it.
    Heads that share keys are computed as one head with H/G times as many queries where nothing tells their
    queries apart, since the kernel for a CPU would repeat the keys for each.
    """
    batch, num_heads, num_queries, head_dim = queries.shape
    num_kv_heads, value_head_dim = keys.shape[1], values.shape[3]
    scale, has_rows_in_front = 1 / math.sqrt(head_dim), sinks is not None and is_causal
    if sinks is not None:
        score = (sinks.to(at_least_float32(queries).dtype) / scale)[:, None, None]
        rounded = score.to(queries.dtype)
        columns = torch.cat([rounded, (score - rounded).to(queries.dtype)], dim=2)  # (H, 1, 2)
        queries = torch.cat([queries, columns.expand(batch, -1, num_queries, -1)], dim=3)
        sink = F.pad(keys.new_zeros(1, head_dim), (0, 2), value=1.0).expand(batch, num_kv_heads, 1, -1)
        keys = torch.cat([sink, F.pad(keys, (0, 2))], dim=2)
        values = F.pad(values, (0, 0, 1, 0))
        mask = None if mask is None else F.pad(mask, (1, 0))
        if is_causal:  # one more query in front, too, so that all others see the sink and what they saw
            queries = F.pad(queries, (0, 0, 1, 0))
        num_queries, head_dim = queries.shape[2:]
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
        scale=scale,
        enable_gqa=shares and not stacks,
    )
    if stacks:
        output = output.reshape(batch, num_heads, num_queries, output.shape[3])
    if head_dim != value_head_dim:
        output = output[..., :value_head_dim]
    return output[:, :, 1:] if has_rows_in_front else output
