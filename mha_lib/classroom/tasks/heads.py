"""What each head of a translator does, and what becomes of the translations without it.

Heads are named by where they are: ``Head("cross", 0, 2)`` is the third head of the cross-attention of the
first decoder layer. A measure of all heads is a ``ByAttention``: for each layer of each attention ``(H,)``.
"""

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from mha_lib import (
    ByAttention,
    EncoderDecoder,
    MultiHeadAttention,
    causal_mask,
    merge_heads,
    prune_heads,
    split_heads,
)
from mha_lib.classroom.tasks.data import PADDING, Batch
from mha_lib.classroom.tasks.numerals import alignment
from mha_lib.classroom.tasks.threads import one_thread
from mha_lib.classroom.tasks.translator import device_of, exact_matches, translation_loss

ATTENTIONS = ByAttention._fields  # encoder, decoder, cross


class Head(NamedTuple):
    """Where a head is."""

    attention: str
    layer: int
    head: int


def attention_layers(model: EncoderDecoder) -> dict[str, list[MultiHeadAttention]]:
    """The attentions themselves, by name, one for each layer."""
    decoder_layers = cast(Iterable[Any], model.decoder_layers)
    return {
        "encoder": [layer.self_attention for layer in cast(Iterable[Any], model.encoder_layers)],
        "decoder": [layer.self_attention for layer in decoder_layers],
        "cross": [layer.cross_attention for layer in decoder_layers],
    }


def all_heads(model: EncoderDecoder) -> list[Head]:
    return [
        Head(name, number, head)
        for name, layers in attention_layers(model).items()
        for number, layer in enumerate(layers)
        for head in range(layer.num_heads)
    ]


def head_masks_without(model: EncoderDecoder, removed: Iterable[Head] = ()) -> ByAttention:
    """Head masks of ones, with 0 for the heads that are removed."""
    masks = {
        name: [torch.ones(layer.num_heads, device=device_of(model)) for layer in layers]
        for name, layers in attention_layers(model).items()
    }
    for attention, layer, head in removed:
        masks[attention][layer][head] = 0
    return ByAttention(**masks)


@one_thread()
def weights_of(model: EncoderDecoder, batch: Batch) -> ByAttention:
    """The weights of all heads while the right numerals are given, as in training.

    encoder ``(B, H, S, S)``, decoder ``(B, H, T, T)`` and cross ``(B, H, T, S)``, for each layer. Row t is
    that of the numeral before the one that it predicts: row 0 is that of ``<bos>``.
    """
    with torch.no_grad():
        _, weights = model(batch.source, batch.target[:, :-1], batch.source_mask, need_weights=True)
    return weights


@one_thread()
@torch.no_grad()
def importance_by_removal(model: EncoderDecoder, batch: Batch) -> ByAttention:
    """By how much the loss grows without each head, as Michel et al. 2019, section 3.2, ask of BLEU."""
    importance = head_masks_without(model)  # only for its shape
    loss = translation_loss(model, batch)
    for head in all_heads(model):
        without = translation_loss(model, batch, head_masks_without(model, [head]))
        getattr(importance, head.attention)[head.layer][head.head] = without - loss
    return importance


@one_thread()
def importance_by_gradient(model: EncoderDecoder, batch: Batch) -> ByAttention:
    """How much the loss would change if each head were turned down a little: mean of |∂loss / ∂ξ|.

    ξ is the head mask, 1 for every head. The derivative is taken for each number by itself, so that numbers
    that pull in opposite directions do not cancel.

    Source: Michel et al. 2019, section 4.1, equation 2; they then divide by the l2 norm over each layer.
    """
    masks = [
        [mask.repeat(len(batch.numbers), 1).requires_grad_() for mask in layers]  # (B, H)
        for layers in head_masks_without(model)
    ]
    loss = translation_loss(model, batch, ByAttention(*masks))
    gradients = iter(torch.autograd.grad(loss, [mask for layers in masks for mask in layers]))
    return ByAttention(*([next(gradients).abs().sum(0) for _ in layers] for layers in masks))


