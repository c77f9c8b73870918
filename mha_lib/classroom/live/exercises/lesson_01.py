"""The exercises of lesson 01, single-head attention."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_lib.classroom.live.exercises.judge import Draw, Exercise
from mha_lib.classroom.live.exercises.mistakes import (
    SCALE,
    SOFTMAX,
    Sizes,
    Step,
    attention,
    fill_lowest,
    masked_weights,
    nothing_done,
    shared,
)


def draw_axes(draw: Draw) -> tuple[int, ...]:
    """B, Q, K, d and d_v, all different."""
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
    """The same, but the last query's scores are so low that only -inf hides a key from it."""
    scores, mask = draw_scores(draw)
    scores[:, -1] -= 2000
    return scores, mask


def draw_scores_with_empty_rows(draw: Draw) -> tuple[Tensor, Tensor]:
    scores, mask = draw_low_scores(draw)
    mask[:, 0] = False
    return scores, mask


def draw_lengths(draw: Draw) -> tuple[Tensor, int]:
    batch, _, num_keys, *_ = draw_axes(draw)
    lengths = torch.randint(0, num_keys, (batch,), generator=draw)
    lengths[0] = num_keys - 1  # fewer than all keys, so that <= differs from <
    return lengths, num_keys


def draw_attention(draw: Draw) -> tuple[Tensor, ...]:
    scores, mask = draw_scores(draw)
    batch, queries, keys = scores.shape
    d, d_v, _ = draw.sizes(7, 8, 9)  # neither is Q or K
    return *draw.tensors((batch, queries, d), (batch, keys, d), (batch, keys, d_v)), mask


def draw_temperature(draw: Draw) -> tuple[Tensor, float]:
    return draw_scores(draw)[0], (0.3, 0.5, 2.0, 3.0)[draw.number(0, 3)]


def draw_additive(draw: Draw) -> tuple[Tensor, ...]:
    batch, queries, keys, query_size, key_size = draw_axes(draw)
    hiddens, value_size = 8, 9
    inputs = (batch, queries, query_size), (batch, keys, key_size), (batch, keys, value_size)
    return draw.tensors(*inputs, (query_size, hiddens), (key_size, hiddens), (hiddens,))


def mask_from_lengths(
    valid_lens: Tensor,
    num_keys: int,
    *,
    allowed: Step = lambda positions, lengths: positions < lengths,
    masked: Step = nothing_done,
    encode: Step = nothing_done,
    place: Step = lambda mask: mask[:, None],
) -> Tensor:
    """(B,) to (B, 1, K); each keyword replaces one step."""
    mask = masked(allowed(torch.arange(num_keys), valid_lens[:, None]))  # (B, K)
    return place(encode(mask))


def divide_exponentials(scores: Tensor) -> Tensor:
    """The softmax by its formula, which is 0 / 0 if all exponentials underflow to 0."""
    exponentials = scores.exp()
    return exponentials / exponentials.sum(-1, keepdim=True)


def additive_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    w_v: Tensor,
    *,
    hidden: Step = lambda q, k: torch.tanh(q + k),
    divisor: Callable[[Sizes], float] = lambda sizes: 1.0,
    **steps: Any,
) -> Tensor:
    """Attention with scores from a small network; each keyword replaces one step."""

    def score(queries: Tensor, keys: Tensor) -> Tensor:
        return hidden((queries @ W_q)[:, :, None], (keys @ W_k)[:, None]) @ w_v

    return attention(queries, keys, values, num_hiddens=len(w_v), score=score, divisor=divisor, **steps)


def tempered_softmax(
    scores: Tensor,
    temperature: float,
    *,
    temper: Step = lambda scores, temperature: scores / temperature,
    **steps: Any,
) -> Tensor:
    return masked_weights(temper(scores, temperature), **steps)


EXERCISES: tuple[Exercise, ...] = (
    Exercise("masked_softmax", masked_weights, draw_low_scores).recognising(
        **shared("mask_missing", "mask_upside_down", "forbidden_scores_zero"),
        **shared("forbidden_scores_too_high", "forbidden_weights_zero"),
        **SOFTMAX,
        underflow={"normalise": divide_exponentials, "finish": nothing_done},
    ),
    Exercise("empty_rows", masked_weights, draw_scores_with_empty_rows).recognising(
        nan={"finish": nothing_done},
        uniform={"fill": fill_lowest},
        **shared("mask_missing", "mask_upside_down", "forbidden_scores_zero"),
        **shared("forbidden_scores_too_high", "forbidden_weights_zero"),
        **shared("softmax_over_queries", "exponentials"),
    ),
    Exercise("mask_from_lengths", mask_from_lengths, draw_lengths).recognising(
        mask_upside_down={"masked": torch.logical_not},
        **shared("mask_to_be_added"),
        one_key_too_many={"allowed": lambda positions, lengths: positions <= lengths},
        last_keys={"allowed": lambda positions, lengths: positions.flip(-1) < lengths},
        axis_missing={"place": nothing_done},
        axis_at_the_end={"place": lambda mask: mask[:, :, None]},
    ),
    Exercise("dot_product_attention", attention, draw_attention).recognising(
        **shared("scale_missing", "scale_without_root", "scale_multiplied"),
        **shared("scale_of_number_of_keys"),
        scale_of_values={"divisor": lambda sizes: sizes.value_head_dim**0.5},
        **shared("mask_missing", "mask_upside_down", "forbidden_scores_zero"),
        **shared("forbidden_weights_zero", "softmax_over_queries", "softmax_missing"),
        **shared("exponentials", "weights_returned"),
        keys_mixed={"mix": lambda weights, keys, values: weights @ keys},
    ),
    Exercise("temperature", tempered_softmax, draw_temperature).recognising(
        multiplied={"temper": lambda scores, t: scores * t},
        not_used={"temper": lambda scores, t: scores},
        rooted={"temper": lambda scores, t: scores / t**0.5},
        weights_divided=lambda scores, temperature: scores.softmax(-1) / temperature,
        power_of_weights=lambda scores, temperature: scores.softmax(-1) ** (1 / temperature),
        **SOFTMAX,
    ),
    Exercise("additive_attention", additive_attention, draw_additive).recognising(
        tanh_missing={"hidden": lambda q, k: q + k},
        tanh_before_sum={"hidden": lambda q, k: q.tanh() + k.tanh()},
        multiplied={"hidden": lambda q, k: (q * k).tanh()},
        relu={"hidden": lambda q, k: (q + k).relu()},
        scaled=SCALE["scale_of_whole_width"],
        **SOFTMAX,
        **shared("weights_returned"),
    ),
    Exercise(
        "attention_flops",
        lambda num_queries, num_keys, d, d_v: 2 * num_queries * num_keys * (d + d_v),
        lambda draw: tuple((3 + torch.randperm(9, generator=draw)[:4]).tolist()),
        also_right={"counted_exactly": lambda q, k, d, d_v: q * k * (2 * d - 1) + q * d_v * (2 * k - 1)},
    ).recognising(
        counted_once=lambda q, k, d, d_v: q * k * (d + d_v),
        scores_alone=lambda q, k, d, d_v: 2 * q * k * d,
        values_as_wide_as_keys=lambda q, k, d, d_v: 4 * q * k * d,
        as_many_keys_as_queries=lambda q, k, d, d_v: 2 * q * q * (d + d_v),
    ),
)
