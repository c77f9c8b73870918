"""Measures a head by its weights in one text: one value for each head of a layer.

The averages go over the queries but the first, which has no choice in a model that sees the past alone.
"""

from typing import Any

import torch
from torch import Tensor, nn

from mha_lib.classroom.heads.attention import ModelAttention, as_arguments, read_attention
from mha_lib.classroom.heads.changes import entropy

REPEATED = 25  # tokens that are said twice, to find induction heads
# With these inputs alone can the model be asked for another text.
OF_TOKENS = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
OF_TARGETS = {"decoder_input_ids", "decoder_attention_mask", "labels"}


def measures_of(attention: ModelAttention, inputs: Any) -> dict[str, list[dict[str, Tensor]]]:
    """For each kind of attention and each of its layers the measures by name, (H,) each.

    entropy    how widely the head looks, in nats
    previous, first, same  the weight on the token before, the first one, and the token itself
    induction  on random tokens that are said twice: the weight on the token after the one said before. Models
               that read no tokens have none.
    """
    repeated = read_repeated(attention, inputs)
    found: dict[str, list[dict[str, Tensor]]] = {}
    for kind, layers in attention.layers.items():
        found[kind] = [measures_of_layer(layer.weights, is_cross=kind == "cross") for layer in layers]
        if repeated and kind in repeated.layers and kind != "cross":
            for measures, layer in zip(found[kind], repeated.layers[kind], strict=True):
                measures["induction"] = induction(layer.weights)
    return found


def measures_of_layer(weights: Tensor, *, is_cross: bool) -> dict[str, Tensor]:
    """Measures of the weights (H, Q, K) of one layer; in cross-attention no key is the query itself."""
    weights = weights.float()
    later = weights[:, 1:] if weights.shape[1] > 1 else weights
    found = {"entropy": entropy(later).mean(-1), "first": later[..., 0].mean(-1)}
    if is_cross or weights.shape[-1] == 1:
        return found
    previous = weights.diagonal(-1, dim1=-2, dim2=-1).mean(-1)
    same = weights.diagonal(dim1=-2, dim2=-1)[:, 1:].mean(-1)
    return {"entropy": found["entropy"], "previous": previous, "first": found["first"], "same": same}


def induction(weights: Tensor) -> Tensor:
    """The mean weight (H,) on the token after the last time, in a text (H, 2 n, 2 n) that is said twice.

    Source: Olsson et al. 2022, who find induction heads by such prefix matching.
    """
    n = weights.shape[-1] // 2
    return weights.float().diagonal(1 - n, dim1=-2, dim2=-1)[:, 1:].mean(-1)  # query n + i, key i + 1


def read_repeated(attention: ModelAttention, inputs: Any) -> ModelAttention | None:
    """The attention for random tokens that are said twice; None for a model that reads something else."""
    model = attention.model
    names = as_arguments(model, inputs).keys()
    if "input_ids" not in names or names - OF_TOKENS - OF_TARGETS:
        return None
    tokens = repeated_tokens(model)
    if tokens is None:
        return None
    arguments = {"input_ids": tokens}
    if names & OF_TARGETS:
        arguments["decoder_input_ids"] = tokens
    return read_attention(model, arguments)


def repeated_tokens(model: Any) -> Tensor | None:
    """Random tokens, all different, said twice (1, 2 n); None if the model has no table or no room."""
    table = getattr(model, "get_input_embeddings", lambda: None)()
    if not isinstance(table, nn.Embedding):
        return None
    config = getattr(model, "config", None)
    room = getattr(config, "max_position_embeddings", None) or 2 * REPEATED
    count = min(REPEATED, room // 2, table.num_embeddings)
    if count < 3:
        return None
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randperm(table.num_embeddings, generator=generator)[:count]
    return tokens.repeat(2)[None].to(table.weight.device)
