"""Attention from its parts: masks, the masked softmax, the dot product, one head.

Shape letters, here and in every file of the library:

    B  batch      Q  queries      K  keys (and values)
    D  num_hiddens      H  heads      d  head dimension (D/H unless said otherwise)

One rule for masks: boolean, True = may attend. A mask is (Q, K), or (B, Q, K) or (B, 1, K) where samples
differ, or (B, H, Q, K) where heads differ too.
"""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import torch
from torch import Tensor, nn

from mha_lib import checks, tracing


def padding_mask(valid_lens: Tensor, num_keys: int, device: torch.device | None = None) -> Tensor:
    """True for the first ``valid_lens`` keys; the keys after them are padding.

    valid_lens  integers from 0 to K; ``(B,)``: a length for each sample, ``(B, Q)``: one for each query
    num_keys    K
    device      of the mask; that of ``valid_lens`` unless said otherwise

    Returns ``(B, 1, K)``, or ``(B, Q, K)`` for lengths ``(B, Q)``.
    Raises TypeError for lengths that are not integers, ValueError for lengths outside 0 … K and for
    ``(B, K)`` numbers that are all 0 or 1: those are a mask. Lengths on a GPU are checked at the price of one
    synchronisation, lengths on the CPU without any. Values that cannot be read are not checked: those of meta
    tensors, and all values while torch.compile, ``make_fx`` or ``vmap`` trace.

    Elsewhere: the opposite of ``key_padding_mask`` (``nn.MultiheadAttention``), where True means *ignore*.
    """
    num_keys = checks.checked_size("num_keys", num_keys, minimum=0)
    checks.checked_lens(valid_lens, num_keys)
    return first_keys(valid_lens, num_keys, valid_lens.device if device is None else device)


def first_keys(lengths: Tensor, num_keys: int, device: torch.device) -> Tensor:
    """Return the mask of ``padding_mask`` for lengths that have been checked already."""
    lengths = lengths.to(device, torch.long, non_blocking=True)[..., None]  # (B, 1) or (B, Q, 1)
    mask = torch.arange(num_keys, device=device) < lengths  # (B, K) or (B, Q, K)
    return mask[:, None] if mask.dim() == 2 else mask  # (B, 1, K): the same for every query


def causal_mask(num_queries: int, num_keys: int, device: torch.device | None = None) -> Tensor:
    """True where the key is not later than the query: ``(Q, K)``, aligned at the end.

    The last query sees every key, the one before it all but the last, and so on; for Q = K that is the lower
    triangle. Raises ValueError for Q > K: the first queries would see nothing.

    Source: Vaswani et al. 2017, section 3.2.3. Elsewhere: ``causal_lower_right`` (PyTorch); the ``is_causal``
    of ``scaled_dot_product_attention`` is aligned at the start instead, which is the same for Q = K only.
    """
    num_queries = checks.checked_size("num_queries", num_queries, minimum=0)
    num_keys = checks.checked_size("num_keys", num_keys, minimum=0)
    checks.check_causal(num_queries, num_keys)
    return torch.ones(num_queries, num_keys, dtype=torch.bool, device=device).tril(num_keys - num_queries)


class Limits(NamedTuple):
    """Limits on the keys of one call. All of them must allow a key; None allows every key."""

    valid_lens: Tensor | None = None  # (B,) or (B, Q)
    key_mask: Tensor | None = None  # (B, K)
    mask: Tensor | None = None  # (Q, K), (B, Q, K), (B, 1, K) or (B, H, Q, K)
    is_causal: bool = False


def checked_limits(limits: Limits, scores_shape: Sequence[int], device: torch.device) -> Limits:
    """Check the limits against the scores ``(B, Q, K)`` or ``(B, H, Q, K)``, and return them.

    The lengths come back on the CPU if their values can be read, and as None if no length is below K.
    """
    batch, (num_queries, num_keys) = scores_shape[0], scores_shape[-2:]
    if limits.mask is not None:
        checks.check_mask(limits.mask, scores_shape, device)
    if limits.key_mask is not None:
        checks.check_key_mask(limits.key_mask, batch, num_keys, device)
    if limits.is_causal:
        checks.check_causal(num_queries, num_keys)
    if limits.valid_lens is None:
        return limits
    valid_lens = checks.checked_lens(limits.valid_lens, num_keys, batch, num_queries)
    has_padding = not tracing.can_be_read(valid_lens) or bool((valid_lens < num_keys).any())
    return Limits(valid_lens if has_padding else None, limits.key_mask, limits.mask, limits.is_causal)


