"""The exercises of the lesson on multi-head attention."""

import math
import operator
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import normalize

from mha_lib import masked_softmax, padding_mask, split_heads
from mha_lib.classroom.exercises.judge import Arguments, Draw, Exercise
from mha_lib.classroom.exercises.mistakes import (
    DIVIDED,
    HEADS,
    HIGH_FILLS,
    NOTHING_LEFT,
    PROJECTIONS,
    SCALE,
    SOFTMAX,
    WHOLE_WIDTH,
    Step,
    cut_every_other_number,
    cut_with_one_view,
    multi_head,
    nothing_done,
    removal,
    shared,
)
from mha_lib.classroom.exercises.on_the_way import TORCH_ALONE, loops, not_by


def draw_input(draw: Draw) -> tuple[Tensor, int]:
    """Tokens (B, N, H*d) and H, every axis of another size."""
    batch, tokens, heads, width = draw.sizes(2, 3, 4, 5)
    return torch.randn(batch, tokens, heads * width, generator=draw), heads


def draw_layer(draw: Draw) -> Arguments:
    x, heads = draw_input(draw)
    width = x.shape[2]
    return x, *(W / width**0.5 for W in draw.tensors(*[(width, width)] * 4)), heads


def draw_layer_and_lengths(draw: Draw) -> Arguments:
    """The first sample has no padding; in the others one number of it, which queries ignore, is very large.

    The softmax then leaves 0 for all other keys, or for this one, unless the padding is masked before it.
    """
    x, W_q, *rest = draw_layer(draw)
    x[1:, -1, 0], W_q[0] = 1e6, 0
    lengths = torch.randint(1, x.shape[1], x.shape[:1], generator=draw)
    lengths[0] = x.shape[1]
    return x, W_q, *rest, lengths


def draw_weights(draw: Draw) -> Arguments:
    """Weights whose rows sum to 1, some with exact zeros as after a mask."""
    batch, heads, queries, keys = 3, draw.number(2, 4), draw.number(3, 5), draw.number(6, 7)
    scores = 3 * torch.randn(batch, heads, queries, keys, generator=draw)
    return (masked_softmax(scores, padding_mask(torch.tensor([keys, keys - 1, keys - 2]), keys)[:, None]),)


def draw_loss(draw: Draw) -> Arguments:
    """A function that gives the loss for a head mask, and the number of heads."""
    heads = draw.number(3, 6)
    mixing, wanted = draw.tensors((heads, 7), (7,))

    def loss_of(head_mask: Tensor) -> Tensor:
        return (torch.tanh(head_mask @ mixing) - wanted).square().mean()

    return loss_of, heads


def draw_lengths(draw: Draw) -> Arguments:
    batch = draw.number(2, 4)
    return torch.randperm(9, generator=draw)[:batch] + 1, draw.number(2, 5)


def draw_accuracies(draw: Draw) -> Arguments:
    """Accuracies in a random order; one lies the tolerance below the best, or a little more or less.

    Floats represent all of them exactly.
    """
    best = draw.number(50, 60)
    second = best - draw.in_turn(2, 2 - 1 / 16, 3)
    accuracies = [(1, best - 12), (2, second), (4, best - 1), (8, best), (16, best - 1)]
    order = torch.randperm(len(accuracies), generator=draw).tolist()
    return {accuracies[place][0]: accuracies[place][1] / 64 for place in order}, 2 / 64


def total_variation(
    weights: Tensor,
    *,
    size: Step = torch.abs,
    over_keys: Step = lambda differences: differences.sum(-1) / 2,
    average: Step = lambda rows: rows.mean((0, -1)),
) -> Tensor:
    """(B, H, Q, K) -> (H, H); each keyword replaces one step by a mistake."""
    differences = size(weights[:, :, None] - weights[:, None])  # (B, H, H, Q, K)
    return average(over_keys(differences))


def mean_entropy(
    weights: Tensor,
    *,
    entropy: Step = lambda weights: torch.special.entr(weights).sum(-1),
    average: Step = lambda rows: rows.mean((0, 2)),
) -> Tensor:
    """(B, H, Q, K) -> (H,); each keyword replaces one step by a mistake."""
    return average(entropy(weights))


def gradient(
    loss_of: Callable[[Tensor], Tensor], num_heads: int, *, at: float = 1.0, size: Step = torch.abs
) -> Tensor:
    """The gradient by the head mask, (H,); each keyword replaces one step by a mistake."""
    mask = torch.full((num_heads,), at, requires_grad=True)
    return size(torch.autograd.grad(loss_of(mask), mask)[0])


