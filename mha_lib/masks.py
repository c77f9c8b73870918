"""Masks: which keys each query may attend to. The shape letters are those of ``attention.py``.

One rule: boolean, True = may attend. A mask is (Q, K), or (B, Q, K) or (B, 1, K) where samples differ, or
(B, H, Q, K) where heads differ too.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

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
    return band(num_queries, num_keys, num_keys - num_queries, True, window, device)


def band(
    num_queries: int,
    num_keys: int,
    own: int,
    is_causal: bool,
    window: int | None,
    device: torch.device | None,
) -> Tensor:
    """``(Q, K)``: no later key if causal, and none that is ``window`` or more away.

    ``own`` is the key at which the first query stands.
    """
    allowed = torch.ones(num_queries, num_keys, dtype=torch.bool, device=device)
    if is_causal:
        allowed = allowed.tril(own)
    if window is None:
        return allowed
    allowed = allowed.triu(own - window + 1)
    return allowed if is_causal else allowed.tril(own + window - 1)


class Limits(NamedTuple):
    """The limits of one call, all of which must allow a key. None allows every key.

    A layer bundles it once, by ``checked_limits``. What computes the call asks the methods alone, so a limit
    of another kind is added here and nowhere else.
    """

    num_queries: int
    num_keys: int
    device: torch.device
    own: int  # the key at which the first query stands: K − Q, since both end together
    lengths: Tensor | None = None  # (B,) or (B, Q): so many keys are no padding
    key_mask: Tensor | None = None  # (B, K)
    mask: Tensor | None = None  # (Q, K), (B, Q, K), (B, 1, K) or (B, H, Q, K)
    is_causal: bool = False
    window: int | None = None
    score_bias: Tensor | None = None  # with the axes of a mask; −∞ forbids a key
    sinks: Tensor | None = None  # (H,): the score of one more key, which takes weight and has no value
    read: Tensor | None = None  # the lengths on the CPU, where Python can read them
    shortest: int = 0  # of the lengths; 0 also where they cannot be read
    longest: int | None = None  # of the lengths; None where they cannot be read
    rows: Tensor | None = None  # (T,): the keys that ``packing.pack`` has left, as rows of (B*K, ·)

    @property
    def is_by_key(self) -> bool:
        """Whether nothing but causality and a window differs from query to query."""
        of_each_query = self.lengths is not None and self.lengths.dim() == 2
        return not of_each_query and self.mask is None and self.score_bias is None

    @property
    def is_by_order(self) -> bool:
        """Whether causality and a window are all that limits the call."""
        return self.is_by_key and self.lengths is None and self.key_mask is None

    @property
    def is_by_length(self) -> bool:
        """Whether a length for each sample and causality are all that limits the call."""
        return self.lengths is not None and self.is_by_key and self.key_mask is None and self.window is None

    @property
    def sees_all(self) -> bool:
        """Whether every query sees every key: a single one at the end does, causal or not."""
        is_free = not self.is_causal or (self.num_queries == 1 and self.own == self.num_keys - 1)
        return self.is_by_order and self.window is None and is_free

    @property
    def may_hide_all(self) -> bool:
        """Whether a query may have no key at all, as far as is known without reading a mask or a bias."""
        if self.mask is not None or self.key_mask is not None:
            return True
        if self.window is not None and (self.lengths is not None or self.own < 0):
            return True
        return self.lengths is not None and self.shortest == 0

    @property
    def last_shown(self) -> int:
        """How many keys need be computed: those after it are padding in all samples.

        Where queries have places among the keys, all of them are.
        """
        if self.longest is None or self.is_causal or self.window is not None:
            return self.num_keys
        return max(1, self.longest)

    def cells_of_a_query(self, batch: int) -> int:
        """How many cells a mask must have for each query; 0 where all queries share one row."""
        has_own_row = self.is_causal or self.window is not None
        if not has_own_row and (self.lengths is None or self.lengths.dim() == 1):
            return 0
        rows = 1 if self.lengths is None and self.key_mask is None else batch
        if self.mask is not None:
            rows = max(rows, math.prod(self.mask.shape[:-2]))
        return rows * self.num_keys

    def seen(self, start: int, end: int) -> tuple[int, int]:
        """The first and the last key that order lets the queries ``start`` to ``end`` see."""
        first, last = self.own + start, self.own + end
        if self.window is None:
            return 0, last if self.is_causal else self.num_keys
        first = min(max(0, first - self.window + 1), self.num_keys - 1)
        return first, max(first + 1, last if self.is_causal else min(last + self.window - 1, self.num_keys))

    def part(self, start: int, end: int, first: int, last: int) -> Self:
        """The limits for the queries ``start`` to ``end`` and the keys ``first`` to ``last``."""
        lengths, shortest = self.lengths, max(0, self.shortest - first)
        if lengths is not None:
            lengths = lengths if lengths.dim() == 1 else lengths[:, start:end]
            lengths = lengths - first if first else lengths
        if shortest >= last - first:  # nothing is padding here
            lengths = None
        return self._replace(
            num_queries=end - start,
            num_keys=last - first,
            own=self.own + start - first,
            lengths=lengths,
            read=None if lengths is None else self.read,
            key_mask=None if self.key_mask is None else self.key_mask[:, first:last],
            mask=part_of_scores(self.mask, start, end, first, last),
            score_bias=part_of_scores(self.score_bias, start, end, first, last),
            shortest=shortest,
        )

    def allowed(self, num_axes: int) -> Tensor | None:
        """All limits but the bias in one mask, for scores of so many axes; None if every key is allowed."""
        masks = []
        if self.lengths is not None:
            masks.append(first_keys(self.lengths, self.num_keys, self.device))  # (B, 1, K) or (B, Q, K)
        if self.key_mask is not None:
            masks.append(self.key_mask[:, None])  # (B, 1, K)
        if self.mask is not None:
            masks.append(self.mask)
        if self.is_causal or self.window is not None:
            order = (self.num_queries, self.num_keys, self.own, self.is_causal, self.window)
            masks.append(band(*order, self.device))  # (Q, K)
        combined = None
        for each in masks:
            each = add_head_axis(each, num_axes)
            combined = each if combined is None else combined & each
        return combined

    def addend(self, num_axes: int, dtype: torch.dtype) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """The numbers added to the scores, the rows ``(..., Q, 1)`` that become zeros, the keys allowed.

        A forbidden key gets −∞. A row of −∞ alone would give NaN: such a row may attend to all keys here, and
        its weights or its output are then replaced by zeros.
        """
        allowed, score_bias = self.allowed(num_axes), self.score_bias
        may_hide_all = self.may_hide_all
        if score_bias is not None:
            score_bias, with_bias = without_infinity(add_head_axis(score_bias, num_axes), allowed)
            may_hide_all |= with_bias is not allowed
            score_bias, allowed = score_bias.to(dtype), with_bias
        if allowed is None:
            return score_bias, None, None
        nothing, shown = None, allowed
        if may_hide_all:
            nothing = ~allowed.any(dim=-1, keepdim=True)
            if allowed.device.type == "cpu" and tracing.can_be_read(nothing) and not nothing.any():
                nothing = None
            else:
                shown = allowed | nothing
        addend = torch.where(shown, 0.0 if score_bias is None else score_bias, -math.inf).to(dtype)
        return addend, nothing, allowed

    def unhidden(self) -> Tensor | None:
        """``(B, K)``, False for keys that lengths or the ``key_mask`` hide from all queries."""
        if self.lengths is None or not self.lengths.numel():
            return self.key_mask
        longest = self.lengths if self.lengths.dim() == 1 else self.lengths.amax(dim=1)
        allowed = first_keys(longest, self.num_keys, self.device)[:, 0]  # (B, K)
        return allowed if self.key_mask is None else allowed & self.key_mask


def part_of_scores(x: Tensor | None, start: int, end: int, first: int, last: int) -> Tensor | None:
    """The part of a mask or bias ``(..., Q, K)`` or ``(..., 1, K)`` for some queries and some keys."""
    if x is None:
        return None
    return (x if x.shape[-2] == 1 else x[..., start:end, :])[..., first:last]


def without_infinity(score_bias: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Turn a bias of −∞, which forbids a key, into a mask; a row of −∞ alone would give NaN.

    Numbers that can be read on the CPU are read, which costs less than a mask.
    """
    if checks.is_read_at_once(score_bias) and score_bias.detach().amin() > -math.inf:
        return score_bias, mask
    allowed = score_bias != -math.inf
    return score_bias.masked_fill(~allowed, 0.0), allowed if mask is None else mask & allowed


