"""Attention from its parts: the masked softmax, the dot product, one head.

Shape letters, here and in every file of the library:

    B  batch      Q  queries      K  keys (and values)
    D  num_hiddens      H  heads      d  head dimension (D/H unless said otherwise)
    G  num_kv_heads, the heads of keys and values: H unless several heads share one
"""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn

from mha_lib import checks, tracing
from mha_lib.masks import Limits, add_head_axis, blank_padding, checked_limits, finite_queries, is_same

# Makes new weights of the weights and of what is allowed, both (B, H, Q, K).
ChangeWeights = Callable[[Tensor, Tensor], Tensor]


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the keys that ``mask`` allows; a row without any such key is all zeros.

        weights[i, j] = exp(scores[i, j]) / Σ exp(scores[i, j'])   over all j' that i may attend to

    scores  ``(Q, K)``, ``(B, Q, K)`` or ``(B, H, Q, K)``; never written to. −∞ forbids a key as the mask does
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
    wide = at_least_float32(scores)
    allowed = wide != -math.inf
    if mask is not None:
        allowed = allowed & add_head_axis(mask, scores.dim())
    nothing = ~allowed.any(dim=-1, keepdim=True)  # (..., Q, 1)
    # A row of −∞ alone would be NaN: such a row gets equal scores here, and then zeros.
    instead = torch.where(nothing, 0.0, -math.inf).to(wide.dtype)
    weights = torch.softmax(torch.where(allowed, wide, instead), dim=-1)
    return weights.masked_fill(nothing, 0.0).to(scores.dtype)


def at_least_float32(x: Tensor) -> Tensor:
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


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
    score_bias  numbers added to the scores before the softmax, shaped as a mask may be; −∞ forbids a key

    Returns the output ``(..., Q, d_v)`` and the weights ``(..., Q, K)`` before dropout, both typed like the
    queries. Inputs in half precision are computed in float32, under autocast too, as the fast kernels do:
    scores beyond 65504 would overflow in float16. Keys and values must be finite even where the mask forbids
    them, since 0 · NaN is NaN.
    Raises ValueError or TypeError for arguments that do not fit one another.

    Source: Vaswani et al. 2017, section 3.2.1. Elsewhere: ``scaled_dot_product_attention`` (PyTorch; without
    the weights), d2l's ``DotProductAttention``.
    """
    checks.check_queries_keys_values(queries, keys, values)
    checks.check_same_width(queries, keys)
    checks.check_dropout("dropout_p", dropout_p)
    scores_shape = (*queries.shape[:-1], keys.shape[-2])  # (..., Q, K)
    limits = checked_limits(scores_shape, queries.device, mask=mask, score_bias=score_bias)
    return attend_with_weights(queries, keys, values, limits, dropout_p)


def attend_with_weights(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    limits: Limits,
    dropout_p: float,
    change_weights: ChangeWeights | None = None,
) -> tuple[Tensor, Tensor]:
    """``dot_product_attention`` for checked arguments, where H/G heads in a row may share keys and values.

    Heads that share keys are computed as one head with H/G times as many queries, so no key is repeated.

    queries ``(..., H, Q, d)``, keys ``(..., G, K, d)``, values ``(..., G, K, d_v)`` -> output
    ``(..., H, Q, d_v)``, weights ``(..., H, Q, K)``.
    """
    dtype, num_queries = queries.dtype, queries.shape[-2]
    share = 1 if queries.dim() < 4 else queries.shape[1] // keys.shape[1]  # H/G

    def stacked(x: Tensor) -> Tensor:  # (..., H, Q, n) -> (..., G, H/G*Q, n)
        return x if share == 1 else x.unflatten(1, (-1, share)).flatten(2, 3)

    def unstacked(x: Tensor) -> Tensor:
        return x if share == 1 else x.unflatten(2, (share, num_queries)).flatten(1, 2)

    with without_autocast(queries.device):
        queries, keys, values = at_least_float32(queries), at_least_float32(keys), at_least_float32(values)
        keys = keys.contiguous()  # their transpose then needs no copy of its own
        scaled = queries / math.sqrt(keys.shape[-1])
        scores = unstacked(stacked(scaled) @ keys.transpose(-2, -1))  # (..., H, Q, K)
        addend, nothing, allowed = limits.addend(scores.dim(), scores.dtype)
        in_place = tracing.nobody_differentiates(scores)
        if addend is not None:
            scores = scores.add_(addend) if in_place else scores + addend
        if limits.sinks is not None:
            sinks = limits.sinks.to(scores.dtype)[:, None, None].expand(*scores.shape[:-1], 1)
            weights = torch.softmax(torch.cat([scores, sinks], dim=-1), dim=-1)[..., :-1]
        else:
            weights = torch.softmax(scores, dim=-1, out=scores if in_place else None)
        if nothing is not None:
            weights = weights.masked_fill_(nothing, 0.0) if in_place else weights.masked_fill(nothing, 0.0)
        if change_weights is not None:
            weights = changed_weights(change_weights, weights, allowed)
        dropped = nn.functional.dropout(weights, dropout_p) if dropout_p else weights
        output = unstacked(stacked(dropped) @ values)  # (..., H, Q, d_v)
    return output.to(dtype), weights.to(dtype)


def changed_weights(change_weights: ChangeWeights, weights: Tensor, mask: Tensor | None) -> Tensor:
    """The weights that a caller makes of ``weights``, ``(B, H, Q, K)``."""
    if mask is None:
        mask = torch.ones(weights.shape[-1], dtype=torch.bool, device=weights.device)
    changed = change_weights(weights, mask.expand(weights.shape))
    checks.check_changed_weights(changed, weights)
    return changed


def without_autocast(device: torch.device) -> AbstractContextManager[object]:
    return torch.autocast(device.type, enabled=False) if tracing.autocasts(device) else nullcontext()


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

    __prepare_scriptable__ = checks.refuse_scripting


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
        checks.check_flag("bias", bias)
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
        limits = checked_limits(scores_shape, queries.device, valid_lens, key_mask, mask, is_causal)
        if is_same(keys, queries):
            queries = finite_queries(queries, limits)
        keys, values = blank_padding(keys, values, limits)
        allowed = limits.allowed(num_axes=3)
        return dot_product_attention(self.W_q(queries), self.W_k(keys), self.W_v(values), allowed)

    __prepare_scriptable__ = checks.refuse_scripting
