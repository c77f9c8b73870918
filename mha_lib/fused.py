"""Attention without its weights: what ``dot_product_attention`` gives, never building (B, H, Q, K).

Two ways. ``fused_attention`` masks what is forbidden; it serves every mask. ``pack`` and ``packed_attention``
skip it: where each sample has one length, padded keys leave the batch before they are even projected, and T
keys stay, those of all samples end to end.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from mha_lib.attention import causal_mask, first_keys

# A CPU takes packed samples one by one, at some 40 µs each, forward and backward: what skipping saves must be
# worth more. The break-even, as measured, in multiplications a sample.
WORTH_SKIPPING = 2_000_000


def fused_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
) -> Tensor:
    """The output of ``dot_product_attention`` for heads: queries ``(B, H, Q, d)`` -> ``(B, H, Q, d_v)``.

    mask       as in ``masked_softmax``, a head axis of its own included
    is_causal  in the place of a mask, where causality is all there is
    """
    num_queries, num_keys = queries.shape[2], keys.shape[2]
    if is_causal and num_queries != num_keys:  # PyTorch's is_causal is aligned at the start, ours at the end
        is_causal = False
        mask = causal_mask(num_queries, num_keys, queries.device) if num_queries > 1 else None
    if mask is None:
        return attend_in_one_kernel(queries, keys, values, None, dropout_p, is_causal)
    # A query that may attend to nothing gives NaN in some kernels: let it attend to all, forget what it got.
    nothing = ~mask.any(dim=-1, keepdim=True)
    output = attend_in_one_kernel(queries, keys, values, mask | nothing, dropout_p, False)
    return output.masked_fill(nothing, 0.0)


def attend_in_one_kernel(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, dropout_p: float, is_causal: bool
) -> Tensor:
    """PyTorch's attention. Its kernels that build no weights want one width for all: zeros fill up."""
    head_dim, value_head_dim = queries.shape[3], values.shape[3]
    if head_dim != value_head_dim:
        width = max(head_dim, value_head_dim)
        queries, keys, values = (F.pad(x, (0, width - x.shape[3])) for x in (queries, keys, values))
    output = F.scaled_dot_product_attention(
        queries, keys, values, mask, dropout_p, is_causal, scale=1 / math.sqrt(head_dim)
    )
    return output[..., :value_head_dim]


def has_padding(valid_lens: Tensor, num_keys: int) -> bool:
    """Whether there is anything to mask. While torch.compile traces, nobody knows: there may be."""
    return torch.compiler.is_compiling() or bool((valid_lens < num_keys).any())


def worth_packing(
    queries: Tensor, value_head_dim: int, lengths: Tensor, num_keys: int, dropout_p: float
) -> bool:
    """Whether skipping padded keys is faster than masking them, for projected queries ``(B, H, Q, d)``."""
    if torch.compiler.is_compiling() or lengths.dim() != 1:
        return False
    batch, num_heads, num_queries, head_dim = queries.shape
    if queries.is_cuda:
        return has_varlen_kernel(queries, value_head_dim, dropout_p)
    width = num_heads * head_dim
    skipped_keys = batch * num_keys - int(lengths.sum())
    return skipped_keys * width * (num_queries + width) > WORTH_SKIPPING * batch


def pack(x: Tensor, lengths: Tensor) -> Tensor:
    """The first ``lengths`` tokens of every sample, end to end: ``(B, N, D) -> (T, D)``.

    A sample of length 0 keeps one token: some kernels stumble over none. ``packed_attention`` knows.
    """
    lengths = lengths.clamp(min=1)
    rows = first_keys(lengths, x.shape[1], lengths.device).flatten().nonzero().flatten()
    return take(x.flatten(0, 1), rows)