def entropies(model: EncoderDecoder, batch: Batch) -> ByAttention:
    """How widely each head looks, in nats: 0 on a single key, log n evenly on n. Padding is left out."""
    return averages(model, batch, lambda weights: -torch.special.xlogy(weights, weights).sum(-1))


def similarities(model: EncoderDecoder, batch: Batch) -> ByAttention:
    """How alike the heads of a layer are, ``(H, H)``: from 0, no key in common, to 1, the same weights.

    It is 1 less half the sum of the differences of their weights, for each query, and then the mean.
    """

    def overlap(weights: Tensor) -> Tensor:
        return 1 - (weights[:, :, None] - weights[:, None]).abs().sum(-1) / 2  # (B, H, H, Q)

    return averages(model, batch, overlap)


def averages(model: EncoderDecoder, batch: Batch, measure: Callable[[Tensor], Tensor]) -> ByAttention:
    """The mean over all queries but padding of what ``measure`` makes of ``(B, H, Q, K)``: ``(B, …, Q)``."""
    of_source, of_target = batch.source_mask, batch.target[:, 1:] != PADDING  # (B, S) and (B, T)
    found = []
    for layers, counted in zip(weights_of(model, batch), (of_source, of_target, of_target), strict=True):
        measured = [measure(weights).movedim(-1, 1) for weights in layers]  # (B, Q, …) each
        found.append([values[counted].mean(0) for values in measured])
    return ByAttention(*found)


def alignment_scores(model: EncoderDecoder, batch: Batch) -> list[Tensor]:
    """What share of its weight each head of the cross-attention has on the right word: ``(H,)`` a layer.

    The right word is that from which the numeral comes that is being predicted. Numerals that come from no
    word, 万 and 零 inside, and "<eos>" are left out. ``chance_of_alignment`` is what even weights would have.
    """
    sample, row, word = true_alignment(batch)
    return [weights[sample, :, row, word].mean(0) for weights in weights_of(model, batch).cross]


def chance_of_alignment(batch: Batch) -> float:
    """The alignment score of a head that looks evenly at all words."""
    sample, _, _ = true_alignment(batch)
    return (1 / batch.source_mask.sum(1)[sample]).mean().item()


