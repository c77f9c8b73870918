"""Which heads bring an answer back: each writes, alone, what it writes in another text."""

from typing import NamedTuple

import torch
from torch import Tensor

from mha_lib import KVCache, LanguageModel
from mha_lib.classroom.heads.shares import check_model, replacing, rows_of, run


class PatchMap(NamedTuple):
    """The share of the answer's lead that comes back by each head."""

    recovered: Tensor  # (B, L, H), 0 as in the corrupted text, 1 as in the clean one; NaN where no head is
    clean: Tensor  # (B,), the lead in the clean text
    corrupted: Tensor  # (B,)


@torch.no_grad()
def patch_map(
    model: LanguageModel, clean: Tensor, corrupted: Tensor, answers: Tensor, place: int | None = None
) -> PatchMap:
    """Return how much of an answer's lead comes back when a head writes what it writes in the clean text.

        lead = logit of answers[:, 0] − logit of answers[:, 1], at the last token
        recovered = (lead with a head's clean output − corrupted lead) / (clean lead − corrupted lead)

    clean, corrupted  (B, N), texts that differ in the tokens that decide the answer
    answers           (B, 2), the token that follows in the clean text, and the one in the corrupted text
    place             the token at which a head is patched, negative: from the end; None: at all tokens

    A pair of texts takes one pass, with a row for each head. All rows share the tokens before the first one
    that a patch may change, and each row begins in the layer of its head.

    Raises TypeError or ValueError for another model, texts of two shapes, an unknown place, and for answers
    whose lead is the same in both texts.

    Source: Meng et al. 2022 (causal tracing); Wang et al. 2022 (heads).
    """
    check_model(model)
    check_pairs(clean, corrupted, answers, place)
    kept = run(model, clean)
    before = leads_at(model, kept.x[:, -1], answers)  # (B,)
    found = [
        leads_with_patches(model, [heads[pair] for heads in kept.heads], *texts, place)
        for pair, texts in enumerate(zip(clean, corrupted, answers, strict=True))
    ]
    after, patched = torch.stack(found).split([1, len(found[0]) - 1], 1)  # (B, 1), (B, all heads)
    same = before.isclose(after[:, 0])
    if same.any():
        raise ValueError(
            "answers must have another lead in the clean text than in the corrupted one, got the same in "
            f"pairs {same.nonzero().flatten().tolist()}; change what decides"
        )
    recovered = (patched - after) / (before[:, None] - after)
    counts = [layer.self_attention.num_heads for layer in model.layers]
    by_layer = [each.T for each in recovered.split(counts, 1)]  # L × (H, B)
    padded = torch.nn.utils.rnn.pad_sequence(by_layer, batch_first=True, padding_value=torch.nan)
    return PatchMap(padded.permute(2, 0, 1), before, after[:, 0])


def leads_with_patches(
    model: LanguageModel,
    outputs: list[Tensor],
    clean: Tensor,
    corrupted: Tensor,
    answers: Tensor,
    place: int | None,
) -> Tensor:
    """The leads of a corrupted text (N,) as it is, and with each head's output (N, H, d) of the clean one."""
    count = len(corrupted)
    start = int((clean != corrupted).int().argmax()) if place is None else place % count
    patched = slice(None) if place is None else slice(0, 1)  # of the tokens from ``start`` on
    common, x = model.embed(corrupted[None]).split([start, count - start], 1)  # (1, ·, D)
    for layer, here in zip(model.layers, outputs, strict=True):
        attention, rows = layer.self_attention, len(x)
        x = torch.cat([x, x[:1].expand(attention.num_heads, -1, -1)])  # a row for each head of this layer
        cache = KVCache(attention, 1, count)
        if start:
            common = layer(common, is_causal=True, cache=cache)
        cache.reorder(torch.zeros(len(x), dtype=torch.long))
        own = [(rows + h, patched, h, here[start:, h][patched]) for h in range(attention.num_heads)]
        with replacing(attention, own):
            x = layer(x, is_causal=True, cache=cache)
    return leads_at(model, x[:, -1], answers.expand(len(x), 2))


def leads_at(model: LanguageModel, x: Tensor, answers: Tensor) -> Tensor:
    """The leads (B,) of answers (B, 2) by what goes into the last norm, (B, D)."""
    rows = rows_of(model, "answers", answers)  # (B, 2, D)
    return ((rows[:, 0] - rows[:, 1]) * model.norm(x)).sum(-1)


def check_pairs(clean: Tensor, corrupted: Tensor, answers: Tensor, place: int | None) -> None:
    if corrupted.shape != clean.shape:
        raise ValueError(
            f"corrupted must be of the shape of clean, {tuple(clean.shape)}, got {tuple(corrupted.shape)}; "
            "take words of as many tokens"
        )
    if answers.shape != (len(clean), 2):
        raise ValueError(f"answers must be (B, 2) = ({len(clean)}, 2), got shape {tuple(answers.shape)}")
    if place is not None and place not in range(-clean.shape[1], clean.shape[1]):
        raise ValueError(f"place must be None or a token of {clean.shape[1]}, got {place}; -1 is the last")
