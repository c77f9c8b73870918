"""The transformer: encoder and decoder layers around attention, and an encoder-decoder made of them.

The shape letters are those of ``multihead.py``, and four more:

    S  tokens of the source, which the encoder reads
    T  tokens of the target, which the decoder writes
    V  tokens that the target may choose from, its vocabulary
    L  layers
"""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from mha_lib import checks
from mha_lib.multihead import KVCache, MultiHeadAttention
from mha_lib.positions import sinusoidal_positions


class ByAttention(NamedTuple):
    """One tensor for each layer of each of the three attentions: all weights, or all head masks.

    encoder  self-attention of the source, L tensors: weights ``(B, H, S, S)``, or head masks ``(H,)``
    decoder  self-attention of the target, L tensors: weights ``(B, H, T, T)``, or head masks ``(H,)``
    cross    from the target to the source, L tensors: weights ``(B, H, T, S)``, or head masks ``(H,)``
    """

    encoder: Sequence[Tensor]
    decoder: Sequence[Tensor]
    cross: Sequence[Tensor]


class FeedForward(nn.Module):
    """Two linear maps with a ReLU between them, for each token alone.

        output = max(0, x W_1 + b_1) W_2 + b_2

    num_hiddens      D, the width of input and output
    ffn_num_hiddens  the width between them
    dropout          probability with which each number between them is dropped while training

    Source: Vaswani et al. 2017, section 3.3. Elsewhere: d2l's ``PositionWiseFFN``; ``ffn_num_hiddens`` is
    ``dim_feedforward`` (PyTorch), d_ff (paper).
    """

    def __init__(self, num_hiddens: int, ffn_num_hiddens: int, dropout: float = 0.0):
        super().__init__()
        self.W_1 = nn.Linear(num_hiddens, checks.checked_size("ffn_num_hiddens", ffn_num_hiddens))
        self.W_2 = nn.Linear(ffn_num_hiddens, num_hiddens)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """``(B, N, D) -> (B, N, D)``."""
        return self.W_2(self.dropout(self.W_1(x).relu()))


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

    Raises ValueError or TypeError for sizes and probabilities that make no layer.

    Source: Vaswani et al. 2017, section 3.1, who norm after each sum; before it ("pre-norm", which trains
    more easily): Xiong et al. 2020. Elsewhere: ``nn.TransformerEncoderLayer`` with ``norm_first=True``, whose
    projections have a bias unless told otherwise; d2l's ``TransformerEncoderBlock`` (post-norm).
    """

    def __init__(
        self, num_hiddens: int, num_heads: int, ffn_num_hiddens: int, dropout: float = 0.0, bias: bool = False
    ):
        super().__init__()
        self.self_attention = MultiHeadAttention(num_hiddens, num_heads, dropout, bias)
        self.feed_forward = FeedForward(num_hiddens, ffn_num_hiddens, dropout)
        self.self_attention_norm = nn.LayerNorm(num_hiddens)
        self.feed_forward_norm = nn.LayerNorm(num_hiddens)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        key_mask: Tensor | None = None,
        *,
        need_weights: bool = False,
        head_mask: Tensor | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """
        x          ``(B, S, D)``
        key_mask   ``(B, S)``, boolean, True = may be attended to: False for padding
        head_mask  ``(H,)`` or ``(B, H)``: scales the output of each head; 0 silences it

        Returns ``(B, S, D)``; with ``need_weights=True`` the weights ``(B, H, S, S)`` too.
        Raises ValueError or TypeError for arguments that don't fit.
        """
        checks.check_tokens("x", x, self.self_attention.num_hiddens, "num_hiddens", self.self_attention.W_q)
        attended = self.self_attention(
            self.self_attention_norm(x), key_mask=key_mask, head_mask=head_mask, need_weights=need_weights
        )
        attended, *weights = attended if need_weights else [attended]  # without weights: an empty list
        x = x + self.dropout(attended)
        x = x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        return (x, *weights) if need_weights else x

    @classmethod
    def from_torch(cls, module: nn.TransformerEncoderLayer) -> "EncoderLayer":
        """The same layer as an ``nn.TransformerEncoderLayer``, with copies of its parameters.

        Raises TypeError for another class, ValueError unless it has ``norm_first=True`` and a ReLU.
        """
        check_convertible(module, nn.TransformerEncoderLayer)
        with torch.device("meta"):  # the parameters come from the module
            layer = cls(module.self_attn.embed_dim, module.self_attn.num_heads, 1, module.dropout.p)
        layer.self_attention = MultiHeadAttention.from_torch(module.self_attn)
        layer.self_attention_norm = deepcopy(module.norm1)
        layer.feed_forward.W_1, layer.feed_forward.W_2 = deepcopy(module.linear1), deepcopy(module.linear2)
        layer.feed_forward_norm = deepcopy(module.norm2)
        return layer.train(module.training)


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to what the encoder has read, then a feed-forward network.

        x = x + self_attention(norm(x))               a token sees itself and those before it
        x = x + cross_attention(norm(x), memory)      queries from the target, keys and values from the source
        x = x + feed_forward(norm(x))

    The arguments are those of ``EncoderLayer``. Elsewhere: ``nn.TransformerDecoderLayer`` with
    ``norm_first=True``; d2l's ``TransformerDecoderBlock`` (post-norm).
    """

    def __init__(
        self, num_hiddens: int, num_heads: int, ffn_num_hiddens: int, dropout: float = 0.0, bias: bool = False
    ):
        super().__init__()
        self.self_attention = MultiHeadAttention(num_hiddens, num_heads, dropout, bias)
        self.cross_attention = MultiHeadAttention(num_hiddens, num_heads, dropout, bias)
        self.feed_forward = FeedForward(num_hiddens, ffn_num_hiddens, dropout)
        self.self_attention_norm = nn.LayerNorm(num_hiddens)
        self.cross_attention_norm = nn.LayerNorm(num_hiddens)
        self.feed_forward_norm = nn.LayerNorm(num_hiddens)
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
        self_cache, cross_cache = caches or (None, None)
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
            memory[:, :0] if cross_cache else memory,  # the cache holds the memory already
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
        """The same layer as an ``nn.TransformerDecoderLayer``, with copies of its parameters.

        Raises TypeError for another class, ValueError unless it has ``norm_first=True`` and a ReLU.
        """
        check_convertible(module, nn.TransformerDecoderLayer)
        with torch.device("meta"):  # the parameters come from the module
            layer = cls(module.self_attn.embed_dim, module.self_attn.num_heads, 1, module.dropout.p)
        layer.self_attention = MultiHeadAttention.from_torch(module.self_attn)
        layer.cross_attention = MultiHeadAttention.from_torch(module.multihead_attn)
        layer.feed_forward.W_1, layer.feed_forward.W_2 = deepcopy(module.linear1), deepcopy(module.linear2)
        layer.self_attention_norm = deepcopy(module.norm1)
        layer.cross_attention_norm = deepcopy(module.norm2)
        layer.feed_forward_norm = deepcopy(module.norm3)
        return layer.train(module.training)


