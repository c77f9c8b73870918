"""The layers of a transformer: attention, a feed-forward network, norms and sums around them.

The shape letters are those of ``attention.py``, and three more:

    S  tokens of the source, which the encoder reads
    T  tokens of the target, which the decoder writes
    L  layers
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mha_lib import checks
from mha_lib.attention import ChangeWeights
from mha_lib.cache import KVCache, UnchangedByErrors
from mha_lib.multihead import MultiHeadAttention


class FeedForward(nn.Module):
    """Two linear maps with a ReLU between them, for each token alone; or three, one of them a gate.

        output = max(0, x W_1 + b_1) W_2 + b_2
        gated:   output = (silu(x W_gate) · x W_1) W_2

    num_hiddens      D, the width of input and output
    ffn_num_hiddens  the width between them
    dropout          probability with which each number between them is dropped while training
    gated            whether a third map decides how much of each number goes on; then no map adds a bias
    device, dtype    of the parameters, as in ``nn.Linear``

    Source: Vaswani et al. 2017, section 3.3; gated: Shazeer 2020, SwiGLU. Elsewhere: d2l's
    ``PositionWiseFFN``; ``ffn_num_hiddens`` is ``dim_feedforward`` (PyTorch), d_ff (paper),
    ``intermediate_size`` (Hugging Face), whose ``gate_proj``, ``up_proj``, ``down_proj`` are ``W_gate``,
    ``W_1``, ``W_2``.
    """

    def __init__(
        self,
        num_hiddens: int,
        ffn_num_hiddens: int,
        dropout: float = 0.0,
        *,
        gated: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        checks.checked_size("num_hiddens", num_hiddens)
        checks.checked_size("ffn_num_hiddens", ffn_num_hiddens)
        checks.check_dropout("dropout", dropout)
        checks.check_flag("gated", gated)

        def linear(in_features: int, out_features: int) -> nn.Linear:
            return nn.Linear(in_features, out_features, bias=not gated, device=device, dtype=dtype)

        self.W_1 = linear(num_hiddens, ffn_num_hiddens)
        self.W_gate = linear(num_hiddens, ffn_num_hiddens) if gated else None
        self.W_2 = linear(ffn_num_hiddens, num_hiddens)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """``(B, N, D) -> (B, N, D)``. Raises ValueError or TypeError for other tokens."""
        checks.check_tokens("x", x, self.W_1.in_features, "num_hiddens", self.W_1)
        inner = self.W_1(x).relu() if self.W_gate is None else F.silu(self.W_gate(x)) * self.W_1(x)
        return self.W_2(self.dropout(inner))

    __prepare_scriptable__ = checks.refuse_scripting


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network; each works on normed tokens and is added to them.

        x = x + attention(norm(x))
        x = x + feed_forward(norm(x))

    num_hiddens      D, the width of a token
    num_heads        H
    ffn_num_hiddens  the width inside the feed-forward network
    dropout          probability while training, of each weight, of each number that is added to a token, and
                     inside the feed-forward network
    bias             whether the projections of the attention add a bias
    gated            as for ``FeedForward``
    norm             makes a norm for a width: ``nn.LayerNorm``, ``nn.RMSNorm``, or a ``partial`` of them
    device, dtype    of the parameters, as in ``nn.Linear``
    attention        the other options of ``MultiHeadAttention``, such as ``num_kv_heads`` and ``rotary``

    With ``is_causal=True`` and a cache it is the block of a language model. Llama 3's is
    ``EncoderLayer(4096, 32, 14336, num_kv_heads=8, rotary=Rotary(500_000, Llama3Scaling(), halves=True),
    norm=partial(nn.RMSNorm, eps=1e-5), gated=True)``.

    Raises ValueError or TypeError for sizes and probabilities that make no layer.

    Source: Vaswani et al. 2017, section 3.1, who norm after each sum; before it ("pre-norm", which trains
    more easily): Xiong et al. 2020; RMS norm: Zhang and Sennrich 2019. Elsewhere:
    ``nn.TransformerEncoderLayer`` with ``norm_first=True``, whose projections have a bias unless told
    otherwise; d2l's ``TransformerEncoderBlock`` (post-norm); ``LlamaDecoderLayer`` (Hugging Face).
    """

    def __init__(
        self,
        num_hiddens: int,
        num_heads: int,
        ffn_num_hiddens: int,
        dropout: float = 0.0,
        bias: bool = False,
        *,
        gated: bool = False,
        norm: Callable[..., nn.Module] = nn.LayerNorm,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        **attention: Any,
    ):
        super().__init__()
        check_norm(norm)
        place: Any = {"device": device, "dtype": dtype}
        self.self_attention = MultiHeadAttention(num_hiddens, num_heads, dropout, bias, **attention, **place)
        self.feed_forward = FeedForward(num_hiddens, ffn_num_hiddens, dropout, gated=gated, **place)
        self.self_attention_norm = norm(num_hiddens, **place)
        self.feed_forward_norm = norm(num_hiddens, **place)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        key_mask: Tensor | None = None,
        *,
        valid_lens: Tensor | None = None,
        mask: Tensor | None = None,
        is_causal: bool = False,
        need_weights: bool = False,
        head_mask: Tensor | None = None,
        score_bias: Tensor | None = None,
        change_weights: ChangeWeights | None = None,
        cache: KVCache | None = None,
        positions: Tensor | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """
        x      ``(B, S, D)``; with a cache, only the tokens after those of earlier calls
        cache  a ``KVCache`` of ``self_attention``, which takes in the tokens of each call

        The other arguments are those of ``MultiHeadAttention.forward``: ``valid_lens`` or ``key_mask`` for
        padding, ``is_causal`` for a model that writes.

        Returns ``(B, S, D)``; with ``need_weights=True`` the weights ``(B, H, S, S)`` too. With a cache, S as
        keys counts the tokens of earlier calls as well.
        Raises ValueError or TypeError for arguments that don't fit.
        """
        checks.check_tokens("x", x, self.self_attention.num_hiddens, "num_hiddens", self.self_attention.W_q)
        with UnchangedByErrors([cache]):
            attended = self.self_attention(
                self.self_attention_norm(x),
                valid_lens=valid_lens,
                key_mask=key_mask,
                mask=mask,
                is_causal=is_causal,
                head_mask=head_mask,
                score_bias=score_bias,
                change_weights=change_weights,
                cache=cache,
                positions=positions,
                need_weights=need_weights,
            )
            attended, *weights = attended if need_weights else [attended]  # without weights: an empty list
            x = x + self.dropout(attended)
            x = x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        return (x, *weights) if need_weights else x

    @classmethod
    def from_torch(cls, module: nn.TransformerEncoderLayer) -> "EncoderLayer":
        """The same layer as an ``nn.TransformerEncoderLayer``, with copies of its parameters.

        Raises TypeError for another class and for modules that something has changed (a subclass, a hook),
        ValueError unless it has ``norm_first=True``, a ReLU and one dropout.
        """
        check_convertible(module, nn.TransformerEncoderLayer)
        sizes = module.self_attn.embed_dim, module.self_attn.num_heads, 1
        layer = cls(*sizes, module.dropout.p, device="meta")  # the parameters come from the module
        layer.self_attention = MultiHeadAttention.from_torch(module.self_attn)
        for name, theirs in ENCODER_PARTS.items():
            layer.set_submodule(name, deepcopy(module.get_submodule(theirs)))
        return layer.train(module.training)

    def to_torch(self) -> nn.TransformerEncoderLayer:
        """The same layer as an ``nn.TransformerEncoderLayer``, with copies of the parameters.

        Raises ValueError where PyTorch's layer has no counterpart for an option, such as rotary positions, a
        gated network or another norm than ``nn.LayerNorm``, and TypeError for parts that were replaced.
        """
        return like_ours(self, nn.TransformerEncoderLayer, ENCODER_PARTS, {"self_attention": "self_attn"})


