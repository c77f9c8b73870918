"""Measure what each head of a translator does, and what the translations become without it.

Heads are named by their place: ``Head("cross", 0, 2)`` is the third head of the cross-attention of the first
decoder layer. A measure of all heads is a ``ByAttention`` with ``(H,)`` for each layer of each attention.
"""

import copy
from collections.abc import Iterable
from typing import Any, cast

import torch
from torch import Tensor, nn

from mha_lib import ByAttention, EncoderDecoder, MultiHeadAttention
from mha_lib.classroom.heads.changes import Change, Head, change_weights, checked_heads, entropy
from mha_lib.classroom.trainings.threads import one_thread
from mha_lib.classroom.translator.data import PADDING, Batch
from mha_lib.classroom.translator.model import device_of, translation_loss
from mha_lib.classroom.translator.numerals import alignment

# Where the attention of each layer stands in a model.
PLACES = {
    "encoder": "encoder_layers.{}.self_attention",
    "decoder": "decoder_layers.{}.self_attention",
    "cross": "decoder_layers.{}.cross_attention",
}


def attention_layers(model: EncoderDecoder) -> dict[str, list[MultiHeadAttention]]:
    """Return the attention of each layer, by name."""
    layers = range(len(model.encoder_layers))  # there are as many decoder layers
    return {
        name: [cast(MultiHeadAttention, model.get_submodule(place.format(layer))) for layer in layers]
        for name, place in PLACES.items()
    }


def by_head(measure: ByAttention) -> list[tuple[Head, Tensor]]:
    """Return every head with its value: a view, which can be filled."""
    return [
        (Head(name, number, head), value)
        for name, layers in measure._asdict().items()
        for number, values in enumerate(layers)
        for head, value in enumerate(values)
    ]


def all_heads(model: EncoderDecoder) -> list[Head]:
    return [
        Head(name, number, head)
        for name, layers in attention_layers(model).items()
        for number, layer in enumerate(layers)
        for head in range(layer.num_heads)
    ]


def head_masks_without(model: EncoderDecoder, removed: Iterable[Head] = ()) -> ByAttention:
    """Return head masks of ones, with 0 for the heads that are removed."""
    masks = {
        name: [torch.ones(layer.num_heads, device=device_of(model)) for layer in layers]
        for name, layers in attention_layers(model).items()
    }
    for attention, layer, head in checked_heads(removed, all_heads(model)):
        masks[attention][layer][head] = 0
    return ByAttention(**masks)


@one_thread()
def weights_of(model: EncoderDecoder, batch: Batch) -> ByAttention:
    """Return the weights of all heads while the model is given the right numerals, as in training.

    encoder ``(B, H, S, S)``, decoder ``(B, H, T, T)`` and cross ``(B, H, T, S)``, for each layer. Row t
    predicts numeral t from the token before it: row 0 belongs to ``<bos>``.
    """
    with torch.no_grad():
        _, weights = model(batch.source, batch.target[:, :-1], batch.source_mask, need_weights=True)
    return weights


@one_thread()
@torch.no_grad()
def importance_by_removal(model: EncoderDecoder, batch: Batch) -> ByAttention:
    """How much the loss grows without each head; Michel et al. 2019, section 3.2, measure BLEU instead."""
    importance = head_masks_without(model)  # only for its shape
    loss = translation_loss(model, batch)
    for head, value in by_head(importance):
        value.fill_(translation_loss(model, batch, head_masks_without(model, [head])) - loss)
    return importance


@one_thread()
def importance_by_gradient(model: EncoderDecoder, batch: Batch) -> ByAttention:
    """How much the loss would change if each head were turned down a little: mean of |∂loss / ∂ξ|.

    ξ is the head mask, 1 for every head. Each number has a derivative of its own, so numbers that pull in
    opposite directions do not cancel.

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
    """How widely each head looks, in nats: 0 for a single key, log n for n equal keys.

    The mean over all queries but padding.
    """
    of_source, of_target = batch.source_mask, batch.target[:, 1:] != PADDING  # (B, S) and (B, T)
    return ByAttention(
        *(
            [entropy(weights).movedim(-1, 1)[counted].mean(0) for weights in layers]
            for layers, counted in zip(
                weights_of(model, batch), (of_source, of_target, of_target), strict=True
            )
        )
    )


def alignment_scores(model: EncoderDecoder, batch: Batch) -> list[Tensor]:
    """The share of its weight that each head of the cross-attention puts on the right word: ``(H,)`` a layer.

    The right word is the source of the numeral that is being predicted. Numerals without a source (万, and 零
    inside) and "<eos>" are left out. ``chance_of_alignment`` is the score of even weights.
    """
    sample, row, word = true_alignment(batch)
    return [weights[sample, :, row, word].mean(0) for weights in weights_of(model, batch).cross]


def chance_of_alignment(batch: Batch) -> float:
    """The alignment score of a head that looks evenly at all words."""
    sample, _, _ = true_alignment(batch)
    return (1 / batch.source_mask.sum(1)[sample]).mean().item()


def true_alignment(batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """For each numeral that comes from a word, return its sample, its row and the column of the word."""
    found = [
        (sample, row, word)
        for sample, number in enumerate(batch.numbers)
        for row, word in enumerate(alignment(number))
        if word is not None
    ]
    sample, row, word = torch.tensor(found, device=batch.source.device).unbind(1)
    return sample, row, word


def least_important_first(importance: ByAttention) -> list[Head]:
    return [head for _, head in sorted((value.item(), head) for head, value in by_head(importance))]


def with_changed_weights(model: EncoderDecoder, heads: Iterable[Head], change: Change) -> EncoderDecoder:
    """Return a copy of the model in which these heads have other weights: ``evened``, ``permuted``, …

    If weights explain what a model does, other weights should make it do something else.
    Source: Jain and Wallace 2019, section 4.2, permute; Wiegreffe and Pinter 2019 discuss what follows.
    """
    named, changed = checked_heads(heads, all_heads(model)), copy.deepcopy(model)
    for name, layers in attention_layers(changed).items():
        for number, layer in enumerate(layers):
            if chosen := [head.head for head in named if head[:2] == (name, number)]:
                change_heads(layer, chosen, change)
    return changed


def change_heads(layer: MultiHeadAttention, heads: list[int], change: Change) -> None:
    """Make every call of the layer change the weights of these heads, after what the call changes itself."""

    def add_change(layer: nn.Module, inputs: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        before = options.get("change_weights") or (lambda weights, allowed: weights)

        def after(weights: Tensor, allowed: Tensor) -> Tensor:
            return change_weights(before(weights, allowed), allowed, heads, change)

        return inputs, options | {"change_weights": after}

    layer.register_forward_pre_hook(add_change, with_kwargs=True)