class EncoderDecoder(nn.Module):
    """Reads a source and writes a target, token by token.

        memory = encoder layers (embedding(source) + positions)                        (B, S, D)
        logits = decoder layers (embedding(target) + positions, memory) W_logits       (B, T, V)

    ``logits[:, t]`` say which token comes after ``target[:, : t + 1]``. Every token is an integer.

    source_vocab_size  how many tokens the source may choose from
    target_vocab_size  V, how many tokens the target may choose from
    num_layers         L, of the encoder and of the decoder
    The other arguments are those of ``EncoderLayer``.

    Raises ValueError or TypeError for sizes and probabilities that make no model.

    Source: Vaswani et al. 2017, figure 1, with pre-norm layers and therefore a norm after the last of them.
    Elsewhere: ``nn.Transformer``, which has neither embeddings nor logits.
    """

    def __init__(
        self,
        source_vocab_size: int,
        target_vocab_size: int,
        num_hiddens: int,
        num_heads: int,
        ffn_num_hiddens: int,
        num_layers: int = 1,
        dropout: float = 0.0,
        bias: bool = False,
    ):
        super().__init__()
        sizes = (num_hiddens, num_heads, ffn_num_hiddens, dropout, bias)
        layers = range(checks.checked_size("num_layers", num_layers))
        self.encoder_layers = nn.ModuleList(EncoderLayer(*sizes) for _ in layers)
        self.decoder_layers = nn.ModuleList(DecoderLayer(*sizes) for _ in layers)
        self.encoder_norm = nn.LayerNorm(num_hiddens)
        self.decoder_norm = nn.LayerNorm(num_hiddens)
        self.source_embedding = nn.Embedding(
            checks.checked_size("source_vocab_size", source_vocab_size), num_hiddens
        )
        self.target_embedding = nn.Embedding(
            checks.checked_size("target_vocab_size", target_vocab_size), num_hiddens
        )
        self.W_logits = nn.Linear(num_hiddens, target_vocab_size)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        source: Tensor,
        target: Tensor,
        source_mask: Tensor | None = None,
        *,
        need_weights: bool = False,
        head_masks: ByAttention | None = None,
    ) -> Tensor | tuple[Tensor, ByAttention]:
        """
        source       ``(B, S)``, integers
        target       ``(B, T)``, integers; the first of them marks the beginning of a target
        source_mask  ``(B, S)``, boolean, True = may be attended to: False for padding
        head_masks   for each layer of each attention ``(H,)`` or ``(B, H)``: scales the output of each head

        Returns the logits ``(B, T, V)``; with ``need_weights=True`` the weights of all heads too.
        Raises ValueError or TypeError for arguments that don't fit.
        """
        encoded = self.encode(source, source_mask, need_weights=need_weights, head_masks=head_masks)
        memory, *encoder_weights = encoded if need_weights else [encoded]
        decoded = self.decode(target, memory, source_mask, need_weights=need_weights, head_masks=head_masks)
        logits, *decoder_weights = decoded if need_weights else [decoded]
        return (logits, ByAttention(*encoder_weights, *decoder_weights)) if need_weights else logits

    def encode(
        self,
        source: Tensor,
        source_mask: Tensor | None = None,
        *,
        need_weights: bool = False,
        head_masks: ByAttention | None = None,
    ) -> Any:
        """``(B, S) -> (B, S, D)``, the memory; with ``need_weights=True`` the weights of each layer too."""
        checks.check_token_numbers("source", source, self.source_embedding)
        if source_mask is not None:
            checks.check_source_mask(source_mask, source)
        x = self.embed(source, self.source_embedding)  # (B, S, D)
        masks = checked_head_masks("encoder", head_masks, len(self.encoder_layers))
        all_weights: list[Tensor] = []
        for layer, head_mask in zip(self.encoder_layers, masks, strict=True):
            encoded = layer(x, source_mask, head_mask=head_mask, need_weights=need_weights)
            x, *weights = encoded if need_weights else [encoded]
            all_weights += weights
        memory = self.encoder_norm(x)
        return (memory, all_weights) if need_weights else memory

    def decode(
        self,
        target: Tensor,
        memory: Tensor,
        source_mask: Tensor | None = None,
        *,
        is_causal: bool = True,
        need_weights: bool = False,
        head_masks: ByAttention | None = None,
        cache: "DecoderCache | None" = None,
    ) -> Any:
        """``(B, T) -> (B, T, V)``, the logits; with ``need_weights=True`` the weights of each layer too.

        With a ``cache``, ``target`` holds the tokens that follow those of earlier calls. Without
        ``is_causal`` a token also sees the later tokens, which it should predict.
        """
        checks.check_token_numbers("target", target, self.target_embedding)
        x = self.embed(target, self.target_embedding, start=0 if cache is None else len(cache))  # (B, T, D)
        self_masks, cross_masks = (
            checked_head_masks(name, head_masks, len(self.decoder_layers)) for name in ("decoder", "cross")
        )
        all_self_weights: list[Tensor] = []
        all_cross_weights: list[Tensor] = []
        for number, layer in enumerate(self.decoder_layers):
            decoded = layer(
                x,
                memory,
                source_mask,
                is_causal=is_causal,
                head_masks=(self_masks[number], cross_masks[number]),
                caches=None if cache is None else cache.layers[number],
                need_weights=need_weights,
            )
            x, *weights = decoded if need_weights else [decoded]
            all_self_weights += weights[:1]
            all_cross_weights += weights[1:]
        logits = self.W_logits(self.decoder_norm(x))
        return (logits, all_self_weights, all_cross_weights) if need_weights else logits

    @torch.no_grad()
    def generate(
        self,
        source: Tensor,
        source_mask: Tensor | None = None,
        *,
        begin: int,
        end: int,
        max_tokens: int,
        head_masks: ByAttention | None = None,
    ) -> Tensor:
        """Greedy decoding: take the likeliest token, and give it back as the next input.

        begin, end   the tokens with which a target begins and ends
        max_tokens   where to stop a target that doesn't end

        Returns ``(B, N)`` with N at most ``max_tokens``, without ``begin``; after its end a target is filled
        with ``end``. Dropout is active unless the model is in eval mode.

        Elsewhere: ``generate(do_sample=False)`` (Hugging Face).
        """
        checks.checked_size("max_tokens", max_tokens)
        memory = self.encode(source, source_mask, head_masks=head_masks)  # (B, S, D)
        cache = DecoderCache(self, memory, max_tokens)
        token = torch.full_like(source[:, :1], begin)  # (B, 1)
        ended = torch.zeros_like(token, dtype=torch.bool)
        tokens: list[Tensor] = []
        while len(tokens) < max_tokens and not ended.all():
            logits = self.decode(token, memory, source_mask, cache=cache, head_masks=head_masks)  # (B, 1, V)
            token = logits.argmax(dim=-1).masked_fill(ended, end)  # (B, 1)
            ended = ended | (token == end)
            tokens.append(token)
        return torch.cat(tokens, dim=1)

    def embed(self, tokens: Tensor, embedding: nn.Embedding, start: int = 0) -> Tensor:
        """``(B, N) -> (B, N, D)``: a vector for each token and one for its position, from ``start`` on."""
        positions = sinusoidal_positions(start + tokens.shape[1], embedding.embedding_dim)[start:]  # (N, D)
        return self.dropout(embedding(tokens) + positions.to(embedding.weight))


