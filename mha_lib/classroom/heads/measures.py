"""Measures a head by its weights in one text: one value for each head of a layer.

The averages go over the queries but the first, which has no choice in a model that sees the past alone.
Padding does not count, neither as a query nor as the first token.
"""

from typing import Any

import torch
from torch import Tensor, nn

from mha_lib.classroom.heads.attention import ModelAttention, as_arguments, read_attention
from mha_lib.classroom.heads.changes import entropy

REPEATED = 25  # tokens that are said twice, to find induction heads
SEEDS = 3  # texts of random tokens for each length
# With these inputs alone can the model be asked for another text.
OF_TOKENS = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
OF_TARGETS = {"decoder_input_ids", "decoder_attention_mask", "labels"}


def measures_of(attention: ModelAttention, inputs: Any) -> dict[str, list[dict[str, Tensor]]]:
    """For each kind of attention and each of its layers the measures by name, (H,) each.

    entropy    how widely the head looks, in nats
    previous, first, same  the weight on the token before, the first one, and the token itself
    sink       the weight on no token, in a model whose softmax has a sink; it is in the entropy, too
    induction  on random tokens that are said twice: the weight on the token after the one said before, less
               the weight there after a first half of other tokens. The mean over 3 seeds and 2 lengths.
               Models that read no tokens have none.
    """
    found: dict[str, list[dict[str, Tensor]]] = {}
    for kind, layers in attention.layers.items():
        is_cross = kind == "cross"
        found[kind] = [
            measures_of_layer(layer.weights, layer.allowed, is_cross=is_cross, sink=layer.sink)
            for layer in layers
        ]
    pairs = read_repeated(attention, inputs)
    for kind in found.keys() - {"cross"} if pairs else ():
        for number, measures in enumerate(found[kind]):
            scores = [
                induction(repeated.layers[kind][number].weights)
                - induction(control.layers[kind][number].weights)
                for repeated, control in pairs
                if kind in repeated.layers
            ]
            if scores:
                measures["induction"] = torch.stack(scores).mean(0)
    return found


def measures_of_layer(
    weights: Tensor, allowed: Tensor, *, is_cross: bool, sink: Tensor | None = None
) -> dict[str, Tensor]:
    """Measures of one layer by its weights and allowed cells, both (H, Q, K), and the sink's weight (H, Q).

    In cross-attention no key is the query itself.
    """
    weights = weights.float()
    counted = allowed.any(-1)  # (H, Q)
    if not is_cross and allowed.shape[-2] == allowed.shape[-1]:
        counted = counted & allowed.any(-2)  # nobody may attend to padding
    if bool((counted.sum(-1) > 1).all()):
        counted = counted & (counted.cumsum(-1) > 1)

    def mean(values: Tensor) -> Tensor:  # (H, Q) -> (H,)
        return values.masked_fill(~counted, 0).sum(-1) / counted.sum(-1).clamp(min=1)

    first = allowed.any(-2).int().argmax(-1)[:, None, None].expand(*weights.shape[:2], 1)  # (H, Q, 1)
    of_first = mean(weights.gather(-1, first)[..., 0])
    of_sink = {} if sink is None else {"sink": mean(sink)}
    whole = weights if sink is None else torch.cat([weights, sink[..., None]], -1)  # rows sum to 1
    if is_cross or weights.shape[-1] == 1:
        return {"entropy": mean(entropy(whole)), "first": of_first} | of_sink
    previous = nn.functional.pad(weights.diagonal(-1, dim1=-2, dim2=-1), (1, 0))  # (H, Q)
    same = weights.diagonal(dim1=-2, dim2=-1)  # (H, Q)
    return {
        "entropy": mean(entropy(whole)),
        "previous": mean(previous),
        "first": of_first,
        "same": mean(same),
    } | of_sink


def induction(weights: Tensor) -> Tensor:
    """The mean weight (H,) on the token after the last time, in a text (H, 2 n, 2 n) that is said twice.

    Source: Olsson et al. 2022, who find induction heads by such prefix matching.
    """
    n = weights.shape[-1] // 2
    return weights.float().diagonal(1 - n, dim1=-2, dim2=-1)[:, 1:].mean(-1)  # query n + i, key i + 1


def read_repeated(attention: ModelAttention, inputs: Any) -> list[tuple[ModelAttention, ModelAttention]]:
    """The attention for random tokens that are said twice, and for their controls, over seeds and lengths.

    Empty for a model that reads something else.
    """
    model = attention.model
    names = as_arguments(model, inputs).keys()
    if "input_ids" not in names or names - OF_TOKENS - OF_TARGETS:
        return []

    def read(tokens: Tensor) -> ModelAttention:
        targets = {"decoder_input_ids": tokens} if names & OF_TARGETS else {}
        return read_attention(model, {"input_ids": tokens} | targets)

    texts = (
        repeated_tokens(model, most, seed) for most in (REPEATED, REPEATED // 2) for seed in range(SEEDS)
    )
    return [(read(repeated), read(control)) for repeated, control in filter(None, texts)]


def repeated_tokens(model: Any, most: int, seed: int) -> tuple[Tensor, Tensor] | None:
    """Random tokens said twice, and their control, in which other tokens are the first half: (1, 2 n) each.

    All tokens of a half differ, and n is at most ``most``. None if the model has no table or no room.
    """
    table = getattr(model, "get_input_embeddings", lambda: None)()
    if not isinstance(table, nn.Embedding):
        return None
    config = getattr(model, "config", None)
    room = getattr(config, "max_position_embeddings", None) or 2 * most
    count = min(most, room // 2, table.num_embeddings // 2)
    if count < 3:
        return None
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randperm(table.num_embeddings, generator=generator)[: 2 * count].to(table.weight.device)
    tokens, others = numbers.chunk(2)
    return tokens.repeat(2)[None], torch.cat([others, tokens])[None]
