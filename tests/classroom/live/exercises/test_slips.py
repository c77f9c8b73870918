"""Slips as students make them: a right answer, in plain torch, with one or two places changed."""

from itertools import product

import pytest
import torch

from tests.classroom.live.exercises import slips_05_trained_heads as trained_heads
from tests.classroom.live.exercises import slips_06_heads_today as heads_today
from tests.classroom.live.exercises import styles
from tests.classroom.live.exercises.slips import EXERCISES, assert_named, assert_right, right_answer, written

MULTI_HEAD = """
def answer(x, W_q, W_k, W_v, W_o, num_heads, valid_lens):
    batch, num_tokens, width = x.shape
    d = width // num_heads
    q = (x @ W_q).view(batch, num_tokens, num_heads, d).transpose(1, 2)
    k = (x @ W_k).view(batch, num_tokens, num_heads, d).transpose(1, 2)
    v = (x @ W_v).view(batch, num_tokens, num_heads, d).transpose(1, 2)
    scores = q @ k.transpose(2, 3) / d**0.5
    mask = (torch.arange(num_tokens) < valid_lens[:, None])[:, None, None]
    scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(dim=-1)
    heads = weights @ v
    return heads.transpose(1, 2).reshape(batch, num_tokens, width) @ W_o
"""
VIEW = ".view(batch, num_tokens, num_heads, d).transpose(1, 2)"
MERGE = "heads.transpose(1, 2).reshape(batch, num_tokens, width)"
SOFTMAX = "weights = scores.softmax(dim=-1)"
FILL = "scores = scores.masked_fill(~mask, -torch.inf)"
KEYS = "valid_lens[:, None])[:, None, None]"
ROWS = "valid_lens[:, None])[:, None, :, None]"

# The change to the answer, under the name of the mistake that it makes.
SLIPS = {
    "cut_with_one_view": {VIEW: ".view(batch, num_heads, num_tokens, d)"},
    "every_other_number": {VIEW: ".view(batch, num_tokens, d, num_heads).permute(0, 3, 1, 2)"},
    "merged_without_swap": {MERGE: "heads.reshape(batch, num_tokens, width)"},
    "merged_number_by_number": {MERGE: "heads.permute(0, 2, 3, 1).reshape(batch, num_tokens, width)"},
    "lengths_repeated": {
        KEYS: "valid_lens.repeat(num_heads)[:, None]).view(batch, num_heads, 1, num_tokens)"
    },
    "scale_missing": {" / d**0.5": ""},
    "scale_of_whole_width": {"/ d**0.5": "/ width**0.5"},
    "scale_without_root": {"/ d**0.5": "/ d"},
    "scale_multiplied": {"/ d**0.5": "* d**0.5"},
    "scale_of_whole_width_multiplied": {"/ d**0.5": "* width**0.5"},
    "scale_of_number_of_keys": {"/ d**0.5": "/ num_tokens**0.5"},
    "mask_upside_down": {"~mask": "mask"},
    "mask_missing": {FILL: "pass"},
    "mask_on_queries": {KEYS: ROWS},
    "forbidden_scores_zero": {FILL: "scores = scores.masked_fill(~mask, 0)"},
    "forbidden_weights_zero": {FILL: "pass", SOFTMAX: SOFTMAX + " * mask"},
    "softmax_over_queries": {"softmax(dim=-1)": "softmax(dim=-2)"},
    "exponentials": {SOFTMAX: "weights = scores.exp()"},
    "queries_and_keys_exchanged": {"q @ k.transpose(2, 3)": "k @ q.transpose(2, 3)"},
    "values_from_W_k": {"x @ W_v": "x @ W_k"},
    "heads_not_mixed": {" @ W_o": ""},
    "matrices_transposed": {f"@ W_{name}": f"@ W_{name}.T" for name in "qkvo"},
}
WAYS_TO_FILL = {
    "infinity": {},
    "lowest": {"-torch.inf": "-1e9"},
    "zero": {SOFTMAX: SOFTMAX + ".nan_to_num()"},
}


MASKED_SOFTMAX = """
def answer(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(-1)
"""
CHOOSE = """
def answer(accuracies, tolerance):
    best = max(accuracies.values())
    return min(heads for heads in accuracies if best - accuracies[heads] <= tolerance)
"""
SOURCES = {"multi_head": MULTI_HEAD, "masked_softmax": MASKED_SOFTMAX, "choose_num_heads": CHOOSE}
SOURCES |= trained_heads.SOURCES | heads_today.SOURCES
EARLIER_SLIPS = {
    "multi_head": SLIPS,
    "masked_softmax": {"forbidden_scores_too_high": {"-1e9": "-100"}},
    "choose_num_heads": {"first_in_the_dictionary": {"min(": "next("}, "boundary_excluded": {"<=": "<"}},
}
ALL_SLIPS = [
    (exercise, mistake, changes)
    for exercise, mistakes in (EARLIER_SLIPS | trained_heads.SLIPS | heads_today.SLIPS).items()
    for mistake, ways in mistakes.items()
    for changes in (ways if isinstance(ways, list) else [ways])
]


@pytest.mark.parametrize("exercise", SOURCES)
def test_the_answer_without_a_slip_is_right(exercise):
    assert_right(exercise, written(SOURCES[exercise]))


@pytest.mark.parametrize("style", [name for name in vars(styles) if "__" in name.strip("_")])
def test_the_answer_in_another_style_is_right(style):
    exercise, _ = style.split("__")
    assert_right(exercise, getattr(styles, style))


