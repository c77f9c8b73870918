"""The exercises of lesson 03, multi-head attention."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from mha_lib import masked_softmax, padding_mask, split_heads
from mha_lib.classroom.exercises.judge import Arguments, Exercise, draw, draw_sizes
from mha_lib.classroom.exercises.mistakes import cut_with_one_view, multi_head, shared


def draw_input(generator: torch.Generator) -> tuple[Tensor, int]:
    """Tokens (B, N, H*d) and H, every axis of another size."""
    batch, tokens, heads, width = draw_sizes(generator, 2, 3, 4, 5)
    return torch.randn(batch, tokens, heads * width, generator=generator), heads


def draw_matrices(count: int, width: int, generator: torch.Generator) -> list[Tensor]:
    return [torch.randn(width, width, generator=generator) / width**0.5 for _ in range(count)]


def draw_layer(generator: torch.Generator) -> Arguments:
    x, heads = draw_input(generator)
    return (x, *draw_matrices(4, x.shape[2], generator), heads)


def draw_layer_and_lengths(generator: torch.Generator) -> Arguments:
    x, *rest = draw_layer(generator)
    return (x, *rest, torch.randint(1, x.shape[1], x.shape[:1], generator=generator))


def draw_weights(generator: torch.Generator) -> Arguments:
    """Rows that sum to 1, some of them with exact zeros, as a mask leaves them."""
    batch, heads, queries, keys = 2, draw(2, 4, generator), draw(3, 5, generator), draw(6, 7, generator)
    scores = 3 * torch.randn(batch, heads, queries, keys, generator=generator)
    return (masked_softmax(scores, padding_mask(torch.tensor([keys, keys - 2]), keys)[:, None]),)


def draw_loss(generator: torch.Generator) -> Arguments:
    """A loss of the head mask, as a model has one, and the number of heads."""
    heads = draw(3, 6, generator)
    mixing, wanted = torch.randn(heads, 7, generator=generator), torch.randn(7, generator=generator)

    def loss_of(head_mask: Tensor) -> Tensor:
        return (torch.tanh(head_mask @ mixing) - wanted).square().mean()

    return loss_of, heads


def draw_lengths(generator: torch.Generator) -> Arguments:
    batch = draw(2, 4, generator)
    return torch.randperm(9, generator=generator)[:batch] + 1, draw(2, 5, generator)


def draw_head_sizes(generator: torch.Generator) -> Arguments:
    return tuple(draw_sizes(generator, 6, 3, 5, 7))


def draw_accuracies(generator: torch.Generator) -> Arguments:
    """The best is not the first that is good enough, and some are too poor."""
    best = draw(90, 100, generator) / 100
    enough, rest = best - 0.01, best - 0.2
    return {1: rest - 0.3, 2: rest, 4: enough, 8: best, 16: best - 0.005}, 0.02


def slice_input(x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, num_heads: int) -> Tensor:
    """Head i projects only the i-th slice of the input."""
    d = x.shape[-1] // num_heads
    block = torch.eye(num_heads).kron(torch.ones(d, d))  # ones where input and output are of one head
    return multi_head(x, W_q * block, W_k * block, W_v * block, W_o, num_heads)


def total_variation(weights: Tensor) -> Tensor:
    """(B, H, Q, K) -> (H, H): half the sum of differences, averaged over samples and queries."""
    differences = (weights[:, :, None] - weights[:, None]).abs()  # (B, H, H, Q, K)
    return differences.sum(-1).mean((0, -1)) / 2


def mean_entropy(weights: Tensor) -> Tensor:
    return -torch.special.xlogy(weights, weights).sum(-1).mean((0, 2))


def loss_without(loss_of: Callable[[Tensor], Tensor], num_heads: int) -> Tensor:
    """The loss with each head in turn removed: (H,)"""
    return torch.stack([loss_of(mask) for mask in 1 - torch.eye(num_heads)])


def removal(loss_of: Callable[[Tensor], Tensor], num_heads: int) -> Tensor:
    return loss_without(loss_of, num_heads) - loss_of(torch.ones(num_heads))


def gradient(loss_of: Callable[[Tensor], Tensor], num_heads: int, at: float = 1.0) -> Tensor:
    mask = torch.full((num_heads,), at, requires_grad=True)
    return torch.autograd.grad(loss_of(mask), mask)[0]


def count(num_hiddens: int, num_heads: int, head_dim: int, value_dim: int) -> int:
    return 2 * num_hiddens * num_heads * (head_dim + value_dim)


def sufficient(accuracies: dict[int, float], tolerance: float) -> list[int]:
    """The numbers of heads whose accuracy lies within the tolerance of the best."""
    best = max(accuracies.values())
    return [heads for heads, accuracy in accuracies.items() if accuracy >= best - tolerance]


def smallest_sufficient(accuracies: dict[int, float], tolerance: float) -> int:
    return min(sufficient(accuracies, tolerance))


def largest_sufficient(accuracies: dict[int, float], tolerance: float) -> int:
    return max(sufficient(accuracies, tolerance))


def best_heads(accuracies: dict[int, float], tolerance: float) -> int:
    return max(accuracies, key=accuracies.__getitem__)


def one_head_kept(loss_of: Callable[[Tensor], Tensor], num_heads: int) -> Tensor:
    """The mistake of removing all heads but one."""
    return torch.stack([loss_of(mask) for mask in torch.eye(num_heads)]) - loss_of(torch.ones(num_heads))


def removed_for_good(loss_of: Callable[[Tensor], Tensor], num_heads: int) -> Tensor:
    """The mistake of removing one head after the other, and putting none back."""
    masks = torch.ones(num_heads, num_heads).triu(1)
    return torch.stack([loss_of(mask) for mask in masks]) - loss_of(torch.ones(num_heads))


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "split_heads",
        split_heads,
        draw_input,
        {
            "cut_with_one_view": cut_with_one_view,
            "axes_not_swapped": lambda x, h: x.reshape(*x.shape[:2], h, -1),
            "every_other_number": lambda x, h: x.reshape(*x.shape[:2], -1, h).permute(0, 3, 1, 2),
            "heads_transposed": lambda x, h: split_heads(x, h).mT,
        },
    ),
    Exercise(
        "repeat_valid_lens",
        lambda valid_lens, num_heads: valid_lens.repeat_interleave(num_heads),
        draw_lengths,
        {
            "repeat": lambda valid_lens, num_heads: valid_lens.repeat(num_heads),
            "row_for_each_sample": lambda valid_lens, num_heads: valid_lens[:, None].expand(-1, num_heads),
        },
    ),
    Exercise(
        "multi_head",
        multi_head,
        draw_layer_and_lengths,
        {
            **shared(multi_head, "scale_missing", "scale_of_whole_width", "scale_multiplied"),
            **shared(multi_head, "scale_without_root", "mask_missing", "mask_upside_down"),
            **shared(multi_head, "softmax_over_queries", "values_from_W_k", "heads_not_mixed"),
            "mask_on_queries": partial(multi_head, masked=lambda mask: mask.mT),
            "cut_with_one_view": partial(multi_head, split=cut_with_one_view),
            "merged_without_swap": partial(multi_head, merge=lambda x: x.reshape(x.shape[0], x.shape[2], -1)),
        },
    ),
    Exercise(
        "serial_heads",
        multi_head,
        draw_layer,
        {
            "slice_of_input": slice_input,
            **shared(multi_head, "heads_not_mixed", "scale_missing", "scale_of_whole_width"),
        },
    ),
    Exercise(
        "count_parameters",
        count,
        draw_head_sizes,
        {
            "single_head": lambda D, h, d, d_v: D * (2 * d + d_v) + d_v * D,
            "W_o_missing": lambda D, h, d, d_v: D * h * (2 * d + d_v),
            "W_o_of_width_D": lambda D, h, d, d_v: D * h * (2 * d + d_v) + D * D,
            "values_as_wide_as_keys": lambda D, h, d, d_v: 4 * D * h * d,
            "heads_of_width_D_over_h": lambda D, h, d, d_v: 4 * D * D,
        },
    ),
    Exercise(
        "head_distances",
        total_variation,
        draw_weights,
        {
            "not_halved": lambda w: 2 * total_variation(w),
            "averaged_over_keys": lambda w: total_variation(w) / w.shape[-1],
            "averaged_first": lambda w: total_variation(w.mean((0, 2))[None, :, None]),
        },
    ),
    Exercise(
        "mean_entropies",
        mean_entropy,
        draw_weights,
        {
            "nan": lambda w: -(w * w.log()).sum(-1).mean((0, 2)),
            "sign_missing": lambda w: -mean_entropy(w),
            "bits": lambda w: mean_entropy(w) / torch.tensor(2.0).log(),
            "averaged_first": lambda w: mean_entropy(w.mean((0, 2))[None, :, None]),
        },
    ),
    Exercise(
        "importance_by_removal",
        removal,
        draw_loss,
        {
            "sign_turned": lambda loss_of, num_heads: -removal(loss_of, num_heads),
            "loss_itself": loss_without,
            "one_head_kept": one_head_kept,
            "removed_for_good": removed_for_good,
        },
    ),
    Exercise(
        "importance_by_gradient",
        lambda loss_of, num_heads: gradient(loss_of, num_heads).abs(),
        draw_loss,
        {
            "abs_missing": gradient,
            "at_zeros": lambda loss_of, num_heads: gradient(loss_of, num_heads, at=0.0).abs(),
        },
    ),
    Exercise(
        "choose_num_heads",
        smallest_sufficient,
        draw_accuracies,
        {
            "best": best_heads,
            "most_within_tolerance": largest_sufficient,
            "accuracy": lambda accuracies, tolerance: max(accuracies.values()),
        },
    ),
)
