"""Right and wrong answers to the exercises of the lesson on trained heads."""

from typing import NamedTuple

import torch

from mha_lib.classroom.translator import make_translator, translation
from tests.classroom.exercises.answers import Answers


def by_generate(model, source, source_mask, begin, end, max_tokens):
    return model.generate(source, source_mask, begin=begin, end=end, max_tokens=max_tokens)


def misses_a_key(w, places):
    return torch.stack([w[:, t, s] for t, s in enumerate(places)])


shift_targets = Answers(
    """
def answer(target):
    return torch.stack([target[:, :-1], target[:, 1:]])
""",
    right=[
        lambda target: torch.stack((target[..., :-1], target.roll(-1, 1)[..., :-1]), 0),
        lambda target: target.unfold(1, 2, 1).permute(2, 0, 1),
        lambda target: target.tolist() and [target[:, :-1].tolist(), target[:, 1:].tolist()],
    ],
    wrong=[
        ("not_shifted", {"target[:, 1:]": "target[:, :-1]"}),
        ("exchanged", {"[target[:, :-1], target[:, 1:]]": "[target[:, 1:], target[:, :-1]]"}),
        ("rolled", {"[:, :-1]": "", "target[:, 1:]": "target.roll(-1, dims=1)"}),
        ("samples_shifted", {"[:, :-1]": "[:-1]", "[:, 1:]": "[1:]"}),
        ("stacked_for_each_sample", {"]])": "]], dim=1)"}),
        ("side_by_side", {"torch.stack": "torch.cat"}),
        ("two_apart", lambda target: torch.stack([target[:, :-2], target[:, 2:]])),
        ("both_ends_cut", lambda target: torch.stack([target[:, 1:-1]] * 2)),
        ("padded", lambda target: torch.stack([target, torch.nn.functional.pad(target[:, 1:], (0, 1))])),
        ("tensor_wanted", lambda target: (target[:, :-1], target[:, 1:]), "returned a tuple"),
    ],
    together=[("not_shifted", "stacked_for_each_sample")],
)

