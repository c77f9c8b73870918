"""The exercises of the lesson on trained heads.

Only the last of them needs a trained model, and the student brings it.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from mha_lib import ByAttention, EncoderDecoder, padding_mask
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
from mha_lib.classroom.exercises.mistakes import DIVIDED, Step, nothing_done, removal
from mha_lib.classroom.exercises.on_the_way import not_by

PADDING, BEGIN, END, MAX_TOKENS = 0, 1, 2, 6
Places = Sequence[int | None]
LossOf = Callable[[ByAttention], Tensor]
ATTENTIONS = range(len(ByAttention._fields))  # encoder, decoder, cross
TRAINED = 0.9  # a trained translator has more than this share of other numbers right


def draw_target(draw: Draw) -> Arguments:
    """Targets (B, T): ``<bos>``, 2 to 5 tokens, ``<eos>`` and padding."""
    batch, longest = draw.number(3, 4), 7
    target = torch.randint(END + 1, 20, (batch, longest), generator=draw)
    lengths = torch.randint(2, longest - 1, (batch, 1), generator=draw)
    places = torch.arange(longest)
    target[:, 0] = BEGIN
    target[places == lengths + 1] = END
    return (target.masked_fill(places > lengths + 1, PADDING),)


def draw_heads_to_remove(draw: Draw) -> Arguments:
    """D, an odd H and how many are removed."""
    heads, removed = (3, 1) if draw.number(0, 1) else (5, draw.number(1, 4))
    return heads * draw.number(6, 9), heads, removed


def draw_aligned_weights(draw: Draw) -> Arguments:
    """Weights (H, T, S), and the words of the first T - 1 rows; one row has none, another has the first."""
    heads, words, numerals = draw.sizes(3, 4, 6)
    weights = (3 * torch.randn(heads, numerals + 1, words, generator=draw)).softmax(-1)
    places: list[int | None] = torch.randint(words, (numerals,), generator=draw).tolist()
    places[0], places[draw.number(1, numerals - 1)] = 0, None
    return weights, places


def draw_head(draw: Draw) -> Arguments:
    heads, head_dim = draw.sizes(4, 3)
    return heads, head_dim, draw.number(1, heads - 1)


def draw_loss_of_masks(draw: Draw) -> Arguments:
    """A function that gives the loss of a one-layer model for its head masks, and H."""
    heads = draw.number(4, 6)
    mixing, wanted = draw.tensors((3 * heads, 7), (7,))

    def loss_of(head_masks: ByAttention) -> Tensor:
        masks = torch.cat([mask for layers in head_masks for mask in layers])  # (3 H,)
        return (torch.tanh(masks @ mixing / 2) - wanted).square().mean()

    return loss_of, heads


def draw_decoding(draw: Draw) -> Arguments:
    """An untrained model, padded sources (B, S) and the tokens and number at which to stop."""
    model, source, source_mask = decoding_case(draw.number(0, 99), draw.number(0, 1) == 1)
    return model, source.clone(), source_mask.clone(), BEGIN, END, MAX_TOKENS


@cache
def decoding_case(seed: int, all_end: bool) -> tuple[EncoderDecoder, Tensor, Tensor]:
    """A model and three sources whose targets end one after the other; unless ``all_end``, one is cut off."""
    while True:
        model, generator = untrained_model(seed), torch.Generator().manual_seed(seed)
        source = torch.randint(1, 9, (60, 7), generator=generator)
        source_mask = padding_mask(torch.randint(2, 8, (60,), generator=generator), 7).squeeze(1)  # (B, S)
        source = source.masked_fill(~source_mask, PADDING)
        written = greedy_decode(model, source, source_mask, BEGIN, END, MAX_TOKENS)
        row_of = {length: row for row, length in enumerate((written != END).sum(1).tolist())}
        rows = [row for length, row in sorted(row_of.items()) if length < MAX_TOKENS - 1]
        cut_off = [row_of[MAX_TOKENS]] if MAX_TOKENS in row_of else []
        rows = rows[:3] if all_end else rows[:2] + cut_off
        if len(rows) == 3:
            return model, source[rows], source_mask[rows]
        seed += 100


def untrained_model(seed: int) -> EncoderDecoder:
    """A model with large weights, so that it writes a different target for each source."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = EncoderDecoder(9, 6, 12, 2, 16).eval()
    for parameter in model.parameters():
        parameter.requires_grad_(False).mul_(3)
    return model