class DecoderCache:
    """The keys and values that an ``EncoderDecoder`` keeps while it writes: two ``KVCache`` for each layer.

    model       the ``EncoderDecoder``
    memory      ``(B, S, D)``, the output of its encoder; its keys and values are computed once
    max_tokens  how many target tokens fit in

    ``len(cache)`` tells how many target tokens it holds::

        memory = model.encode(source)
        cache = DecoderCache(model, memory, max_tokens)
        with torch.no_grad():
            for token in target.split(1, dim=1):  # (B, 1) each
                logits = model.decode(token, memory, cache=cache)  # (B, 1, V)
    """

    def __init__(self, model: EncoderDecoder, memory: Tensor, max_tokens: int):
        batch, num_source_tokens = memory.shape[:2]
        self.layers = [
            (
                KVCache(layer.self_attention, batch, max_tokens),
                KVCache(layer.cross_attention, batch, num_source_tokens),
            )
            for layer in cast(Iterable[DecoderLayer], model.decoder_layers)
        ]

    def __len__(self) -> int:
        return len(self.layers[0][0])


def check_convertible(module: nn.Module, expected: type[nn.Module]) -> None:
    """The module must be one of PyTorch's layers, built as ours are: norms first, and a ReLU."""
    checks.check_torch_module(module, expected)
    if not module.norm_first:
        raise ValueError(
            "module must norm before each sum, norm_first=True, got norm_first=False; "
            "a layer trained one way does not work the other way"
        )
    if module.activation is not nn.functional.relu and not isinstance(module.activation, nn.ReLU):
        raise ValueError(f"the activation of module must be a ReLU, got {module.activation}")


def checked_head_masks(
    attention: str, head_masks: ByAttention | None, num_layers: int
) -> Sequence[Tensor | None]:
    """Return the head masks of one attention, one for each layer; None for each if there are none."""
    if head_masks is None:
        return [None] * num_layers
    masks = getattr(head_masks, attention, None)
    if masks is None or isinstance(masks, Tensor) or len(masks) != num_layers:
        came = type(head_masks).__name__ if masks is None else type(masks).__name__
        came += "" if masks is None else f" of length {len(masks)}"
        raise ValueError(
            f"head_masks must be a ByAttention whose {attention} holds a mask for each of the {num_layers} "
            f"layers, got {came}; try ByAttention([mask] * {num_layers}, …)"
        )
    return masks
