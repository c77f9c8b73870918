"""Batches of numbers: English words as the source, Chinese numerals as the target, both as integers.

    source  (B, S)  words, then "<pad>" up to the longest of the batch
    target  (B, T)  "<bos>", numerals, "<eos>", then "<pad>"

One number in sixteen is never trained on, chosen by a hash of the number: so what a translator makes of
those is what it has understood, and the same numbers are held out everywhere and always.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from mha_lib.classroom.tasks.numerals import (
    ENGLISH_WORDS,
    LARGEST,
    NUMERALS,
    alignment,
    in_chinese,
    in_english,
)

PADDING, BEGIN, END = 0, 1, 2
SOURCE_VOCABULARY = ("<pad>", *ENGLISH_WORDS)
TARGET_VOCABULARY = ("<pad>", "<bos>", "<eos>", *NUMERALS)
MAX_TARGET_TOKENS = 16  # of 九千九百九十九万九千九百九十九 and its "<eos>"
SMALLEST_HELD_OUT = 100  # below, most numbers are the only example of a word at its place

SOURCE_NUMBER = {word: number for number, word in enumerate(SOURCE_VOCABULARY)}
TARGET_NUMBER = {numeral: number for number, numeral in enumerate(TARGET_VOCABULARY)}


class Batch(NamedTuple):
    """Numbers and what they are in both languages, on one device."""

    numbers: list[int]
    source: Tensor  # (B, S)
    target: Tensor  # (B, T)

    @property
    def source_mask(self) -> Tensor:
        """``(B, S)``, True where there is a word."""
        return self.source != PADDING


def make_batch(numbers: Iterable[int], device: torch.device | str = "cpu") -> Batch:
    numbers = [int(number) for number in numbers]
    sources = [[SOURCE_NUMBER[word] for word in in_english(number).split()] for number in numbers]
    targets = [[BEGIN, *(TARGET_NUMBER[c] for c in in_chinese(number)), END] for number in numbers]
    return Batch(numbers, filled_up(sources).to(device), filled_up(targets).to(device))


def filled_up(rows: list[list[int]]) -> Tensor:
    """``(B, N)``: the rows, each with padding up to the longest."""
    longest = max(map(len, rows))
    return torch.tensor([row + [PADDING] * (longest - len(row)) for row in rows])


def as_numeral(tokens: Iterable[int]) -> str:
    """What a model has generated, as text: up to ``<eos>``."""
    numeral = ""
    for token in tokens:
        if token == END:
            break
        numeral += TARGET_VOCABULARY[token]
    return numeral


def is_held_out(numbers: Tensor) -> Tensor:
    """Whether each number is kept from training: one in sixteen from 100 on."""
    mixed = numbers * 2_654_435_761 % 2**32  # Knuth's multiplicative hash, whose upper bits are mixed well
    return (mixed >> 28 == 0) & (numbers >= SMALLEST_HELD_OUT)


def inner_zeros(numbers: Tensor) -> Tensor:
    """How many zeros each number has that stand before another digit: 3 in 1,002,300."""
    places = 10 ** torch.arange(8)
    has_digit = numbers[:, None] // places % 10 > 0  # (B, 8), the ones first
    digit_below = has_digit.cumsum(1) > 0
    digit_above = has_digit.flip(1).cumsum(1).flip(1) > 0
    return (~has_digit & digit_below & digit_above).sum(1)


def crosses_boundary(numbers: Tensor) -> Tensor:
    """Whether zeros meet the border between 万 and what is below it: 230,045 and 20,450, but not 23,045."""
    return (numbers > 10_000) & (numbers % 10_000 > 0) & ((numbers // 10_000 % 10 == 0) | (numbers // 1000 % 10 == 0))
