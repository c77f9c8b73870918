"""The translator: its translations, when they count as right, and the museum of decoding bugs."""

import pytest
import torch
from torch import nn

from mha_lib import ByAttention, DecoderCache
from mha_lib.classroom.translator import (
    BEGIN,
    END,
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
    assert translate(trained, ["23", "２３", 23]) == ["二十三"] * 3
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


def test_a_translator_is_the_same_for_the_same_seed_and_leaves_the_generator_alone():
    torch.manual_seed(5)
    first, second, other = make_translator(2), make_translator(2), make_translator(2, seed=1)
    drawn = torch.rand(3)
    torch.manual_seed(5)
    assert torch.equal(drawn, torch.rand(3))
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert not torch.equal(first.W_logits.weight, other.W_logits.weight)


def test_however_many_heads_there_are_a_translator_has_as_many_parameters():
    counts = {heads: sum(x.numel() for x in make_translator(heads).parameters()) for heads in (1, 2, 4, 8)}
    assert len(set(counts.values())) == 1


# The museum: each function below holds one bug, and a relation that must hold catches it. Lesson 05 trains
# with them, and asserts the result.


def cross_entropy(logits, labels, ignore_index=PADDING):
    return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=ignore_index)


def padding_in_the_loss(model, batch):
    logits = model(batch.source, batch.target[:, :-1], batch.source_mask)
    return cross_entropy(logits, batch.target[:, 1:], ignore_index=-100)


def mask_upside_down(model, batch):
    memory = model.encode(batch.source, batch.source_mask)
    logits = model.decode(batch.target[:, :-1], memory, ~batch.source_mask)
    return cross_entropy(logits, batch.target[:, 1:])


def greedily(model, batch, advance=True):
    """Decode as on the slide; without ``advance`` each step begins with an empty cache."""
    memory = model.encode(batch.source, batch.source_mask)
    cache, token, written = DecoderCache(model, memory, 8), batch.target[:, :1], []
    for _ in range(8):
        if not advance:
            cache = DecoderCache(model, memory, 8)
        token = model.decode(token, memory, batch.source_mask, cache=cache).argmax(-1)
        written.append(token)
    return torch.cat(written, dim=1)


def test_without_a_causal_mask_what_comes_later_changes_the_prediction(trained):
    batch = make_batch([345])
    other = batch.target.clone()
    other[:, 4] = BEGIN
    memory = trained.encode(batch.source)
    for is_causal in (True, False):
        before, after = (trained.decode(x, memory, is_causal=is_causal)[:, :4] for x in (batch.target, other))
        assert torch.allclose(before, after) == is_causal


@pytest.mark.parametrize("loss", [translation_loss, padding_in_the_loss])
def test_with_padding_in_the_loss_more_padding_changes_it(trained, loss):
    batch = make_batch([345, 7])
    padded = batch._replace(target=nn.functional.pad(batch.target, (0, 5), value=PADDING))
    same = torch.allclose(loss(trained, batch), loss(trained, padded))
    assert same == (loss is translation_loss)


def test_with_the_mask_upside_down_a_sample_alone_is_not_what_it_is_in_a_batch(trained):
    for loss in (translation_loss, mask_upside_down):
        alone = loss(trained, make_batch([7]))
        beside = make_batch([7, 345])
        in_batch = loss(trained, beside._replace(source=beside.source[:1], target=beside.target[:1]))
        assert torch.allclose(alone, in_batch) == (loss is translation_loss)


@torch.no_grad()
def test_a_cache_that_is_not_advanced_forgets_what_was_written(trained):
    batch = make_batch([345, 7])
    right = trained.generate(batch.source, batch.source_mask, begin=BEGIN, end=END, max_tokens=8)
    length = right.shape[1]
    assert torch.equal(greedily(trained, batch)[:, :length][:1], right[:1])
    assert not torch.equal(greedily(trained, batch, advance=False)[:, :length][:1], right[:1])


@pytest.mark.parametrize("training", [False, True])
def test_translating_leaves_the_mode_of_a_model_alone_also_where_it_fails(training):
    model = make_translator().train(training)
    translate(model, 23)
    assert model.training == training
    with pytest.raises(ValueError, match="head_masks"):
        translate(model, 12, ByAttention([], [], []))
    assert model.training == training
