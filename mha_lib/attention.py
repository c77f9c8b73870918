"""Attention from its parts: masks, the masked softmax, the dot product, one head.

Shape letters, here and in every file of the library:

    B  batch      Q  queries      K  keys (and values)
    D  num_hiddens      H  heads      d  head dimension (D/H unless said otherwise)

One rule for masks: boolean, True = may attend. A mask is (Q, K), or (B, Q, K) or (B, 1, K) where samples
differ, or (B, H, Q, K) where heads differ too.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from mha_lib import checks


def padding_mask(valid_lens: Tensor, num_keys: int, device: torch.device | None = None) -> Tensor:
    """True for the first ``valid_lens`` keys: what comes after them is padding.

    valid_lens  integers from 0 to K; ``(B,)``: a length for each sample, ``(B, Q)``: one for each query
    num_keys    K
    device      where the mask is wanted; where ``valid_lens`` is, unless said otherwise

    Returns ``(B, 1, K)``, or ``(B, Q, K)`` for lengths ``(B, Q)``.
    Raises TypeError for lengths that are no integers, ValueError for lengths outside 0 … K. Lengths on a GPU
    are checked at the price of one synchronisation, lengths on the CPU without any; while torch.compile
    traces, their values are not checked.

    Elsewhere: the opposite of ``key_padding_mask`` (``nn.MultiheadAttention``), where True means *ignore*.
    """
    checks.check_size("num_keys", num_keys, minimum=0)
    checks.checked_lens(valid_lens, num_keys)
    return first_keys(valid_lens, num_keys, valid_lens.device if device is None else device)


def first_keys(lengths: Tensor, num_keys: int, device: torch.device) -> Tensor:
    """``padding_mask`` for lengths that have been checked."""
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
    checks.check_size("num_queries", num_queries, minimum=0)
    checks.check_size("num_keys", num_keys, minimum=0)
    checks.check_causal(num_queries, num_keys)
    return torch.ones(num_queries, num_keys, dtype=torch.bool, device=device).tril(num_keys - num_queries)


def combine_masks(
    scores_shape: Sequence[int],
    valid_lens: Tensor | None,
    mask: Tensor | None,
    is_causal: bool,
    device: torch.device,
) -> Tensor | None:
    """What lengths (checked), mask and causality all allow, as one mask for the scores; None: everything."""
    num_queries, num_keys = scores_shape[-2:]
    masks = []
    if valid_lens is not None:
        masks.append(first_keys(valid_lens, num_keys, device))
    if mask is not None:
        checks.check_mask(mask, scores_shape, device)
        masks.append(mask)
    if is_causal:
        masks.append(causal_mask(num_queries, num_keys, device))
    combined = None
    for each in masks:
        each = add_head_axis(each, len(scores_shape))
        combined = each if combined is None else combined & each
    return combined


def add_head_axis(mask: Tensor, scores_dim: int) -> Tensor:
    """``(B, Q, K) -> (B, 1, Q, K)`` for scores ``(B, H, Q, K)``: at B = H broadcasting would guess wrong."""
    return mask[:, None] if mask.dim() == 3 and scores_dim == 4 else mask


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the keys that ``mask`` allows; a row with none of them is all zeros.

        weights[i, j] = exp(scores[i, j]) / Σ exp(scores[i, j'])   over the j' that i may attend to

    scores  ``(Q, K)``, ``(B, Q, K)`` or ``(B, H, Q, K)``; never written to
    mask    boolean, True = may attend: ``(Q, K)``, ``(B, Q, K)``, ``(B, 1, K)`` or ``(B, H, Q, K)``

    Returns weights shaped and typed like ``scores``. Scores in half precision are summed in float32.
    Raises TypeError for a mask that is not boolean (lengths become one by ``padding_mask``), ValueError for
    one that does not fit the scores.

    Source: Vaswani et al. 2017, section 3.2.3 (there: scores set to −∞). Elsewhere: d2l's ``masked_softmax``
    takes lengths, and gives a row of length 0 equal weights instead of none.
    """
    checks.check_scores(scores)
    wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
    if mask is None:
        return wide.softmax(dim=-1).to(scores.dtype)
    checks.check_mask(mask, scores.shape, scores.device)
    forbidden = ~add_head_axis(mask, scores.dim())
    lowest = torch.finfo(wide.dtype).min  # not −∞: a row of nothing else would give NaN
    weights = wide.masked_fill(forbidden, lowest).softmax(dim=-1)
    return weights.masked_fill(forbidden, 0.0).to(scores.dtype)