def checked_limits(
    scores_shape: Sequence[int],
    device: torch.device,
    valid_lens: Tensor | None = None,
    key_mask: Tensor | None = None,
    mask: Tensor | None = None,
    is_causal: bool = False,
    window: int | None = None,
    score_bias: Tensor | None = None,
    sinks: Tensor | None = None,
    num_lost: int = 0,
) -> Limits:
    """Check what limits a call against the scores ``(B, Q, K)`` or ``(B, H, Q, K)``, and bundle it.

    ``num_lost`` counts the keys that a cache with a window has forgotten: K counts the others.
    Lengths are left out where none is below K. A ``key_mask`` on the CPU that is True up to a length, and
    False after it, becomes lengths.
    """
    batch, (num_queries, num_keys) = scores_shape[0], scores_shape[-2:]
    if mask is not None:
        checks.check_mask(mask, scores_shape, device)
    if key_mask is not None:
        checks.check_key_mask(key_mask, batch, num_keys, device, num_lost)
    if score_bias is not None:
        checks.check_score_bias(score_bias, scores_shape, device)
    checks.check_flag("is_causal", is_causal, "a mask goes into mask=")
    if is_causal:
        checks.check_causal(num_queries, num_keys)
    if window is not None and not tracing.is_tracing() and window >= max(num_queries, num_keys):
        window = None  # it hides nothing
    shortest, longest, read = 0, None, None
    if valid_lens is not None:
        num_heads = scores_shape[1] if len(scores_shape) == 4 else 1
        sizes = (num_keys, batch, num_queries, num_heads, num_lost)
        valid_lens, shortest, longest = checks.checked_lens(valid_lens, *sizes)
        read = valid_lens if tracing.can_be_read(valid_lens) else None
    elif key_mask is not None and key_mask.device.type == "cpu" and tracing.can_be_read(key_mask):
        lengths = key_mask.sum(dim=1)  # (B,)
        if torch.equal(key_mask, first_keys(lengths, num_keys, device)[:, 0]):
            valid_lens = read = lengths
            key_mask = None
            if batch:
                shortest, longest = (int(length) for length in lengths.aminmax())
    if shortest == num_keys:  # nothing is padding
        valid_lens, read, longest = None, None, None
    if valid_lens is not None and valid_lens.device != device:
        valid_lens = valid_lens.to(device, non_blocking=True)  # once: it is the only wait for a GPU
    return Limits(
        num_queries,
        num_keys,
        device,
        own=num_keys - num_queries,
        lengths=valid_lens,
        key_mask=key_mask,
        mask=mask,
        is_causal=is_causal,
        window=window,
        score_bias=score_bias,
        sinks=sinks,
        read=read,
        shortest=shortest,
        longest=longest,
    )


