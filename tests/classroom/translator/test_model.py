"""The translator: its translations, when they count as right, and its loss."""

import pytest
import torch
from torch import nn

from mha_lib.classroom.translator import (
    PADDING,
    NotUnderstood,
    draw_training_numbers,
    exact_matches,
    in_chinese,
    make_batch,
    make_translator,
    translate,
    translation_loss,
)
from tests.classroom.translator.conftest import NUMBERS


def test_a_trained_translator_writes_numbers_that_it_never_saw(trained):
    assert translate(trained, NUMBERS) == [in_chinese(number) for number in NUMBERS]
    assert exact_matches(trained, NUMBERS).all()


def test_what_people_type_is_translated(trained):
    assert translate(trained, "205") == ["二百零五"]
    assert translate(trained, ["23", 23]) == ["二十三"] * 2
    with pytest.raises(NotUnderstood, match="in digits"):
        translate(trained, "two apples")


def test_a_mistake_anywhere_is_no_match(monkeypatch):
    def written(*arguments):
        return ["二十三", "二十三四", "二十", "三十二", ""]

    monkeypatch.setattr("mha_lib.classroom.translator.model.translate", written)
    assert exact_matches(make_translator(), [23] * 5).tolist() == [True] + 4 * [False]


def test_a_number_is_translated_alike_alone_among_others_and_in_several_batches(trained, monkeypatch):
    numbers = draw_training_numbers(40, torch.Generator().manual_seed(8), max_digits=3).tolist()
    whole = translate(trained, numbers)
    assert whole == [translate(trained, number)[0] for number in numbers]
    monkeypatch.setattr("mha_lib.classroom.translator.model.AT_ONCE", 7)
    assert translate(trained, numbers) == whole


def test_making_a_translator_leaves_the_generator_alone():
    torch.manual_seed(5)
    make_translator(2)
    drawn = torch.rand(3)
    torch.manual_seed(5)
    assert torch.equal(drawn, torch.rand(3))


@torch.no_grad()
def test_padding_changes_no_loss_in_the_numerals_nor_in_the_words(trained):
    both, alone = make_batch([345, 7]), make_batch([7])
    padded = both._replace(target=nn.functional.pad(both.target, (0, 5), value=PADDING))
    torch.testing.assert_close(translation_loss(trained, both), translation_loss(trained, padded))
    beside = both._replace(source=both.source[1:], target=both.target[1:])
    torch.testing.assert_close(translation_loss(trained, alone), translation_loss(trained, beside))


def test_translating_leaves_the_mode_of_a_model_alone():
    model = make_translator().train()
    translate(model, 23)
    assert model.training
