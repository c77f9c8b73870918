"""Where the heads of a language model look, in numbers, beside what a head must beat."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from mha_lib import EncoderLayer, LanguageModel
from mha_lib.classroom.heads.shares import check_model

MEASURES = ("before", "itself", "first", "same", "after same")


class HeadMeasures(NamedTuple):
    """The mean weight of each head on each of M kinds of keys, and its two controls."""

    names: tuple[str, ...]  # M
    weights: Tensor  # (L, H, M); NaN where a layer has fewer heads
    even: Tensor  # (L, M), of weights that are spread evenly over all keys that a query of the layer sees
    control: Tensor | None  # (L, H, M), of the heads in the control text, at the same cells


@torch.no_grad()
def head_measures(
    model: LanguageModel, tokens: Tensor, *, queries: Tensor | None = None, control: Tensor | None = None
) -> HeadMeasures:
    """Return how much of its weight each head gives to five kinds of keys.

        measure = mean, over the queries that count, of the weight on all keys of the kind

        before      the token before the query's
        itself      the query's own
        first       the first token of the text
        same        earlier ones that are the same as the query's
        after same  the tokens that came after those: the measure of an induction head

    tokens   (B, N)
    queries  (B, N), boolean: the queries that count; None: all but the first, which sees itself alone
    control  (B, N), another text, in which the same cells are measured. For a text whose second half repeats
             the first: one with another first half, where nothing tells what came next

    Raises TypeError or ValueError for another model, and for tensors of another shape.

    Source: Olsson et al. 2022 (induction heads, by prefix matching).
    """
    check_model(model)
    if queries is None:
        queries = torch.ones_like(tokens, dtype=torch.bool)
        queries[:, 0] = False
    for name, other in (("queries", queries), ("control", tokens if control is None else control)):
        if other.shape != tokens.shape:
            raise ValueError(f"{name} must be (B, N) = {tuple(tokens.shape)}, got {tuple(other.shape)}")
    cells = keys_of_interest(tokens) * (queries / queries.sum())[..., None]  # (M, B, N, N)
    even = [cells.mul(even_weights(layer, tokens)).sum((1, 2, 3)) for layer in model.layers]  # L × (M,)
    in_control = None if control is None else mean_weights(model, control, cells)
    return HeadMeasures(MEASURES, mean_weights(model, tokens, cells), torch.stack(even), in_control)


def keys_of_interest(tokens: Tensor) -> Tensor:
    """Which keys each measure counts, boolean, (M, B, N, N)."""
    here = torch.arange(tokens.shape[1], device=tokens.device)
    back = here[:, None] - here  # how many tokens ago
    same = (tokens[:, :, None] == tokens[:, None]) & (back > 0)
    after = nn.functional.pad(same, (1, 0))[..., :-1]
    return torch.stack([each.expand_as(same) for each in (back == 1, back == 0, here == 0, same, after)])


def even_weights(layer: EncoderLayer, tokens: Tensor) -> Tensor:
    """The same weight on each key that a query of this causal layer sees, (N, N)."""
    here = torch.arange(tokens.shape[1], device=tokens.device)
    back = here[:, None] - here
    allowed = (back >= 0) & (back < (layer.self_attention.window or len(here)))
    return allowed / allowed.sum(-1, keepdim=True)


def mean_weights(model: LanguageModel, tokens: Tensor, cells: Tensor) -> Tensor:
    """The sum of each head's weights, times ``cells``, (L, H, M); no layer's weights are held."""
    x, found = model.embed(tokens), []
    for layer in model.layers:
        x, weights = layer(x, is_causal=True, need_weights=True)
        found.append(torch.einsum("bhqk,mbqk->hm", weights, cells.to(weights)))
    return nn.utils.rnn.pad_sequence(found, batch_first=True, padding_value=torch.nan)