def shift_targets(
    target: Tensor,
    *,
    taken: Step = lambda target: target[:, :-1],
    wanted: Step = lambda target: target[:, 1:],
    stacked: Callable[[list[Tensor]], Tensor] = torch.stack,
) -> Tensor:
    """Decoder input and labels; each keyword replaces one step by a mistake."""
    return stacked([taken(target), wanted(target)])


def count_left(
    num_hiddens: int,
    num_heads: int,
    num_removed: int,
    *,
    left: Callable[[int, int], int] = lambda num_heads, num_removed: num_heads - num_removed,
    into_heads: int = 3,
    out_of_heads: int = 1,
) -> int:
    """The parameters of a pruned layer; each keyword replaces one step by a mistake."""
    head_dim = num_hiddens // num_heads
    return (into_heads + out_of_heads) * num_hiddens * left(num_heads, num_removed) * head_dim


def alignment_score(
    weights: Tensor,
    places: Places,
    *,
    rows: Callable[[int], int] = lambda row: row,
    columns: Callable[[int], int] = lambda place: place,
    without_word: Callable[[Tensor], list[Tensor]] = lambda row: [],
    look: Step = lambda row: row,
    average: Callable[[Tensor], Tensor] = lambda found: found.mean(0),
) -> Tensor:
    """The mean weight on the right word, (H,); each keyword replaces one step by a mistake."""
    found: list[Tensor] = []
    for number, place in enumerate(places):
        row = look(weights[:, rows(number)])  # (H, S)
        found += without_word(row) if place is None else [row[:, columns(place)]]
    return average(torch.stack(found))


def pruning_matrix(
    num_heads: int,
    head_dim: int,
    removed: int,
    *,
    head_of: Callable[[Tensor, int, int], Tensor] = lambda columns, num_heads, head_dim: columns // head_dim,
    stays: Callable[[Tensor, int], Tensor] = lambda heads, removed: heads != removed,
    cut: Callable[[Tensor, Tensor], Tensor] = lambda identity, stays: identity[:, stays],
) -> Tensor:
    """(H*d, (H-1)*d); each keyword replaces one step by a mistake."""
    columns = torch.arange(num_heads * head_dim)
    return cut(torch.eye(num_heads * head_dim), stays(head_of(columns, num_heads, head_dim), removed))


def head_importance(
    loss_of: LossOf,
    num_heads: int,
    *,
    order: Sequence[int] = ATTENTIONS,
    finish: Step = nothing_done,
    **steps: Any,
) -> Tensor:
    """(3, H): the growth of the loss without each head; each keyword replaces one step by a mistake."""

    def loss(masks: Tensor) -> Tensor:
        return loss_of(ByAttention(*([mask] for mask in masks.view(-1, num_heads))))

    importance = removal(loss, len(ATTENTIONS) * num_heads, **steps)
    return finish(importance.view(-1, num_heads)[list(order)])


def remembered(step: Step) -> Step:
    """The same step with a memory of its results, since most mistakes ask a model the same questions."""
    known: dict[Any, Tensor] = {}

    def asked(model: EncoderDecoder, *tensors: Tensor) -> Tensor:
        key = (model, *((tensor.shape, tensor.numpy().tobytes()) for tensor in tensors))
        if key not in known:
            known[key] = step(model, *tensors)
        return known[key]

    return asked


encode = remembered(EncoderDecoder.encode)
encode_padding = remembered(lambda model, source, source_mask: model.encode(source))
decode = remembered(EncoderDecoder.decode)
decode_padding = remembered(lambda model, tokens, memory, source_mask: model.decode(tokens, memory))


