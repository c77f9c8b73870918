"""Wrong answers in the lesson on trained heads, each with its mistake, and unusual right ones."""

import torch

from mha_lib import ByAttention
from tests.classroom.live.exercises.slips import written
from tests.classroom.live.exercises.slips_05_trained_heads import SOURCES


def mean_weight(counts=lambda place: place is not None, row=lambda number, place: number):
    def answer(weights, places):
        found = [weights[:, row(t, place), place] for t, place in enumerate(places) if counts(place)]
        return torch.stack(found).mean(0)

    return answer


def removed(rest=lambda masks: 1 - masks, grows=torch.sub, shape=lambda found: found.view(3, -1)):
    def loss(loss_of, masks):
        return loss_of(ByAttention(*([mask] for mask in masks)))

    def answer(loss_of, H):
        masks = torch.eye(3 * H).view(-1, 3, H)
        found = torch.stack([loss(loss_of, one) for one in rest(masks)])
        return shape(grows(found, loss(loss_of, torch.ones(3, H))))

    return answer


def decode(changes):
    return written(SOURCES["greedy_decode"], changes)


def decode_one_by_one(model, source, source_mask, begin, end, max_tokens):
    rows = []
    for one, mask in zip(source, source_mask, strict=True):
        memory, tokens = model.encode(one[None], mask[None]), [begin]
        while len(tokens) <= max_tokens and end not in tokens:
            logits = model.decode(torch.tensor([tokens]), memory, mask[None])
            tokens.append(int(logits[0, -1].argmax()))
        rows.append(tokens[1:])
    longest = max(map(len, rows))
    return [row + [end] * (longest - len(row)) for row in rows]


def by_generate(model, source, source_mask, begin, end, max_tokens):
    return model.generate(source, source_mask, begin=begin, end=end, max_tokens=max_tokens)


WRONG = {
    "shift_targets": [
        ("exchanged", lambda target: torch.stack([target[:, 1:], target[:, :-1]])),
        ("rolled", lambda target: torch.stack([target, target.roll(-1, 1)])),
        ("two_apart", lambda target: torch.stack([target[:, :-2], target[:, 2:]])),
        ("samples_shifted", lambda target: torch.stack([target[:-1], target[1:]])),
        ("both_ends_cut", lambda target: torch.stack([target[:, 1:-1]] * 2)),
        ("padded", lambda target: torch.stack([target, torch.nn.functional.pad(target[:, 1:], (0, 1))])),
    ],
    "pruned_parameters": [
        ("W_o_whole", lambda D, H, n: 3 * D * (H - n) * (D // H) + D * D),
        ("both_sides_smaller", lambda D, H, n: 4 * ((H - n) * D // H) ** 2),
        ("heads_of_width_1", lambda D, H, n: 4 * D * (H - n)),
        ("one_removed", lambda D, H, n: 4 * D * D - 4 * D * (D // H)),
        ("removed_counted", lambda D, H, n: 4 * D * D * n // H),
        ("nothing_saved", lambda D, H, n: 4 * D * (H - n) * (D // (H - n))),
    ],
    "alignment_score": [
        ("first_word_left_out", mean_weight(lambda place: place)),
        ("rows_closed_up", lambda w, places: mean_weight()(w, [p for p in places if p is not None])),
        ("next_row", mean_weight(row=lambda t, _: t + 1)),
        ("largest_weights_averaged", lambda w, places: w[:, : len(places)].amax(-1).mean(-1)),
        ("no_word_counted", lambda w, p: sum(w[:, t, s] for t, s in enumerate(p) if s is not None) / len(p)),
        (
            "divided_by_all_rows",
            lambda w, p: sum(w[:, t, s] for t, s in enumerate(p) if s is not None) / w.shape[1],
        ),
    ],
    "prune_as_matrix": [
        ("head_mask", lambda H, d, r: torch.diag((torch.arange(H * d) // d != r).float())),
        ("counted_from_1", lambda H, d, r: torch.eye(H * d)[:, torch.arange(H * d) // d != r - 1]),
        ("transposed", lambda H, d, r: torch.eye(H * d)[torch.arange(H * d) // d != r]),
        ("every_other_column", lambda H, d, r: torch.eye(H * d)[:, torch.arange(H * d) % H != r]),
        ("last_head_removed", lambda H, d, r: torch.eye(H * d)[:, : (H - 1) * d]),
    ],
    "head_importance": [
        ("others_removed", removed(lambda m: 1 - m.any(-1, keepdim=True).float() + m)),
        ("others_removed", removed(lambda m: m)),
        ("divided", removed(grows=lambda without, whole: without / whole)),
        ("heads_in_rows", removed(shape=lambda found: found.view(3, -1).T)),
        ("in_one_row", removed(shape=lambda found: found)),
        ("other_order", removed(shape=lambda found: found.view(3, -1).flip(0))),
    ],
    "greedy_decode": [
        ("goes_on_after_end", decode({"end if end in row else token": "token"})),
        ("filled_with_another_token", decode({"end if end in row else token": "0 if end in row else token"})),
        ("never_stops", decode({"break": "pass"})),
        ("padding_read", decode({"source, source_mask)\n    w": "source)\n    w"})),
        ("begin_kept", decode({"[:, 1:]": ""})),
    ],
}
RIGHT = {
    "shift_targets": [
        lambda target: torch.stack((target[..., :-1], target.roll(-1, 1)[..., :-1]), 0),
        lambda target: target.unfold(1, 2, 1).permute(2, 0, 1),
        lambda target: target.tolist() and [target[:, :-1].tolist(), target[:, 1:].tolist()],
    ],
    "pruned_parameters": [
        lambda D, H, n: 4 * D * D - 4 * n * (D // H) * D,
        lambda D, H, n: 4 * D**2 * (1 - n / H),
    ],
    "alignment_score": [
        mean_weight(),
        lambda w, p: torch.cat([w[:, [t], s] for t, s in enumerate(p) if s is not None], 1).mean(1),
        lambda w, p: [
            sum(float(h[t, s]) for t, s in enumerate(p) if s is not None) / sum(s is not None for s in p)
            for h in w
        ],
    ],
    "prune_as_matrix": [
        lambda H, d, r: torch.kron(torch.eye(H)[:, torch.arange(H) != r], torch.eye(d)),
        lambda H, d, r: torch.cat([part for i, part in enumerate(torch.eye(H * d).split(d, 1)) if i != r], 1),
        lambda H, d, r: torch.eye(H * d).bool()[:, torch.arange(H * d) // d != r],
    ],
    "head_importance": [
        removed(),
        lambda loss_of, H: [row.tolist() for row in removed()(loss_of, H)],
    ],
    "greedy_decode": [
        decode_one_by_one,
        by_generate,
        decode({"logits.argmax(-1)": "logits.softmax(-1).argmax(-1)"}),
    ],
}
