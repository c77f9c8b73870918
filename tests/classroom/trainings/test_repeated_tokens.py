"""Repeated tokens: what is said twice, what can be known, and the share of it that a model predicts."""

import pytest
import torch
from torch.nn import functional as F

from mha_lib.classroom.trainings import VOCABULARY, repeated_tokens, share_right
from mha_lib.classroom.trainings.repeated_tokens import RepeatedTokens


def draw(size=200, seed=0, **options):
    return repeated_tokens(size, torch.Generator().manual_seed(seed), **options)


def read_blocks(tokens: list[int], ago: list[int]) -> list[list[int]]:
    """Read the blocks from a sequence, word by word; those that the end cuts off before their second token
    is said again are left out."""
    start, blocks = 0, []
    while (again := next((i for i in range(start, len(ago)) if ago[i]), 0) - 1) > 0:
        size = again - start
        block = tokens[start : start + size]
        end = min(again + size, len(tokens))
        assert tokens[again:end] == block[: end - again], "said again from its first token on"
        assert ago[start:end] == [0] * (again + 1 - start) + [size] * (end - again - 1)
        start = end
        blocks.append(block)
    assert not any(ago[start:])
    return blocks


@pytest.mark.parametrize(("length", "block"), [(41, (6, 12)), (83, (6, 16))])
def test_each_block_is_said_twice_and_what_follows_its_first_token_can_be_known(length, block):
    batch = draw(length=length, block=block)
    assert batch.tokens.shape == batch.ago.shape == (200, length)
    sizes = set()
    for tokens, ago in zip(batch.tokens.tolist(), batch.ago.tolist(), strict=True):
        blocks = read_blocks(tokens, ago)
        assert blocks
        assert all(len(set(found)) == len(found) for found in blocks), "the tokens of a block are distinct"
        sizes |= {len(found) for found in blocks}
    assert sizes == set(range(block[0], block[1] + 1))


def test_blocks_that_cannot_be_drawn_are_an_error():
    with pytest.raises(ValueError, match=r"from 2 to 32, got \(5, 4\)"):
        draw(block=(5, 4))


def test_only_tokens_that_can_be_known_are_scored():
    batch = RepeatedTokens(torch.tensor([[5, 9, 5, 9, 7, 3]]), torch.tensor([[0, 0, 0, 2, 2, 0]]))
    said = torch.tensor([[1, 1, 9, 2, 3]])  # after 5, 9, 5, 9, 7
    assert share_right(F.one_hot(said, VOCABULARY).float(), batch) == 0.5
    assert share_right(F.one_hot(batch.tokens[:, 1:], VOCABULARY).float(), batch) == 1
