"""Right answers and cases of exercises against the library and the measures."""

import pytest
import torch

from mha_lib import DecoderLayer, EncoderLayer, MultiHeadAttention, prune_heads
from mha_lib.classroom.exercises.lesson_04_layers import look
from mha_lib.classroom.translator import (
    alignment,
    alignment_scores,
    importance_by_removal,
    make_batch,
    make_translator,
    translation,
    translation_loss,
    weights_of,
)
from tests.classroom.exercises.answers import EXERCISES


def right_answer(exercise):
    return EXERCISES[exercise].answer


def calls_of(name):
    return list(EXERCISES[name].calls())


def test_the_block_is_the_layer_of_the_library():
    layer = EncoderLayer(12, 3, 24)
    norms = layer.self_attention_norm, layer.feed_forward_norm
    for norm in norms:
        torch.nn.init.normal_(norm.weight)  # two norms that differ
    x, parts = torch.randn(2, 5, 12), (layer.self_attention, layer.feed_forward)
    torch.testing.assert_close(right_answer("block")(x, *parts, *norms), layer(x))


def test_a_layer_finds_the_last_key_that_is_equal():
    values = look(torch.tensor([5, 8, 2]), torch.tensor([2, 5, 2, 1]), torch.tensor([10, 11, 12, 13]))
    assert values.tolist() == [11, -1, 12]


def test_some_translations_end_early_and_some_are_cut_off():
    calls = calls_of("greedy_decode")
    lengths = [right_answer("greedy_decode")(*call).shape[1] for call in calls]
    assert min(lengths) < max(lengths) == calls[0][-1]


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
    expected = torch.cat([*map(torch.stack, importance_by_removal(model, batch))])
    with torch.no_grad():
        found = right_answer("head_importance")(lambda masks: translation_loss(model, batch, masks), 4)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("removed", range(3))
def test_the_matrix_prunes_as_the_library_does_and_leaves_as_many_parameters(removed):
    layer = MultiHeadAttention(15, 3)
    smaller = prune_heads(layer, [head for head in range(3) if head != removed])
    P = right_answer("prune_as_matrix")(3, 5, removed)
    for name in ("W_q", "W_k", "W_v"):
        assert torch.equal(getattr(layer, name).weight.T @ P, getattr(smaller, name).weight.T)
    assert torch.equal(P.T @ layer.W_o.weight.T, smaller.W_o.weight.T)
    assert sum(p.numel() for p in smaller.parameters()) == right_answer("pruned_parameters")(15, 3, 1)


def test_a_translation_tells_its_number_and_not_its_model():
    found = translation(make_translator(), "20,045")
    assert repr(found).startswith("Translation(number=20045, english='twenty thousand forty five', written=")
    assert repr(found).endswith(", right='二万零四十五')")


def test_the_cases_of_the_tiles_have_loud_scores_and_quiet_ones():
    largest = [
        (queries @ torch.cat([keys for keys, _ in tiles]).T).amax(1) / queries.shape[1] ** 0.5
        for queries, tiles in calls_of("online_softmax")
    ]
    assert any(scores.max() > 100 and scores.min() < -110 for scores in largest)  # exp gives infinity and 0
    assert any(scores.abs().max() < 20 for scores in largest)


def test_a_cache_begins_empty_or_not_and_gets_one_token_or_several():
    calls = calls_of("attend_with_cache")
    assert {cache.keys.shape[1] for *_, cache in calls} == {0, 2}
    assert {x.shape[1] for x, *_ in calls} == {1, 3, 4}
    assert all(first[-1] is second[-1] for first, second in zip(calls[::3], calls[1::3], strict=True))
