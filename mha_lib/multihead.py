"""Multi-head attention: the heads as a fourth axis, (B, H, Q, K).

The shape letters are those of ``attention.py``.
"""

import copy
from typing import Any, Literal

import torch
from torch import Tensor, nn

from mha_lib import checks
from mha_lib.attention import ChangeWeights
from mha_lib.cache import CachedAttention, KVCache, UnchangedByErrors
from mha_lib.fused import attend, attend_in_one_kernel, cut, pack, worth_packing
from mha_lib.masks import Limits, blank_padding, checked_limits, finite_queries
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
    return x.reshape(batch, num_tokens, width // head_dim, head_dim).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """``(B, H, N, d) -> (B, N, H*d)``: undoes ``split_heads``. Elsewhere: d2l's ``transpose_output``."""
    checks.check_mergeable(x)
    return x.transpose(1, 2).flatten(2)  # (B, N, H, d) -> (B, N, H*d)


class MultiHeadAttention(CachedAttention):
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
            self.sink_logits = nn.Parameter(torch.zeros(self.num_heads, device=device, dtype=dtype))

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
        score_bias      numbers that are added to the scores before the softmax, with the axes of a mask; −∞
                        forbids a key. For ALiBi see ``alibi_slopes``
        change_weights  a function between the softmax and the values: ``change_weights(weights, allowed)``
                        gets the weights and where they may be above 0, both ``(B, H, Q, K)``, and returns the
                        weights to go on with
        cache           a ``KVCache`` to which the keys and values of this call are added; the queries attend
                        to all keys that it then holds, and K, here and above, counts all of them

        Returns the output ``(B, Q, D)``; with ``need_weights=True`` the output and the weights
        ``(B, H, Q, K)``, those before dropout and after ``change_weights``. Output and gradients are the same
        either way.

        A key that any of ``valid_lens``, ``key_mask``, ``mask`` and ``is_causal`` forbids is forbidden; for a
        query that may attend to nothing, every head gives zeros. A mask of two axes is always ``(Q, K)``;
        ``(B, K)`` is a ``key_mask``.
        Keys and values that ``valid_lens`` or ``key_mask`` hide from all queries of their sample reach
        nothing, no output and no gradient, even where they are NaN or infinite; only the output rows of such
        tokens are of no use. Keys and values that a ``mask`` or causality hides must be finite. NaN that is
        seen gives NaN; PyTorch's kernel for a CPU gives 0 instead where no score of a query is a number and
        no mask is needed.
        Lengths on the CPU are checked and used without waiting for a GPU; lengths on a GPU cost one wait.
        Values that cannot be read are not checked: those of meta tensors, and all values while torch.compile,
        ``make_fx`` or ``vmap`` trace.
        Second derivatives and forward-mode derivatives need ``need_weights=True``: PyTorch's fast kernels
        have none, and say so.

        Raises ValueError or TypeError for arguments that don't fit the layer or one another. Elsewhere:
        ``nn.MultiheadAttention`` masks with True = *ignore*, averages the weights of the heads unless told
        not to, and gives NaN for a query that may attend to nothing.
        """
        if (
            type(cache) is KVCache
            and keys is values is valid_lens is key_mask is mask is head_mask is score_bias is None
            and change_weights is None
            and need_weights is False
            and isinstance(is_causal, bool)
            and cache.takes_next(self, queries)
            and self.sink_logits is None
        ):  # the short way
            try:
                return self.decode(queries, cache)
            except RuntimeError:
                self.check(queries, queries, queries, need_weights, head_mask, cache)
                raise
        keys = queries if keys is None else keys
        values = keys if values is None else values
        self.check(queries, keys, values, need_weights, head_mask, cache)
        num_keys = keys.shape[1] + (0 if cache is None else len(cache))
        batch, num_queries = queries.shape[:2]
        scores_shape = (batch, self.num_heads, num_queries, num_keys)  # (B, H, Q, K)
        limits = checked_limits(
            scores_shape, queries.device, valid_lens, key_mask, mask, is_causal, self.window, score_bias
        )
        dropout_p = self.dropout if self.training else 0.0
        with UnchangedByErrors([cache]):
            changes = change_weights is not None
            q, k, v, limits = self.project(
                queries, keys, values, limits, cache, need_weights, changes, dropout_p
            )
            heads, weights = attend(
                q, k, v, limits, dropout_p, change_weights, self.sink_logits, need_weights
            )
            return self.merge(heads, weights, head_mask, num_keys)

    def decode(self, token: Tensor, cache: KVCache) -> Tensor:
        """``forward`` for one more token ``(B, 1, D)``, which sees all that the cache holds, and itself.

        With one token, ``(B, 1, H*d)`` and ``(B, H, 1, d)`` lie in memory alike.
        """
        batch = token.shape[0]
        q = self.W_q(token).reshape(batch, self.num_heads, 1, self.head_dim)
        k = self.W_k(token).reshape(batch, self.num_kv_heads, 1, self.head_dim)
        v = self.W_v(token).reshape(batch, self.num_kv_heads, 1, self.value_head_dim)
        q = q if self.q_norm is None else self.q_norm(q)
        k = k if self.k_norm is None else self.k_norm(k)
        if self.rotary is not None:  # both at once
            turned = self.rotary.turn(torch.cat((q, k), 1), cache.num_seen)
            q, k = turned.split_with_sizes((self.num_heads, self.num_kv_heads), 1)
        keys, values = cache.with_next(k, v)
        heads = attend_in_one_kernel(q, keys, values, None, self.dropout if self.training else 0.0)
        output = self.W_o(heads.reshape(batch, 1, self.num_heads * self.value_head_dim))
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
    ) -> None:
        """All that a call brings, but what limits it, must fit this layer."""
        checks.check_tokens("queries", queries, self.query_size, "query_size", self.W_q)
        is_self_attention = keys is queries and values is queries
        if not is_self_attention or not self.key_size == self.value_size == self.query_size:
            checks.check_tokens("keys", keys, self.key_size, "key_size", self.W_k)
            checks.check_tokens("values", values, self.value_size, "value_size", self.W_v)
            checks.check_queries_keys_values(queries, keys, values)
        checks.check_flag("need_weights", need_weights)
        self.check_heads_and_cache(queries, keys.shape[1], head_mask, cache)
        if self.rotary is not None:
            num_held = 0 if cache is None else len(cache)
            checks.check_rotary(queries.shape[1], keys.shape[1], num_held + keys.shape[1], cache is not None)

    def project(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        limits: Limits,
        cache: KVCache | None,
        need_weights: bool,
        changes: bool,
        dropout_p: float,
    ) -> tuple[Tensor, Tensor, Tensor, Limits]:
        """Queries ``(B, H, Q, d)``, keys ``(B, G, K, d)`` and values ``(B, G, K, d_v)`` of the heads.

        Padding that no query sees is left out or blanked, and what limits the rest comes back.
        """
        start, held = (0, 0) if cache is None else (cache.num_seen, len(cache))
        if keys is queries:
            queries = finite_queries(queries, limits)
        q = self.heads_of("q", queries, start - held + limits.own)
        if cache is None and not changes:
            keys, values, limits = cut(keys, values, limits)
            is_plain = not need_weights and self.sink_logits is None
            if is_plain and worth_packing(q, self.num_kv_heads, self.value_head_dim, limits, dropout_p):
                keys, values, limits = pack(keys, values, limits)  # (1, T, ·)
        if limits.rows is None:
            keys, values = blank_padding(keys, values, limits, keep_finite=cache is not None)
        k = self.heads_of("k", keys, start if limits.rows is None else limits.rows % limits.num_keys)
        v = by_heads(self.W_v(values), self.value_head_dim)
        if cache is not None:
            k, v = cache.extend(k, v)  # those of earlier calls included
        return q, k, v, limits

    def heads_of(self, kind: Literal["q", "k"], tokens: Tensor, where: int | Tensor) -> Tensor:
        """Project tokens ``(B, N, ·)`` to queries or keys ``(B, H, N, d)``, norm them, and turn them.

        They stand at the positions from ``where`` on, or at the positions ``(N,)``.
        """
        projection, norm = (self.W_q, self.q_norm) if kind == "q" else (self.W_k, self.k_norm)
        x = by_heads(projection(tokens), self.head_dim)  # (B, H, N, d)
        x = x if norm is None else norm(x)
        return x if self.rotary is None else self.rotary.turn(x, where)

    def merge(
        self, heads: Tensor, weights: Tensor | None, head_mask: Tensor | None, num_keys: int
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Mix the heads ``(B, H, Q, d_v)`` to the output ``(B, Q, D)``; with weights, return both."""
        if head_mask is not None:
            heads = heads * head_mask.to(heads.dtype)[..., None, None]  # (H, 1, 1) or (B, H, 1, 1)
        output = self.W_o(heads.transpose(1, 2).flatten(2))
        if weights is None:
            return output
        hidden = num_keys - weights.shape[3]  # keys at the end that were not computed
        return output, nn.functional.pad(weights, (0, hidden)) if hidden else weights

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
        weights: Any = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
        if module.in_proj_weight is not None:
            weights = module.in_proj_weight.chunk(3)  # (3 D, D)
        biases: Any = [None] * 3 if module.in_proj_bias is None else module.in_proj_bias.chunk(3)
        inputs = (layer.W_q, layer.W_k, layer.W_v)
        for projection, weight, bias in zip(inputs, weights, biases, strict=True):
            projection.weight, projection.bias = copied(weight), copied(bias)
        layer.W_o.weight, layer.W_o.bias = copied(module.out_proj.weight), copied(module.out_proj.bias)
        return layer.train(module.training)

    def to_torch(self) -> nn.MultiheadAttention:
        """The same layer as an ``nn.MultiheadAttention``, with copies of its parameters.

        Its inputs are (B, N, ·), ``batch_first=True``; its masks are True = *ignore*.
        Raises ValueError where PyTorch's layer has no counterpart for an option: fewer key-value heads, heads
        of another width than D/H, rotary positions and so on, or projections of which some are trained alone.
        Raises TypeError for projections that were replaced, and for hooks.
        """
        checks.check_plain_projections(self, "W_q", "W_k", "W_v", "W_o")
        checks.check_without_hooks("layer", self)
        for name, value in self.unusual_options().items():
            if name not in CARRIED_OVER:
                raise ValueError(
                    f"layer must be built without {name} to become an nn.MultiheadAttention, which has none, "
                    f"got {name}={value}"
                )
        module = nn.MultiheadAttention(
            self.num_hiddens,
            self.num_heads,
            self.dropout,
            bias=self.W_q.bias is not None,
            kdim=self.key_size,
            vdim=self.value_size,
            batch_first=True,
            device="meta",  # the parameters come from this layer
        )
        inputs = (self.W_q, self.W_k, self.W_v)
        if module.in_proj_weight is not None:
            module.in_proj_weight = copied(*(projection.weight for projection in inputs))  # (3 D, D)
        else:
            for name, projection in zip("qkv", inputs, strict=True):
                setattr(module, f"{name}_proj_weight", copied(projection.weight))
        if module.in_proj_bias is not None:
            module.in_proj_bias = copied(*(projection.bias for projection in inputs))  # (3 D,)
        module.out_proj.weight, module.out_proj.bias = copied(self.W_o.weight), copied(self.W_o.bias)
        return module.train(self.training)

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


# The options that ``to_torch`` hands over.
CARRIED_OVER = ("dropout", "bias", "key_size", "value_size")


def copied(*parameters: Any) -> Any:
    """One parameter that holds copies of these, one below the other; None where there is none."""
    if parameters[0] is None:
        return None
    checks.check_trained_alike(parameters)
    copies = torch.cat([x.detach() for x in parameters])
    return nn.Parameter(copies, requires_grad=parameters[0].requires_grad)


def checked_rotary(rotary: bool | Rotary) -> Rotary | None:
    if isinstance(rotary, Rotary):
        return rotary
    checks.check_flag("rotary", rotary, "or how: Rotary(base=10_000)")
    return Rotary() if rotary else None


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
