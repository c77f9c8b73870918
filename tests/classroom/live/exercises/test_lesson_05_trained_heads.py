"""The exercises of the lesson on trained heads against the library and the measures."""

from typing import NamedTuple

import pytest
import torch

from mha_lib import DecoderLayer, MultiHeadAttention, prune_heads
from mha_lib.classroom.live.exercises.judge import Check
from mha_lib.classroom.tasks import (
    BEGIN,
    END,
    MAX_TARGET_TOKENS,
    alignment,
    alignment_scores,
    importance_by_removal,
    make_batch,
    make_translator,
    translation,
    translation_loss,
    weights_of,
)
from tests.classroom.live.exercises.slips import EXERCISES, right_answer, said

BREAK = EXERCISES["breaks_the_model"]


def test_greedy_decoding_is_that_of_the_library():
    calls = list(EXERCISES["greedy_decode"].calls())
    for call in calls:
        model, source, source_mask, begin, end, max_tokens = call
        generated = model.generate(source, source_mask, begin=begin, end=end, max_tokens=max_tokens)
        assert torch.equal(right_answer("greedy_decode")(*call), generated)
    lengths = [right_answer("greedy_decode")(*call).shape[1] for call in calls]
    assert min(lengths) < max(lengths) == calls[0][-1]  # some end early, some are cut off


def test_greedy_decoding_of_the_translator_is_that_of_the_library():
    batch = make_batch([20_045, 7])
    call = make_translator(), batch.source, batch.source_mask
    generated = call[0].generate(*call[1:], begin=BEGIN, end=END, max_tokens=MAX_TARGET_TOKENS)
    assert torch.equal(right_answer("greedy_decode")(*call, BEGIN, END, MAX_TARGET_TOKENS), generated)


def test_a_mistake_in_greedy_decoding_is_looked_for_without_asking_the_model_again(monkeypatch):
    """Some hundred mistakes would each ask the model a dozen times, which takes seconds."""
    asked, forward = [], DecoderLayer.forward

    def backwards(model, *given):
        return right_answer("greedy_decode")(model, *given).flip(1)

    def counted(layer, *given, **options):
        asked.append(layer)
        return forward(layer, *given, **options)

    monkeypatch.setattr(DecoderLayer, "forward", counted)
    assert EXERCISES["greedy_decode"].judge(backwards).state == "wrong"
    assert len(asked) < 300  # with those that draw the cases
    asked.clear()
    EXERCISES["greedy_decode"].judge(backwards)
    assert not asked


def test_shifted_targets_make_the_loss_of_the_translator():
    model, batch = make_translator(), make_batch([20_045, 7])
    inputs, labels = right_answer("shift_targets")(batch.target)
    logits = model(batch.source, inputs, batch.source_mask)
    loss = torch.nn.functional.cross_entropy(logits.mT, labels, ignore_index=0)
    torch.testing.assert_close(loss, translation_loss(model, batch))


def test_the_alignment_score_is_that_of_the_measures():
    model, number = make_translator(), 20_345_001
    batch = make_batch([number])
    score = right_answer("alignment_score")(weights_of(model, batch).cross[0][0], alignment(number))
    torch.testing.assert_close(score, alignment_scores(model, batch)[0])


def test_the_importance_is_that_of_the_measures():
    model, batch = make_translator(), make_batch([20_045, 7, 345])

    def loss_of(head_masks):
        return translation_loss(model, batch, head_masks)

    expected = torch.cat([*map(torch.stack, importance_by_removal(model, batch))])
    with torch.no_grad():
        torch.testing.assert_close(right_answer("head_importance")(loss_of, 4), expected)


@pytest.mark.parametrize("removed", range(3))
def test_the_matrix_prunes_as_the_library_does_and_leaves_as_many_parameters(removed):
    layer = MultiHeadAttention(15, 3)
    smaller = prune_heads(layer, [head for head in range(3) if head != removed])
    P = right_answer("prune_as_matrix")(3, 5, removed)
    for name in ("W_q", "W_k", "W_v"):
        assert torch.equal(getattr(layer, name).weight.T @ P, getattr(smaller, name).weight.T)
    assert torch.equal(P.T @ layer.W_o.weight.T, smaller.W_o.weight.T)
    assert sum(p.numel() for p in smaller.parameters()) == right_answer("pruned_parameters")(15, 3, 1)


