"""Batches and their numbers: for training, held out, and rare."""

from collections import Counter

import pytest
import torch

from mha_lib.classroom.translator import (
    BEGIN,
    END,
    LARGEST,
    MAX_TARGET_TOKENS,
    PADDING,
    SOURCE_VOCABULARY,
    TARGET_VOCABULARY,
    as_numeral,
    draw_training_numbers,
    held_out_numbers,
    in_chinese,
    in_english,
    is_held_out,
    make_batch,
)


def zeros_inside(number):
    return str(number).strip("0").count("0")


def test_a_batch_holds_the_numbers_in_both_languages():
    numbers = [0, 23_045, 99_999_999, 20_000_000]
    batch = make_batch(numbers)
    for number, source, target, mask in zip(
        numbers, batch.source, batch.target, batch.source_mask, strict=True
    ):
        words = [SOURCE_VOCABULARY[token] for token in source[mask]]
        assert " ".join(words) == in_english(number)
        assert (source[~mask] == PADDING).all()
        length = len(in_chinese(number))
        assert target[0] == BEGIN
        assert target[length + 1] == END
        assert (target[length + 2 :] == PADDING).all()
        assert as_numeral(target[1:].tolist()) == in_chinese(number)


def test_the_special_tokens_are_where_their_names_are_and_the_longest_numeral_has_room():
    assert [TARGET_VOCABULARY[token] for token in (PADDING, BEGIN, END)] == ["<pad>", "<bos>", "<eos>"]
    assert SOURCE_VOCABULARY[PADDING] == "<pad>"
    assert make_batch([LARGEST]).target.shape[1] == MAX_TARGET_TOKENS + 1  # and its "<bos>"


def test_one_number_in_sixteen_is_held_out_whatever_its_kind():
    draw = torch.Generator().manual_seed(3)
    numbers = torch.randint(0, LARGEST + 1, (100_000,), generator=draw)
    for kind in (numbers, torch.arange(100, 100_100), torch.arange(1, 10_000) * 10_000 + 7):
        assert is_held_out(kind).float().mean() == pytest.approx(1 / 16, abs=0.006)


def test_held_out_numbers_stay_the_same_and_are_none_below_a_hundred():
    """If they changed, a translator kept from before would be examined with numbers it was trained on."""
    numbers = torch.arange(LARGEST - 100_000, LARGEST)
    assert numbers[is_held_out(numbers)][:4].tolist() == [99_900_019, 99_900_032, 99_900_053, 99_900_074]
    assert not is_held_out(torch.arange(100)).any()


@pytest.mark.parametrize(("max_digits", "zero_rich"), [(2, False), (9, False), (5, True)])
def test_numbers_of_too_few_or_too_many_digits_are_an_error(max_digits, zero_rich):
    with pytest.raises(ValueError, match=f"max_digits must be from [38] to 8, since .*, got {max_digits}"):
        held_out_numbers(3, max_digits=max_digits, zero_rich=zero_rich)


def test_training_sees_short_numbers_and_those_with_zeros_often_and_none_that_is_held_out():
    numbers, exam = draw_training_numbers(20_000, torch.Generator().manual_seed(0)), held_out_numbers(20_000)
    assert len(numbers) == len(exam) == 20_000
    assert not is_held_out(numbers).any()
    assert is_held_out(exam).all()
    lengths = Counter(map(len, map(str, numbers.tolist())))
    assert all(lengths[length] > 200 for length in range(1, 9))
    with_two, naturally = (
        sum(zeros_inside(number) >= 2 for number in drawn.tolist()) for drawn in (numbers, exam)
    )
    assert with_two > 1.3 * naturally
    assert {0, 7, 10, 100} <= set(numbers.tolist())


def test_hard_numbers_have_many_zeros_inside():
    numbers = held_out_numbers(2_000, zero_rich=True)
    assert is_held_out(numbers).all()
    assert all(zeros_inside(number) >= 2 for number in numbers.tolist())
    assert {len(str(number)) for number in numbers.tolist()} == {4, 5, 6, 7, 8}
