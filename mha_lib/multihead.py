"""Multi-head attention: the heads as a fourth axis, (B, H, Q, K).

The shape letters are those of ``attention.py``, and one more:

    G  num_kv_heads, the heads of keys and values: H unless several heads share one
"""

import copy

import torch
from torch import Tensor, nn

from mha_lib import checks, tracing
from mha_lib.attention import (
    Limits,
    add_head_axis,
    blank_padding,
    checked_limits,
    combine_masks,
    dot_product_attention,
)
from mha_lib.fused import Counts, first_rows, fused_attention, kept_counts, packed_attention, worth_packing
from mha_lib.positions import rotate_by_position


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


def shared_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None,
    dropout_p: float,
    score_bias: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """``dot_product_attention`` where H/G heads in a row share the keys and values of one.

    Heads that share keys are computed as one head with H/G times as many queries, so no key is repeated.

    queries ``(B, H, Q, d)``, keys ``(B, G, K, d)``, values ``(B, G, K, d_v)``, mask and bias for
    ``(B, H, Q, K)`` -> output ``(B, H, Q, d_v)``, weights ``(B, H, Q, K)``.
    """
    (batch, num_heads, num_queries, head_dim), num_kv_heads = queries.shape, keys.shape[1]
    if num_heads == num_kv_heads:
        return dot_product_attention(queries, keys, values, mask, dropout_p, score_bias=score_bias)
    rows = num_heads // num_kv_heads * num_queries  # the queries of H/G heads

    def stack_heads(x: Tensor) -> Tensor:
        x = add_head_axis(x, 4)
        x = x[(None,) * (4 - x.dim())].expand(-1, num_heads, num_queries, -1)  # (B or 1, H, Q, K)
        return x.reshape(len(x), num_kv_heads, rows, x.shape[3])  # (B or 1, G, H/G*Q, K)

    queries = queries.reshape(batch, num_kv_heads, rows, head_dim)  # (B, G, H/G*Q, d)
    mask, score_bias = (None if x is None else stack_heads(x) for x in (mask, score_bias))
    heads, weights = dot_product_attention(queries, keys, values, mask, dropout_p, score_bias=score_bias)
    heads = heads.reshape(batch, num_heads, num_queries, values.shape[3])  # (B, H, Q, d_v)
    return heads, weights.reshape(batch, num_heads, num_queries, keys.shape[2])  # (B, H, Q, K)


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
    num_kv_heads    G, how many heads keys and values have; must divide H, and is H unless said otherwise.
                    Each is shared by H/G heads of queries: fewer parameters, and a smaller ``KVCache``
    rotary          whether queries and keys are turned by their position, as in ``rotate_by_position``
    device, dtype   of the parameters, as in ``nn.Linear``

    ``W_q``, ``W_k`` and ``W_v`` hold their heads side by side: head i owns the i-th d of the output columns.
    However many heads there are, D/H dimensions each make the same number of parameters.

    Raises ValueError or TypeError for sizes and probabilities that make no layer.

    Source: Vaswani et al. 2017, section 3.2.2; for ``num_kv_heads`` Shazeer 2019 (1: multi-query attention)
    and Ainslie et al. 2023 (grouped-query attention). Elsewhere: ``num_hiddens`` is ``embed_dim`` (PyTorch),
    d_model (paper), n_embd, dim; ``head_dim`` and ``value_head_dim`` are d_k and d_v; ``query_size`` is
    d2l's; ``num_kv_heads`` is ``num_key_value_heads`` (Hugging Face).
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
        rotary: bool = False,
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
        if rotary:
            checks.check_even("head_dim", self.head_dim)
        self.rotary = rotary

        def linear(in_features: int, out_features: int) -> nn.Linear:
            return nn.Linear(in_features, out_features, bias=bias, device=device, dtype=dtype)

        self.W_q = linear(self.query_size, self.num_heads * self.head_dim)
        self.W_k = linear(self.key_size, self.num_kv_heads * self.head_dim)
        self.W_v = linear(self.value_size, self.num_kv_heads * self.value_head_dim)
        self.W_o = linear(self.num_heads * self.value_head_dim, self.num_hiddens)

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
        cache: "KVCache | None" = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Queries alone: self-attention.

        queries       ``(B, Q, query_size)``
        keys          ``(B, K, key_size)``; the queries unless given
        values        ``(B, K, value_size)``; the keys unless given
        valid_lens    how many keys are no padding, ``(B,)`` or ``(B, Q)``, as in ``padding_mask``
        key_mask      ``(B, K)``, boolean, True = may attend: for padding on the left, and for gaps
        mask          boolean, True = may attend: ``(Q, K)``, ``(B, Q, K)``, ``(B, 1, K)`` or ``(B, H, Q, K)``
        is_causal     no query sees later keys, as in ``causal_mask``
        need_weights  return the weights too, at the price of holding them
        head_mask     ``(H,)`` or ``(B, H)``: scales each head's output before ``W_o``; 0 silences it
        score_bias    finite numbers that are added to the scores before the softmax, with the axes of a mask;
                      for ALiBi see ``alibi_slopes``
        cache         a ``KVCache`` to which the keys and values of this call are added; the queries attend to
                      all keys that it then holds, and K, here and above, counts all of them

        Returns the output ``(B, Q, D)``; with ``need_weights=True`` the output and the weights
        ``(B, H, Q, K)``, those before dropout. Output and gradients are the same either way.

        A key that any of ``valid_lens``, ``key_mask``, ``mask`` and ``is_causal`` forbids is forbidden; for a
        query that may attend to nothing, every head gives zeros. A mask of two axes is always ``(Q, K)``;
        ``(B, K)`` is a ``key_mask``.
        Keys and values that ``valid_lens`` or ``key_mask`` hide from all queries of their sample reach
        nothing, even where they are NaN or infinite; only the output rows of such tokens are of no use.
        Keys and values that a ``mask`` or causality hides must be finite.
        Lengths on the CPU are checked and used without waiting for a GPU; lengths on a GPU cost one wait.
        Values that cannot be read are not checked: those of meta tensors, and all values while torch.compile,
        ``make_fx`` or ``vmap`` trace.
        Second derivatives and forward-mode derivatives need ``need_weights=True``: PyTorch's fast kernels
        have none, and say so.

        Raises ValueError or TypeError for arguments that don't fit the layer or one another. Elsewhere:
        ``nn.MultiheadAttention`` masks with True = *ignore*, averages the weights of the heads unless told
        not to, and gives NaN for a query that may attend to nothing.
        """
        keys = queries if keys is None else keys
        values = keys if values is None else values
        checks.check_tokens("queries", queries, self.query_size, "query_size", self.W_q)
        checks.check_tokens("keys", keys, self.key_size, "key_size", self.W_k)
        checks.check_tokens("values", values, self.value_size, "value_size", self.W_v)
        checks.check_queries_keys_values(queries, keys, values)
        batch, num_queries, num_keys = *queries.shape[:2], keys.shape[1]
        if cache is not None:
            checks.check_class("cache", cache, KVCache, "try KVCache(layer, batch, max_tokens)")
            cache.check_room(self, batch, num_keys)
            num_keys += len(cache)
        scores_shape = (batch, self.num_heads, num_queries, num_keys)  # (B, H, Q, K)
        limits = Limits(valid_lens, key_mask, mask, is_causal)
        limits = checked_limits(limits, scores_shape, queries.device)
        if self.rotary:
            checks.check_rotary(num_queries, keys.shape[1], num_keys, cache is not None)
        if score_bias is not None:
            checks.check_score_bias(score_bias, scores_shape, queries.device)
        if head_mask is not None:
            checks.check_head_mask(head_mask, batch, self.num_heads, queries.device)
        dropout_p = self.dropout if self.training else 0.0

        q = self.turned(split_heads(self.W_q(queries), self.num_heads), num_keys)  # (B, H, Q, d)
        can_pack = not need_weights and score_bias is None and cache is None
        if can_pack and worth_packing(q, self.num_kv_heads, num_keys, self.value_head_dim, limits, dropout_p):
            heads = self.packed_heads(q, keys, values, limits, dropout_p)  # (B, H, Q, d_v)
        else:
            keys, values = blank_padding(keys, values, limits, num_keys, keep_finite=cache is not None)
            k = self.turned(split_heads(self.W_k(keys), self.num_kv_heads), num_keys)  # (B, G, K, d)
            v = split_heads(self.W_v(values), self.num_kv_heads)  # (B, G, K, d_v)
            if cache is not None:
                k, v = cache.extend(k, v)  # (B, G, K, ·), those of earlier calls included
            if need_weights:
                allowed = combine_masks(limits, scores_shape, queries.device)
                heads, weights = shared_attention(q, k, v, allowed, dropout_p, score_bias)
            else:
                heads = fused_attention(q, k, v, limits, dropout_p, score_bias)  # (B, H, Q, d_v)

        if head_mask is not None:
            heads = heads * head_mask.to(heads.dtype)[..., None, None]  # (H, 1, 1) or (B, H, 1, 1)
        output = self.W_o(merge_heads(heads))  # (B, Q, D)
        return (output, weights) if need_weights else output

    def turned(self, x: Tensor, num_keys: int) -> Tensor:
        """Turn queries or keys ``(B, H, N, d)`` by their positions if the layer is rotary.

        They stand at the last N of ``num_keys`` positions, as in a causal mask.
        """
        if not self.rotary:
            return x
        return rotate_by_position(x, torch.arange(num_keys - x.shape[2], num_keys, device=x.device))

    def packed_heads(
        self, q: Tensor, keys: Tensor, values: Tensor, limits: Limits, dropout_p: float
    ) -> Tensor:
        """Compute the heads ``(B, H, Q, d_v)``; padded keys are left out before they are projected."""
        num_keys, here = keys.shape[1], limits.valid_lens
        assert here is not None  # worth_packing has checked it
        lengths = Counts(here, here.to(q.device, non_blocking=True))
        if here.min() == 0:  # a sample of length 0 keeps one key, which is padding
            keys, values = blank_padding(keys, values, Limits(lengths.there), num_keys)
        rows = first_rows(kept_counts(lengths), num_keys)  # (T,)
        packed_keys = keys.flatten(0, 1).index_select(0, rows)  # (T, key_size)
        packed_values = packed_keys if values is keys else values.flatten(0, 1).index_select(0, rows)
        k = self.W_k(packed_keys).unflatten(1, (self.num_kv_heads, self.head_dim))  # (T, G, d)
        v = self.W_v(packed_values).unflatten(1, (self.num_kv_heads, self.value_head_dim))  # (T, G, d_v)
        if self.rotary:
            k = rotate_by_position(k.transpose(0, 1), rows % num_keys).transpose(0, 1)
        return packed_attention(q, k, v, lengths, num_keys, dropout_p, limits.is_causal)

    @classmethod
    def from_torch(cls, module: nn.MultiheadAttention) -> "MultiHeadAttention":
        """The same layer as an ``nn.MultiheadAttention``, with copies of its parameters.

        Inputs are (B, N, ·) here, whatever the module's ``batch_first``; masks are True = may attend. Mode,
        dtype, device and ``requires_grad`` are those of the module.
        Raises TypeError for another class and for subclasses that compute something else, ValueError for
        ``add_bias_kv`` and ``add_zero_attn``, which have no counterpart here.
        """
        check_convertible(module)
        layer = cls(
            module.embed_dim,
            module.num_heads,
            module.dropout,
            bias=module.in_proj_bias is not None,
            key_size=module.kdim,
            value_size=module.vdim,
            device="meta",  # the parameters come from the module
        )

        def copied(x: Tensor, source: Tensor) -> nn.Parameter:
            return nn.Parameter(x.detach().clone(), requires_grad=source.requires_grad)

        stacked, stacked_bias = module.in_proj_weight, module.in_proj_bias  # (3 D, D) and (3 D,)
        if stacked is not None:
            weights = [copied(weight, stacked) for weight in stacked.chunk(3)]
        else:
            separate = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
            weights = [copied(weight, weight) for weight in separate]
        for projection, weight in zip((layer.W_q, layer.W_k, layer.W_v), weights, strict=True):
            projection.weight = weight
        if stacked_bias is not None:
            for projection, bias in zip(
                (layer.W_q, layer.W_k, layer.W_v), stacked_bias.chunk(3), strict=True
            ):
                projection.bias = copied(bias, stacked_bias)
        out = module.out_proj
        layer.W_o.weight = copied(out.weight, out.weight)
        layer.W_o.bias = None if out.bias is None else copied(out.bias, out.bias)
        return layer.train(module.training)

    @classmethod
    def from_multi_head(cls, layer: "MultiHeadAttention", num_kv_heads: int) -> "MultiHeadAttention":
        """A copy of ``layer`` with fewer key-value heads: each is the mean of the heads that it replaces.

        The copy computes another function, unless the pooled heads were equal: it is a start for training.
        Raises TypeError for another class, ValueError where ``num_kv_heads`` does not divide the number of
        key-value heads.

        Source: Ainslie et al. 2023, section 2.1.
        """
        num_kv_heads = checks.checked_size("num_kv_heads", num_kv_heads)
        check_poolable(layer, num_kv_heads)
        pooled = copy.deepcopy(layer)
        pooled.num_kv_heads = num_kv_heads
        for projection in (pooled.W_k, pooled.W_v):
            for name, x in list(projection.named_parameters()):  # weight (G*d, size), bias (G*d,)
                heads = x.detach().unflatten(0, (num_kv_heads, layer.num_kv_heads // num_kv_heads, -1))
                mean = heads.mean(dim=1).flatten(0, 1)  # the heads that are pooled are the second axis
                setattr(projection, name, nn.Parameter(mean, requires_grad=x.requires_grad))
            projection.out_features = len(projection.weight)
        return pooled


def check_layer(layer: MultiHeadAttention) -> None:
    way_out = "MultiHeadAttention.from_torch makes one of an nn.MultiheadAttention"
    checks.check_class("layer", layer, MultiHeadAttention, way_out)


def check_poolable(layer: MultiHeadAttention, num_kv_heads: int) -> None:
    """The key-value heads of the layer must divide into ``num_kv_heads`` groups of one size."""
    check_layer(layer)
    checks.check_plain_projections(layer, "W_k", "W_v")
    if layer.num_kv_heads % num_kv_heads:
        raise ValueError(
            f"num_kv_heads must divide the number of key-value heads of the layer, {layer.num_kv_heads}, "
            f"got {num_kv_heads}; {checks.divisors_of(layer.num_kv_heads)}"
        )


def check_convertible(module: nn.MultiheadAttention) -> None:
    """The module must compute something that ``MultiHeadAttention`` can compute too."""
    checks.check_torch_module(module, nn.MultiheadAttention)
    if type(module.out_proj).forward is not nn.Linear.forward:
        raise TypeError(
            f"the out_proj of module must be an nn.Linear, got {type(module.out_proj).__name__}; "
            "undo the quantization or the wrapper first"
        )
    for option, used in (("add_bias_kv", module.bias_k is not None), ("add_zero_attn", module.add_zero_attn)):
        if used:
            raise ValueError(
                f"module must be built without {option}, got {option}=True, which adds a key of its own; "
                "append it to keys and values yourself"
            )


class KVCache:
    """The projected keys and values of earlier calls of one layer, so that each is computed only once.

    layer       the ``MultiHeadAttention`` whose keys and values it keeps; each layer needs a cache of its own
    batch       B
    max_tokens  how many tokens fit in; the first call takes the memory for all of them

    Step by step, in chunks of one or more tokens, a causal layer gives what it gives for all tokens at once::

        cache = KVCache(layer, batch, max_tokens)
        with torch.no_grad():
            for chunk in x.split(sizes, dim=1):
                outputs.append(layer(chunk, cache=cache, is_causal=True))

    Cross-attention gets its fixed keys once, ``layer(queries, memory, cache=cache)``, and no keys in later
    calls, ``layer(queries, memory[:, :0], cache=cache)``.

    ``len(cache)`` tells how many tokens it holds, ``reset()`` forgets them. ``mask``, ``key_mask``,
    ``valid_lens`` and ``score_bias`` apply to all keys that it holds, the new ones included. NaN and infinity
    in a key that comes as padding are kept as 0.
    Gradients do not flow through a cache: a call whose keys or values need one raises RuntimeError.

    Source: Shazeer 2019, section 2.4. Elsewhere: ``DynamicCache``, ``StaticCache`` and ``past_key_values``
    (Hugging Face), ``KVCache`` (torchtune).
    """

    def __init__(self, layer: MultiHeadAttention, batch: int, max_tokens: int):
        check_layer(layer)
        self.layer = layer
        self.batch = checks.checked_size("batch", batch)
        self.max_tokens = checks.checked_size("max_tokens", max_tokens)
        self.num_tokens = 0
        self.keys: Tensor | None = None  # (B, G, max_tokens, d), of which the first num_tokens are held
        self.values: Tensor | None = None  # (B, G, max_tokens, d_v)

    def __len__(self) -> int:
        return self.num_tokens

    def reset(self) -> None:
        """Forget all tokens, but keep their memory."""
        self.num_tokens = 0

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add projected keys and values ``(B, G, N, ·)``; return all that it now holds, ``(B, G, K, ·)``."""
        self.check_cacheable(keys, values)
        if (
            self.keys is None
            or self.values is None
            or self.keys.dtype != keys.dtype
            or self.keys.device != keys.device
        ):
            with torch.inference_mode(False):  # usable in and outside inference mode
                self.keys, self.values = (
                    torch.zeros(*x.shape[:2], self.max_tokens, x.shape[3], dtype=x.dtype, device=x.device)
                    for x in (keys, values)
                )
        start, self.num_tokens = self.num_tokens, self.num_tokens + keys.shape[2]
        self.keys[:, :, start : self.num_tokens] = keys
        self.values[:, :, start : self.num_tokens] = values
        return self.keys[:, :, : self.num_tokens], self.values[:, :, : self.num_tokens]

    def check_room(self, layer: MultiHeadAttention, batch: int, num_new_keys: int) -> None:
        """The cache must have been made for this layer and this batch, and have room for the new keys."""
        if self.layer is not layer:
            raise ValueError(
                "cache must have been made for this layer, got the cache of another one; "
                "every layer needs its own: KVCache(layer, batch, max_tokens)"
            )
        if self.batch != batch:
            raise ValueError(
                f"cache must be of the batch of queries, {batch}, got a cache for {self.batch}; "
                f"try KVCache(layer, {batch}, {self.max_tokens})"
            )
        if len(self) + num_new_keys > self.max_tokens:
            raise ValueError(
                f"cache must have room for {len(self)} + {num_new_keys} tokens, "
                f"got max_tokens={self.max_tokens}; "
                "call cache.reset() for a new sequence, or make a larger KVCache"
            )

    def check_cacheable(self, keys: Tensor, values: Tensor) -> None:
        """Projected keys and values must be without gradients, and alike to those that are held already."""
        if torch.is_grad_enabled() and (keys.requires_grad or values.requires_grad):
            raise RuntimeError(
                "cache holds keys and values without their gradients, got some that require gradients; "
                "call the layer under torch.no_grad(), or without a cache"
            )
        if tracing.is_transformed(keys):
            raise RuntimeError(
                "cache must be used outside torch.func.vmap, grad and jvp, got a call inside one of them; "
                "call the layer without a cache there"
            )
        held = self.keys if self.num_tokens else None
        if held is not None and (keys.dtype != held.dtype or keys.device != held.device):
            raise ValueError(
                f"cache must go on with what it holds, {held.dtype} on {held.device}, got {keys.dtype} on "
                f"{keys.device}; call cache.reset() first"
            )