# Our names of the parts that PyTorch's layers have too, and theirs.
ENCODER_PARTS = {
    "feed_forward.W_1": "linear1",
    "feed_forward.W_2": "linear2",
    "self_attention_norm": "norm1",
    "feed_forward_norm": "norm2",
}
# Options of the self-attention alone: source and target have no common places.
OF_ONE_SEQUENCE = ("rotary", "window", "sinks")
DECODER_PARTS = ENCODER_PARTS | {"cross_attention_norm": "norm2", "feed_forward_norm": "norm3"}


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to what the encoder has read, then a feed-forward network.

        x = x + self_attention(norm(x))               a token sees itself and those before it
        x = x + cross_attention(norm(x), memory)      queries from the target, keys and values from the source
        x = x + feed_forward(norm(x))

    The arguments are those of ``EncoderLayer``; ``rotary``, ``window`` and ``sinks`` are of the
    self-attention alone, since source and target have no common places. Elsewhere:
    ``nn.TransformerDecoderLayer`` with ``norm_first=True``; d2l's ``TransformerDecoderBlock`` (post-norm).
    """

    def __init__(
        self,
        num_hiddens: int,
        num_heads: int,
        ffn_num_hiddens: int,
        dropout: float = 0.0,
        bias: bool = False,
        *,
        gated: bool = False,
        norm: Callable[..., nn.Module] = nn.LayerNorm,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        **attention: Any,
    ):
        super().__init__()
        check_norm(norm)
        place: Any = {"device": device, "dtype": dtype}
        self.self_attention = MultiHeadAttention(num_hiddens, num_heads, dropout, bias, **attention, **place)
        of_both = {name: value for name, value in attention.items() if name not in OF_ONE_SEQUENCE}
        self.cross_attention = MultiHeadAttention(num_hiddens, num_heads, dropout, bias, **of_both, **place)
        self.feed_forward = FeedForward(num_hiddens, ffn_num_hiddens, dropout, gated=gated, **place)
        self.self_attention_norm = norm(num_hiddens, **place)
        self.cross_attention_norm = norm(num_hiddens, **place)
        self.feed_forward_norm = norm(num_hiddens, **place)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        key_mask: Tensor | None = None,
        *,
        is_causal: bool = True,
        need_weights: bool = False,
        head_masks: tuple[Tensor | None, Tensor | None] = (None, None),
        caches: tuple[KVCache, KVCache] | None = None,
    ) -> Tensor | tuple[Tensor, Tensor, Tensor]:
        """
        x           ``(B, T, D)``; with caches, only the tokens after those of earlier calls
        memory      ``(B, S, D)``, the output of the encoder
        key_mask    ``(B, S)``, boolean, True = may be attended to: False for padding of the source
        is_causal   whether a token is kept from seeing later ones. Padding of the target needs no mask: it
                    comes last, so no token before it sees it
        head_masks  one for the self-attention and one for the cross-attention, as for ``EncoderLayer``
        caches      a ``KVCache`` of the self-attention and one of the cross-attention: the first takes in the
                    tokens of each call, the second the memory at the first call

        Returns ``(B, T, D)``; with ``need_weights=True`` the weights ``(B, H, T, T)`` and ``(B, H, T, S)``
        too. With caches, T as keys counts the tokens of earlier calls as well.
        Raises ValueError or TypeError for arguments that don't fit.
        """
        for name, tokens in (("x", x), ("memory", memory)):
            checks.check_tokens(
                name, tokens, self.self_attention.num_hiddens, "num_hiddens", self.self_attention.W_q
            )
        check_two_masks(head_masks)
        self_cache, cross_cache = checked_caches(caches)
        is_held = cross_cache is not None and len(cross_cache) > 0
        with UnchangedByErrors([self_cache, cross_cache]):
            attended = self.self_attention(
                self.self_attention_norm(x),
                is_causal=is_causal,
                head_mask=head_masks[0],
                cache=self_cache,
                need_weights=need_weights,
            )
            attended, *self_weights = attended if need_weights else [attended]
            x = x + self.dropout(attended)

            attended = self.cross_attention(
                self.cross_attention_norm(x),
                memory[:, :0] if is_held else memory,
                key_mask=key_mask,
                head_mask=head_masks[1],
                cache=cross_cache,
                need_weights=need_weights,
            )
            attended, *cross_weights = attended if need_weights else [attended]
            x = x + self.dropout(attended)

            x = x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        return (x, *self_weights, *cross_weights) if need_weights else x

    @classmethod
    def from_torch(cls, module: nn.TransformerDecoderLayer) -> "DecoderLayer":
        """The same layer as an ``nn.TransformerDecoderLayer`` that is called with a causal ``tgt_mask``.

        It is causal unless told otherwise, and PyTorch's is not. These two agree::

            layer(x, memory)
            module(x, memory, tgt_mask=nn.Transformer.generate_square_subsequent_mask(T), tgt_is_causal=True)

        The parameters are copies. Raises TypeError for another class and for modules that something has
        changed (a subclass, a hook), ValueError unless it has ``norm_first=True``, a ReLU and one dropout.
        """
        check_convertible(module, nn.TransformerDecoderLayer)
        sizes = module.self_attn.embed_dim, module.self_attn.num_heads, 1
        layer = cls(*sizes, module.dropout.p, device="meta")  # the parameters come from the module
        layer.self_attention = MultiHeadAttention.from_torch(module.self_attn)
        layer.cross_attention = MultiHeadAttention.from_torch(module.multihead_attn)
        for name, theirs in DECODER_PARTS.items():
            layer.set_submodule(name, deepcopy(module.get_submodule(theirs)))
        return layer.train(module.training)

    def to_torch(self) -> nn.TransformerDecoderLayer:
        """The same layer as an ``nn.TransformerDecoderLayer`` that is called as ``from_torch`` says."""
        attentions = {"self_attention": "self_attn", "cross_attention": "multihead_attn"}
        return like_ours(self, nn.TransformerDecoderLayer, DECODER_PARTS, attentions)


def like_ours(layer: Any, kind: type[Any], parts: dict[str, str], attentions: dict[str, str]) -> Any:
    """Return a layer of PyTorch of this kind with copies of our parts; check that nothing would be lost."""
    if layer.feed_forward.W_gate is not None:
        raise ValueError(
            "layer must be built without gated, got gated=True, which PyTorch's layers don't have"
        )
    for name, part in layer.named_modules():
        checks.check_without_hooks(name or "layer", part)
        if name.endswith("_norm") and name.count(".") == 0:
            check_plain_norm(name, part)
        if name.endswith("dropout") and type(part) is not nn.Dropout:
            raise TypeError(f"{name} of layer must be an nn.Dropout, got {type(part).__name__}")
    checks.check_plain_projections(layer.feed_forward, "W_1", "W_2")
    sizes = layer.self_attention.num_hiddens, layer.self_attention.num_heads, 1, layer.dropout.p
    module = kind(*sizes, batch_first=True, norm_first=True, device="meta")
    module.dropout.p = layer.feed_forward.dropout.p
    for name, theirs in attentions.items():
        module.set_submodule(theirs, layer.get_submodule(name).to_torch())
    for name, theirs in parts.items():
        module.set_submodule(theirs, deepcopy(layer.get_submodule(name)))
    return module.train(layer.training)


def check_plain_norm(name: str, norm: nn.Module) -> None:
    if type(norm) is not nn.LayerNorm or norm.weight is None or norm.bias is None:
        raise ValueError(
            f"{name} of layer must be an nn.LayerNorm with weight and bias, as PyTorch has it, got {norm}"
        )


def check_norm(norm: Callable[..., nn.Module]) -> None:
    if isinstance(norm, nn.Module) or not callable(norm):
        raise TypeError(
            f"norm must make a norm for a width, got {norm!r}; try norm=nn.LayerNorm, or a partial of it"
        )


def check_two_masks(head_masks: tuple[Tensor | None, Tensor | None]) -> None:
    if not isinstance(head_masks, (tuple, list)) or len(head_masks) != 2:
        came = len(head_masks) if isinstance(head_masks, (tuple, list)) else type(head_masks).__name__
        raise ValueError(
            "head_masks must be two, a mask or None for the self-attention and one for the cross-attention, "
            f"got {came}; try (mask, None)"
        )


def checked_caches(caches: tuple[KVCache, KVCache] | None) -> tuple[KVCache | None, KVCache | None]:
    if caches is None:
        return None, None
    if isinstance(caches, KVCache) or len(caches) != 2 or not all(isinstance(c, KVCache) for c in caches):
        came = type(caches).__name__ if isinstance(caches, KVCache) else [type(c).__name__ for c in caches]
        raise TypeError(
            f"caches must be two, a KVCache of self_attention and one of cross_attention, got {came}; "
            "try (KVCache(layer.self_attention, batch, max_tokens), KVCache(layer.cross_attention, batch, S))"
        )
    return caches


def check_convertible(module: nn.Module, expected: type[nn.Module]) -> None:
    """The module must be one of PyTorch's layers, built as ours are: norms first, a ReLU, one dropout."""
    checks.check_torch_module(module, expected)
    if not module.norm_first:
        raise ValueError(
            "module must norm before each sum, norm_first=True, got norm_first=False; "
            "a layer trained one way does not work the other way"
        )
    if module.activation is not F.relu and type(module.activation) is not nn.ReLU:
        raise ValueError(f"the activation of module must be a ReLU, got {module.activation}")
    dropouts = {name: child for name, child in module.named_children() if name.startswith("dropout")}
    probability = cast(nn.Dropout, module.dropout).p
    for name, dropout in dropouts.items():
        checks.check_without_hooks(f"{name} of module", dropout)
        if type(dropout) is not nn.Dropout or dropout.p != probability:
            raise ValueError(
                f"module must drop with one probability, {probability}, got {dropout} as its {name}; "
                "give all of them the same"
            )