def combine_masks(limits: Limits, scores_shape: Sequence[int], device: torch.device) -> Tensor | None:
    """Combine checked limits into one mask for the scores; None if every key is allowed."""
    num_queries, num_keys = scores_shape[-2:]
    masks = []
    if limits.valid_lens is not None:
        masks.append(first_keys(limits.valid_lens, num_keys, device))  # (B, 1, K) or (B, Q, K)
    if limits.key_mask is not None:
        masks.append(limits.key_mask[:, None])  # (B, 1, K)
    if limits.mask is not None:
        masks.append(limits.mask)
    if limits.is_causal:
        masks.append(causal_mask(num_queries, num_keys, device))  # (Q, K)
    combined = None
    for each in masks:
        each = add_head_axis(each, len(scores_shape))
        combined = each if combined is None else combined & each
    return combined


def blank_padding(
    keys: Tensor, values: Tensor, limits: Limits, num_keys: int, keep_finite: bool = False
) -> tuple[Tensor, Tensor]:
    """Replace padded keys and values ``(B, N, ·)`` by zeros; they are the last N of ``num_keys`` tokens.

    A weight of 0 is not enough to keep padding out: 0 · NaN is NaN, and so is 0 · ∞. With ``keep_finite``
    only NaN and infinity are replaced, since a later call may see the key.
    """
    allowed = []
    if limits.valid_lens is not None and limits.valid_lens.numel():
        longest = limits.valid_lens if limits.valid_lens.dim() == 1 else limits.valid_lens.amax(dim=1)
        allowed.append(first_keys(longest, num_keys, keys.device)[:, 0])  # (B, K)
    if limits.key_mask is not None:
        allowed.append(limits.key_mask)  # (B, K)
    if not allowed:
        return keys, values
    is_padding = ~(allowed[0] & allowed[-1])[:, num_keys - keys.shape[1] :, None]  # (B, N, 1)

    def blank(x: Tensor) -> Tensor:
        return x.masked_fill(is_padding & ~x.isfinite() if keep_finite else is_padding, 0.0)

    blank_keys = blank(keys)
    return blank_keys, blank_keys if values is keys else blank(values)


