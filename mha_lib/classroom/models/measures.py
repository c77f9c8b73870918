"""Measures of a model's heads, in the text that is shown and on random tokens that are said twice.

The averages go over the queries but the first, which has no choice in a model that sees the past alone.
Padding does not count, neither as a query nor as the first token.
"""

from typing import Any

import torch
from torch import Tensor, nn

from mha_lib.classroom.heads.changes import entropy
from mha_lib.classroom.lesson.language import words_here
from mha_lib.classroom.models.reading import ModelAttention, as_arguments, most_tokens, read_batch

REPEATED = 25  # tokens that are said twice, to find induction heads
SEEDS = 3  # texts of random tokens for each length
# With these inputs alone can the model be asked for another text.
OF_TOKENS = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
OF_TARGETS = {"decoder_input_ids", "decoder_attention_mask", "labels"}


def measures_of(attention: ModelAttention, inputs: Any) -> tuple[dict[str, list[dict[str, Tensor]]], str]:
    """For each kind of attention and each of its layers the measures by name, (H,) each; and a remark.

    entropy    how widely the head looks, in nats
    previous, first, same  the weight on the token before, the first one, and the token itself
    sink       the weight on no token, in a model whose softmax has a sink; it is in the entropy, too
    induction  on random tokens that are said twice: the weight on the token after the one said before, less
               the weight there after a first half of other tokens. The mean over 3 seeds and 2 lengths.
               Models that read no tokens have none, nor do those that refuse such texts: the remark says
               why.
    """
    found: dict[str, list[dict[str, Tensor]]] = {}
    for kind, layers in attention.layers.items():
        is_cross = kind == "cross"
        found[kind] = [
            measures_of_layer(layer.weights, layer.allowed, is_cross=is_cross, sink=layer.sink)
            for layer in layers
        ]
    try:
        scores = induction_scores(attention.model, inputs)
    except (IndexError, RuntimeError, ValueError) as error:  # no padding token, no end of a text, too short
        reason = str(error).strip().partition("\n")[0]
        return found, words_here()["models"]["no_induction"].format(reason=reason)
    for kind, of_layers in scores.items():
        for measures, (repeated, control) in zip(found[kind], of_layers, strict=True):
            measures["induction"] = (repeated - control).mean(0)
    return found, ""


def measures_of_layer(
    weights: Tensor,
    allowed: Tensor,
    *,
    is_cross: bool,
    sink: Tensor | None = None,
    real: Tensor | None = None,
) -> dict[str, Tensor]:
    """Measures (…, H) of a layer by its weights and allowed cells, (…, H, Q, K) each, and its sink (…, H, Q).

    In cross-attention no key is the query itself. ``real`` (B, Q) says which queries are not padding, where
    the keys don't say it.
    """
    weights = weights.float()
    counted = counted_queries(allowed, is_cross=is_cross, real=real)
    first = allowed.any(-2).int().argmax(-1)[..., None, None].expand(*weights.shape[:-1], 1)  # (…, H, Q, 1)
    whole = weights if sink is None else torch.cat([weights, sink[..., None]], -1)  # rows sum to 1
    found = {"entropy": entropy(whole), "first": weights.gather(-1, first)[..., 0]}  # (…, H, Q) each
    if not is_cross and weights.shape[-1] > 1:
        found["previous"] = nn.functional.pad(weights.diagonal(-1, dim1=-2, dim2=-1), (1, 0))
        found["same"] = weights.diagonal(dim1=-2, dim2=-1)
    if sink is not None:
        found["sink"] = sink
    in_order = (name for name in ("entropy", "previous", "first", "same", "sink") if name in found)
    return {name: mean_over(counted, found[name]) for name in in_order}


def counted_queries(allowed: Tensor, *, is_cross: bool, real: Tensor | None = None) -> Tensor:
    """The queries (…, H, Q) that a measure counts: no padding, and not the first, unless it is alone."""
    counted = allowed.any(-1)
    if real is not None:
        counted = counted & real[:, None]
    elif not is_cross and allowed.shape[-2] == allowed.shape[-1]:
        counted = counted & allowed.any(-2)  # nobody may attend to padding
    return counted & ((counted.cumsum(-1) > 1) | (counted.sum(-1, keepdim=True) == 1))


def mean_over(counted: Tensor, values: Tensor) -> Tensor:
    """The mean (…, H) of values (…, H, Q) over the queries that are counted."""
    return values.masked_fill(~counted, 0).sum(-1) / counted.sum(-1).clamp(min=1)


def induction(weights: Tensor) -> Tensor:
    """The mean weight (…, H) on the token after the last time, in a text (…, H, 2 n, 2 n) said twice.

    Source: Olsson et al. 2022, who find induction heads by such prefix matching.
    """
    n = weights.shape[-1] // 2
    return weights.float().diagonal(1 - n, dim1=-2, dim2=-1)[..., 1:].mean(-1)  # query n + i, key i + 1


def induction_scores(model: nn.Module, inputs: Any) -> dict[str, list[Tensor]]:
    """The scores (2, S, H) of each layer of each kind, on S texts that are said twice and on their controls.

    The texts of a length are one batch. Empty for a model that reads something else than tokens.
    """
    names = as_arguments(model, inputs).keys()
    if "input_ids" not in names or names - OF_TOKENS - OF_TARGETS:
        return {}
    scores: dict[str, list[list[Tensor]]] = {}  # of each layer, by length
    for most in (REPEATED, REPEATED // 2):
        pairs = [repeated_tokens(model, most, seed) for seed in range(SEEDS)]
        if not all(pairs):
            return {}
        tokens = torch.cat([*map(torch.cat, zip(*filter(None, pairs), strict=True))])  # (2 S, 2 n)
        targets = {"decoder_input_ids": tokens} if names & OF_TARGETS else {}
        for kind, layers in read_batch(model, {"input_ids": tokens} | targets).items():
            here = [induction(layer.weights).unflatten(0, (2, SEEDS)) for layer in layers]  # (2, S, H) each
            scores.setdefault(kind, []).append(here)
    return {
        kind: [torch.cat(layer, 1) for layer in zip(*found, strict=True)]
        for kind, found in scores.items()
        if kind != "cross"
    }


def repeated_tokens(model: Any, most: int, seed: int) -> tuple[Tensor, Tensor] | None:
    """Random tokens said twice, and their control, in which other tokens are the first half: (1, 2 n) each.

    All tokens of a half differ, and n is at most ``most``. None if the model has no table or no room.
    """
    table = getattr(model, "get_input_embeddings", lambda: None)()
    if not isinstance(table, nn.Embedding):
        return None
    room = most_tokens(model) or 2 * most
    count = min(most, room // 2, table.num_embeddings // 2)
    if count < 3:
        return None
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randperm(table.num_embeddings, generator=generator)[: 2 * count].to(table.weight.device)
    tokens, others = numbers.chunk(2)
    return tokens.repeat(2)[None], torch.cat([others, tokens])[None]