@pytest.mark.parametrize(("exercise", "changes"), heads_today.OTHER_WAYS)
def test_the_answer_with_harmless_changes_is_right(exercise, changes):
    assert_right(exercise, written(SOURCES[exercise], changes))


@pytest.mark.parametrize(("exercise", "mistake", "changes"), ALL_SLIPS)
def test_a_slip_is_named(exercise, mistake, changes):
    assert_named(exercise, written(SOURCES[exercise], changes), mistake)


@pytest.mark.parametrize(("exercise", "first", "second"), trained_heads.PAIRS + heads_today.PAIRS)
def test_a_pair_of_slips_is_named(exercise, first, second):
    first_way = {slip[:2]: slip[2] for slip in reversed(ALL_SLIPS)}
    changes = first_way[exercise, first], first_way[exercise, second]
    assert_named(exercise, written(SOURCES[exercise], *changes), first, second)


@pytest.mark.parametrize("way", WAYS_TO_FILL)
@pytest.mark.parametrize("name", ["softmax_over_queries", "mask_on_queries", "mask_upside_down"])
def test_a_slip_that_leaves_nothing_to_attend_to_is_named_however_scores_are_filled(name, way):
    assert_named("multi_head", written(MULTI_HEAD, WAYS_TO_FILL[way], SLIPS[name]), name)


@pytest.mark.parametrize(
    "names",
    [
        ("scale_missing", "mask_on_queries"),
        ("scale_of_whole_width", "forbidden_scores_zero"),
        ("scale_missing", "forbidden_weights_zero"),
        ("cut_with_one_view", "merged_without_swap"),
        ("values_from_W_k", "heads_not_mixed"),
        ("merged_number_by_number", "mask_upside_down"),
        ("lengths_repeated", "scale_multiplied"),
        ("queries_and_keys_exchanged", "values_from_W_k"),
        ("mask_on_queries", "mask_upside_down"),
    ],
)
@pytest.mark.parametrize("way", WAYS_TO_FILL)
def test_two_slips_at_once_are_both_named(names, way):
    changes = [SLIPS[name] for name in names]
    if not {"forbidden_weights_zero", "forbidden_scores_zero"} & set(names):
        changes.insert(0, WAYS_TO_FILL[way])
    assert_named("multi_head", written(MULTI_HEAD, *changes), *names)


@pytest.mark.parametrize("way", ["lowest", "zero"])  # with -inf all is NaN, which hides the other slip
def test_a_slip_beside_a_softmax_over_queries_is_named(way):
    names = ("scale_without_root", "softmax_over_queries")
    answer = written(MULTI_HEAD, WAYS_TO_FILL[way], *(SLIPS[name] for name in names))
    assert_named("multi_head", answer, *names)


def test_a_head_that_sees_a_slice_of_the_input_is_named():
    def answer(x, W_q, W_k, W_v, W_o, num_heads):
        d, outputs = x.shape[-1] // num_heads, []
        for part in (slice(i * d, (i + 1) * d) for i in range(num_heads)):
            q, k, v = (x[..., part] @ W[part, part] for W in (W_q, W_k, W_v))
            outputs.append((q @ k.mT / d**0.5).softmax(-1) @ v)
        return torch.cat(outputs, -1) @ W_o

    assert_named("serial_heads", answer, "slices_of_input")
    assert_named("multi_head", lambda *call: answer(*call[:-1]), "slices_of_input", "mask_missing")


def masks_of(dtype):
    return {
        "causal_mask": lambda q, k: torch.ones(q, k).tril(k - q).to(dtype),
        "mask_from_lengths": lambda lens, k: (torch.arange(k) < lens[:, None, None]).to(dtype),
    }


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
@pytest.mark.parametrize("name", ["causal_mask", "mask_from_lengths"])
def test_a_mask_of_0_and_1_is_not_boolean(name, dtype):
    verdict = EXERCISES[name].judge(masks_of(dtype)[name])
    assert verdict.state == "wrong"
    assert f"a boolean tensor is wanted, and this one is {dtype}" in verdict.sentence


@pytest.mark.parametrize("name", ["causal_mask", "mask_from_lengths"])
def test_a_mask_upside_down_is_named_whatever_its_type(name):
    assert_named(name, lambda *call: 1 - masks_of(torch.int64)[name](*call), "mask_upside_down")


LISTS = product(["importance_by_removal", "mean_entropies"], [list, tuple, torch.Tensor.tolist])


@pytest.mark.parametrize(("name", "kind"), [("equivariance_gap", torch.Tensor.item), *LISTS])
def test_python_numbers_and_lists_of_them_stand_for_tensors(name, kind):
    answer = right_answer(name)
    assert_right(name, lambda *call: kind(answer(*call)))


def test_a_length_rounded_up_is_right_and_rounded_down_is_not():
    def rounded_up(num_hiddens, d, d_v):
        return -(-num_hiddens * (2 * d + d_v) // (d + d_v))

    state, sentence = EXERCISES["crossover"].judge(rounded_up)[:2]
    assert state == "solved"
    assert sentence == "right on 5 random cases. You round up, since a length is a whole number."
    assert_named("crossover", lambda *sizes: rounded_up(*sizes) - 1, "rounded_down")


def test_the_exact_count_of_operations_is_right_with_a_remark():
    def answer(num_queries, num_keys, d, d_v):
        scores = num_queries * num_keys * (d + (d - 1))
        return scores + num_queries * d_v * (num_keys + (num_keys - 1))

    state, sentence = EXERCISES["attention_flops"].judge(answer)[:2]
    assert state == "solved"
    assert sentence.startswith("right on 5 random cases. You count exactly")