def blank_padding(
    keys: Tensor, values: Tensor, limits: Limits, keep_finite: bool = False
) -> tuple[Tensor, Tensor]:
    """Replace keys and values ``(B, N, ·)`` that are hidden by zeros; they are the last N of all K.

    A weight of 0 is not enough to keep padding out: 0 · NaN is NaN, and so is 0 · ∞. With ``keep_finite``
    only NaN and infinity are replaced, since a later call may see the key.
    """
    unhidden = limits.unhidden()
    if unhidden is None:
        return keys, values
    hidden = ~unhidden[:, unhidden.shape[1] - keys.shape[1] :, None]  # (B, N, 1)

    def blank(x: Tensor) -> Tensor:
        return x.masked_fill(hidden & ~x.isfinite() if keep_finite else hidden, 0.0)

    blank_keys = blank(keys)
    return blank_keys, blank_keys if values is keys else blank(values)


def is_same(x: Tensor, y: Tensor) -> bool:
    """Whether two arguments are one tensor. A full backward hook makes each of them another object."""
    return x is y or (tracing.can_be_read(x) and tracing.can_be_read(y) and x.is_set_to(y))


def finite_queries(queries: Tensor, limits: Limits) -> Tensor:
    """Replace NaN and infinity in queries ``(B, N, D)`` that are padding: the last N of the tokens.

    Their output rows are of no use, but the gradient of ``W_q`` would add 0 · NaN for each of them.
    """
    if limits.lengths is None and limits.key_mask is None:
        return queries
    if queries.device.type == "cpu" and tracing.can_be_read(queries):
        total = queries.detach().sum(dtype=torch.promote_types(queries.dtype, torch.float32))
        if math.isfinite(total.item()):
            return queries
    return blank_padding(queries, queries, limits, keep_finite=True)[0]


def add_head_axis(mask: Tensor, scores_dim: int) -> Tensor:
    """``(B, Q, K) -> (B, 1, Q, K)`` for scores ``(B, H, Q, K)``: broadcasting would take B for H."""
    return mask[:, None] if mask.dim() == 3 and scores_dim == 4 else mask