def test_an_error_shows_the_students_own_line():
    def misses_a_key(weights, places):
        return torch.stack([weights[:, row, place] for row, place in enumerate(places)])

    sentence = EXERCISES["alignment_score"].judge(misses_a_key).sentence
    assert sentence.startswith("your line `return torch.stack([weights[:, row, place]")


def test_a_pair_of_tensors_is_not_one_tensor():
    verdict = EXERCISES["shift_targets"].judge(lambda target: (target[:, :-1], target[:, 1:]))
    assert verdict[:2] == ("wrong", "a tensor is wanted, and this returned a tuple.")


class Written(NamedTuple):
    """The translation of a model that was never trained, for tests without a trained one."""

    number: int
    english: str
    written: str
    right: str
    share: float = 0.99

    def right_elsewhere(self):
        return self.share


WRONG = Written(
    17_000_305, "seventeen million three hundred five", "一千七百万三百零五", "一千七百万零三百零五"
)
SHOWN = Written(14_000_007, "fourteen million seven", "一千四百万七", "一千四百万零七")


def test_a_number_that_the_model_gets_wrong_breaks_it():
    assert BREAK.judge(lambda: WRONG)[:2] == (
        "solved",
        "right on 1 number, which is enough: for 17,000,305 (seventeen million three hundred five) the model "
        "writes 一千七百万三百零五, and 一千七百万零三百零五 is right.",
    )


def test_a_number_that_the_model_gets_right_does_not_break_it():
    verdict = BREAK.judge(lambda: WRONG._replace(written=WRONG.right))
    assert verdict.state == "wrong"
    assert "the model writes 一千七百万零三百零五, and that is right" in verdict.sentence


def test_the_kind_of_number_that_the_lesson_shows_does_not_count():
    verdict = BREAK.judge(lambda: SHOWN)
    assert verdict.state == "wrong"
    assert verdict.sentence.startswith(
        "for 14,000,007 (fourteen million seven) the model is wrong, but this kind"
    )
    for number in (9_000_007, 14_000_100, 14_001_007, 20_000_007, 14_000_000):
        assert BREAK.judge(lambda number=number: SHOWN._replace(number=number)).state == "solved"


def test_an_untrained_translator_is_broken_by_any_number_and_that_does_not_count():
    verdict = BREAK.judge(lambda: translation(make_translator(), "Twenty thousand and forty-five"))
    assert verdict.state == "wrong"
    assert verdict.sentence.startswith("any number breaks this model: it has 0% of other numbers right.")
    assert BREAK.judge(lambda: WRONG._replace(share=0.89)).state == "wrong"


def test_a_translation_tells_its_number_and_not_its_model():
    found = translation(make_translator(), "Twenty thousand and forty-five")
    assert repr(found).startswith("Translation(number=20045, english='twenty thousand forty five', written=")
    assert repr(found).endswith(", right='二万零四十五')")


@pytest.mark.parametrize("given", [20_045, "twenty thousand forty five", torch.tensor(20_045)])
def test_a_number_alone_is_not_a_translation(given):
    assert BREAK.judge(lambda: given)[:2] == ("wrong", *said("breaks_the_model", "number_alone"))


@pytest.mark.parametrize(("given", "named"), [([20_045], "a list"), (make_translator(), "a model")])
def test_what_is_no_translation_is_named(given, named):
    verdict = BREAK.judge(lambda: given)
    assert verdict.state == "wrong"
    assert f"this returned {named}: return translation(translator, number)" in verdict.sentence


def test_a_text_that_is_no_number_is_explained():
    def mistyped():
        return translation(make_translator(), "twenty thousnd")

    sentence = BREAK.judge(mistyped).sentence
    assert sentence.startswith('your line `return translation(make_translator(), "twenty thousnd")` raised')
    assert "“thousnd” was not understood" in sentence


def test_the_translation_itself_is_no_function():
    assert BREAK.judge(WRONG).sentence.startswith("hand over the function itself, without calling it")


def test_a_broken_model_counts_as_solved(capsys):
    check = Check(BREAK)

    def breaks_the_model_solution():
        return WRONG

    check.breaks_the_model(breaks_the_model_solution)
    check.breaks_the_model(lambda: WRONG)
    check.report()
    out = capsys.readouterr().out
    assert out.startswith("Solution of breaks_the_model, not your answer: right on 1 number")
    assert out.endswith("✓ breaks_the_model\n1 of 1 solved\n")
