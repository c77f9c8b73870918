"""Multi-head attention: the heads as a fourth axis, (B, H, Q, K).

The shape letters are those of ``attention.py``.
"""

import torch
from torch import Tensor, nn

from mha_lib import checks
from mha_lib.attention import combine_masks, dot_product_attention
from mha_lib.fused import fused_attention, has_padding, pack, packed_attention, worth_packing


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """``(B, N, H*d) -> (B, H, N, d)``: head h gets the h-th d columns of every token.

    Raises ValueError where the width of ``x`` is not divisible by ``num_heads``. Elsewhere: d2l's
    ``transpose_qkv`` goes on to fold the heads into the batch, ``(B*H, N, d)``.
    """
    checks.check_splittable(x, num_heads)
    x = x.unflatten(2, (num_heads, x.shape[2] // num_heads))  # (B, N, H, d)
    return x.transpose(1, 2)  # (B, H, N, d)


def merge_heads(x: Tensor) -> Tensor:
    """``(B, H, N, d) -> (B, N, H*d)``: undoes ``split_heads``. Elsewhere: d2l's ``transpose_output``."""
    checks.check_mergeable(x)
    return x.transpose(1, 2).flatten(2)  # (B, N, H, d) -> (B, N, H*d)


class MultiHeadAttention(nn.Module):
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

    ``W_q``, ``W_k`` and ``W_v`` hold all heads side by side: head i owns the i-th block of d output columns.
    However many heads there are, D/H dimensions each make the same number of parameters.

    Raises ValueError or TypeError for sizes and probabilities that make no layer.

    Source: Vaswani et al. 2017, section 3.2.2. Elsewhere: ``num_hiddens`` is ``embed_dim`` (PyTorch), d_model
    (paper), n_embd, dim; ``head_dim`` and ``value_head_dim`` are d_k and d_v; ``query_size`` is d2l's.
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
    ):
        super().__init__()
        checks.check_sizes(num_hiddens=num_hiddens, num_heads=num_heads)
        checks.check_dropout("dropout", dropout)
        if head_dim is None:
            checks.check_divisible(num_hiddens, num_heads)
            head_dim = num_hiddens // num_heads
        value_head_dim = head_dim if value_head_dim is None else value_head_dim
        query_size = num_hiddens if query_size is None else query_size
        key_size = num_hiddens if key_size is None else key_size
        value_size = num_hiddens if value_size is None else value_size
        checks.check_sizes(query_size=query_size, key_size=key_size, value_size=value_size)
        checks.check_sizes(head_dim=head_dim, value_head_dim=value_head_dim)
        self.num_heads = num_heads
        self.dropout = dropout
        self.W_q = nn.Linear(query_size, num_heads * head_dim, bias=bias)
        self.W_k = nn.Linear(key_size, num_heads * head_dim, bias=bias)
        self.W_v = nn.Linear(value_size, num_heads * value_head_dim, bias=bias)
        self.W_o = nn.Linear(num_heads * value_head_dim, num_hiddens, bias=bias)

    def forward(
        self,
        queries: Tensor,
        keys: Tensor | None = None,
        values: Tensor | None = None,
        valid_lens: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        is_causal: bool = False,
        need_weights: bool = False,
        head_mask: Tensor | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Queries alone: self-attention.

        queries       ``(B, Q, query_size)``
        keys          ``(B, K, key_size)``; the queries unless given
        values        ``(B, K, value_size)``; the keys unless given
        valid_lens    how many keys are no padding, ``(B,)`` or ``(B, Q)``, as in ``padding_mask``
        mask          boolean, True = may attend: ``(Q, K)``, ``(B, Q, K)``, ``(B, 1, K)`` or ``(B, H, Q, K)``
        is_causal     no query sees later keys, as in ``causal_mask``
        need_weights  return the weights too, at the price of holding them
        head_mask     ``(H,)`` or ``(B, H)``: scales each head's output before ``W_o``; 0 silences it

        Returns the output ``(B, Q, D)``; with ``need_weights=True`` the output and the weights
        ``(B, H, Q, K)``, those before dropout. Output and gradients are the same either way.

        What any of ``valid_lens``, ``mask`` and ``is_causal`` forbids is forbidden; for a query that may
        attend to nothing, every head gives zeros. Lengths on the CPU are checked and used without waiting for
        a GPU; lengths on a GPU cost one wait, and are not checked while torch.compile traces.

        Raises ValueError or TypeError for arguments that don't fit the layer or one another. Elsewhere:
        ``nn.MultiheadAttention`` masks with True = *ignore*, averages the weights of the heads unless told
        not to, and gives NaN for a query that may attend to nothing.
        """
        keys = queries if keys is None else keys
        values = keys if values is None else values
        checks.check_tokens(
            queries=(queries, self.W_q, "query_size"),
            keys=(keys, self.W_k, "key_size"),
            values=(values, self.W_v, "value_size"),
        )
        checks.check_queries_keys_values(queries, keys, values)
        batch, num_queries, num_keys = *queries.shape[:2], keys.shape[1]
        if valid_lens is not None:
            valid_lens = checks.checked_lens(valid_lens, num_keys, batch, num_queries)
        if is_causal:
            checks.check_causal(num_queries, num_keys)
        dropout_p = self.dropout if self.training else 0.0

        if need_weights:
            scores_shape = (batch, self.num_heads, num_queries, num_keys)
            mask = combine_masks(scores_shape, valid_lens, mask, is_causal, queries.device)
            q = split_heads(self.W_q(queries), self.num_heads)  # (B, H, Q, d)
            k = split_heads(self.W_k(keys), self.num_heads)  # (B, H, K, d)
            v = split_heads(self.W_v(values), self.num_heads)  # (B, H, K, d_v)
            heads, weights = dot_product_attention(q, k, v, mask, dropout_p)  # (B, H, Q, d_v), (B, H, Q, K)
        else:
            heads = self.fast_heads(queries, keys, values, valid_lens, mask, is_causal, dropout_p)

        if head_mask is not None:
            checks.check_head_mask(head_mask, batch, self.num_heads, queries.device)
            heads = heads * head_mask.to(heads.dtype)[..., None, None]  # (H, 1, 1) or (B, H, 1, 1)
        output = self.W_o(merge_heads(heads))  # (B, Q, D)
        return (output, weights) if need_weights else output

    def fast_heads(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        valid_lens: Tensor | None,
        mask: Tensor | None,
        is_causal: bool,
        dropout_p: float,
    ) -> Tensor:
        """The same heads ``(B, H, Q, d_v)``, fast: no weights are built, padded keys are skipped."""
        num_keys = keys.shape[1]
        q = split_heads(self.W_q(queries), self.num_heads)  # (B, H, Q, d)
        if valid_lens is not None and not has_padding(valid_lens, num_keys):
            valid_lens = None
        value_head_dim = self.W_v.out_features // self.num_heads
        lengths = valid_lens if mask is None else None  # padding is skipped where it is all there is to mask
        if lengths is not None and worth_packing(q, value_head_dim, lengths, num_keys, dropout_p):
            packed_keys = pack(keys, lengths)  # (T, key_size)
            packed_values = packed_keys if values is keys else pack(values, lengths)  # (T, value_size)
            k = self.W_k(packed_keys).unflatten(1, (self.num_heads, -1))  # (T, H, d)
            v = self.W_v(packed_values).unflatten(1, (self.num_heads, -1))  # (T, H, d_v)
            return packed_attention(q, k, v, lengths, num_keys, dropout_p, is_causal)
        k = split_heads(self.W_k(keys), self.num_heads)  # (B, H, K, d)
        v = split_heads(self.W_v(values), self.num_heads)  # (B, H, K, d_v)
        if valid_lens is not None or mask is not None:
            scores_shape = (*q.shape[:3], num_keys)  # (B, H, Q, K)
            mask, is_causal = combine_masks(scores_shape, valid_lens, mask, is_causal, q.device), False
        return fused_attention(q, k, v, mask, dropout_p, is_causal)

    @classmethod
    def from_torch(cls, module: nn.MultiheadAttention) -> "MultiHeadAttention":
        """The same layer as an ``nn.MultiheadAttention``, with copies of its parameters.

        Inputs are (B, N, ·) here, whatever the module's ``batch_first``; masks are True = may attend.
        Raises TypeError for another class, ValueError for ``add_bias_kv`` and ``add_zero_attn``, which have
        no counterpart here.
        """
        checks.check_torch_module(module)
        layer = cls(
            module.embed_dim,
            module.num_heads,
            module.dropout,
            bias=module.in_proj_bias is not None,
            key_size=module.kdim,
            value_size=module.vdim,
        ).to(module.out_proj.weight)
        if module.in_proj_weight is not None:  # (3 D, D): the three projections stacked
            weights = module.in_proj_weight.chunk(3)
        else:
            weights = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
        projections = (layer.W_q, layer.W_k, layer.W_v)
        with torch.no_grad():
            for projection, weight in zip(projections, weights, strict=True):
                projection.weight.copy_(weight)
            layer.W_o.weight.copy_(module.out_proj.weight)
            if module.in_proj_bias is not None:
                for projection, bias in zip(projections, module.in_proj_bias.chunk(3), strict=True):
                    projection.bias.copy_(bias)
                layer.W_o.bias.copy_(module.out_proj.bias)
        return layer.train(module.training)
