"""An encoder-decoder made of transformer layers: it reads a source and writes a target.

The shape letters are those of ``transformer.py``, and one more:

    V  tokens that the target may choose from, its vocabulary
"""

import copy
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from mha_lib import checks
from mha_lib.cache import KVCache, UnchangedByErrors
from mha_lib.positions import waves_like
from mha_lib.transformer import DecoderLayer, EncoderLayer


class ByAttention(NamedTuple):
    """One tensor for each layer of each of the three attentions: all weights, or all head masks.

    encoder  self-attention of the source, L tensors: weights ``(B, H, S, S)``, or head masks ``(H,)``
    decoder  self-attention of the target, L tensors: weights ``(B, H, T, T)``, or head masks ``(H,)``
    cross    from the target to the source, L tensors: weights ``(B, H, T, S)``, or head masks ``(H,)``
    """

    encoder: Sequence[Tensor]
    decoder: Sequence[Tensor]
    cross: Sequence[Tensor]


class EncoderDecoder(nn.Module):
    """Reads a source and writes a target, token by token.

        memory = encoder layers (embedding(source) + positions)                        (B, S, D)
        logits = decoder layers (embedding(target) + positions, memory) W_logits       (B, T, V)

    ``logits[:, t]`` say which token comes after ``target[:, : t + 1]``. Every token is an integer.

    source_vocab_size  how many tokens the source may choose from
    target_vocab_size  V, how many tokens the target may choose from
    num_hiddens        D; even unless ``rotary``, since positions are pairs of a sine and a cosine
    num_layers         L, of the encoder and of the decoder
    options            those of ``EncoderLayer`` from ``head_dim`` on. With ``rotary`` no positions are added
                       to the embeddings
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
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        **options: Any,
    ):
        super().__init__()
        place: Any = {"device": device, "dtype": dtype}
        sizes = (num_hiddens, num_heads, ffn_num_hiddens, dropout, bias)
        layers = range(checks.checked_size("num_layers", num_layers))
        checks.checked_size("num_hiddens", num_hiddens)
        self.adds_positions = not options.get("rotary", False)
        if self.adds_positions:
            checks.check_even("num_hiddens", num_hiddens)
        checks.checked_size("source_vocab_size", source_vocab_size)
        checks.checked_size("target_vocab_size", target_vocab_size)
        options |= place
        self.encoder_layers = nn.ModuleList(EncoderLayer(*sizes, **options) for _ in layers)
        self.decoder_layers = nn.ModuleList(DecoderLayer(*sizes, **options) for _ in layers)
        norm = options.get("norm", nn.LayerNorm)
        self.encoder_norm, self.decoder_norm = norm(num_hiddens, **place), norm(num_hiddens, **place)
        self.source_embedding = nn.Embedding(source_vocab_size, num_hiddens, **place)
        self.target_embedding = nn.Embedding(target_vocab_size, num_hiddens, **place)
        self.W_logits = nn.Linear(num_hiddens, target_vocab_size, **place)
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
        checks.check_tokens("memory", memory, self.W_logits.in_features, "num_hiddens", self.W_logits)
        if source_mask is not None:
            checks.check_source_mask(source_mask, memory)
        if cache is not None:
            checks.check_class("cache", cache, DecoderCache, "try DecoderCache(model, memory, max_tokens)")
        x = self.embed(target, self.target_embedding, 0 if cache is None else cache.num_seen)  # (B, T, D)
        self_masks, cross_masks = (
            checked_head_masks(name, head_masks, len(self.decoder_layers)) for name in ("decoder", "cross")
        )
        all_self_weights: list[Tensor] = []
        all_cross_weights: list[Tensor] = []
        with UnchangedByErrors([] if cache is None else cache.all):
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
        end: int | None,
        max_tokens: int,
        head_masks: ByAttention | None = None,
    ) -> Tensor:
        """Greedy decoding: take the likeliest token, and give it back as the next input.

        begin, end   the tokens with which a target begins and ends; end None: no target ends
        max_tokens   where to stop a target that doesn't end

        Returns ``(B, N)`` with N at most ``max_tokens``, without ``begin``; after its end a target is filled
        with ``end``. Dropout is active unless the model is in eval mode.

        Elsewhere: ``generate(do_sample=False)`` (Hugging Face).
        """
        checks.checked_size("max_tokens", max_tokens)
        checks.check_token_number("begin", begin, self.target_embedding)
        if end is not None:
            checks.check_token_number("end", end, self.target_embedding)
        checks.check_token_numbers("source", source, self.source_embedding)
        checks.check_not_empty("source", source)
        memory = self.encode(source, source_mask, head_masks=head_masks)  # (B, S, D)
        cache = DecoderCache(self, memory, max_tokens)
        token = torch.full_like(source[:, :1], begin)  # (B, 1)
        ended = torch.zeros_like(token, dtype=torch.bool)
        tokens: list[Tensor] = []
        while len(tokens) < max_tokens and not ended.all():
            logits = self.decode(token, memory, source_mask, cache=cache, head_masks=head_masks)  # (B, 1, V)
            token = logits.argmax(dim=-1)  # (B, 1)
            if end is not None:
                token = token.masked_fill(ended, end)
                ended = ended | (token == end)
            tokens.append(token)
        return torch.cat(tokens, dim=1)

    def embed(self, tokens: Tensor, embedding: nn.Embedding, start: int = 0) -> Tensor:
        """``(B, N) -> (B, N, D)``: a vector for each token and one for its position, from ``start`` on."""
        embedded = embedding(tokens)  # (B, N, D)
        return self.dropout(embedded + waves_like(embedded, start) if self.adds_positions else embedded)


class DecoderCache:
    """The keys and values that an ``EncoderDecoder`` keeps while it writes: two ``KVCache`` for each layer.

    model       the ``EncoderDecoder``
    memory      ``(B, S, D)``, the output of its encoder; its keys and values are computed once
    max_tokens  how many target tokens fit in

    ``len(cache)`` tells how many target tokens it holds; ``crop``, ``reorder``, ``reset`` and ``copy`` are
    those of ``KVCache``; ``crop`` and ``reset`` are of the target alone::

        memory = model.encode(source)
        cache = DecoderCache(model, memory, max_tokens)
        with torch.no_grad():
            for token in target.split(1, dim=1):  # (B, 1) each
                logits = model.decode(token, memory, cache=cache)  # (B, 1, V)
    """

    def __init__(self, model: EncoderDecoder, memory: Tensor, max_tokens: int):
        checks.check_class("model", model, EncoderDecoder, "its decoder makes the cache")
        checks.check_tokens("memory", memory, model.W_logits.in_features, "num_hiddens", model.W_logits)
        batch, num_source_tokens = memory.shape[:2]
        self.layers = [
            (
                KVCache(layer.self_attention, batch, max_tokens),
                KVCache(layer.cross_attention, batch, num_source_tokens),
            )
            for layer in cast(Iterable[DecoderLayer], model.decoder_layers)
        ]

    @property
    def all(self) -> list[KVCache]:
        """The caches of all layers."""
        return [cache for pair in self.layers for cache in pair]

    @property
    def num_seen(self) -> int:
        """The position of the next target token."""
        return self.layers[0][0].num_seen

    def __len__(self) -> int:
        return len(self.layers[0][0])

    def __getstate__(self) -> dict[str, Any]:
        return {"layers": [(own.copy(), cross.copy()) for own, cross in self.layers]}

    def copy(self) -> "DecoderCache":
        """Another cache that holds the same tokens, in memory of its own."""
        return copy.copy(self)

    def reset(self) -> None:
        """Forget the target; the memory stays, for another target of the same source."""
        for cache, _ in self.layers:
            cache.reset()

    def crop(self, num_tokens: int) -> None:
        """Keep the first ``num_tokens`` target tokens, as ``KVCache.crop`` does."""
        with UnchangedByErrors(self.all):
            for cache, _ in self.layers:
                cache.crop(num_tokens)

    def reorder(self, index: Tensor) -> None:
        """Make sample i go on from sample ``index[i]``, as ``KVCache.reorder`` does: for beam search.

        The later calls get ``memory[index]`` and, if there is one, ``source_mask[index]``.
        """
        with UnchangedByErrors(self.all):
            for cache in self.all:
                cache.reorder(index)

    __bool__ = KVCache.__bool__


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