pruned_parameters = Answers(
    """
def answer(num_hiddens, num_heads, num_removed):
    return 4 * num_hiddens * num_hiddens * (num_heads - num_removed) // num_heads
""",
    right=[lambda D, H, n: 4 * D * D - 4 * n * (D // H) * D, lambda D, H, n: 4 * D**2 * (1 - n / H)],
    wrong=[
        ("removed_counted", {"(num_heads - num_removed)": "num_removed"}),
        ("W_o_missing", {"4 *": "3 *"}),
        ("heads_of_width_D", {" // num_heads": ""}),
        ("W_o_whole", lambda D, H, n: 3 * D * (H - n) * (D // H) + D * D),
        ("both_sides_smaller", lambda D, H, n: 4 * ((H - n) * D // H) ** 2),
        ("heads_of_width_1", lambda D, H, n: 4 * D * (H - n)),
        ("one_removed", lambda D, H, n: 4 * D * D - 4 * D * (D // H)),
        ("nothing_saved", lambda D, H, n: 4 * D * (H - n) * (D // (H - n))),
    ],
    together=[("removed_counted", "W_o_missing")],
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
    right=[
        lambda w, p: torch.cat([w[:, [t], s] for t, s in enumerate(p) if s is not None], 1).mean(1),
        {"total / count": "[float(sum_of_head) / count for sum_of_head in total]"},
    ],
    wrong=[
        ("no_word_counted", {"total / count": "total / len(places)"}),
        ("summed", {"total / count": "total"}),
        ("next_row", {"[:, row, place]": "[:, row + 1, place]"}),
        ("counted_from_1", {"[:, row, place]": "[:, row, place - 1]"}),
        ("heads_averaged", {"total / count": "(total / count).mean()"}),
        ("first_word_left_out", {" is not None": ""}),
        ("rows_closed_up", {"enumerate(places)": "enumerate(p for p in places if p is not None)"}),
        ("largest_weights_averaged", lambda w, places: w[:, : len(places)].amax(-1).mean(-1)),
        ("divided_by_all_rows", {"total / count": "total / weights.shape[1]"}),
        ("line_raised", misses_a_key, "your line `return torch.stack([w[:, t, s] for t, s"),
    ],
    together=[("next_row", "no_word_counted")],
)

prune_as_matrix = Answers(
    """
def answer(num_heads, head_dim, removed):
    P = torch.zeros(num_heads * head_dim, (num_heads - 1) * head_dim)
    kept = [head for head in range(num_heads) if head != removed]
    for new, old in enumerate(kept):
        for column in range(head_dim):
            P[old * head_dim + column, new * head_dim + column] = 1
    return P
""",
    right=[
        lambda H, d, r: torch.kron(torch.eye(H)[:, torch.arange(H) != r], torch.eye(d)),
        lambda H, d, r: torch.cat([part for i, part in enumerate(torch.eye(H * d).split(d, 1)) if i != r], 1),
        lambda H, d, r: torch.eye(H * d).bool()[:, torch.arange(H * d) // d != r],
    ],
    wrong=[
        ("counted_from_1", {"head != removed": "head != removed - 1"}),
        ("transposed", {"return P": "return P.T"}),
        ("head_mask", lambda H, d, r: torch.diag((torch.arange(H * d) // d != r).float())),
        ("every_other_column", lambda H, d, r: torch.eye(H * d)[:, torch.arange(H * d) % H != r]),
        ("last_head_removed", lambda H, d, r: torch.eye(H * d)[:, : (H - 1) * d]),
    ],
    together=[("counted_from_1", "transposed")],
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
    right=[
        {"loss - whole": "(loss - whole).tolist()", "torch.stack(rows)": "rows", "torch.stack(row)": "row"},
        {"row.append(loss - whole)": "row.append(-whole + loss)"},
    ],
    wrong=[
        ("difference_turned", {"loss - whole": "whole - loss"}),
        ("loss_without", {"loss - whole": "loss"}),
        ("absolute", {"loss - whole": "(loss - whole).abs()"}),
        ("divided", {"loss - whole": "(loss - whole) / whole"}),
        ("other_order", {"[masks[1]], [masks[2]]": "[masks[2]], [masks[1]]"}),
        ("attention_removed", {"[attention][head] = 0": "[attention][:] = 0"}),
        ("in_one_row", {"return torch.stack(rows)": "return torch.cat(rows)"}),
        ("heads_in_rows", {"torch.stack(rows)": "torch.stack(rows, dim=1)"}),
        ("others_removed", {"[head] = 0": "[:] = torch.arange(num_heads) == head"}),
    ],
    together=[("difference_turned", "other_order"), ("absolute", "heads_in_rows")],
)

greedy_decode = Answers(
    """
def answer(model, source, source_mask, begin, end, max_tokens):
    memory = model.encode(source, source_mask)
    written = [[begin] for _ in source]
    for step in range(max_tokens):
        logits = model.decode(torch.tensor(written), memory, source_mask)[:, -1]
        for row, token in zip(written, logits.argmax(-1).tolist()):
            row.append(end if end in row else token)
        if all(end in row for row in written):
            break
    return torch.tensor(written)[:, 1:]
""",
    right=[
        {"torch.tensor(written)[:, 1:]": "[row[1:] for row in written]"},
        {"logits.argmax(-1)": "logits.softmax(-1).argmax(-1)"},
    ],
    wrong=[
        ("begin_kept", {"[:, 1:]": ""}),
        ("finished_function", by_generate),
        ("goes_on_after_end", {"end if end in row else token": "token"}),
        ("stops_at_the_first_end", {"if all(": "if any("}),
        ("never_stops", {"            break": "            pass"}),
        ("least_likely", {"argmax": "argmin"}),
        ("begin_alone", {"[:, -1]": "[:, 0]"}),
        ("last_token_alone", {"torch.tensor(written), memory": "torch.tensor(written)[:, -1:], memory"}),
        ("one_token_too_few", {"range(max_tokens)": "range(max_tokens - 1)"}),
        ("one_token_too_many", {"range(max_tokens)": "range(max_tokens + 1)"}),
        ("padding_seen_while_writing", {"memory, source_mask": "memory"}),
        ("padding_read", {"source, source_mask)\n    w": "source)\n    w"}),
        ("filled_with_another_token", {"end if end in row else token": "0 if end in row else token"}),
    ],
    together=[
        ("begin_kept", "stops_at_the_first_end"),
        ("goes_on_after_end", "never_stops"),
        ("begin_alone", "padding_seen_while_writing"),
    ],
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
        *map(shown, (9_000_007, 14_000_100, 14_001_007, 20_000_007, 14_000_000)),
    ],
    wrong=[
        ("model_is_right", lambda: Written(written=Written().right), "writes 一千七百万零三百零五, and that"),
        ("known_kind", shown(14_000_007), "for 14,000,007 (fourteen million seven) the model is wrong, but"),
        ("not_trained", untrained("20,045"), "has 0.0% of other numbers right."),
        ("number_alone", lambda: 20_045),
        ("number_alone", lambda: "20,045"),
        ("number_alone", lambda: torch.tensor(20_045)),
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
