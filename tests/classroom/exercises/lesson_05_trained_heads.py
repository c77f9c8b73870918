"""Right and wrong answers to the exercises of the lesson on trained heads."""

from typing import NamedTuple

import torch

from mha_lib.classroom.translator import make_translator, translation
from tests.classroom.exercises.answers import Answers


def misses_a_key(w, places):
    return torch.stack([w[:, t, s] for t, s in enumerate(places)])


target_labels = Answers(right=[[7, 9, 2, -100]])
swapped_number = Answers(right=[34_272])
rare_in_exam = Answers(right=[0.00495])

patched_head = Answers(
    """
def answer(outputs, donated, head, W_o):
    mixed = outputs.clone()
    mixed[:, :, head] = donated[:, :, head]
    return mixed.flatten(2) @ W_o
""",
    right=[
        {"mixed.flatten(2) @ W_o": "sum(mixed[:, :, h] @ w for h, w in enumerate(W_o.split(mixed.shape[3])))"}
    ],
    wrong=[
        ("other_way_round", {"= outputs.clone()": "= donated.clone()", "= donated[": "= outputs["}),
        ("all_heads", {"= outputs.clone()": "= donated.clone()"}),
        ("nothing_swapped", {"= donated[": "= outputs["}),
        ("token_swapped", {"[:, :, head]": "[:, head]"}),
        ("added", {"] = donated": "] += donated"}),
        ("others_missing", {"outputs.clone()": "torch.zeros_like(outputs)"}),
        ("numbers_mixed", {"mixed.flatten": "mixed.mT.flatten"}),
        ("W_o_missing", {" @ W_o": ""}),
        ("W_o_transposed", {"@ W_o": "@ W_o.T"}),
        ("overwritten", {".clone()": ""}),
    ],
    together=[("added", "W_o_transposed")],
)

alignment_score = Answers(
    """
def answer(weights, places):
    total, count = torch.zeros(len(weights)), 0
    for row, place in enumerate(places):
        if place is not None:
            total += weights[:, row, place]
            count += 1
    return total / count
""",
    right=[{"total / count": "[float(sum_of_head) / count for sum_of_head in total]"}],
    wrong=[
        ("no_word_counted", {"total / count": "total / len(places)"}),
        ("next_row", {"[:, row, place]": "[:, row + 1, place]"}),
        ("heads_averaged", {"total / count": "(total / count).mean()"}),
        ("first_word_left_out", {" is not None": ""}),
        ("largest_weights_averaged", lambda w, places: w[:, : len(places)].amax(-1).mean(-1)),
        ("line_raised", misses_a_key, "your line `return torch.stack([w[:, t, s] for t, s"),
    ],
    together=[("next_row", "no_word_counted")],
)

head_importance = Answers(
    """
def answer(loss_of, num_heads):
    rows = []
    for attention in range(3):
        row = []
        for head in range(num_heads):
            masks = [torch.ones(num_heads) for _ in range(3)]
            masks[attention][head] = 0
            loss = loss_of(mha_lib.ByAttention([masks[0]], [masks[1]], [masks[2]]))
            whole = loss_of(mha_lib.ByAttention(*[[torch.ones(num_heads)]] * 3))
            row.append(loss - whole)
        rows.append(torch.stack(row))
    return torch.stack(rows)
""",
    wrong=[
        ("difference_turned", {"loss - whole": "whole - loss"}),
        ("divided", {"loss - whole": "(loss - whole) / whole"}),
        ("other_order", {"[masks[1]], [masks[2]]": "[masks[2]], [masks[1]]"}),
        ("attention_removed", {"[attention][head] = 0": "[attention][:] = 0"}),
        ("others_removed", {"[head] = 0": "[:] = torch.arange(num_heads) == head"}),
    ],
    together=[("difference_turned", "other_order")],
)


class Written(NamedTuple):
    """The translation of a model that was never trained, for tests without a trained one."""

    number: int = 17_000_305
    english: str = "seventeen million three hundred five"
    written: str = "一千七百万三百零五"
    right: str = "一千七百万零三百零五"
    share: float = 0.99

    def right_elsewhere(self):
        return self.share


def shown(number):
    """Returns a translation that is wrong in the way that the lesson shows."""
    return lambda: Written(number, "fourteen million seven", "一千四百万七", "一千四百万零七")


def untrained(number):
    return lambda: translation(make_translator(), number)


WAY_OUT = ": return translation(translator, number)"
breaks_the_model = Answers(
    right=[
        (
            lambda: Written(),
            "right on 1 number, which is enough: for 17,000,305 (seventeen million three hundred five) the "
            "model writes 一千七百万三百零五, and 一千七百万零三百零五 is right.",
        ),
        shown(9_000_007),
        shown(14_000_100),
    ],
    wrong=[
        ("model_is_right", lambda: Written(written=Written().right), "writes 一千七百万零三百零五, and that"),
        ("known_kind", shown(14_000_007), "for 14,000,007 (fourteen million seven) the model is wrong, but"),
        ("not_trained", untrained("20,045"), "has 0.0% of other numbers right."),
        ("number_alone", lambda: 20_045),
        ("translation_wanted", lambda: [20_045], "this returned a list" + WAY_OUT),
        (
            "line_raised",
            untrained("20.045"),
            "your line `return lambda: translation(",
            "Type a number in digits",
        ),
        ("not_a_function", Written(), "hand over the function itself, without calling it"),
    ],
)
