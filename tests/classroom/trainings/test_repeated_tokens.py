"""Repeated tokens: what is said twice, what can be known, and the share of it that a model predicts."""

import re

import pytest
import torch
from torch.nn import functional as F

from mha_lib.classroom.trainings import VOCABULARY, repeated_tokens, share_right
from mha_lib.classroom.trainings.repeated_tokens import RepeatedTokens


def draw(size=200, seed=0, **options):
    return repeated_tokens(size, torch.Generator().manual_seed(seed), **options)


def read_blocks(tokens: list[int], ago: list[int], between: int) -> list[list[int]]:
    """Read the blocks from a sequence, word by word; those that the end cuts off before their second token
    is said again are left out."""
    start, blocks = 0, []
    while (again := next((i for i in range(start, len(ago)) if ago[i]), 0) - 1) > 0:
        size = again - start - between
        block = tokens[start : start + size]
        end = min(again + size, len(tokens))
        assert tokens[again:end] == block[: end - again], "said again from its first token on"
        assert not set(tokens[start + size : again]) & set(block), "those between are not in the block"
        assert ago[start:end] == [0] * (again + 1 - start) + [size + between] * (end - again - 1)
        start = end
        blocks.append(block)
    assert not any(ago[start:])
    return blocks


@pytest.mark.parametrize(
    ("length", "block", "between"), [(41, (6, 16), 0), (41, (6, 12), 3), (83, (6, 16), 0), (37, (17, 18), 0)]
)
def test_each_block_is_said_twice_and_what_follows_its_first_token_can_be_known(length, block, between):
    batch = draw(length=length, block=block, between=between)
    assert batch.tokens.shape == batch.ago.shape == (200, length)
    sizes = set()
    for tokens, ago in zip(batch.tokens.tolist(), batch.ago.tolist(), strict=True):
        blocks = read_blocks(tokens, ago, between)
        assert blocks
        assert all(len(set(found)) == len(found) for found in blocks), "the tokens of a block are distinct"
        sizes |= {len(found) for found in blocks}
    assert sizes == set(range(block[0], block[1] + 1))


def test_the_token_before_says_what_can_be_known():
    """It was last said one place before the wanted token was: the rule by which people solve the task."""
    batch = draw()
    for tokens, knowable in zip(batch.tokens.tolist(), batch.knowable.tolist(), strict=True):
        for place in (place for place, yes in enumerate(knowable) if yes):
            now, earlier = tokens[place - 1], tokens[: place - 1]
            last_time = max(i for i, token in enumerate(earlier) if token == now)
            assert tokens[last_time + 1] == tokens[place]


def test_all_tokens_and_sizes_are_equally_likely():
    batch = draw(4000)
    shares = torch.bincount(batch.tokens[:, :6].flatten(), minlength=VOCABULARY) / (4000 * 6)
    torch.testing.assert_close(shares, torch.full((VOCABULARY,), 1 / VOCABULARY), atol=0.005, rtol=0)
    first_sizes = batch.ago.gather(1, batch.knowable.long().argmax(1, keepdim=True))
    assert first_sizes.float().mean().item() == pytest.approx((6 + 16) / 2, abs=0.3)


def test_sequences_are_drawn_alike_for_a_seed():
    assert torch.equal(draw(seed=1).tokens, draw(seed=1).tokens)
    assert not torch.equal(draw(seed=1).tokens, draw(seed=2).tokens)


@pytest.mark.parametrize("block", [(1, 4), (5, 4), (6, VOCABULARY + 1)])
def test_blocks_that_cannot_be_drawn_are_an_error(block):
    with pytest.raises(ValueError, match=re.escape(f"from 2 to 32, got {block}")):
        draw(block=block)


@pytest.mark.parametrize("between", [-1, 17])
def test_more_tokens_between_than_there_are_is_an_error(between):
    with pytest.raises(ValueError, match=f"between must be from 0 to 16, since .*, got {between}$"):
        draw(between=between)


def test_only_tokens_that_can_be_known_are_scored():
    batch = RepeatedTokens(torch.tensor([[5, 9, 5, 9, 7, 3]]), torch.tensor([[0, 0, 0, 2, 2, 0]]))
    said = torch.tensor([[1, 1, 9, 2, 3]])  # after 5, 9, 5, 9, 7
    assert share_right(F.one_hot(said, VOCABULARY).float(), batch) == 0.5
    assert share_right(F.one_hot(batch.tokens[:, 1:], VOCABULARY).float(), batch) == 1
