"""The parts of a large language model that decided each token of a text, and all others in one sum."""

from typing import NamedTuple

import torch
from torch import Tensor

from mha_lib import LanguageModel
from mha_lib.classroom.heads.shares import Part, check_model, rows_of, run, shares_in


class LargestParts(NamedTuple):
    """For each of n = N − 1 tokens that follow: the token beside its rival, the likeliest other one.

    The last axis of ``logits``, ``shares`` and ``rest`` holds the two; K parts are told by themselves.
    """

    parts: list[Part]  # P, as in ``Shares``
    rivals: Tensor  # (n,)
    logits: Tensor  # (n, 2)
    largest: Tensor  # (n, K), which of ``parts``, the one that decided most first
    shares: Tensor  # (n, K, 2)
    rest: Tensor  # (n, 2), the sum of all other parts
    weights: Tensor  # (n, K, n), where these heads look; 0 for networks and the table


@torch.no_grad()
def largest_parts(model: LanguageModel, tokens: Tensor, count: int = 10) -> LargestParts:
    """Return for each token of a text the parts that decided most between it and its rival.

        |share in the logit of the token − share in that of its rival|

    tokens  (1, N), a text of two tokens or more
    count   K, the parts that are told by themselves

    Shares are those of ``logit_shares``, of two tokens at each place: 231 KB for 301 parts and 96 tokens.
    Raises what ``logit_shares`` raises, and ValueError for other texts.
    """
    check_model(model)
    if tokens.dim() != 2 or tokens.shape[0] != 1 or tokens.shape[1] < 2:
        raise ValueError(f"tokens must be (1, N), a text of two or more, got {tuple(tokens.shape)}")
    kept = run(model, tokens[:, :-1])
    said = tokens[:, 1:, None]  # (1, n, 1)
    logits = model.norm(kept.x) @ model.read_out.T  # (1, n, V)
    rivals = logits.scatter(-1, said, -torch.inf).argmax(-1, keepdim=True)  # (1, n, 1)
    found = shares_in(model, kept, rows_of(model, "tokens", torch.cat([said, rivals], -1)))
    shares = found.shares[:, 0].transpose(0, 1)  # (n, P, 2)
    lead = (shares[..., 0] - shares[..., 1]).abs()  # (n, P)
    largest = lead.topk(min(count, len(found.parts))).indices  # (n, K)
    own = shares.gather(1, largest[..., None].expand(-1, -1, 2))  # (n, K, 2)
    rest = shares.sum(1) - own.sum(1)
    return LargestParts(
        found.parts,
        rivals[0, :, 0],
        found.logits[0],
        largest,
        own,
        rest,
        weights_of_parts(found.parts, found.weights, largest),
    )


def weights_of_parts(parts: list[Part], weights: list[Tensor], largest: Tensor) -> Tensor:
    """The row of weights (n,) at each place for each of its largest parts, (n, K, n)."""
    found = weights[0].new_zeros(*largest.shape, len(largest))
    for place, row in enumerate(largest.tolist()):
        for at, number in enumerate(row):
            kind, *where = parts[number]
            if kind == "head":
                layer, head = where
                found[place, at] = weights[int(layer)][0, int(head), place]
    return found
