"""Multi-head attention: the heads as a fourth axis, (B, H, Q, K).

The shape letters are those of ``attention.py``.
"""

from typing import Any

import torch
from torch import Tensor, nn

from mha_lib import checks
from mha_lib.attention import ChangeWeights
from mha_lib.cache import KVCache, UnchangedByErrors
from mha_lib.conversions import FROM_TORCH, Conversions
from mha_lib.fused import attend, attend_in_one_kernel
from mha_lib.masks import blank_padding, checked_limits, finite_queries, is_same
from mha_lib.packing import cut, pack, packed_attention, worth_packing
from mha_lib.positions import Rotary


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """``(B, N, H*d) -> (B, H, N, d)``: head h gets the h-th d columns of every token.

    Raises ValueError where the width of ``x`` is not divisible by ``num_heads``. Elsewhere: d2l's
    ``transpose_qkv`` goes on to fold the heads into the batch, ``(B*H, N, d)``.
    """
    checks.check_splittable(x, num_heads)
    return by_heads(x, x.shape[2] // num_heads)


def by_heads(x: Tensor, head_dim: int) -> Tensor:
    """``(B, N, H*d) -> (B, H, N, d)`` for a width that is known to be right."""
    batch, num_tokens, width = x.shape
    if num_tokens == 1:  # both lie in memory alike
        return x.reshape(batch, width // head_dim, 1, head_dim)
    return x.reshape(batch, num_tokens, width // head_dim, head_dim).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """``(B, H, N, d) -> (B, N, H*d)``: undoes ``split_heads``. Elsewhere: d2l's ``transpose_output``."""
    checks.check_mergeable(x)
    return x.transpose(1, 2).flatten(2)  # (B, N, H, d) -> (B, N, H*d)


class MultiHeadAttention(Conversions):
    """Several heads side by side, each attending in its own way, and one projection that mixes their outputs.

        head_i = softmax((X_q W_q,i) (X_k W_k,i)ᵀ / √d) (X_v W_v,i)
        output = concat(head_1, …, head_H) W_o

    num_hiddens     D, the width of the output, and of queries, keys and values unless said otherwise
    num_heads       H; must divide D unless ``head_dim`` is given
    dropout         probability with which each weight is dropped while training
    bias            whether the four projections add a bias
    query_size, key_size, value_size   widths of the inputs, D unless said otherwise
    head_dim        d, the width of queries and keys in a head, D/H unless said otherwise
    value_head_dim  the width of values in a head, ``head_dim`` unless said otherwise
    num_kv_heads    G, how many heads keys and values have; must divide H, and is H unless said otherwise.
                    Each is shared by H/G heads of queries: fewer parameters, and a smaller ``KVCache``
    rotary          whether queries and keys are turned by their position, or how: a ``Rotary``
    qk_norm         whether each query and each key of a head is divided by its root mean square (plus 1e-6)
                    and multiplied by a gain for each column, before it is turned: ``q_norm`` and ``k_norm``
    window          a query sees no key that is ``window`` or more places away: of those before it and its own
                    at most ``window``, and where it is not causal, as many after it. None: it sees all
    sinks           whether each head has one more score in its softmax, a learnt one, ``sink_logits``, which
                    belongs to no key: its weight is lost, so that a head may look nowhere
    device, dtype   of the parameters, as in ``nn.Linear``

    ``W_q``, ``W_k`` and ``W_v`` hold their heads side by side: head i owns the i-th d of the output columns.
    However many heads there are, D/H dimensions each make the same number of parameters.

    Raises ValueError or TypeError for sizes and probabilities that make no layer.

    Source: Vaswani et al. 2017, section 3.2.2; for ``num_kv_heads`` Shazeer 2019 (1: multi-query attention)
    and Ainslie et al. 2023 (grouped-query attention); for ``qk_norm`` Henry et al. 2020 and Dehghani et al.
    2023; for ``window`` Beltagy et al. 2020; for ``sinks`` OpenAI 2025 (gpt-oss). Elsewhere:
    ``num_hiddens`` is ``embed_dim`` (PyTorch), d_model (paper), n_embd, dim; ``head_dim`` and
    ``value_head_dim`` are d_k and d_v; ``query_size`` is d2l's; ``num_kv_heads`` is
    ``num_key_value_heads``, ``window`` ``sliding_window`` (Hugging Face).
    """

    def __init__(
        self,
        num_hiddens: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = False,
        *,
        query_size: int | None = None,
        key_size: int | None = None,
        value_size: int | None = None,
        head_dim: int | None = None,
        value_head_dim: int | None = None,
        num_kv_heads: int | None = None,
        rotary: bool | Rotary = False,
        qk_norm: bool = False,
        window: int | None = None,
        sinks: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        self.num_hiddens = checks.checked_size("num_hiddens", num_hiddens)
        self.num_heads = checks.checked_size("num_heads", num_heads)
        if head_dim is None:
            checks.check_divisible(self.num_hiddens, self.num_heads)
            head_dim = self.num_hiddens // self.num_heads
        self.head_dim = checks.checked_size("head_dim", head_dim)
        value_head_dim = self.head_dim if value_head_dim is None else value_head_dim
        self.value_head_dim = checks.checked_size("value_head_dim", value_head_dim)
        num_kv_heads = self.num_heads if num_kv_heads is None else num_kv_heads
        self.num_kv_heads = checks.checked_size("num_kv_heads", num_kv_heads)
        checks.check_kv_heads(self.num_heads, self.num_kv_heads)
        self.query_size = checks.checked_size("query_size", num_hiddens if query_size is None else query_size)
        self.key_size = checks.checked_size("key_size", num_hiddens if key_size is None else key_size)
        self.value_size = checks.checked_size("value_size", num_hiddens if value_size is None else value_size)
        checks.check_dropout("dropout", dropout)
        self.dropout = dropout
        checks.check_flag("bias", bias)
        self.bias = bias
        self.rotary = checked_rotary(rotary)
        if self.rotary is not None:
            checks.check_even("head_dim", self.head_dim)
        self.window = None if window is None else checks.checked_size("window", window)

        def linear(in_features: int, out_features: int) -> nn.Linear:
            return nn.Linear(in_features, out_features, bias=bias, device=device, dtype=dtype)

        self.W_q = linear(self.query_size, self.num_heads * self.head_dim)
        self.W_k = linear(self.key_size, self.num_kv_heads * self.head_dim)
        self.W_v = linear(self.value_size, self.num_kv_heads * self.value_head_dim)
        self.W_o = linear(self.num_heads * self.value_head_dim, self.num_hiddens)
        checks.check_flag("qk_norm", qk_norm)
        self.qk_norm = qk_norm
        norms = (
            nn.RMSNorm(self.head_dim, 1e-6, device=device, dtype=dtype) if qk_norm else None for _ in "qk"
        )
        self.q_norm, self.k_norm = norms
        checks.check_flag("sinks", sinks)
        self.sinks = sinks
        self.sink_logits = None
        if sinks:
            self.sink_logits = nn.Parameter(torch.empty(self.num_heads, device=device, dtype=dtype))
            self.reset_parameters()

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
        need_weights: bool = False,
        head_mask: Tensor | None = None,
        score_bias: Tensor | None = None,
        change_weights: ChangeWeights | None = None,
        cache: KVCache | None = None,
        positions: Tensor | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Queries alone: self-attention.

        queries         ``(B, Q, query_size)``
        keys            ``(B, K, key_size)``; the queries unless given
        values          ``(B, K, value_size)``; the keys unless given
        valid_lens      how many keys are no padding, ``(B,)`` or ``(B, Q)``, as in ``padding_mask``
        key_mask        ``(B, K)``, boolean, True = may attend: for padding on the left, and for gaps
        mask            boolean, True = may attend: ``(Q, K)``, ``(B, Q, K)``, ``(B, 1, K)``, ``(B, H, Q, K)``
        is_causal       no query sees later keys, as in ``causal_mask``
        need_weights    return the weights too, at the price of holding them
        head_mask       ``(H,)`` or ``(B, H)``: scales each head's output before ``W_o``; 0 silences it
        score_bias      numbers added to the scores, with the axes of a mask; −∞ forbids a key
        change_weights  ``change_weights(weights, allowed)``, called between softmax and values: gets the
                        weights and where they may be above 0, ``(B, H, Q, K)``, and returns the new weights
        cache           a ``KVCache`` to which the keys and values of this call are added; the queries attend
                        to all keys that it then holds, and K, here and above, counts all of them
        positions       ``(B, Q)``, the position of each token of self-attention with ``rotary``, where it is
                        not its place: after padding on the right, in packed documents

        Returns the output ``(B, Q, D)``; with ``need_weights=True`` the output and the weights
        ``(B, H, Q, K)``, those before dropout and after ``change_weights``. A key that any of the limits
        forbids is forbidden; for a query that may attend to nothing, every head gives zeros.
        ``docs/en/library.md`` says what holds for NaN, a GPU, tracing and second derivatives.
        Raises ValueError or TypeError for arguments that don't fit the layer or one another. Elsewhere:
        ``nn.MultiheadAttention`` masks with True = *ignore* and averages the weights of the heads.
        """
        if (
            type(cache) is KVCache
            and keys is None
            and values is None
            and valid_lens is None
            and key_mask is None
            and mask is None
            and head_mask is None
            and score_bias is None
            and change_weights is None
            and positions is None
            and need_weights is False
            and isinstance(is_causal, bool)
            and self.sink_logits is None
            and cache.takes_next(self, queries)
        ):
            try:
                return self.decode(queries, cache)
            except RuntimeError:
                self.check(queries, queries, queries, need_weights, head_mask, cache, positions)
                raise
        keys = queries if keys is None else keys
        values = keys if values is None else values
        self.check(queries, keys, values, need_weights, head_mask, cache, positions)
        start, held = (0, 0) if cache is None else (cache.num_seen, len(cache))
        batch, num_queries = queries.shape[:2]
        num_keys = held + keys.shape[1]
        limits = checked_limits(
            (batch, self.num_heads, num_queries, num_keys),
            queries.device,
            valid_lens,
            key_mask,
            mask,
            is_causal,
            self.window,
            score_bias,
            self.sink_logits,
            0 if self.window is None else start - held,
        )
        dropout_p = self.dropout if self.training else 0.0
        q_where: int | Tensor = start - held + limits.own
        k_where: int | Tensor = start
        if positions is not None:
            q_where = k_where = positions[:, None]  # (B, 1, N): the same for all heads
        with UnchangedByErrors([cache]):
            if is_same(keys, queries):
                queries = finite_queries(queries, limits)
            if cache is None and change_weights is None and positions is None:
                keys, values, limits = cut(keys, values, limits)
                sizes = (self.num_heads, self.num_kv_heads, self.head_dim, self.value_head_dim)
                if not need_weights and worth_packing(queries, *sizes, limits, dropout_p):
                    keys, values, limits = pack(keys, values, limits)  # (1, T, ·)
            if limits.rows is None:
                keys, values = blank_padding(keys, values, limits, keep_finite=cache is not None)
            else:
                k_where = limits.rows % limits.num_keys
            q, k, v = self.project(queries, keys, values, q_where, k_where)
            weights = None
            if limits.rows is not None:
                heads = packed_attention(q, k, v, limits, dropout_p)
            else:
                if cache is not None:
                    cache.layer = self
                    k, v = cache.extend(k, v)  # those of earlier calls included
                heads, weights = attend(q, k, v, limits, dropout_p, change_weights, need_weights)
            output = self.merge(heads, head_mask)
        if weights is None:
            return output
        hidden = num_keys - weights.shape[3]  # keys at the end that were not computed
        return output, nn.functional.pad(weights, (0, hidden)) if hidden else weights

    def decode(self, token: Tensor, cache: KVCache) -> Tensor:
        """``forward`` for one more token ``(B, 1, D)``, which sees all that the cache holds, and itself."""
        where = cache.num_seen
        q, k, v = self.project(token, token, token, where, where)
        heads = attend_in_one_kernel(q, *cache.with_next(k, v), None, self.dropout if self.training else 0.0)
        output = self.merge(heads)
        cache.hold_next()  # an error above has left it as it was
        return output

    def check(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        need_weights: bool,
        head_mask: Tensor | None,
        cache: KVCache | None,
        positions: Tensor | None,
    ) -> None:
        """All that a call brings, but what limits it, must fit this layer."""
        checks.check_tokens("queries", queries, self.query_size, "query_size", self.W_q)
        is_self_attention = is_same(keys, queries) and is_same(values, queries)
        if not is_self_attention or not self.key_size == self.value_size == self.query_size:
            checks.check_tokens("keys", keys, self.key_size, "key_size", self.W_k)
            checks.check_tokens("values", values, self.value_size, "value_size", self.W_v)
            checks.check_queries_keys_values(queries, keys, values)
        checks.check_flag("need_weights", need_weights)
        self.check_heads_and_cache(queries, keys.shape[1], head_mask, cache)
        if self.rotary is not None:
            num_held = 0 if cache is None else len(cache)
            checks.check_rotary(queries.shape[1], keys.shape[1], num_held + keys.shape[1], cache is not None)
        if positions is not None:
            if self.rotary is None or not is_self_attention:
                raise ValueError(
                    "positions must be those of self-attention of a layer with rotary, got "
                    + ("other keys or values than queries" if self.rotary else f"rotary={self.rotary}")
                    + "; leave positions out, or call rotate_by_position yourself"
                )
            checks.check_token_positions(positions, queries)

    def project(
        self, queries: Tensor, keys: Tensor, values: Tensor, q_where: int | Tensor, k_where: int | Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries ``(B, H, Q, d)``, keys ``(B, G, K, d)`` and values ``(B, G, K, d_v)`` of the heads.

        Queries and keys are normed and turned. They stand at the positions from ``q_where`` and ``k_where``
        on, or at those positions, as ``Rotary.turn`` takes them. Every call comes here, also for a token that
        is decoded.
        """
        q = by_heads(self.W_q(queries), self.head_dim)
        k = by_heads(self.W_k(keys), self.head_dim)
        v = by_heads(self.W_v(values), self.value_head_dim)
        if self.q_norm is not None:
            q = self.q_norm(q)
        if self.k_norm is not None:
            k = self.k_norm(k)
        if self.rotary is None:
            return q, k, v
        if q.shape[2] == 1 and q_where is k_where:  # both at once: a token that is decoded
            turned = self.rotary.turn(torch.cat((q, k), 1), q_where)
            q, k = turned.split_with_sizes((self.num_heads, self.num_kv_heads), 1)
            return q, k, v
        return self.rotary.turn(q, q_where), self.rotary.turn(k, k_where), v

    def merge(self, heads: Tensor, head_mask: Tensor | None = None) -> Tensor:
        """Mix the heads ``(B, H, Q, d_v)`` to the output ``(B, Q, D)``."""
        if head_mask is not None:
            heads = heads * head_mask.to(heads.dtype)[..., None, None]  # (H, 1, 1) or (B, H, 1, 1)
        batch, num_heads, num_queries, width = heads.shape
        if num_queries == 1:  # both lie in memory alike
            return self.W_o(heads.reshape(batch, 1, num_heads * width))
        return self.W_o(heads.transpose(1, 2).flatten(2))

    def reset_parameters(self) -> None:
        """Set the sinks to 0, as ``__init__`` does. FSDP and ``to_empty`` ask each part for its own."""
        if self.sink_logits is not None:
            nn.init.zeros_(self.sink_logits)

    def usual_options(self) -> dict[str, Any]:
        return {
            "dropout": 0.0,
            "bias": False,
            "query_size": self.num_hiddens,
            "key_size": self.num_hiddens,
            "value_size": self.num_hiddens,
            "head_dim": self.num_hiddens / self.num_heads,
            "value_head_dim": self.head_dim,
            "num_kv_heads": self.num_heads,
            "rotary": None,
            "qk_norm": False,
            "window": None,
            "sinks": False,
        }


def checked_rotary(rotary: bool | Rotary) -> Rotary | None:
    if isinstance(rotary, Rotary):
        return rotary
    checks.check_flag("rotary", rotary, "or how: Rotary(base=10_000)")
    return Rotary() if rotary else None


def check_layer(layer: MultiHeadAttention) -> None:
    checks.check_class("layer", layer, MultiHeadAttention, FROM_TORCH)
