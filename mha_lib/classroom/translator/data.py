"""Batches of numbers: English words as the source, Chinese numerals as the target, both as integers.

    source  (B, S)  words, then "<pad>" up to the longest of the batch
    target  (B, T)  "<bos>", numerals, "<eos>", then "<pad>"

One number in sixteen is never trained on. A hash of the number chooses it, so the same numbers are held out
everywhere and always, and they show whether a translator has understood more than its examples.
"""

from collections.abc import Iterable
from itertools import takewhile
from typing import NamedTuple

import torch
from torch import Tensor, nn

from mha_lib.classroom.translator.numerals import ENGLISH_WORDS, LARGEST, NUMERALS, in_chinese, in_english

PADDING, BEGIN, END = 0, 1, 2
SOURCE_VOCABULARY = ("<pad>", *ENGLISH_WORDS)
TARGET_VOCABULARY = ("<pad>", "<bos>", "<eos>", *NUMERALS)
MAX_TARGET_TOKENS = 16  # 九千九百九十九万九千九百九十九 and "<eos>"
PLACES = len(str(LARGEST))
SMALLEST_HELD_OUT = 100  # most smaller numbers are the only example of a word at its place


class Batch(NamedTuple):
    """Numbers with their English and their Chinese, on one device."""

    numbers: list[int]
    source: Tensor  # (B, S)
    target: Tensor  # (B, T)

    @property
    def source_mask(self) -> Tensor:
        """``(B, S)``, True where there is a word."""
        return self.source != PADDING


def make_batch(numbers: Iterable[int], device: torch.device | str = "cpu") -> Batch:
    numbers = [int(number) for number in numbers]
    sources = [[SOURCE_VOCABULARY.index(word) for word in in_english(number).split()] for number in numbers]
    targets = [[BEGIN, *map(TARGET_VOCABULARY.index, in_chinese(number)), END] for number in numbers]
    padded = [
        nn.utils.rnn.pad_sequence(list(map(torch.tensor, rows)), batch_first=True, padding_value=PADDING)
        for rows in (sources, targets)
    ]
    return Batch(numbers, *(tokens.to(device) for tokens in padded))


def as_numeral(tokens: Iterable[int]) -> str:
    """Return the tokens that a model has generated as text, up to ``<eos>``."""
    return "".join(TARGET_VOCABULARY[token] for token in takewhile(lambda token: token != END, tokens))


def is_held_out(numbers: Tensor) -> Tensor:
    """Whether training never sees a number: one in sixteen from 100 on."""
    mixed = numbers * 2_654_435_761 % 2**32  # Knuth's multiplicative hash, whose upper bits are mixed well
    return (mixed >> 28 == 0) & (numbers >= SMALLEST_HELD_OUT)


def draw_training_numbers(count: int, generator: torch.Generator, max_digits: int = PLACES) -> Tensor:
    """Draw ``(count,)`` numbers of 1 to ``max_digits`` digits to train on, many of them with zeros inside.

    If all digits were drawn alike, zeros inside would be rare and learnt late. So in half of the numbers each
    digit turns into a zero with a probability of up to one half.
    """
    check_digits(max_digits, smallest=1)
    found = torch.empty(0, dtype=torch.int64)
    while len(found) < count:
        drawn = 2 * count  # nearly always enough, although held-out numbers are left out below
        digits = torch.randint(0, 10, (drawn, PLACES), generator=generator)  # the ones first
        share_of_zeros = torch.rand(drawn, 1, generator=generator) - 0.5  # below 0: half have no zeros
        digits[torch.rand(drawn, PLACES, generator=generator) < share_of_zeros] = 0
        lengths = torch.randint(1, max_digits + 1, (2, drawn), generator=generator).amax(0)  # more long ones
        numbers = from_digits(digits, lengths)
        found = torch.cat([found, numbers[~is_held_out(numbers)]])
    return found[:count]


def check_digits(max_digits: int, smallest: int, why: str = "") -> None:
    if not smallest <= max_digits <= PLACES:
        raise ValueError(f"max_digits must be from {smallest} to {PLACES}{why}, got {max_digits}")


def held_out_numbers(
    count: int, *, zero_rich: bool = False, max_digits: int = PLACES, seed: int = 0
) -> Tensor:
    """Draw ``(count,)`` numbers of up to ``max_digits`` digits that no translator was trained on.

    ``zero_rich`` draws hard numbers instead: 4 to 8 digits, each a zero with probability one half, and at
    least two zeros that stand before another digit.
    """
    if zero_rich:
        check_digits(max_digits, PLACES, ", since zero_rich draws numbers of 4 to 8 digits")
    check_digits(max_digits, len(str(SMALLEST_HELD_OUT)), ", since shorter numbers are never held out")
    generator = torch.Generator().manual_seed(seed)
    found = torch.empty(0, dtype=torch.int64)
    while len(found) < count:
        if zero_rich:
            digits = torch.randint(1, 10, (32 * count, PLACES), generator=generator)
            digits[torch.rand(digits.shape, generator=generator) < 0.5] = 0
            numbers = from_digits(digits, torch.randint(4, PLACES + 1, (32 * count,), generator=generator))
            numbers = numbers[inner_zeros(numbers) >= 2]
        else:
            numbers = torch.randint(0, 10**max_digits, (32 * count,), generator=generator)
        found = torch.cat([found, numbers[is_held_out(numbers)]])
    return found[:count]


def from_digits(digits: Tensor, lengths: Tensor) -> Tensor:
    """Make numbers ``(N,)`` of the first ``lengths`` of their digits ``(N, 8)``, the ones first."""
    places = torch.arange(PLACES)
    return torch.where(places < lengths[:, None], digits * 10**places, 0).sum(1)


def inner_zeros(numbers: Tensor) -> Tensor:
    """Count the zeros of each number that stand before another digit: 2 in 1,002,300."""
    is_digit = numbers[:, None] // 10 ** torch.arange(PLACES) % 10 > 0  # (N, 8), the ones first
    digit_below = is_digit.cumsum(1) > 0
    digit_above = is_digit.flip(1).cumsum(1).flip(1) > 0
    return (~is_digit & digit_below & digit_above).sum(1)
