"""Measures a head by its weights in one text: one value for each head of a layer.

The averages go over the queries but the first, which has no choice in a model that sees the past alone.
Padding does not count, neither as a query nor as the first token.
"""

import torch
from torch import Tensor, nn

from mha_lib.classroom.heads.changes import entropy


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
