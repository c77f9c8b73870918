"""Right answers and cases of exercises against the library and the measures."""

import torch

from mha_lib import EncoderLayer
from mha_lib.classroom.exercises.lesson_04_layers import look
from mha_lib.classroom.translator import (
    alignment,
    alignment_scores,
    importance_by_removal,
    make_batch,
    make_translator,
    translation_loss,
    weights_of,
)
from tests.classroom.exercises.answers import EXERCISES


def right_answer(exercise):
    return EXERCISES[exercise].answer


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