@torch.no_grad()
def greedy_decode(
    model: EncoderDecoder,
    source: Tensor,
    source_mask: Tensor,
    begin: int,
    end: int,
    max_tokens: int,
    *,
    read: Step = encode,
    write: Step = decode,
    seen: Step = nothing_done,
    last: int = -1,
    choose: Step = torch.argmax,
    fill: Callable[[Tensor, Tensor, int], Tensor] = torch.Tensor.masked_fill,
    is_over: Callable[[Tensor], Any] = torch.all,
    room: int = 0,
    finish: Step = lambda tokens: tokens[:, 1:],
) -> Tensor:
    """(B, N) with N at most ``max_tokens``; each keyword replaces one step by a mistake."""
    memory = read(model, source, source_mask)
    tokens = torch.full_like(source[:, :1], begin)  # (B, 1)
    ended = torch.zeros_like(tokens, dtype=torch.bool)
    while tokens.shape[1] <= max_tokens + room and not is_over(ended):
        logits = write(model, seen(tokens), memory, source_mask)  # (B, N, V)
        token = fill(choose(logits[:, last], -1)[:, None], ended, end)  # (B, 1)
        ended = ended | (token == end)
        tokens = torch.cat([tokens, token], dim=1)
    return finish(tokens)


def is_like_fourteen_million_seven(number: int) -> bool:
    """10 to 19 million and fewer than a hundred, but not 0: what the lesson shows."""
    millions, rest = divmod(number, 1_000_000)
    return 10 <= millions < 20 and 0 < rest < 100