def packed_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    lengths: Tensor,
    num_keys: int,
    dropout_p: float = 0.0,
    is_causal: bool = False,
) -> Tensor:
    """The output of ``dot_product_attention`` where every sample has keys of its own number.

    queries    ``(B, H, Q, d)``
    keys       ``(T, H, d)``, packed
    values     ``(T, H, d_v)``, packed
    lengths    ``(B,)``, on the CPU: how many keys each sample has
    num_keys   K, the padding included: where causality aligns the last query

    Returns ``(B, H, Q, d_v)``.
    """
    batch, _, num_queries, _ = queries.shape
    attend = attend_varlen if has_varlen_kernel(queries, values.shape[-1], dropout_p) else attend_one_by_one
    packed_queries = queries.transpose(1, 2).flatten(0, 1)  # (B*Q, H, d)
    key_counts = lengths.clamp(min=1)
    if is_causal:
        # Held back are only the first queries; the later ones stand past the last valid key and see them all.
        held_counts = (key_counts - (num_keys - num_queries)).clamp(min=0)
        is_held = first_keys(held_counts, num_queries, lengths.device).flatten()  # (B*Q,)
        held, free = is_held.nonzero().flatten(), (~is_held).nonzero().flatten()
        groups = [(held, held_counts, True), (free, num_queries - held_counts, False)]
        outputs = [
            attend(take(packed_queries, rows), keys, values, counts, key_counts, dropout_p, causal)
            for rows, counts, causal in groups
        ]
        output = take(torch.cat(outputs), torch.cat([held, free]).argsort())  # back into their places
    else:
        counts = torch.full_like(lengths, num_queries)
        output = attend(packed_queries, keys, values, counts, key_counts, dropout_p, False)
    output = output.unflatten(0, (batch, num_queries)).transpose(1, 2)  # (B, H, Q, d_v)
    if lengths.min() > 0:
        return output
    nothing = (lengths == 0).to(output.device, non_blocking=True)
    return output.masked_fill(nothing[:, None, None, None], 0.0)


def take(x: Tensor, rows: Tensor) -> Tensor:
    """Some rows of ``x``, their numbers on the CPU: copied over without waiting for a GPU."""
    return x.index_select(0, rows.to(x.device, non_blocking=True))


def attend_one_by_one(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    query_counts: Tensor,
    key_counts: Tensor,
    dropout_p: float,
    is_causal: bool,
) -> Tensor:
    """Packed queries, keys and values ``(T, H, d)``, each sample by itself -> ``(T, H, d_v)``."""

    def heads(x: Tensor, counts: Tensor) -> list[Tensor]:
        return [sample.transpose(0, 1)[None] for sample in x.split(counts.tolist())]  # (1, H, N, d) each

    samples = zip(
        heads(queries, query_counts), heads(keys, key_counts), heads(values, key_counts), strict=True
    )
    outputs = [fused_attention(q, k, v, None, dropout_p, is_causal) for q, k, v in samples]
    return torch.cat([output[0].transpose(0, 1) for output in outputs])


def attend_varlen(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    query_counts: Tensor,
    key_counts: Tensor,
    dropout_p: float,
    is_causal: bool,
) -> Tensor:
    """What ``attend_one_by_one`` does, for all samples in one kernel."""
    from torch.nn.attention.varlen import varlen_attn  # imported where it is used: it takes seconds

    if len(queries) == 0:
        return queries

    def offsets(counts: Tensor) -> Tensor:  # where each sample begins, and where the last one ends: (B + 1,)
        ends = counts.cumsum(0, dtype=torch.int32)
        return F.pad(ends, (1, 0)).to(queries.device, non_blocking=True)

    ahead = 0 if is_causal else -1  # how far past its place a query may look; -1: as far as there are keys
    output = varlen_attn(
        queries,
        keys,
        values,
        offsets(query_counts),
        offsets(key_counts),
        int(query_counts.max()),
        int(key_counts.max()),
        window_size=(-1, ahead),
    )
    assert isinstance(output, Tensor)  # it is a pair only where the log-sum-exp is asked for
    return output


def has_varlen_kernel(queries: Tensor, value_head_dim: int, dropout_p: float) -> bool:
    """Whether ``varlen_attn``, which is FlashAttention without dropout, can take such heads."""
    head_dim = queries.shape[-1]
    return (
        queries.is_cuda
        and torch.cuda.get_device_capability(queries.device) >= (8, 0)
        and queries.dtype in (torch.float16, torch.bfloat16)
        and head_dim == value_head_dim
        and head_dim % 8 == 0
        and head_dim <= 256
        and dropout_p == 0
    )