def true_alignment(batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """For each numeral that comes from a word: its sample, its row in the weights, and the word's column."""
    found = [
        (sample, row, word)
        for sample, number in enumerate(batch.numbers)
        for row, word in enumerate(alignment(number))
        if word is not None
    ]
    sample, row, word = torch.tensor(found, device=batch.source.device).unbind(1)
    return sample, row, word


def pruning_curve(model: EncoderDecoder, numbers: Iterable[int], order: Sequence[Head]) -> list[float]:
    """The share of exact matches with all heads, without the first of ``order``, without the first two, …"""
    numbers = [int(number) for number in numbers]
    masks = [head_masks_without(model, order[:removed]) for removed in range(len(order) + 1)]
    return [exact_matches(model, numbers, mask).float().mean().item() for mask in masks]


def least_important_first(importance: ByAttention) -> list[Head]:
    found = [
        (value.item(), Head(name, number, head))
        for name, layers in zip(ATTENTIONS, importance, strict=True)
        for number, values in enumerate(layers)
        for head, value in enumerate(values)
    ]
    return [head for _, head in sorted(found)]


def prune_model(model: EncoderDecoder, removed: Iterable[Head]) -> EncoderDecoder:
    """A copy that really lacks these heads: smaller, and equal to the model with their head masks at 0.

    Every layer keeps at least one head; ``prune_heads`` says so otherwise.
    """
    removed, pruned = set(removed), copy.deepcopy(model)
    for name, layers in attention_layers(model).items():
        for number, layer in enumerate(layers):
            keep = [head for head in range(layer.num_heads) if Head(name, number, head) not in removed]
            put_attention(pruned, name, number, prune_heads(layer, keep))
    return pruned


def with_fewer_kv_heads(model: EncoderDecoder, num_kv_heads: int) -> EncoderDecoder:
    """A copy in which each attention has so many key-value heads: the means of those of the model.

    A start for further training, not the same function. Source: Ainslie et al. 2023, section 2.1.
    """
    converted = copy.deepcopy(model)
    for name, layers in attention_layers(model).items():
        for number, layer in enumerate(layers):
            pooled = MultiHeadAttention.from_multi_head(layer, num_kv_heads)
            put_attention(converted, name, number, pooled)
    return converted


def put_attention(model: EncoderDecoder, name: str, layer: int, attention: MultiHeadAttention) -> None:
    layers = model.encoder_layers if name == "encoder" else model.decoder_layers
    setattr(layers[layer], "cross_attention" if name == "cross" else "self_attention", attention)


# From weights and what may be attended to, (B, Q, K) both, to other weights.
Change = Callable[[Tensor, Tensor], Tensor]


def evened(weights: Tensor, allowed: Tensor) -> Tensor:
    """The same weight for every key that may be attended to."""
    return allowed.to(weights.dtype) / allowed.sum(-1, keepdim=True)


def permuted(weights: Tensor, allowed: Tensor) -> Tensor:
    """The same weights, dealt out at random among the keys that may be attended to."""
    in_order = (~allowed).long().argsort(dim=-1, stable=True)  # those allowed first
    at_random = torch.rand_like(weights).masked_fill(~allowed, 2).argsort(-1)
    return torch.zeros_like(weights).scatter(-1, in_order, weights.gather(-1, at_random))


class ChangedAttention(MultiHeadAttention):
    """An attention in which the weights of some heads are changed before they meet the values."""

    def __init__(self, layer: MultiHeadAttention, heads: list[int], change: Change):
        super().__init__(layer.num_hiddens, layer.num_heads, head_dim=layer.head_dim)
        self.load_state_dict(layer.state_dict())
        self.to(layer.W_q.weight.device)
        self.heads, self.change = heads, change

    def forward(self, queries: Tensor, keys: Tensor | None = None, **options: Any) -> Any:  # type: ignore[override]
        """Takes what the layers of a translator give."""
        need_weights, head_mask = options.pop("need_weights"), options.pop("head_mask")
        cache = options.get("cache")
        _, weights = super().forward(queries, keys, need_weights=True, **options)
        allowed = torch.ones_like(weights[:, 0], dtype=torch.bool)  # (B, Q, K)
        if options.get("is_causal"):
            allowed &= causal_mask(*allowed.shape[1:]).to(allowed.device)
        if options.get("key_mask") is not None:
            allowed &= options["key_mask"][:, None]
        for head in self.heads:
            weights[:, head] = self.change(weights[:, head], allowed)
        if cache is None:
            values = split_heads(self.W_v(queries if keys is None else keys), self.num_heads)
        else:
            values = cache.values[:, :, : len(cache)]  # (B, H, K, d)
        mixed = weights @ values  # (B, H, Q, d)
        if head_mask is not None:
            mixed = mixed * head_mask[..., None, None]
        output = self.W_o(merge_heads(mixed))
        return (output, weights) if need_weights else output


def with_changed_weights(model: EncoderDecoder, heads: Iterable[Head], change: Change) -> EncoderDecoder:
    """A copy of the model in which the weights of these heads are changed: ``evened``, ``permuted``, …

    If weights explain what a model does, other weights should make it do something else.
    Source: Jain and Wallace 2019, section 4.2, permute; Wiegreffe and Pinter 2019 discuss what follows.
    """
    heads, changed = list(heads), copy.deepcopy(model)
    for name, layers in attention_layers(model).items():
        for number, layer in enumerate(layers):
            chosen = [head.head for head in heads if (head.attention, head.layer) == (name, number)]
            if chosen:
                put_attention(changed, name, number, ChangedAttention(layer, chosen, change))
    return changed
