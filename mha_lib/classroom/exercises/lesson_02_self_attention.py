"""The exercises of the lesson on self-attention."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_lib import causal_mask
from mha_lib.classroom.exercises.judge import Arguments, Draw, Exercise, Judged
from mha_lib.classroom.exercises.mistakes import (
    ANGLES,
    MASK,
    SCALE,
    SOFTMAX,
    WHOLE_WIDTH,
    Step,
    attention,
    nothing_done,
    self_attention,
    shared,
)
from mha_lib.classroom.exercises.on_the_way import TORCH_ALONE, not_by
from mha_lib.classroom.exercises.small import Small

Layer = Callable[[Tensor], Tensor]


def draw_projections(draw: Draw) -> Arguments:
    """x (2, N, D), W_q and W_k (D, d), W_v (D, d_v)"""
    tokens, width, head_dim, value_head_dim = draw.sizes(3, 5, 6, 7)
    matrices = (width, head_dim), (width, head_dim), (width, value_head_dim)
    return draw.tensors((2, tokens, width), *matrices)


def draw_attend(draw: Draw) -> Arguments:
    """A layer that may depend on the order of its tokens, tokens (2, N, D) and a new order."""
    tokens, width, head_dim = draw.sizes(4, 6, 7)
    matrices = (width, head_dim), (width, head_dim), (width, width)
    x, W_q, W_k, W_v, places = draw.tensors((2, tokens, width), *matrices, (tokens, width))
    kind = draw.in_turn("plain", "with positions", "causal")

    def attend(x: Tensor) -> Tensor:
        placed = x + places if kind == "with positions" else x
        mask = causal_mask(tokens, tokens) if kind == "causal" else None
        return self_attention(placed, W_q, W_k, W_v, mask)

    turned = torch.arange(tokens).roll(1)  # not its own inverse
    return attend, x, turned[torch.randperm(tokens, generator=draw)] if kind == "plain" else turned


def draw_layer(draw: Draw) -> Arguments:
    """A layer that is causal or not, and tokens (N, D).

    In some rounds the layer reads only one number of each token, in others it writes only one.
    """
    tokens, width, head_dim = draw.sizes(5, 6, 7)
    shapes = (tokens, width), (width, head_dim), (width, head_dim), (width, width)
    x, W_q, W_k, W_v = (tensor / width**0.5 for tensor in draw.tensors(*shapes))
    kinds: tuple[dict[str, Any], ...] = (
        {},  # causal
        MASK["forbidden_weights_zero"][0],
        {"masked": lambda mask: torch.ones_like(mask).tril(1)},  # each token sees the next one as well
        MASK["mask_missing"][0],
        {"masked": lambda mask: mask.mT},  # each token sees itself and the later ones
        {},  # causal, but each token sees the mean of all
    )
    steps, minus_mean = draw.in_turn(*((steps, steps is kinds[-1]) for steps in kinds))
    everything, one_number = torch.ones(width), torch.eye(width)[draw.in_turn(0, 2, -1)]
    read, written = ((everything,) * 2, (one_number, everything), (everything, one_number))[draw.round // 4]

    def layer(x: Tensor) -> Tensor:
        seen = read * (x - x.mean(0) if minus_mean else x)
        return written * causal_attention(seen @ W_q, seen @ W_k, seen @ W_v, **steps)

    return layer, x


def equivariance_gap(attend: Layer, x: Tensor, order: Tensor) -> Tensor:
    return (attend(x[:, order]) - attend(x)[:, order]).abs().max()


def waves(
    num_positions: int,
    num_hiddens: int,
    *,
    place: Step = nothing_done,
    exponent: Step = lambda pairs, width: 2 * pairs / width,
    base: float = 10000,
    ordered: Step = lambda sines, cosines: torch.stack([sines, cosines], -1).flatten(1),
) -> Tensor:
    """Sinusoidal positions; each keyword replaces one step by a mistake."""
    positions = place(torch.arange(num_positions, dtype=torch.float64))[:, None]
    angles = positions / base ** exponent(torch.arange(num_hiddens // 2).double(), num_hiddens)
    return ordered(angles.sin(), angles.cos()).float()


def draw_targets(draw: Draw) -> Arguments:
    """Three values in a plane, (3, 2), a wide triangle, and targets (T, 2) in and out of it."""
    shaken, spread = draw.tensors((3, 2), (draw.number(4, 6), 2))
    return torch.tensor([[0.0, 0], [10, 0], [4, 8]]) + shaken, 4 + 4 * spread


def needed_weights(values: Tensor, targets: Tensor, *, finish: Step = nothing_done) -> Tensor:
    """The weights (T, 3), sum 1, with which the values mix to the targets; ``finish`` adds a mistake."""
    equations = torch.cat([values, torch.ones(3, 1)], dim=1)  # two for the coordinates, one for the sum
    wanted = torch.cat([targets, torch.ones(len(targets), 1)], dim=1)
    return finish(torch.linalg.solve(equations.T, wanted.T).T)


def causal_attention(queries: Tensor, keys: Tensor, values: Tensor, **steps: Any) -> Tensor:
    """Causal attention over (N, d); each keyword replaces one step by a mistake."""
    return attention(queries, keys, values, causal_mask(len(queries), len(keys)), **steps)


def who_sees_whom(
    layer: Layer,
    x: Tensor,
    *,
    kept: bool = False,
    changed: Any = slice(None),
    differs: Callable[[Tensor], Tensor] = lambda differs: differs.any(-1),
    finish: Step = nothing_done,
) -> Tensor:
    """(N, N), True where the output (row) changes with the token (column); each keyword replaces one step."""
    before, seen, tokens = layer(x), [], x.clone()
    for token in range(len(x)):
        tokens = tokens if kept else x.clone()
        tokens[token, changed] += 1
        seen.append(differs(layer(tokens) != before))
    return finish(torch.stack(seen, dim=1))


EXERCISES: tuple[Judged, ...] = (
    Exercise(
        "self_attention", self_attention, draw_projections, rules=TORCH_ALONE, hint="one-sequence-why"
    ).recognising(
        **shared(*SCALE, *WHOLE_WIDTH, "scale_of_values", "queries_and_keys_exchanged"),
        **shared(*SOFTMAX, "softmax_over_samples"),
        **shared("values_from_W_k", "weights_returned", "weights_transposed"),
        queries_and_keys_not_projected={"project": lambda x, W_q, W_k, W_v: (x, x, x @ W_v)},
        keys_from_W_q={"project": lambda x, W_q, W_k, W_v: (x @ W_q, x @ W_q, x @ W_v)},
        queries_from_W_k={"project": lambda x, W_q, W_k, W_v: (x @ W_k, x @ W_k, x @ W_v)},
        values_not_projected={"project": lambda x, W_q, W_k, W_v: (x @ W_q, x @ W_k, x)},
        masked={"masked": torch.tril},
    ),
    Small("moved_row", 1, {"read_backwards": 2, "stays": 0}, hint="guess-shuffle-why"),
    Small(
        "one_wave",
        math.sin(0.02),
        {"cosine": math.cos(0.02), "root_missing": math.sin(0.2)},
        within=0.001,
        hint="waves",
    ),
    Small(
        "kept_places",
        3,
        {"first_alone": 1, "order_seen": 0, "equivariant": 5, "others_wrong": 2},
        hint="looking-back-why",
    ),
    Small(
        "crossover_length",
        768,
        {"width_of_the_slide": 192, "with_output_projection": 1024},
        within=1,
        hint="count-the-work-why",
    ),
    Exercise(
        "equivariance_gap", equivariance_gap, draw_attend, rounds=9, hint="guess-shuffle-why"
    ).recognising(
        invariance=lambda f, x, order: (f(x[:, order]) - f(x)).abs().max(),
        output_permuted_on_the_wrong_side=(
            lambda f, x, order: (f(x[:, order])[:, order] - f(x)).abs().max(),
            lambda f, x, order: (f(x[:, order]) - f(x)[:, order.argsort()]).abs().max(),
        ),
        abs_missing=tuple(
            lambda f, x, order, sign=sign: (sign * (f(x[:, order]) - f(x)[:, order])).max()
            for sign in (1, -1)
        ),
        mean=lambda f, x, order: (f(x[:, order]) - f(x)[:, order]).abs().mean(),
        summed=lambda f, x, order: (f(x[:, order]) - f(x)[:, order]).abs().sum(),
        yes_or_no=lambda f, x, order: equivariance_gap(f, x, order) < 1e-4,
        input_not_permuted=lambda f, x, order: (f(x) - f(x)[:, order]).abs().max(),
    ),
    Exercise(
        "positions",
        waves,
        lambda draw: (draw.number(5, 9), 2 * draw.number(3, 6)),
        rules=not_by("sinusoidal_positions"),
        hint="waves",
    ).recognising(
        sines_first={"ordered": lambda s, c: torch.cat([s, c], -1)},
        cosine_first={"ordered": lambda s, c: torch.stack([c, s], -1).flatten(1)},
        sines_alone={"ordered": lambda s, c: torch.stack([s, s], -1).flatten(1)},
        **ANGLES,
    ),
    Exercise("who_sees_whom", who_sees_whom, draw_layer, rounds=12, hint="leak-test").recognising(
        rows_and_columns_exchanged={"finish": lambda seen: seen.mT},
        changes_pile_up={"kept": True},
        one_number_changed={"changed": 0},
        one_number_read={"differs": lambda differs: differs[:, 0]},
        all_for_any={"differs": lambda differs: differs.all(-1)},
        unchanged={"finish": torch.logical_not},
        true_everywhere=lambda f, x: torch.ones(len(x), len(x)) > 0,
    ),
    Exercise("needed_weights", needed_weights, draw_targets, hint="mixture-triangle-why").recognising(
        sum_missing=lambda values, targets: targets @ torch.linalg.pinv(values),
        nearest_values=lambda values, targets: (-torch.cdist(targets, values)).softmax(-1),
        clipped={"finish": lambda weights: weights.clamp(min=0)},
    ),
)
