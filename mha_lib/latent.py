"""Multi-head latent attention: a cache holds one short vector for each token instead of keys and values.

The shape letters are those of ``attention.py``, and two more:

    c  latent_dim, the width of what is kept of a token      r  rope_dim, the width that positions turn
"""

import math
from typing import Any

import torch
from torch import Tensor, nn

from mha_lib import checks
from mha_lib.attention import ChangeWeights
from mha_lib.cache import CachedAttention, KVCache, UnchangedByErrors
from mha_lib.fused import attend
from mha_lib.masks import Limits, blank_padding, checked_limits, finite_queries
from mha_lib.multihead import merge_heads, split_heads
from mha_lib.positions import Rotary


class LatentAttention(CachedAttention):
    """Self-attention whose keys and values are made of one latent vector for each token.

        latent = norm(x W_dkv)                    turned = turn(x W_kr)            one for all heads
        key_i = [latent W_uk,i , turned]          value_i = latent W_uv,i
        query_i = [y W_uq,i , turn(y W_qr,i)]     y = norm(x W_dq), or x without ``query_latent_dim``
        head_i = softmax(query_i key_iᵀ / √(d + r)) value_i
        output = concat(head_1, …, head_H) W_o

    num_hiddens       D, the width of a token and of the output
    num_heads         H
    latent_dim        c
    rope_dim          r, even
    head_dim          d, the width of the other part of queries and keys, D/H unless said otherwise
    value_head_dim    the width of values in a head, ``head_dim`` unless said otherwise
    query_latent_dim  the width of a latent vector for the queries; None: queries are projected directly
    dropout           probability with which each weight is dropped while training
    rotary            how the r columns are turned
    device, dtype     of the parameters, as in ``nn.Linear``

    No projection adds a bias. The norms are RMS norms (plus 1e-6).
    A ``KVCache`` of this layer keeps c + r numbers for each token, however many heads there are.

    Raises ValueError or TypeError for sizes and probabilities that make no layer.

    Source: DeepSeek-AI 2024 (DeepSeek-V2), section 2.1 and appendix C. Elsewhere: MLA; in Hugging Face's
    ``DeepseekV3Attention`` c is ``kv_lora_rank``, r ``qk_rope_head_dim``, d ``qk_nope_head_dim``,
    ``query_latent_dim`` is ``q_lora_rank``.
    """

    rotary: Rotary
    window = None

    def __init__(
        self,
        num_hiddens: int,
        num_heads: int,
        latent_dim: int,
        rope_dim: int,
        *,
        head_dim: int | None = None,
        value_head_dim: int | None = None,
        query_latent_dim: int | None = None,
        dropout: float = 0.0,
        rotary: Rotary = Rotary(),  # noqa: B008 — frozen
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        self.num_hiddens = checks.checked_size("num_hiddens", num_hiddens)
        self.num_heads = checks.checked_size("num_heads", num_heads)
        self.latent_dim = checks.checked_size("latent_dim", latent_dim)
        self.rope_dim = checks.checked_size("rope_dim", rope_dim)
        checks.check_even("rope_dim", self.rope_dim)
        if head_dim is None:
            checks.check_divisible(self.num_hiddens, self.num_heads)
            head_dim = self.num_hiddens // self.num_heads
        self.head_dim = checks.checked_size("head_dim", head_dim)
        value_head_dim = self.head_dim if value_head_dim is None else value_head_dim
        self.value_head_dim = checks.checked_size("value_head_dim", value_head_dim)
        checks.check_dropout("dropout", dropout)
        self.dropout = dropout
        checks.check_class("rotary", rotary, Rotary, "try Rotary(base=10_000)")
        self.rotary = rotary

        def linear(in_features: int, out_features: int) -> nn.Linear:
            return nn.Linear(in_features, out_features, bias=False, device=device, dtype=dtype)

        def norm(width: int) -> nn.RMSNorm:
            return nn.RMSNorm(width, eps=1e-6, device=device, dtype=dtype)

        self.query_latent_dim = query_latent_dim
        query_width = num_hiddens
        if query_latent_dim is not None:
            query_width = checks.checked_size("query_latent_dim", query_latent_dim)
            self.W_dq, self.query_norm = linear(num_hiddens, query_width), norm(query_width)
        self.W_uq = linear(query_width, num_heads * head_dim)
        self.W_qr = linear(query_width, num_heads * rope_dim)
        self.W_dkv, self.latent_norm = linear(num_hiddens, latent_dim), norm(latent_dim)
        self.W_kr = linear(num_hiddens, rope_dim)
        self.W_uk = linear(latent_dim, num_heads * head_dim)
        self.W_uv = linear(latent_dim, num_heads * value_head_dim)
        self.W_o = linear(num_heads * value_head_dim, num_hiddens)

    def forward(
        self,
        x: Tensor,
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
        absorb: bool | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """
        x       ``(B, N, D)``; with a cache, only the tokens after those of earlier calls
        absorb  how it is computed. False: keys and values are expanded for every token. True: ``W_uk`` moves
                to the queries and ``W_uv`` to the outputs, so that all heads attend to the latents as they
                are, which pays where few queries meet many keys; both must then be plain ``nn.Linear``
                without hooks. None: True where a cache holds more tokens than come, and both are. Output,
                weights and gradients are the same

        The other arguments and what is returned are those of ``MultiHeadAttention.forward``.
        """
        checks.check_tokens("x", x, self.num_hiddens, "num_hiddens", self.W_dkv)
        checks.check_flag("need_weights", need_weights)
        if absorb is not None:
            checks.check_flag("absorb", absorb, "None chooses by the number of keys")
        if absorb:
            checks.check_plain_projections(self, "W_uk", "W_uv")
        if positions is not None:
            checks.check_token_positions(positions, x)
        batch, num_tokens, _ = x.shape
        self.check_heads_and_cache(x, num_tokens, head_mask, cache)
        num_held = 0 if cache is None else len(cache)
        scores_shape = (batch, self.num_heads, num_tokens, num_held + num_tokens)  # (B, H, Q, K)
        limits = checked_limits(
            scores_shape, x.device, valid_lens, key_mask, mask, is_causal, score_bias=score_bias
        )
        if absorb is None:
            is_plain = not (checks.fault_of(self.W_uk) or checks.fault_of(self.W_uv))
            absorb = is_plain and limits.num_keys > 2 * num_tokens
        dropout_p = self.dropout if self.training else 0.0
        with UnchangedByErrors([cache]):
            q, k, v = self.project(x, limits, cache, positions, absorb)
            heads, weights = attend(q, k, v, limits, dropout_p, change_weights, need_weights=need_weights)
            if absorb:
                heads = heads @ self.by_head(self.W_uv).transpose(1, 2)  # (B, H, Q, d_v)
            if head_mask is not None:
                heads = heads * head_mask.to(heads.dtype)[..., None, None]
            output = self.W_o(merge_heads(heads))  # (B, N, D)
            return output if weights is None else (output, weights)

    def project(
        self, x: Tensor, limits: Limits, cache: KVCache | None, positions: Tensor | None, absorb: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries ``(B, H, Q, ·)``, keys and values, of each head or, ``(B, 1, K, ·)``, of all."""
        where: int | Tensor = 0 if cache is None else cache.num_seen
        if positions is not None:
            where = positions[:, None]  # (B, 1, N): the same for all heads
        queries, turned_queries = self.queries(finite_queries(x, limits), where)
        x, _ = blank_padding(x, x, limits, keep_finite=cache is not None)
        latents = self.latent_norm(self.W_dkv(x))[:, None]  # (B, 1, N, c)
        turned_keys = self.rotary.turn(self.W_kr(x)[:, None], where)  # (B, 1, N, r)
        if cache is not None:
            cache.layer = self
            turned_keys, latents = cache.extend(turned_keys, latents)  # (B, 1, K, ·)
        if absorb:
            # (q W_uk) latent = q (W_uk latent). The scores will be divided by √(c + r) instead of √(d + r).
            scale = math.sqrt((self.latent_dim + self.rope_dim) / (self.head_dim + self.rope_dim))
            queries = queries @ self.by_head(self.W_uk) * scale  # (B, H, Q, c)
            turned_queries = turned_queries * scale
            keys = values = latents
        else:
            keys, values = (
                W(latents[:, 0]).unflatten(2, (self.num_heads, -1)).transpose(1, 2)
                for W in (self.W_uk, self.W_uv)
            )  # (B, H, K, d) and (B, H, K, d_v)
            turned_keys = turned_keys.expand(-1, self.num_heads, -1, -1)
        q = torch.cat([queries, turned_queries], dim=3)
        return q, torch.cat([keys, turned_keys], dim=3), values

    def queries(self, x: Tensor, where: int | Tensor) -> tuple[Tensor, Tensor]:
        """The two parts of the queries, ``(B, H, N, d)`` and, turned, ``(B, H, N, r)``."""
        if self.query_latent_dim is not None:
            x = self.query_norm(self.W_dq(x))
        return self.heads_of(self.W_uq, x), self.rotary.turn(self.heads_of(self.W_qr, x), where)

    def heads_of(self, projection: nn.Linear, x: Tensor) -> Tensor:
        return split_heads(projection(x), self.num_heads)  # (B, H, N, ·)

    def by_head(self, projection: nn.Linear) -> Tensor:
        """The matrix of each head, ``(H, d, c)``."""
        return projection.weight.unflatten(0, (self.num_heads, -1))

    def usual_options(self) -> dict[str, Any]:
        return {
            "latent_dim": None,
            "rope_dim": None,
            "head_dim": self.num_hiddens / self.num_heads,
            "value_head_dim": self.head_dim,
            "query_latent_dim": None,
            "dropout": 0.0,
            "rotary": Rotary(),
        }
