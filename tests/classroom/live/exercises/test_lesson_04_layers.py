"""The exercises of the lesson on layers against the library, and weights of a head that are set by hand."""

import pytest
import torch

from mha_lib import EncoderLayer, MultiHeadAttention, causal_mask, dot_product_attention, masked_softmax
from mha_lib.classroom.live.exercises.lesson_04_layers import look
from tests.classroom.live.exercises.slips import EXERCISES, randn, right_answer, said

HEAD = EXERCISES["previous_head"]


def test_the_block_is_the_layer_of_the_library():
    layer = EncoderLayer(12, 3, 24)
    norms = layer.self_attention_norm, layer.feed_forward_norm
    for norm in norms:
        torch.nn.init.normal_(norm.weight)  # two norms that differ
    x, parts = randn(2, 5, 12), (layer.self_attention, layer.feed_forward)
    torch.testing.assert_close(right_answer("block")(x, *parts, *norms), layer(x))


def test_a_layer_with_its_sum_has_no_gap():
    layer = MultiHeadAttention(8, 4)
    gap = right_answer("sum_gap")
    assert gap(lambda x, head_mask: x + layer(x, head_mask=head_mask), randn(2, 5, 8)) == 0
    assert gap(lambda x, head_mask: layer(x, head_mask=head_mask), randn(2, 5, 8)) > 1


def test_a_head_that_looks_after_the_last_time_scores_1():
    tokens = torch.tensor([3, 1, 4, 1, 3, 1])
    weights = torch.eye(6).repeat(2, 1, 1)
    for row, place in {3: 2, 4: 1, 5: 4}.items():
        weights[0, row] = torch.eye(6)[place]
    score = right_answer("induction_score")(weights, tokens)
    torch.testing.assert_close(score, torch.tensor([1.0, 0.0]))


def test_qk_and_ov_are_those_of_a_head_on_any_text():
    V, D, d = 7, 11, 5
    tokens, W_q, W_k, W_v, W_o, read_out = (
        randn(*shape) for shape in [(V, D), (D, d), (D, d), (D, d), (d, D), (D, V)]
    )
    qk, ov = right_answer("circuits")(tokens, W_q, W_k, W_v, W_o, read_out)
    text = torch.tensor([2, 6, 2, 0])
    x, mask = tokens[text][None], causal_mask(4, 4)
    output, weights = dot_product_attention(x @ W_q, x @ W_k, x @ W_v, mask)
    torch.testing.assert_close(masked_softmax(qk[text][:, text], mask), weights[0])
    torch.testing.assert_close(output[0] @ W_o @ read_out, weights[0] @ ov[text])


def test_maps_that_write_and_read_nothing_in_common_have_no_composition():
    first, second = torch.eye(6)[:, :3], torch.eye(6)[:, 3:]
    compose = right_answer("composition")
    assert compose(first @ first.T, second @ second.T) == 0
    torch.testing.assert_close(compose(randn(6, 1) @ randn(1, 6), torch.eye(6)), torch.tensor(6**-0.5))


def test_a_layer_finds_the_last_key_that_is_equal():
    values = look(torch.tensor([5, 8, 2]), torch.tensor([2, 5, 2, 1]), torch.tensor([10, 11, 12, 13]))
    assert values.tolist() == [11, -1, 12]


def test_three_layers_answer_a_question_about_two_pairs():
    tokens = torch.tensor([2, 8, 5, 2, 0, 3, 8, 7, 5])  # 2 to 8, 5 to 2, 0 to 3, 8 to 7, and 5 is asked
    assert right_answer("two_hops")(look, tokens, torch.arange(9)) == 8


def place_before(T, P, loud=100.0, shift=1):
    """W_q, W_k and W_v of a head that looks ``shift`` places back."""
    W_q, W_k, W_v = torch.zeros(T + P, P), torch.zeros(T + P, P), torch.zeros(T + P, T)
    W_q[T:] = loud * torch.eye(P).roll(-shift, 1)
    W_k[T:] = torch.eye(P)
    W_v[:T] = torch.eye(T)
    return W_q, W_k, W_v


def changed(change, **options):
    def answer(T, P):
        matrices = list(place_before(T, P, **options))
        return change(T, P, *matrices)

    return answer


def by_waves(T, P):
    """Places as angles: a turn by one step leads from a place to the one before it."""
    angles = 2 * torch.pi * torch.arange(P) / P
    step = 2 * torch.pi / P
    W_q, W_k = torch.zeros(T + P, 2), torch.zeros(T + P, 2)
    W_q[T:] = 3000 * torch.stack([(angles - step).cos(), (angles - step).sin()], 1)
    W_k[T:] = torch.stack([angles.cos(), angles.sin()], 1)
    return W_q, W_k, place_before(T, P)[2]


def shifted_keys(T, P):
    W_q, W_k, W_v = place_before(T, P, shift=0)
    W_k[T:] = torch.eye(P).roll(1, 1)
    return [W_q, W_k, W_v]


@pytest.mark.parametrize("answer", [place_before, by_waves, shifted_keys])
def test_many_weights_make_a_previous_token_head(answer):
    verdict = HEAD.judge(answer)
    assert verdict[:2] == ("solved", "right for 3 sizes: the token before gets a weight of 1.000 or more.")


TOKENS_AND_PLACES_EXCHANGED = changed(lambda T, P, W_q, W_k, W_v: (W_q.roll(P, 0), W_k.roll(P, 0), W_v))
WRONG = {
    "next_place": lambda T, P: place_before(T, P, shift=-1),
    "itself": lambda T, P: place_before(T, P, shift=0),
    "place_handed_on": changed(lambda T, P, W_q, W_k, W_v: (W_q, W_k, W_k)),
    "not_finite": lambda T, P: place_before(T, P, loud=torch.inf),
    "token_decides": TOKENS_AND_PLACES_EXCHANGED,
    "nothing_chosen": changed(lambda T, P, *matrices: [0 * W for W in matrices]),
    "other_values": changed(lambda T, P, W_q, W_k, W_v: (W_q, W_k, W_v.roll(1, 1))),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_wrong_weights_are_told_their_mistake(mistake):
    assert HEAD.judge(WRONG[mistake])[:2] == ("wrong", *said("previous_head", mistake))


@pytest.mark.parametrize(
    ("answer", "mistake", "sentence"),
    [
        (lambda T, P: place_before(T, P, loud=5.0), "too_flat", "but with a weight of 0.40 only"),
        (lambda T, P: place_before(T, P, shift=2), "elsewhere", "place 2 looks at place 0"),
        (lambda T, P: place_before(T, P)[0], "three_matrices_wanted", "returned a tensor (16, 9)"),
        (lambda T, P: place_before(T, P)[:2], "three_matrices_wanted", "returned a tuple"),
        (
            changed(lambda T, P, W_q, W_k, W_v: (W_q.T, W_k.T, W_v.T)),
            "shapes",
            "the same shape with 16 rows, and W_v must be (16, 7): these are (9, 16), (9, 16) and (7, 16).",
        ),
        (
            changed(lambda T, P, W_q, W_k, W_v: (W_q, W_k[:, 1:], W_v)),
            "shapes",
            "these are (16, 9), (16, 8) and (16, 7).",
        ),
    ],
)
def test_wrong_weights_are_told_what_came(answer, mistake, sentence):
    verdict = HEAD.judge(answer)
    assert (verdict.state, verdict.names) == ("wrong", (mistake,)), verdict
    assert sentence in verdict.sentence
