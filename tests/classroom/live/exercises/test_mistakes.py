"""The right answers that exercises share agree with the library; the words know every mistake."""

import torch

import mha_lib
from mha_lib.classroom.course.language import words_in
from mha_lib.classroom.live.exercises.mistakes import (
    attention,
    masked_weights,
    multi_head,
    self_attention,
    shared,
)
from tests.classroom.live.exercises.slips import EXERCISES, randn

B, Q, K, H, d, d_v = 2, 3, 5, 7, 11, 13
SENTENCES = words_in("en")["mistakes"]


def mistakes_of(exercise):
    return {*exercise.mistakes, *getattr(exercise, "symptoms", ()), *getattr(exercise, "rules", ())}


def mask_with_an_empty_row():
    mask = randn(B, Q, K) > 0
    mask[0, 1] = False
    return mask


def test_masked_weights_are_those_of_the_library():
    scores, mask = randn(B, Q, K), mask_with_an_empty_row()
    torch.testing.assert_close(masked_weights(scores, mask), mha_lib.masked_softmax(scores, mask))
    torch.testing.assert_close(masked_weights(scores), mha_lib.masked_softmax(scores))


def test_attention_is_that_of_the_library():
    tensors, mask = (randn(B, Q, d), randn(B, K, d), randn(B, K, d_v)), mask_with_an_empty_row()
    output, _ = mha_lib.dot_product_attention(*tensors, mask)
    torch.testing.assert_close(attention(*tensors, mask), output)


def test_self_attention_is_that_of_the_library():
    layer = mha_lib.SingleHeadAttention(K, d, d_v)
    x = randn(B, Q, K)
    W_q, W_k, W_v = (projection.weight.T for projection in (layer.W_q, layer.W_k, layer.W_v))
    torch.testing.assert_close(self_attention(x, W_q, W_k, W_v), layer(x)[0])


def test_multi_head_is_that_of_the_library():
    layer = mha_lib.MultiHeadAttention(H * d, H)
    x, valid_lens = randn(B, K, H * d), torch.tensor([2, 5])
    W_q, W_k, W_v, W_o = (each.weight.T for each in (layer.W_q, layer.W_k, layer.W_v, layer.W_o))
    output = multi_head(x, W_q, W_k, W_v, W_o, H, valid_lens)
    torch.testing.assert_close(output, layer(x, valid_lens=valid_lens))


def test_a_shared_mistake_replaces_its_step_in_any_answer():
    scores, mask = randn(B, Q, K), mask_with_an_empty_row()
    (missing,) = shared("mask_missing")["mask_missing"]
    (zero,) = shared("forbidden_scores_zero")["forbidden_scores_zero"]
    torch.testing.assert_close(masked_weights(scores, mask, **missing), scores.softmax(-1))
    torch.testing.assert_close(masked_weights(scores, mask, **zero), (scores * mask).softmax(-1))


def test_every_mistake_has_one_sentence():
    for exercise in EXERCISES.values():
        own = SENTENCES.get(exercise.name, {})
        for name in mistakes_of(exercise):
            assert (name in own) != (name in SENTENCES["shared"]), f"{exercise.name}: {name}"


def test_every_sentence_has_its_mistake():
    for exercise in EXERCISES.values():
        assert set(SENTENCES.get(exercise.name, {})) <= mistakes_of(exercise)
    assert set(SENTENCES) - {"shared"} <= set(EXERCISES)


def test_every_remark_has_its_sentence():
    remarks = {
        exercise.name: set(exercise.also_right) for exercise in EXERCISES.values() if exercise.also_right
    }
    assert remarks == {name: set(said) for name, said in words_in("en")["remarks"].items()}


def test_a_shared_sentence_is_shared():
    for name in SENTENCES["shared"]:
        used = [exercise.name for exercise in EXERCISES.values() if name in mistakes_of(exercise)]
        assert len(used) > 1, f"{name}: {used}"


def test_no_sentence_stands_twice():
    sentences = [sentence for said in SENTENCES.values() for sentence in said.values()]
    assert len(sentences) == len(set(sentences))
