"""The exercises of the lesson on trained heads.

Only the last of them needs a trained model, and the student brings it.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from mha_lib import ByAttention
from mha_lib.classroom.exercises.judge import (
    Answer,
    Arguments,
    Draw,
    Exercise,
    Judged,
    Verdict,
    describe,
    result_of,
)
from mha_lib.classroom.exercises.mistakes import Step, nothing_done
from mha_lib.classroom.exercises.small import Small

Places = Sequence[int | None]
LossOf = Callable[[ByAttention], Tensor]
ATTENTIONS = range(len(ByAttention._fields))  # encoder, decoder, cross
TRAINED = 0.9  # a trained translator has more than this share of other numbers right


def draw_aligned_weights(draw: Draw) -> Arguments:
    """Weights (H, T, S), and the words of the first T - 1 rows; one row has none, another has the first."""
    heads, words, numerals = draw.sizes(3, 4, 6)
    weights = (3 * torch.randn(heads, numerals + 1, words, generator=draw)).softmax(-1)
    places: list[int | None] = torch.randint(words, (numerals,), generator=draw).tolist()
    places[0], places[draw.number(1, numerals - 1)] = 0, None
    return weights, places


def draw_loss_of_masks(draw: Draw) -> Arguments:
    """A function that gives the loss of a one-layer model for its head masks, and H."""
    heads = draw.number(4, 6)
    mixing, wanted = draw.tensors((3 * heads, 7), (7,))

    def loss_of(head_masks: ByAttention) -> Tensor:
        masks = torch.cat([mask for layers in head_masks for mask in layers])  # (3 H,)
        return (torch.tanh(masks @ mixing / 2) - wanted).square().mean()

    return loss_of, heads


def draw_two_runs(draw: Draw) -> Arguments:
    """Outputs of heads in two runs, (B, N, H, d), a head from 1 on, and W_o (H*d, H*d)."""
    heads, width = draw.sizes(3, 4)
    outputs, donated = draw.tensors(*[(2, 5, heads, width)] * 2)
    (W_o,) = draw.tensors((heads * width,) * 2)
    return outputs, donated, draw.number(1, heads - 1), W_o  # head 0 would hide a forgotten index


def alignment_score(
    weights: Tensor,
    places: Places,
    *,
    rows: Callable[[int], int] = lambda row: row,
    columns: Callable[[int], int] = lambda place: place,
    without_word: Callable[[Tensor], list[Tensor]] = lambda row: [],
    average: Callable[[Tensor], Tensor] = lambda found: found.mean(0),
) -> Tensor:
    """The mean weight on the right word, (H,); each keyword replaces one step by a mistake."""
    found: list[Tensor] = []
    for number, place in enumerate(places):
        row = weights[:, rows(number)]  # (H, S)
        found += without_word(row) if place is None else [row[:, columns(place)]]
    return average(torch.stack(found))


def head_importance(
    loss_of: LossOf,
    num_heads: int,
    *,
    masks: Callable[[int], Tensor] = lambda num_heads: 1 - torch.eye(num_heads),
    measure: Callable[[Tensor, Tensor], Tensor] = torch.sub,
    order: Sequence[int] = ATTENTIONS,
    finish: Step = nothing_done,
) -> Tensor:
    """(3, H): the growth of the loss without each head; each keyword replaces one step by a mistake."""

    def loss(masks: Tensor) -> Tensor:
        return loss_of(ByAttention(*([mask] for mask in masks.view(-1, num_heads))))

    count = len(ATTENTIONS) * num_heads
    without = torch.stack([loss(mask) for mask in masks(count)])
    importance = measure(without, loss(torch.ones(count)))
    return finish(importance.view(-1, num_heads)[list(order)])


def is_like_fourteen_million_seven(number: int) -> bool:
    """10 to 19 million and fewer than a hundred, but not 0: what the lesson shows."""
    millions, rest = divmod(number, 1_000_000)
    return 10 <= millions < 20 and 0 < rest < 100


def one_head(outputs: Tensor, donated: Tensor, head: int) -> Tensor:
    mixed = outputs.clone()
    mixed[:, :, head] = donated[:, :, head]
    return mixed


def one_token(outputs: Tensor, donated: Tensor, place: int) -> Tensor:
    """The slip: the axis of tokens."""
    mixed = outputs.clone()
    mixed[:, place] = donated[:, place]
    return mixed


def patched_head(
    outputs: Tensor,
    donated: Tensor,
    head: int,
    W_o: Tensor,
    *,
    swapped: Callable[[Tensor, Tensor, int], Tensor] = one_head,
    merged: Step = lambda outputs: outputs.flatten(2),
    project: Step = torch.matmul,
) -> Tensor:
    """Return what the attention adds with one head of another run, (B, N, D); a keyword replaces a step."""
    return project(merged(swapped(outputs, donated, head)), W_o)


class BreakTheModel(Judged):
    """The student finds a number that a trained translator gets wrong: there are many right answers.

    The answer returns a ``Translation`` of ``tasks``. It holds what the model writes, the right translation,
    and how often the model is right elsewhere, since any number breaks a model that has learnt little. The
    kind of number that the lesson itself has shown does not count.
    """

    mistakes = ("number_alone", "translation_wanted", "model_is_right", "known_kind", "not_trained")

    def judge_function(self, given: Answer) -> Verdict:
        result = result_of(given, ())
        if isinstance(result, Verdict):
            return result
        if isinstance(result, int | str) or (isinstance(result, Tensor) and result.dim() == 0):
            return self.mistaken("number_alone")
        try:
            found = {gap: getattr(result, gap) for gap in ("number", "english", "written", "right")}
            right_elsewhere = result.right_elsewhere
        except AttributeError:
            return self.mistaken("translation_wanted", given=describe(result))
        if found["written"] == found["right"]:
            return self.mistaken("model_is_right", **found)
        if is_like_fourteen_million_seven(found["number"]):
            return self.mistaken("known_kind", **found)
        if (share := right_elsewhere()) < TRAINED:
            return self.mistaken("not_trained", share=f"{share:.1%}")
        return self.solved("broken", **found)


EXERCISES: tuple[Judged, ...] = (
    Small(
        "target_labels",
        [7, 9, 2, -100],
        {"not_shifted": [1, 7, 9, 2], "padding_counts": [7, 9, 2, 0], "end_left_out": [7, 9, -100, -100]},
        hint="teacher-forcing-why",
    ),
    Small(
        "swapped_number",
        34_272,
        {"other_way_round": 98_156, "all_swapped": 38_152, "nothing_swapped": 94_276},
        hint="patch-why",
    ),
    Exercise("patched_head", patched_head, draw_two_runs, hint="patch-a-head").recognising(
        other_way_round={"swapped": lambda outputs, donated, head: one_head(donated, outputs, head)},
        all_heads={"swapped": lambda outputs, donated, head: donated},
        nothing_swapped={"swapped": lambda outputs, donated, head: outputs},
        token_swapped={"swapped": one_token},
        added={"swapped": lambda outputs, donated, head: one_head(outputs, outputs + donated, head)},
        others_missing={
            "swapped": lambda outputs, donated, head: one_head(torch.zeros_like(outputs), donated, head)
        },
        numbers_mixed={"merged": lambda outputs: outputs.transpose(2, 3).flatten(2)},
        W_o_missing={"project": lambda mixed, W_o: mixed},
        W_o_transposed={"project": lambda mixed, W_o: mixed @ W_o.mT},
    ),
    Small(
        "rare_in_exam",
        500 * 990 / 10**8,
        {"in_percent": 100 * 500 * 990 / 10**8, "turned": 10**8 / (500 * 990), "exam_left_out": 990 / 10**8},
        within=1e-5,
        hint="breaks-why",
    ),
    Exercise("alignment_score", alignment_score, draw_aligned_weights, hint="measure-why").recognising(
        next_row={"rows": lambda row: row + 1},
        counted_from_1={"columns": lambda place: place - 1},
        no_word_counted={"without_word": lambda row: [torch.zeros(len(row))]},
        no_word_is_the_first={"without_word": lambda row: [row[:, 0]]},
        largest_weights_averaged=(
            lambda weights, places: weights.amax(-1).mean(-1),
            lambda weights, places: weights[:, :-1].amax(-1).mean(-1),
        ),
        first_word_left_out=lambda weights, places: alignment_score(
            weights, [place or None for place in places]
        ),
        rows_closed_up=lambda weights, places: alignment_score(weights, [p for p in places if p is not None]),
        summed={"average": lambda found: found.sum(0)},
        heads_averaged=({"average": torch.mean}, {"average": lambda found: found.mean(1)}),
    ),
    Exercise("head_importance", head_importance, draw_loss_of_masks, hint="remove").recognising(
        difference_turned={"measure": lambda without, whole: whole - without},
        loss_without={"measure": lambda without, whole: without},
        absolute={"measure": lambda without, whole: (without - whole).abs()},
        divided={"measure": lambda without, whole: without / whole - 1},
        others_removed=(
            {"masks": lambda n: 1 - torch.eye(3).kron(1 - torch.eye(n // 3))},
            {"masks": torch.eye},
        ),
        attention_removed={"masks": lambda n: 1 - torch.eye(3).kron(torch.ones(n // 3, n // 3))},
        other_order=tuple(
            {"order": order} for order in [(0, 2, 1), (1, 0, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)]
        ),
        heads_in_rows={"finish": lambda importance: importance.mT},
        in_one_row={"finish": torch.flatten},
    ),
    BreakTheModel("breaks_the_model", hint="breaks-why"),
)