class BreakTheModel(Judged):
    """The student finds a number that a trained translator gets wrong: there are many right answers.

    The answer returns a ``Translation`` of ``tasks``. It holds what the model writes, the right translation,
    and how often the model is right elsewhere, since any number breaks a model that has learnt little. The
    kind of number that the lesson itself has shown does not count.
    """

    mistakes = ("number_alone", "translation_wanted", "model_is_right", "known_kind", "not_trained")
    also_right = ("broken",)

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
    Exercise("shift_targets", shift_targets, draw_target).recognising(
        not_shifted=(
            {"wanted": lambda target: target[:, :-1]},
            {"taken": lambda target: target[:, 1:]},
            {"taken": nothing_done, "wanted": nothing_done},
        ),
        exchanged=lambda target: shift_targets(target).flip(0),
        rolled=(
            {"taken": nothing_done, "wanted": lambda target: target.roll(-1, 1)},
            {"taken": nothing_done, "wanted": lambda target: target.roll(-1)},
        ),
        two_apart={"taken": lambda target: target[:, :-2], "wanted": lambda target: target[:, 2:]},
        both_ends_cut=dict.fromkeys(("taken", "wanted"), lambda target: target[:, 1:-1]),
        padded={"taken": nothing_done, "wanted": lambda target: pad(target[:, 1:], (0, 1))},
        samples_shifted={"taken": lambda target: target[:-1], "wanted": lambda target: target[1:]},
        stacked_for_each_sample={"stacked": lambda pair: torch.stack(pair, dim=1)},
        stacked_for_each_token={"stacked": lambda pair: torch.stack(pair, dim=-1)},
        side_by_side=({"stacked": lambda pair: torch.cat(pair, dim=1)}, {"stacked": torch.cat}),
    ),
    Exercise("pruned_parameters", count_left, draw_heads_to_remove).recognising(
        removed_counted={"left": lambda num_heads, num_removed: num_removed},
        nothing_saved=(
            lambda D, h, removed: 4 * D * D,
            lambda D, h, removed: 4 * D * (h - removed) * (D // (h - removed)),
        ),
        W_o_missing={"out_of_heads": 0},
        W_o_whole=lambda D, h, removed: count_left(D, h, removed, out_of_heads=0) + D * D,
        W_o_alone=lambda D, h, removed: 3 * D * D + count_left(D, h, removed, into_heads=0),
        both_sides_smaller=lambda D, h, removed: 4 * (D // h * (h - removed)) ** 2,
        biases_counted=lambda D, h, removed: count_left(D, h, removed) + 3 * D // h * (h - removed) + D,
        heads_of_width_1=lambda D, h, removed: 4 * D * (h - removed),
        heads_of_width_D=lambda D, h, removed: 4 * D * D * (h - removed),
        one_removed=lambda D, h, removed: count_left(D, h, 1),
    ),
    Exercise("alignment_score", alignment_score, draw_aligned_weights).recognising(
        next_row={"rows": lambda row: row + 1},
        counted_from_1={"columns": lambda place: place - 1},
        no_word_counted={"without_word": lambda row: [torch.zeros(len(row))]},
        divided_by_all_rows=lambda weights, places: (
            alignment_score(weights, places, average=lambda found: found.sum(0)) / weights.shape[1]
        ),
        no_word_is_the_first={"without_word": lambda row: [row[:, 0]]},
        no_word_is_the_last={"without_word": lambda row: [row[:, -1]]},
        largest_weights_counted={"look": lambda row: (row == row.amax(-1, keepdim=True)).float()},
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
        not_averaged=({"average": nothing_done}, {"average": lambda found: found.mT}),
    ),
    Exercise("prune_as_matrix", pruning_matrix, draw_head, rounds=8).recognising(
        removed_head_kept={"stays": lambda heads, removed: heads == removed},
        head_mask={"cut": lambda identity, stays: identity * stays},
        transposed={"cut": lambda identity, stays: identity[stays]},
        one_column={"head_of": lambda columns, num_heads, head_dim: columns},
        counted_from_1={"stays": lambda heads, removed: heads != removed - 1},
        every_other_column={"head_of": lambda columns, num_heads, head_dim: columns % num_heads},
        widths_exchanged={"head_of": lambda columns, num_heads, head_dim: columns // num_heads},
        last_head_removed={"stays": lambda heads, removed: heads != heads.max()},
        heads_alone=lambda num_heads, head_dim, removed: pruning_matrix(num_heads, 1, removed),
    ),
    Exercise("head_importance", head_importance, draw_loss_of_masks).recognising(
        difference_turned={"measure": lambda without, whole: whole - without},
        loss_without={"measure": lambda without, whole: without},
        absolute={"measure": lambda without, whole: (without - whole).abs()},
        divided=DIVIDED,
        others_removed=(
            {"masks": lambda n: 1 - torch.eye(3).kron(1 - torch.eye(n // 3))},
            {"masks": torch.eye},
        ),
        stays_removed=(
            {"masks": lambda n: torch.ones(n, n).triu(1)},
            {"masks": lambda n: 1 - torch.eye(3).kron(torch.ones(n // 3, n // 3).tril())},
        ),
        attention_removed={"masks": lambda n: 1 - torch.eye(3).kron(torch.ones(n // 3, n // 3))},
        removed_everywhere={"masks": lambda n: 1 - torch.ones(3, 3).kron(torch.eye(n // 3))},
        other_order=tuple(
            {"order": order} for order in [(0, 2, 1), (1, 0, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)]
        ),
        heads_in_rows={"finish": lambda importance: importance.mT},
        in_one_row={"finish": torch.flatten},
    ),
    Exercise("greedy_decode", greedy_decode, draw_decoding, rules=not_by("generate"), rounds=6).recognising(
        begin_kept={"finish": nothing_done},
        last_token_alone={"seen": lambda tokens: tokens[:, -1:]},
        begin_alone=({"seen": lambda tokens: tokens[:, :1]}, {"last": 0}),
        least_likely={"choose": torch.argmin},
        goes_on_after_end={"fill": nothing_done},
        filled_with_another_token=tuple(
            {"fill": lambda chosen, ended, end, token=token: chosen.masked_fill(ended, token)}
            for token in (PADDING, BEGIN)
        ),
        stops_at_the_first_end={"is_over": torch.any},
        never_stops={"is_over": lambda ended: False},
        one_token_too_few={"room": -1},
        one_token_too_many={"room": 1},
        padding_read={"read": encode_padding},
        padding_seen_while_writing={"write": decode_padding},
        padding_not_masked={"read": encode_padding, "write": decode_padding},
    ),
    BreakTheModel("breaks_the_model"),
)
