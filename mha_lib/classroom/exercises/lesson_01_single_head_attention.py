"""The exercises of the lesson on single-head attention."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import gelu

from mha_lib.classroom.exercises.judge import Draw, Exercise, Judged, Rule
from mha_lib.classroom.exercises.mistakes import (
    HIGH_FILLS,
    SCALE,
    SOFTMAX,
    WHOLE_WIDTH,
    Divisor,
    Step,
    attention,
    masked_weights,
    nothing_done,
    shared,
)
from mha_lib.classroom.exercises.on_the_way import NO_ATTENTION, Arguments, loops, not_by
from mha_lib.classroom.exercises.small import Small


def draw_axes(draw: Draw) -> tuple[int, ...]:
    """B, n, m, d and d_v, all different."""
    return draw.sizes(2, 3, 4, 5, 6, 7)[:5]


def draw_scores(draw: Draw) -> tuple[Tensor, Tensor]:
    """Scores (B, Q, K) and a mask with an allowed and a forbidden cell in each row and each column."""
    batch, queries, keys, *_ = draw_axes(draw)
    scores = 2 * torch.randn(batch, queries, keys, generator=draw)
    order = torch.rand(batch, queries, keys, generator=draw).argsort(-1)  # each row's keys, shuffled
    mask = order < torch.randint(1, keys, (batch, queries, 1), generator=draw)
    mask[:, 1] = ~mask[:, 0]
    return scores, mask


def draw_low_scores(draw: Draw) -> tuple[Tensor, Tensor]:
    """The same, but the last query's scores are so low that only -inf hides a key from it.

    Those of the query before it are so far apart that a softmax without the mask leaves 0 for allowed keys.
    """
    scores, mask = draw_scores(draw)
    scores[:, -1] -= 2000
    scores[:, -2] += 60 - 120 * mask[:, -2].float()
    return scores, mask


def draw_lengths(draw: Draw) -> tuple[Tensor, int]:
    batch, _, num_keys, *_ = draw_axes(draw)
    lengths = torch.randint(0, num_keys, (batch,), generator=draw)
    lengths[0] = num_keys - 1  # fewer than all keys, so that <= differs from <
    return lengths, num_keys


def draw_attention(draw: Draw) -> tuple[Tensor, ...]:
    """Queries, keys, values and a mask; the first query scores by far highest on a forbidden key."""
    scores, mask = draw_scores(draw)
    batch, num_queries, num_keys = scores.shape
    d, d_v, _ = draw.sizes(7, 8, 9)  # neither is Q or K
    queries, keys, values = draw.tensors(
        (batch, num_queries, d), (batch, num_keys, d), (batch, num_keys, d_v)
    )
    queries[:, 0] = 100 * keys[torch.arange(batch), mask[:, 0].int().argmin(-1)]
    return queries, keys, values, mask


def draw_additive(draw: Draw) -> tuple[Tensor, ...]:
    batch, queries, keys, query_size, key_size = draw_axes(draw)
    hiddens, value_size = 8, 9
    inputs = (batch, queries, query_size), (batch, keys, key_size), (batch, keys, value_size)
    return draw.tensors(*inputs, (query_size, hiddens), (key_size, hiddens), (hiddens,))


def lengths_of_size(size: int) -> Arguments:
    return torch.arange(size), size


def additive_of_size(size: int) -> Arguments:
    inputs = (torch.ones(size, size, width) for width in (3, 4, 5))
    return *inputs, torch.ones(3, 2), torch.ones(4, 2), torch.ones(2)


def no_loop(call_of_size: Callable[[int], Arguments]) -> dict[str, Rule]:
    return {"loop": lambda given, _: loops(given, call_of_size)}


def mask_from_lengths(
    valid_lens: Tensor,
    num_keys: int,
    *,
    allowed: Step = lambda positions, lengths: positions < lengths,
    masked: Step = nothing_done,
    place: Step = lambda mask: mask[:, None],
) -> Tensor:
    """(B,) to (B, 1, K); each keyword replaces one step."""
    mask = masked(allowed(torch.arange(num_keys), valid_lens[:, None]))  # (B, K)
    return place(mask)


def additive_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    w_v: Tensor,
    *,
    hidden: Step = lambda q, k: torch.tanh(q + k),
    read: Step = torch.matmul,
    bend: Step = nothing_done,
    divisor: Divisor = lambda *_: 1.0,
    **steps: Any,
) -> Tensor:
    """Attention with scores from a small network; each keyword replaces one step."""

    def score(queries: Tensor, keys: Tensor) -> Tensor:
        return bend(read(hidden((queries @ W_q)[:, :, None], (keys @ W_k)[:, None]), w_v))

    return attention(queries, keys, values, num_hiddens=len(w_v), score=score, divisor=divisor, **steps)


EXERCISES: tuple[Judged, ...] = (
    Small(
        "one_weight",
        torch.tensor([3.0, 1.0, 1.0]).softmax(0)[0],
        {"share_of_scores": 3 / 5, "not_divided": math.exp(3)},
        within=0.006,
        hint="flow",
    ),
    Exercise(
        "dot_product_attention", attention, draw_attention, rules=NO_ATTENTION, hint="one-line-why"
    ).recognising(
        **shared(*SCALE, "scale_of_values"),
        **shared("mask_missing", "mask_upside_down", "forbidden_scores_zero"),
        forbidden_scores_too_high=HIGH_FILLS,
        **shared("forbidden_weights_zero", "renormalised"),
        **shared("softmax_over_queries", "softmax_over_samples", "softmax_missing"),
        **shared("exponentials", "weights_returned"),
        keys_mixed={"mix": lambda weights, keys, values: weights @ keys},
    ),
    Small("cost_factor", 2, {"both_twice": 4, "same_work": 1}, hint="cost-why"),
    Exercise(
        "masked_softmax",
        masked_weights,
        draw_low_scores,
        rules=not_by("masked_softmax"),
        hint="masking-guess-why",
    ).recognising(
        **shared("mask_missing", "mask_upside_down", "forbidden_scores_zero"),
        **shared("forbidden_scores_too_high", "forbidden_weights_zero", "renormalised"),
        **shared(*SOFTMAX, "softmax_over_samples", "underflow"),
    ),
    Exercise(
        "mask_from_lengths",
        mask_from_lengths,
        draw_lengths,
        rules=no_loop(lengths_of_size) | not_by("padding_mask"),
        hint="lengths",
    ).recognising(
        mask_upside_down={"masked": torch.logical_not},
        one_key_too_many={"allowed": lambda positions, lengths: positions <= lengths},
        one_key_too_few={"allowed": lambda positions, lengths: positions < lengths - 1},
        axis_missing={"place": nothing_done},
        axis_at_the_end={"place": lambda mask: mask[:, :, None]},
        row_for_each_key={"place": lambda mask: mask[:, None].expand(-1, mask.shape[1], -1)},
        width_of_the_longest=lambda lengths, _: mask_from_lengths(lengths, int(lengths.max())),
    ),
    Exercise(
        "additive_attention",
        additive_attention,
        draw_additive,
        rules=no_loop(additive_of_size),
        hint="scoring-functions",
    ).recognising(
        tanh_missing={"hidden": lambda q, k: q + k},
        tanh_before_sum={"hidden": lambda q, k: q.tanh() + k.tanh()},
        tanh_after_w_v={"hidden": lambda q, k: q + k, "bend": torch.tanh},
        w_v_missing={"read": lambda hidden, w_v: hidden.sum(-1)},
        subtracted=({"hidden": lambda q, k: (q - k).tanh()}, {"hidden": lambda q, k: (k - q).tanh()}),
        other_activation=tuple(
            {"hidden": lambda q, k, bend=bend: bend(q + k)} for bend in (torch.relu, torch.sigmoid, gelu)
        ),
        scaled=WHOLE_WIDTH["scale_of_whole_width"],
        **shared(*SOFTMAX, "softmax_over_samples", "weights_returned"),
    ),
)
