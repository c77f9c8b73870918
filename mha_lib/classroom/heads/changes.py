"""A head by its place in a model, what its weights can be changed to, and how widely they spread."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class Head(NamedTuple):
    """The place of a head."""

    attention: str
    layer: int
    head: int


# Makes other weights of the weights of one head and of the allowed keys, both (B, Q, K).
Change = Callable[[Tensor, Tensor], Tensor]


def checked_heads(heads: Iterable[tuple[str, int, int]], known: Sequence[Head]) -> list[Head]:
    """Return the heads; raise ValueError for one that is not among those that are ``known``."""
    heads = list(heads)
    for head in heads:
        if head not in known:
            last = {kind: (layer, number) for kind, layer, number in known}
            there = (
                f"{kind!r}: {at + 1} layers of {number + 1} heads" for kind, (at, number) in last.items()
            )
            raise ValueError(
                f"heads must be (kind, layer, head), counted from 0, got {head}; there are "
                + "; ".join(there)
            )
    return [Head(*head) for head in heads]


def change_weights(weights: Tensor, allowed: Tensor, heads: Iterable[int], change: Change) -> Tensor:
    """Return the weights (B, H, Q, K) with those of some heads changed."""
    weights = weights.clone()
    for head in heads:
        weights[:, head] = change(weights[:, head], allowed[:, head])
    return weights


def evened(weights: Tensor, allowed: Tensor) -> Tensor:
    """Give every allowed key the same weight; a query without allowed keys gives none."""
    return allowed.to(weights.dtype) / allowed.sum(-1, keepdim=True).clamp(min=1)


def permuted(weights: Tensor, allowed: Tensor) -> Tensor:
    """Deal out the same weights at random among the allowed keys."""
    in_order = (~allowed).long().argsort(dim=-1, stable=True)  # those allowed first
    at_random = torch.rand_like(weights).masked_fill(~allowed, 2).argsort(-1)
    return torch.zeros_like(weights).scatter(-1, in_order, weights.gather(-1, at_random))


def silenced(weights: Tensor, allowed: Tensor) -> Tensor:
    """Take all weight away: the head adds nothing, as if it were removed."""
    return torch.zeros_like(weights)


def entropy(weights: Tensor) -> Tensor:
    """The entropy of each row of weights, ``(…, Q, K) -> (…, Q)``, in nats."""
    return -torch.special.xlogy(weights, weights).sum(-1)
