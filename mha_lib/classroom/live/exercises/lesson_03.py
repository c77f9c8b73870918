"""The exercises of lesson 03, multi-head attention."""

import operator
from collections.abc import Callable

import torch
from torch import Tensor

from mha_lib import masked_softmax, padding_mask, split_heads
from mha_lib.classroom.live.exercises.judge import Arguments, Draw, Exercise
from mha_lib.classroom.live.exercises.mistakes import (
    HEADS,
    PROJECTIONS,
    SCALE,
    SOFTMAX,
    cut_every_other_number,
    cut_with_one_view,
    multi_head,
    removal,
    shared,
)


def draw_input(draw: Draw) -> tuple[Tensor, int]:
    """Tokens (B, N, H*d) and H, every axis of another size."""
    batch, tokens, heads, width = draw.sizes(2, 3, 4, 5)
    return torch.randn(batch, tokens, heads * width, generator=draw), heads


def draw_layer(draw: Draw) -> Arguments:
    x, heads = draw_input(draw)
    width = x.shape[2]
    return x, *(W / width**0.5 for W in draw.tensors(*[(width, width)] * 4)), heads


def draw_layer_and_lengths(draw: Draw) -> Arguments:
    x, *rest = draw_layer(draw)
    return (x, *rest, torch.randint(1, x.shape[1], x.shape[:1], generator=draw))


def draw_weights(draw: Draw) -> Arguments:
    """Weights whose rows sum to 1, some with exact zeros as after a mask."""
    batch, heads, queries, keys = 2, draw.number(2, 4), draw.number(3, 5), draw.number(6, 7)
    scores = 3 * torch.randn(batch, heads, queries, keys, generator=draw)
    return (masked_softmax(scores, padding_mask(torch.tensor([keys, keys - 2]), keys)[:, None]),)


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
    """Accuracies in a random order; often one lies exactly the tolerance below the best.

    All are multiples of 1/64, which floats represent exactly.
    """
    best = draw.number(50, 64)
    second = best - draw.number(2, 3)
    accuracies = [(1, best - 12), (2, second), (4, best - 1), (8, best), (16, best - 1)]
    order = torch.randperm(len(accuracies), generator=draw).tolist()
    return {accuracies[place][0]: accuracies[place][1] / 64 for place in order}, 2 / 64


def total_variation(weights: Tensor) -> Tensor:
    """(B, H, Q, K) -> (H, H): half the sum of differences, averaged over samples and queries."""
    differences = (weights[:, :, None] - weights[:, None]).abs()  # (B, H, H, Q, K)
    return differences.sum(-1).mean((0, -1)) / 2


def mean_entropy(weights: Tensor) -> Tensor:
    return -torch.special.xlogy(weights, weights).sum(-1).mean((0, 2))


def gradient(loss_of: Callable[[Tensor], Tensor], num_heads: int, at: float = 1.0) -> Tensor:
    mask = torch.full((num_heads,), at, requires_grad=True)
    return torch.autograd.grad(loss_of(mask), mask)[0]


def count(num_hiddens: int, num_heads: int, head_dim: int, value_head_dim: int) -> int:
    return 2 * num_hiddens * num_heads * (head_dim + value_head_dim)


def choose_num_heads(
    accuracies: dict[int, float],
    tolerance: float,
    *,
    enough: Callable[[float, float], bool] = operator.ge,
    choose: Callable[[list[int]], int] = min,
) -> int:
    """The fewest heads within the tolerance of the best; each keyword replaces one step by a mistake."""
    least = max(accuracies.values()) - tolerance
    return choose([heads for heads, accuracy in accuracies.items() if enough(accuracy, least)])


EXERCISES: tuple[Exercise, ...] = (
    Exercise("split_heads", split_heads, draw_input).recognising(
        cut_with_one_view=cut_with_one_view,
        axes_not_swapped=lambda x, h: x.reshape(*x.shape[:2], h, -1),
        every_other_number=cut_every_other_number,
        heads_transposed=lambda x, h: split_heads(x, h).mT,
    ),
    Exercise(
        "repeat_valid_lens",
        lambda valid_lens, num_heads: valid_lens.repeat_interleave(num_heads),
        draw_lengths,
    ).recognising(
        lengths_repeated=lambda valid_lens, num_heads: valid_lens.repeat(num_heads),
        row_for_each_sample=lambda valid_lens, num_heads: valid_lens[:, None].expand(-1, num_heads),
    ),
    Exercise("multi_head", multi_head, draw_layer_and_lengths).recognising(
        **shared(*SCALE, *PROJECTIONS, *HEADS, "lengths_repeated"),
        **shared("softmax_over_queries", "exponentials"),
        **shared("mask_missing", "mask_upside_down", "mask_on_queries"),
        **shared("forbidden_scores_zero", "forbidden_weights_zero"),
    ),
    Exercise("serial_heads", multi_head, draw_layer, shared(*SCALE, *SOFTMAX, *PROJECTIONS, *HEADS)),
    Exercise("count_parameters", count, lambda draw: draw.sizes(6, 3, 5, 7)).recognising(
        single_head=lambda D, h, d, d_v: D * (2 * d + d_v) + d_v * D,
        W_o_missing=lambda D, h, d, d_v: D * h * (2 * d + d_v),
        W_o_of_width_D=lambda D, h, d, d_v: D * h * (2 * d + d_v) + D * D,
        values_as_wide_as_keys=lambda D, h, d, d_v: 4 * D * h * d,
        heads_of_width_D_over_h=lambda D, h, d, d_v: 4 * D * D,
        heads_of_width_D=lambda D, h, d, d_v: 4 * D * D * h,
        biases_counted=lambda D, h, d, d_v: count(D, h, d, d_v) + h * (2 * d + d_v) + D,
    ),
    Exercise("head_distances", total_variation, draw_weights).recognising(
        not_halved=lambda w: 2 * total_variation(w),
        averaged_over_keys=lambda w: total_variation(w) / w.shape[-1],
        averaged_first=lambda w: total_variation(w.mean((0, 2))[None, :, None]),
    ),
    Exercise("importance_by_removal", removal, draw_loss).recognising(
        sign_turned={"measure": lambda without, whole: whole - without},
        loss_itself={"measure": lambda without, whole: without},
        one_head_kept={"masks": torch.eye},
        removed_for_good={"masks": lambda num_heads: torch.ones(num_heads, num_heads).triu(1)},
    ),
    Exercise(
        "importance_by_gradient", lambda loss_of, num_heads: gradient(loss_of, num_heads).abs(), draw_loss
    ).recognising(
        abs_missing=gradient,
        at_zeros=lambda loss_of, num_heads: gradient(loss_of, num_heads, at=0.0).abs(),
    ),
    Exercise("mean_entropies", mean_entropy, draw_weights).recognising(
        nan=lambda w: -(w * w.log()).sum(-1).mean((0, 2)),
        sign_missing=lambda w: -mean_entropy(w),
        bits=lambda w: mean_entropy(w) / torch.tensor(2.0).log(),
        averaged_first=lambda w: mean_entropy(w.mean((0, 2))[None, :, None]),
    ),
    Exercise("choose_num_heads", choose_num_heads, draw_accuracies, rounds=8).recognising(
        best=lambda accuracies, tolerance: max(accuracies, key=accuracies.__getitem__),
        accuracy=lambda accuracies, tolerance: max(accuracies.values()),
        most_within_tolerance={"choose": max},
        first_in_the_dictionary={"choose": operator.itemgetter(0)},
        boundary_excluded={"enough": operator.gt},
    ),
)