def add_head_axis(mask: Tensor, scores_dim: int) -> Tensor:
    """``(B, Q, K) -> (B, 1, Q, K)`` for scores ``(B, H, Q, K)``: broadcasting would take B for H."""
    return mask[:, None] if mask.dim() == 3 and scores_dim == 4 else mask


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the keys that ``mask`` allows; a row without any such key is all zeros.

        weights[i, j] = exp(scores[i, j]) / Σ exp(scores[i, j'])   over all j' that i may attend to

    scores  ``(Q, K)``, ``(B, Q, K)`` or ``(B, H, Q, K)``; never written to
    mask    boolean, True = may attend: ``(Q, K)``, ``(B, Q, K)``, ``(B, 1, K)`` or ``(B, H, Q, K)``

    Returns weights shaped and typed like ``scores``. Scores in half precision are summed in float32. Scores
    that the mask forbids have no effect, not even NaN.
    Raises TypeError for a mask that is not boolean (lengths become one by ``padding_mask``), ValueError for
    one that does not fit the scores.

    Source: Vaswani et al. 2017, section 3.2.3 (there: scores set to −∞). Elsewhere: d2l's ``masked_softmax``
    takes lengths, and gives a row of length 0 equal weights instead of none.
    """
    checks.check_scores(scores)
    if mask is not None:
        checks.check_mask(mask, scores.shape, scores.device)
    return softmax_of_allowed(at_least_float32(scores), mask).to(scores.dtype)


def softmax_of_allowed(scores: Tensor, mask: Tensor | None, in_place: bool = False) -> Tensor:
    """``masked_softmax`` for arguments that have been checked; in place, the weights overwrite the scores."""
    out = scores if in_place else None
    if mask is None:
        return torch.softmax(scores, dim=-1, out=out)
    fill = Tensor.masked_fill_ if in_place else Tensor.masked_fill
    forbidden = ~add_head_axis(mask, scores.dim())
    lowest = torch.finfo(scores.dtype).min  # not −∞: a row of nothing else would give NaN
    weights = torch.softmax(fill(scores, forbidden, lowest), dim=-1, out=out)
    return fill(weights, forbidden, 0.0)


def at_least_float32(x: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float32))


def dot_product_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None = None,
    dropout_p: float = 0.0,
    *,
    score_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention.

        output = softmax(Q Kᵀ / √d) V

    queries     ``(..., Q, d)``, where ``...`` is nothing, ``B`` or ``B, H``
    keys        ``(..., K, d)``
    values      ``(..., K, d_v)``
    mask        as in ``masked_softmax``
    dropout_p   probability with which each weight is dropped; 0 in evaluation
    score_bias  numbers added to the scores before the softmax, shaped as a mask may be

    Returns the output ``(..., Q, d_v)`` and the weights ``(..., Q, K)`` before dropout, both typed like the
    queries. Inputs in half precision are computed in float32, under autocast too, as the fast kernels do:
    scores beyond 65504 would overflow in float16. Values must be finite even where the mask forbids them,
    since 0 · NaN is NaN.
    Raises ValueError or TypeError for arguments that do not fit one another.

    Source: Vaswani et al. 2017, section 3.2.1. Elsewhere: ``scaled_dot_product_attention`` (PyTorch; without
    the weights), d2l's ``DotProductAttention``.
    """
    checks.check_queries_keys_values(queries, keys, values)
    checks.check_same_width(queries, keys)
    checks.check_dropout("dropout_p", dropout_p)
    scores_shape = (*queries.shape[:-1], keys.shape[-2])  # (..., Q, K)
    if mask is not None:
        checks.check_mask(mask, scores_shape, queries.device)
    if score_bias is not None:
        checks.check_score_bias(score_bias, scores_shape, queries.device)
    d, dtype = queries.shape[-1], queries.dtype
    with without_autocast(queries.device):
        queries, keys, values = at_least_float32(queries), at_least_float32(keys), at_least_float32(values)
        keys = keys.contiguous()  # their transpose then needs no copy of its own
        scores = (queries / math.sqrt(d)) @ keys.transpose(-2, -1)  # (..., Q, K)
        if score_bias is not None:
            scores = scores + add_head_axis(score_bias, scores.dim()).to(scores.dtype)
        weights = softmax_of_allowed(scores, mask, in_place=tracing.nobody_differentiates(scores))
        output = nn.functional.dropout(weights, dropout_p) @ values  # (..., Q, d_v)
    return output.to(dtype), weights.to(dtype)


def without_autocast(device: torch.device) -> AbstractContextManager[object]:
    is_known = torch.amp.is_autocast_available(device.type)
    return torch.autocast(device.type, enabled=False) if is_known else nullcontext()


class AdditiveAttention(nn.Module):
    """Attention whose scores come from a small network, so that queries and keys may differ in width.

        score(q, k) = w_vᵀ tanh(W_q q + W_k k)

    num_hiddens    width of the hidden layer
    query_size     width of the queries, ``num_hiddens`` unless said otherwise
    key_size       width of the keys, ``num_hiddens`` unless said otherwise
    device, dtype  of the parameters, as in ``nn.Linear``

    Source: Bahdanau et al. 2015, appendix A.1.2. Elsewhere: Bahdanau attention, concat attention; d2l's
    ``AdditiveAttention``.
    """

    def __init__(
        self,
        num_hiddens: int,
        query_size: int | None = None,
        key_size: int | None = None,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        self.num_hiddens = checks.checked_size("num_hiddens", num_hiddens)
        self.query_size = checks.checked_size("query_size", num_hiddens if query_size is None else query_size)
        self.key_size = checks.checked_size("key_size", num_hiddens if key_size is None else key_size)
        self.W_q = nn.Linear(self.query_size, self.num_hiddens, bias=False, device=device, dtype=dtype)
        self.W_k = nn.Linear(self.key_size, self.num_hiddens, bias=False, device=device, dtype=dtype)
        self.w_v = nn.Linear(self.num_hiddens, 1, bias=False, device=device, dtype=dtype)

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None = None,
        dropout_p: float = 0.0,
    ) -> tuple[Tensor, Tensor]:
        """Called like ``dot_product_attention``, and returns the same two.

        queries ``(B, Q, query_size)``, keys ``(B, K, key_size)``, values ``(B, K, d_v)``, mask as in
        ``masked_softmax`` -> output ``(B, Q, d_v)``, weights ``(B, Q, K)`` before dropout. Holds
        ``(B, Q, K, num_hiddens)`` numbers at once: num_hiddens times what a dot product holds.
        """
        checks.check_tokens("queries", queries, self.query_size, "query_size", self.W_q)
        checks.check_tokens("keys", keys, self.key_size, "key_size", self.W_k)
        checks.check_queries_keys_values(queries, keys, values)
        checks.check_dropout("dropout_p", dropout_p)
        hidden = self.W_q(queries)[:, :, None] + self.W_k(keys)[:, None]  # (B, Q, 1, D) + (B, 1, K, D)
        scores = self.w_v(hidden.tanh()).squeeze(-1)  # (B, Q, K, D) -> (B, Q, K)
        weights = masked_softmax(scores, mask)
        return nn.functional.dropout(weights, dropout_p) @ values, weights


class SingleHeadAttention(nn.Module):
    """One head: three projections and a dot-product attention.

        output = softmax((X_q W_q) (X_k W_k)ᵀ / √d) (X_v W_v)

    num_hiddens     D, the width of queries, keys and values
    head_dim        d, the width to which queries and keys are projected
    value_head_dim  the width to which values are projected, ``head_dim`` unless said otherwise
    bias            whether the projections add a bias
    device, dtype   of the parameters, as in ``nn.Linear``

    Source: Vaswani et al. 2017, section 3.2.2, ``head_i``; there ``head_dim`` is d_k, ``value_head_dim`` d_v.
    """

    def __init__(
        self,
        num_hiddens: int,
        head_dim: int,
        value_head_dim: int | None = None,
        bias: bool = False,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        self.num_hiddens = checks.checked_size("num_hiddens", num_hiddens)
        self.head_dim = checks.checked_size("head_dim", head_dim)
        self.value_head_dim = checks.checked_size(
            "value_head_dim", head_dim if value_head_dim is None else value_head_dim
        )
        self.W_q = nn.Linear(self.num_hiddens, self.head_dim, bias=bias, device=device, dtype=dtype)
        self.W_k = nn.Linear(self.num_hiddens, self.head_dim, bias=bias, device=device, dtype=dtype)
        self.W_v = nn.Linear(self.num_hiddens, self.value_head_dim, bias=bias, device=device, dtype=dtype)

    def forward(
        self,
        queries: Tensor,
        keys: Tensor | None = None,
        values: Tensor | None = None,
        valid_lens: Tensor | None = None,
        *,
        key_mask: Tensor | None = None,
        mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Queries alone: self-attention.

        queries     ``(B, Q, D)``
        keys        ``(B, K, D)``; the queries unless given
        values      ``(B, K, D)``; the keys unless given
        valid_lens  how many keys are no padding, ``(B,)`` or ``(B, Q)``, as in ``padding_mask``
        key_mask    ``(B, K)``, boolean, True = may attend: for padding on the left, and for gaps
        mask        boolean, True = may attend: ``(Q, K)``, ``(B, Q, K)`` or ``(B, 1, K)``
        is_causal   no query sees later keys, as in ``causal_mask``

        Returns the output ``(B, Q, value_head_dim)`` and the weights ``(B, Q, K)``. A key that
        any of ``valid_lens``, ``key_mask``, ``mask`` and ``is_causal`` forbids is forbidden; a query that may
        attend to nothing gives zeros. A mask of two axes is always ``(Q, K)``; ``(B, K)`` is a ``key_mask``.
        Keys and values that ``valid_lens`` or ``key_mask`` hide from all queries of their sample reach
        nothing, even where they are NaN or infinite.
        """
        keys = queries if keys is None else keys
        values = keys if values is None else values
        checks.check_tokens("queries", queries, self.num_hiddens, "num_hiddens", self.W_q)
        checks.check_tokens("keys", keys, self.num_hiddens, "num_hiddens", self.W_k)
        checks.check_tokens("values", values, self.num_hiddens, "num_hiddens", self.W_v)
        checks.check_queries_keys_values(queries, keys, values)
        scores_shape = (*queries.shape[:2], keys.shape[1])  # (B, Q, K)
        limits = Limits(valid_lens, key_mask, mask, is_causal)
        limits = checked_limits(limits, scores_shape, queries.device)
        keys, values = blank_padding(keys, values, limits, keys.shape[1])
        allowed = combine_masks(limits, scores_shape, queries.device)
        return dot_product_attention(self.W_q(queries), self.W_k(keys), self.W_v(values), allowed)