def near(result: Tensor, right: Tensor) -> bool:
    return result.shape == right.shape and torch.allclose(result, right, rtol=0.2, atol=0.02)


def heads_of_size(size: int) -> Arguments:
    return torch.ones(1, 1, size), *[torch.ones(size, size)] * 4, size


def count(num_hiddens: int, num_heads: int, head_dim: int, value_head_dim: int) -> int:
    return 2 * num_hiddens * num_heads * (head_dim + value_head_dim)


def choose_num_heads(
    accuracies: dict[int, float],
    tolerance: float,
    *,
    reference: Callable[[dict[int, float]], float] = lambda accuracies: max(accuracies.values()),
    below: Callable[[float, float], float] = operator.sub,
    enough: Callable[[float, float], bool] = operator.ge,
    choose: Callable[[list[int]], int] = min,
) -> int:
    """The fewest heads within the tolerance of the best; each keyword replaces one step by a mistake."""
    least = below(reference(accuracies), tolerance)
    return choose([heads for heads, accuracy in accuracies.items() if enough(accuracy, least)])


EXERCISES: tuple[Exercise, ...] = (
    Exercise("split_heads", split_heads, draw_input, rules=not_by("split_heads")).recognising(
        cut_with_one_view=cut_with_one_view,
        axes_not_swapped=lambda x, h: x.reshape(*x.shape[:2], h, -1),
        every_other_number=cut_every_other_number,
        heads_transposed=lambda x, h: split_heads(x, h).mT,
        heads_before_samples=lambda x, h: split_heads(x, h).transpose(0, 1),
        number_for_width=lambda x, h: split_heads(x, x.shape[-1] // h),
    ),
    Exercise(
        "repeat_valid_lens",
        lambda valid_lens, num_heads: valid_lens.repeat_interleave(num_heads),
        draw_lengths,
    ).recognising(
        lengths_repeated=lambda valid_lens, num_heads: valid_lens.repeat(num_heads),
        row_for_each_sample=lambda valid_lens, num_heads: valid_lens[:, None].expand(-1, num_heads),
        row_for_each_head=lambda valid_lens, num_heads: valid_lens.expand(num_heads, -1),
        as_often_as_samples=lambda valid_lens, _: valid_lens.repeat_interleave(len(valid_lens)),
        multiplied=lambda valid_lens, num_heads: valid_lens * num_heads,
    ),
    Exercise("multi_head", multi_head, draw_layer_and_lengths, rules=TORCH_ALONE).recognising(
        **shared(*SCALE, *WHOLE_WIDTH, *PROJECTIONS, *HEADS, "lengths_repeated"),
        **shared("softmax_over_queries", "exponentials", "weights_transposed"),
        softmax_over_heads=tuple(
            {"normalise": lambda scores: scores.softmax(1)} | rest for rest in NOTHING_LEFT
        ),
        **shared("mask_missing", "mask_upside_down", "mask_on_queries", "renormalised"),
        forbidden_scores_too_high=HIGH_FILLS,
        **shared("forbidden_scores_zero", "forbidden_weights_zero"),
    ),
    Exercise(
        "serial_heads",
        multi_head,
        draw_layer,
        rules={"loop_missing": lambda given, _: not loops(given, heads_of_size)},
    ).recognising(
        **shared(*SCALE, *WHOLE_WIDTH, *SOFTMAX, *PROJECTIONS, *HEADS),
        **shared("softmax_over_samples", "weights_transposed"),
    ),
    Exercise("count_parameters", count, lambda draw: draw.sizes(6, 3, 5, 7)).recognising(
        single_head=lambda D, h, d, d_v: D * (2 * d + d_v) + d_v * D,
        W_o_missing=lambda D, h, d, d_v: D * h * (2 * d + d_v),
        W_o_of_one_head=lambda D, h, d, d_v: D * h * (2 * d + d_v) + d_v * D,
        one_projection_to_d=(
            lambda D, h, d, d_v: D * h * (d + 2 * d_v),
            lambda D, h, d, d_v: D * h * (d + d_v),
        ),
        W_o_of_width_D=lambda D, h, d, d_v: D * h * (2 * d + d_v) + D * D,
        values_as_wide_as_keys=lambda D, h, d, d_v: 4 * D * h * d,
        heads_of_width_D_over_h=lambda D, h, d, d_v: 4 * D * D,
        heads_of_width_D=lambda D, h, d, d_v: 4 * D * D * h,
        biases_counted=lambda D, h, d, d_v: count(D, h, d, d_v) + h * (2 * d + d_v) + D,
    ),
    Exercise("head_distances", total_variation, draw_weights).recognising(
        not_halved={"over_keys": lambda differences: differences.sum(-1)},
        averaged_over_keys=(
            {"over_keys": lambda differences: differences.mean(-1) / 2},
            {"over_keys": lambda differences: differences.mean(-1)},
        ),
        largest_over_keys={"over_keys": lambda differences: differences.amax(-1)},
        averaged_first=lambda w: total_variation(w.mean((0, 2))[None, :, None]),
        abs_missing={"size": nothing_done},
        squared=(
            {"size": torch.square},
            {"size": torch.square, "over_keys": lambda squares: squares.sum(-1)},
            {"size": torch.square, "over_keys": lambda squares: squares.sum(-1).sqrt()},
        ),
        summed=(
            {"average": lambda rows: rows.sum(-1).mean(0)},
            {"average": lambda rows: rows.mean(-1).sum(0)},
            {"average": lambda rows: rows.sum((0, -1))},
        ),
    ),
    Exercise("importance_by_removal", removal, draw_loss).recognising(
        sign_turned={"measure": lambda without, whole: whole - without},
        loss_itself={"measure": lambda without, whole: without},
        absolute={"measure": lambda without, whole: (without - whole).abs()},
        divided=DIVIDED,
        one_head_kept={"masks": torch.eye},
        removed_for_good={"masks": lambda num_heads: torch.ones(num_heads, num_heads).triu(1)},
        doubled={"masks": lambda num_heads: 1 + torch.eye(num_heads)},
        compared_with_none=lambda loss_of, num_heads: (
            removal(loss_of, num_heads) + loss_of(torch.ones(num_heads)) - loss_of(torch.zeros(num_heads))
        ),
        gradient_taken=(gradient, partial(gradient, size=nothing_done)),
    ),
    Exercise(
        "importance_by_gradient",
        gradient,
        draw_loss,
        symptoms={"difference_quotient": near},
    ).recognising(
        abs_missing={"size": nothing_done},
        at_zeros={"at": 0.0},
        squared={"size": torch.square},
        removed=(removal, lambda loss_of, num_heads: removal(loss_of, num_heads).abs()),
        accumulated=(
            {"size": lambda gradient: len(gradient) * gradient.abs()},
            {"size": lambda gradient: torch.arange(1, len(gradient) + 1) * gradient.abs()},
        ),
        divided_by_size=tuple(
            {"size": lambda gradient, power=power: normalize(gradient.abs(), power, dim=0)}
            for power in (1, 2, torch.inf)
        ),
    ),
    Exercise("mean_entropies", mean_entropy, draw_weights).recognising(
        number_added=tuple(
            {"entropy": lambda w, both=both, small=small: -((w + both) * (w + small).log()).sum(-1)}
            for small in (1e-3, 1e-4, 1e-5)
            for both in (0, small)
        ),
        sign_missing=lambda w: -mean_entropy(w),
        bits=lambda w: mean_entropy(w) / math.log(2),
        averaged_first=lambda w: mean_entropy(w.mean((0, 2))[None, :, None]),
        averaged_over_keys={"entropy": lambda weights: torch.special.entr(weights).mean(-1)},
        summed=(
            {"average": lambda rows: rows.sum(-1).mean(0)},
            {"average": lambda rows: rows.mean(-1).sum(0)},
            {"average": lambda rows: rows.sum((0, 2))},
        ),
        softmax_again={"entropy": lambda weights: torch.special.entr(weights.softmax(-1)).sum(-1)},
        divided_by_largest=lambda w: mean_entropy(w) / math.log(w.shape[-1]),
        perplexity=(
            lambda w: mean_entropy(w).exp(),
            {"entropy": lambda weights: torch.special.entr(weights).sum(-1).exp()},
        ),
    ),
    Exercise("choose_num_heads", choose_num_heads, draw_accuracies, rounds=8).recognising(
        best=lambda accuracies, tolerance: max(accuracies, key=accuracies.__getitem__),
        accuracy=lambda accuracies, tolerance: max(accuracies.values()),
        most_within_tolerance={"choose": max},
        first_in_the_dictionary={"choose": operator.itemgetter(0)},
        boundary_excluded={"enough": operator.gt},
        relative_tolerance={"below": lambda best, tolerance: best * (1 - tolerance)},
        compared_with_most_heads={"reference": lambda accuracies: accuracies[max(accuracies)]},
        fewest_of_all=lambda accuracies, _: min(accuracies),
    ),
)
