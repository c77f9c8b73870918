"""Masks: which keys each query may attend to. The shape letters are those of ``attention.py``.

One rule: boolean, True = may attend. A mask is (Q, K), or (B, Q, K) or (B, 1, K) where samples differ, or
(B, H, Q, K) where heads differ too.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

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


def causal_mask(
    num_queries: int, num_keys: int, device: torch.device | None = None, *, window: int | None = None
) -> Tensor:
    """True where the key is not later than the query: ``(Q, K)``, aligned at the end.

    The last query sees every key, the one before it all but the last, and so on; for Q = K that is the lower
    triangle. With a ``window``, a query sees only the last so many of these keys, its own included.
    Raises ValueError for Q > K: the first queries would see nothing.

    Source: Vaswani et al. 2017, section 3.2.3; for ``window`` Beltagy et al. 2020 (Longformer), section 3.1.
    Elsewhere: ``causal_lower_right`` (PyTorch); the ``is_causal`` of ``scaled_dot_product_attention`` is
    aligned at the start instead, which is the same for Q = K only; ``sliding_window`` (Hugging Face).
    """
    num_queries = checks.checked_size("num_queries", num_queries, minimum=0)
    num_keys = checks.checked_size("num_keys", num_keys, minimum=0)
    checks.check_causal(num_queries, num_keys)
    if window is not None:
        window = checks.checked_size("window", window)
    return band(num_queries, num_keys, True, window, device)


def band(
    num_queries: int, num_keys: int, is_causal: bool, window: int | None, device: torch.device | None
) -> Tensor:
    """``(Q, K)``, aligned at the end: no later key if causal, and none that is ``window`` or more back."""
    allowed = torch.ones(num_queries, num_keys, dtype=torch.bool, device=device)
    own = num_keys - num_queries  # the key at which the first query stands
    if is_causal:
        allowed = allowed.tril(own)
    return allowed if window is None else allowed.triu(own - window + 1)


class Limits(NamedTuple):
    """Limits on the keys of one call. All of them must allow a key; None allows every key."""

    valid_lens: Tensor | None = None  # (B,) or (B, Q)
    key_mask: Tensor | None = None  # (B, K)
    mask: Tensor | None = None  # (Q, K), (B, Q, K), (B, 1, K) or (B, H, Q, K)
    is_causal: bool = False
    window: int | None = None  # only with is_causal
    shortest: int = 0  # of valid_lens; 0 also where they cannot be read
    longest: int | None = None  # of valid_lens; None where they cannot be read

    def on(self, device: torch.device) -> "Limits":
        """The same limits, with the lengths on another device."""
        valid_lens, key_mask, mask, is_causal, window, shortest, longest = self
        if valid_lens is None or valid_lens.device == device:
            return self
        valid_lens = valid_lens.to(device, non_blocking=True)
        return Limits(valid_lens, key_mask, mask, is_causal, window, shortest, longest)

    def part(self, start: int, end: int, first: int, last: int) -> "Limits":
        """The limits for the queries ``start`` to ``end`` and the keys ``first`` to ``last``."""
        valid_lens = self.valid_lens
        if valid_lens is not None:
            valid_lens = valid_lens if valid_lens.dim() == 1 else valid_lens[:, start:end]
            valid_lens = valid_lens - first if first else valid_lens
        key_mask = None if self.key_mask is None else self.key_mask[:, first:last]
        mask = None if self.mask is None else part_of_scores(self.mask, start, end, first, last)
        window = self.window if self.window is not None and self.window < last - first else None
        shortest = max(0, self.shortest - first)
        valid_lens = None if shortest >= last - first else valid_lens  # then nothing is padding here
        return Limits(valid_lens, key_mask, mask, self.is_causal, window, shortest)


def may_hide_all(limits: Limits) -> bool:
    """Whether a query may have no key at all, as far as is known without reading a mask."""
    if limits.mask is not None or limits.key_mask is not None:
        return True
    return limits.valid_lens is not None and (limits.shortest == 0 or limits.window is not None)


def part_of_scores(x: Tensor, start: int, end: int, first: int, last: int) -> Tensor:
    """The part of a mask or bias ``(..., Q, K)`` or ``(..., 1, K)`` for some queries and some keys."""
    return (x if x.shape[-2] == 1 else x[..., start:end, :])[..., first:last]


def checked_limits(limits: Limits, scores_shape: Sequence[int], device: torch.device) -> Limits:
    """Check the limits against the scores ``(B, Q, K)`` or ``(B, H, Q, K)``, and return them.

    The lengths come back on the CPU if their values can be read, and as None if no length is below K. A
    ``key_mask`` on the CPU that is True up to a length, and False after it, comes back as lengths.
    """
    valid_lens, key_mask, mask, is_causal, window, shortest, longest = limits
    batch, (num_queries, num_keys) = scores_shape[0], scores_shape[-2:]
    if mask is not None:
        checks.check_mask(mask, scores_shape, device)
    if key_mask is not None:
        checks.check_key_mask(key_mask, batch, num_keys, device)
    checks.check_flag("is_causal", is_causal, "a mask goes into mask=")
    if is_causal:
        checks.check_causal(num_queries, num_keys)
    if window is not None and window >= num_keys:
        window = None
    if window is not None and not is_causal:  # a mask: only a causal band is computed in parts
        mask_of_window = band(num_queries, num_keys, False, window, device)
        mask, window = mask_of_window if mask is None else mask & mask_of_window, None
    if valid_lens is not None:
        valid_lens, shortest, longest = checks.checked_lens(valid_lens, num_keys, batch, num_queries)
    elif key_mask is not None and key_mask.device.type == "cpu" and tracing.can_be_read(key_mask):
        lengths = key_mask.sum(dim=1)  # (B,)
        if torch.equal(key_mask, first_keys(lengths, num_keys, device)[:, 0]):
            valid_lens, key_mask = lengths, None
            if batch:
                shortest, longest = (int(length) for length in lengths.aminmax())
    if shortest == num_keys:  # nothing is padding
        valid_lens, longest = None, None
    return Limits(valid_lens, key_mask, mask, is_causal, window, shortest, longest)


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
        masks.append(band(num_queries, num_keys, True, limits.window, device))  # (Q, K)
    combined = None
    for each in masks:
        each = add_head_axis(each, len(scores_shape))
        combined = each if combined is None else combined & each
    return combined


def unhidden_keys(limits: Limits, num_keys: int, device: torch.device) -> Tensor | None:
    """``(B, K)``, False for keys that lengths or the ``key_mask`` hide from all queries of their sample."""
    if limits.valid_lens is None or not limits.valid_lens.numel():
        return limits.key_mask
    longest = limits.valid_lens if limits.valid_lens.dim() == 1 else limits.valid_lens.amax(dim=1)
    allowed = first_keys(longest, num_keys, device)[:, 0]  # (B, K)
    return allowed if limits.key_mask is None else allowed & limits.key_mask


def blank_padding(
    keys: Tensor, values: Tensor, unhidden: Tensor | None, keep_finite: bool = False
) -> tuple[Tensor, Tensor]:
    """Replace hidden keys and values ``(B, N, ·)`` by zeros; they are the last N of ``unhidden`` ``(B, K)``.

    A weight of 0 is not enough to keep padding out: 0 · NaN is NaN, and so is 0 · ∞. With ``keep_finite``
    only NaN and infinity are replaced, since a later call may see the key.
    """
    if unhidden is None:
        return keys, values
    hidden = ~unhidden[:, unhidden.shape[1] - keys.shape[1] :, None]  # (B, N, 1)

    def blank(x: Tensor) -> Tensor:
        return x.masked_fill(hidden & ~x.isfinite() if keep_finite else hidden, 0.0)

    blank_keys = blank(keys)
    return blank_keys, blank_keys if values is keys else blank(values)


def finite_queries(queries: Tensor, limits: Limits, num_keys: int) -> Tensor:
    """Replace NaN and infinity in queries ``(B, N, D)`` that are padding: the last N of ``num_keys`` tokens.

    Their output rows are of no use, but the gradient of ``W_q`` would add 0 · NaN for each of them.
    """
    if limits.valid_lens is None and limits.key_mask is None:
        return queries
    if queries.device.type == "cpu" and tracing.can_be_read(queries):
        total = queries.detach().sum(dtype=torch.promote_types(queries.dtype, torch.float32))
        if math.isfinite(total.item()):
            return queries
    unhidden = unhidden_keys(limits, num_keys, queries.device)
    return blank_padding(queries, queries, unhidden, keep_finite=True)[0]


def add_head_axis(mask: Tensor, scores_dim: int) -> Tensor:
    """``(B, Q, K) -> (B, 1, Q, K)`` for scores ``(B, H, Q, K)``: broadcasting would take B for H."""
    return mask[:, None] if mask.dim() == 3 and scores_dim == 4 else mask
