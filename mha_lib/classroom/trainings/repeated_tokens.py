"""Sequences that say everything twice: the task on which induction heads are found.

A block of tokens is drawn at random, all of them distinct. It is said, and said again; then the same with
other blocks, until the sequence is full. In the second saying every token but the first can be known: it is
the one that followed the last time. Nothing else can be known, so a model is scored on these tokens alone.

Source: Olsson et al. 2022 find induction heads with random tokens that are repeated.
"""

from typing import NamedTuple

import torch
from torch import Tensor

VOCABULARY = 32  # tokens, from 0 on
LENGTH = 41  # tokens of a sequence: a model reads the first 40, and predicts the last 40


class RepeatedTokens(NamedTuple):
    """Sequences, and how many tokens ago each token that can be known was said before."""

    tokens: Tensor  # (B, N)
    ago: Tensor  # (B, N), 0 for a token that can't be known

    @property
    def knowable(self) -> Tensor:
        """``(B, N)``, boolean."""
        return self.ago > 0


def repeated_tokens(
    size: int,
    generator: torch.Generator,
    *,
    length: int = LENGTH,
    block: tuple[int, int] = (6, 16),
) -> RepeatedTokens:
    """Draw ``size`` sequences of ``length`` tokens.

    ``block`` are the fewest and the most tokens of a block; each number from one to the other is equally
    likely.
    """
    fewest, most = block
    if not 2 <= fewest <= most <= VOCABULARY:
        raise ValueError(
            f"block must be the fewest and the most tokens of a block, from 2 to {VOCABULARY}, got {block}"
        )
    blocks = length // (2 * fewest) + 1  # enough even if all are as short as can be
    drawn = torch.rand(size, blocks, VOCABULARY, generator=generator).argsort(-1)  # each token once a block
    sizes = torch.randint(fewest, most + 1, (size, blocks), generator=generator)
    ends = (2 * sizes).cumsum(1)  # (B, blocks)
    here = torch.arange(length).repeat(size, 1)  # (B, N)
    number = torch.searchsorted(ends, here, right=True)  # the number of the block at each position
    again = sizes.gather(1, number)  # where in its block the second saying begins
    place = here - ends.gather(1, number) + 2 * again  # the position within the block
    said = torch.where(place < again, place, place - again)
    tokens = drawn.flatten(1).gather(1, number * VOCABULARY + said)
    return RepeatedTokens(tokens, torch.where(place > again, again, 0))


def share_right(logits: Tensor, batch: RepeatedTokens) -> float:
    """The share of the knowable tokens that get the largest logit.

    Row i of the logits ``(B, N - 1, V)`` predicts token i + 1.
    """
    right = logits.argmax(-1) == batch.tokens[:, 1:]
    return right[batch.knowable[:, 1:]].float().mean().item()