def dot_product_attention(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None, dropout_p: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention.

        output = softmax(Q Kᵀ / √d) V

    queries    ``(..., Q, d)``, where ``...`` is nothing, ``B`` or ``B, H``
    keys       ``(..., K, d)``
    values     ``(..., K, d_v)``
    mask       as in ``masked_softmax``
    dropout_p  probability with which each weight is dropped; 0 in evaluation

    Returns the output ``(..., Q, d_v)`` and the weights ``(..., Q, K)`` before dropout.
    Raises ValueError or TypeError where the arguments do not fit one another.

    Source: Vaswani et al. 2017, section 3.2.1. Elsewhere: ``scaled_dot_product_attention`` (PyTorch; without
    the weights), d2l's ``DotProductAttention``.
    """
    checks.check_queries_keys_values(queries, keys, values)
    checks.check_same_width(queries, keys)
    checks.check_dropout("dropout_p", dropout_p)
    d = queries.shape[-1]
    scores = (queries / math.sqrt(d)) @ keys.transpose(-2, -1)  # (..., Q, K); scaled first: Q·K may overflow
    weights = masked_softmax(scores, mask)
    return nn.functional.dropout(weights, dropout_p) @ values, weights


class AdditiveAttention(nn.Module):
    """Attention whose scores come from a small network, so that queries and keys may differ in width.

        score(q, k) = w_vᵀ tanh(W_q q + W_k k)

    num_hiddens  width of the hidden layer
    query_size   width of the queries, ``num_hiddens`` unless said otherwise
    key_size     width of the keys, ``num_hiddens`` unless said otherwise

    Source: Bahdanau et al. 2015, appendix A.1.2. Elsewhere: Bahdanau attention, concat attention; d2l's
    ``AdditiveAttention``.
    """

    def __init__(self, num_hiddens: int, query_size: int | None = None, key_size: int | None = None):
        super().__init__()
        query_size = num_hiddens if query_size is None else query_size
        key_size = num_hiddens if key_size is None else key_size
        checks.check_sizes(num_hiddens=num_hiddens, query_size=query_size, key_size=key_size)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)

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
        checks.check_tokens(queries=(queries, self.W_q, "query_size"), keys=(keys, self.W_k, "key_size"))
        checks.check_queries_keys_values(queries, keys, values)
        checks.check_dropout("dropout_p", dropout_p)
        hidden = self.W_q(queries)[:, :, None] + self.W_k(keys)[:, None]  # (B, Q, 1, D) + (B, 1, K, D)
        scores = self.w_v(hidden.tanh()).squeeze(-1)  # (B, Q, K, D) -> (B, Q, K)
        weights = masked_softmax(scores, mask)
        return nn.functional.dropout(weights, dropout_p) @ values, weights


class SingleHeadAttention(nn.Module):
    """One head: three projections and a dot-product attention.

        output = softmax((X_q W_q) (X_k W_k)ᵀ / √d) (X_v W_v)

    num_hiddens  D, the width of queries, keys and values
    head_dim     d, the width to which queries and keys are projected
    value_dim    the width to which values are projected, ``head_dim`` unless said otherwise
    bias         whether the projections add a bias

    Source: Vaswani et al. 2017, section 3.2.2, ``head_i``; there ``head_dim`` is d_k, ``value_dim`` d_v.
    """

    def __init__(self, num_hiddens: int, head_dim: int, value_dim: int | None = None, bias: bool = False):
        super().__init__()
        value_dim = head_dim if value_dim is None else value_dim
        checks.check_sizes(num_hiddens=num_hiddens, head_dim=head_dim, value_dim=value_dim)
        self.W_q = nn.Linear(num_hiddens, head_dim, bias=bias)
        self.W_k = nn.Linear(num_hiddens, head_dim, bias=bias)
        self.W_v = nn.Linear(num_hiddens, value_dim, bias=bias)

    def forward(
        self,
        queries: Tensor,
        keys: Tensor | None = None,
        values: Tensor | None = None,
        valid_lens: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Queries alone: self-attention.

        queries     ``(B, Q, D)``
        keys        ``(B, K, D)``; the queries unless given
        values      ``(B, K, D)``; the keys unless given
        valid_lens  how many keys are no padding, ``(B,)`` or ``(B, Q)``, as in ``padding_mask``
        mask        boolean, True = may attend: ``(Q, K)``, ``(B, Q, K)`` or ``(B, 1, K)``
        is_causal   no query sees later keys, as in ``causal_mask``

        Returns the output ``(B, Q, value_dim)`` and the weights ``(B, Q, K)``. What any of ``valid_lens``,
        ``mask`` and ``is_causal`` forbids is forbidden; a query that may attend to nothing gives zeros.
        """
        keys = queries if keys is None else keys
        values = keys if values is None else values
        checks.check_tokens(
            queries=(queries, self.W_q, "num_hiddens"),
            keys=(keys, self.W_k, "num_hiddens"),
            values=(values, self.W_v, "num_hiddens"),
        )
        checks.check_queries_keys_values(queries, keys, values)
        scores_shape = (*queries.shape[:2], keys.shape[1])  # (B, Q, K)
        if valid_lens is not None:
            valid_lens = checks.checked_lens(valid_lens, keys.shape[1], *queries.shape[:2])
        mask = combine_masks(scores_shape, valid_lens, mask, is_causal, queries.device)
        return dot_product_attention(self.W_q(queries), self.W_k(keys), self.W_v(values), mask)
