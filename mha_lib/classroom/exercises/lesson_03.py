"""The exercises of lesson 03, multi-head attention."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_lib import masked_softmax, merge_heads, padding_mask, split_heads
from mha_lib.classroom.exercises.judge import Exercise, draw, draw_sizes


def draw_input(generator: torch.Generator) -> tuple[Tensor, int]:
    """Tokens (B, N, H*d) and H, every axis of another size."""
    batch, tokens, heads, width = draw_sizes(generator, 2, 3, 4, 5)
    return torch.randn(batch, tokens, heads * width, generator=generator), heads


def draw_matrices(count: int, width: int, generator: torch.Generator) -> list[Tensor]:
    return [torch.randn(width, width, generator=generator) / width**0.5 for _ in range(count)]


def draw_layer(generator: torch.Generator) -> tuple:
    x, heads = draw_input(generator)
    return (x, *draw_matrices(4, x.shape[2], generator), heads)


def draw_layer_and_lengths(generator: torch.Generator) -> tuple:
    x, *rest = draw_layer(generator)
    return (x, *rest, torch.randint(1, x.shape[1], x.shape[:1], generator=generator))


def draw_weights(generator: torch.Generator) -> tuple:
    """Rows that sum to 1, some of them with exact zeros, as a mask leaves them."""
    batch, heads, queries, keys = 2, draw(2, 4, generator), draw(3, 5, generator), draw(6, 7, generator)
    scores = 3 * torch.randn(batch, heads, queries, keys, generator=generator)
    return (masked_softmax(scores, padding_mask(torch.tensor([keys, keys - 2]), keys)[:, None]),)


def draw_loss(generator: torch.Generator) -> tuple:
    """A loss of the head mask, as a model has one, and the number of heads."""
    heads = draw(3, 6, generator)
    mixing, wanted = torch.randn(heads, 7, generator=generator), torch.randn(7, generator=generator)

    def loss_of(head_mask: Tensor) -> Tensor:
        return (torch.tanh(head_mask @ mixing) - wanted).square().mean()

    return loss_of, heads


def draw_lengths(generator: torch.Generator) -> tuple:
    batch = draw(2, 4, generator)
    return torch.randperm(9, generator=generator)[:batch] + 1, draw(2, 5, generator)


def draw_head_sizes(generator: torch.Generator) -> tuple:
    return tuple(draw_sizes(generator, 6, 3, 5, 7))


def draw_accuracies(generator: torch.Generator) -> tuple:
    """The best is not the first that is good enough, and some are too poor."""
    best = draw(90, 100, generator) / 100
    enough, rest = best - 0.01, best - 0.2
    return {1: rest - 0.3, 2: rest, 4: enough, 8: best, 16: best - 0.005}, 0.02


def plain_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Takes any mask that broadcasts, wrong ones too."""
    scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1).nan_to_num()


def multi_head(
    x: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    W_o: Tensor,
    num_heads: int,
    valid_lens: Tensor | None = None,
    *,
    split: Callable = split_heads,
    merge: Callable = merge_heads,
    scaled: Callable = lambda scores, d, width: scores / d**0.5,
    softmax: Callable = plain_softmax,
    masked: Callable = lambda mask: mask,
    projected: Callable = lambda x, W_q, W_k, W_v: (x @ W_q, x @ W_k, x @ W_v),
    mixed: Callable = lambda merged, W_o: merged @ W_o,
) -> Tensor:
    """Multi-head self-attention; each keyword replaces one step by a mistake."""
    q, k, v = (split(projection, num_heads) for projection in projected(x, W_q, W_k, W_v))
    scores = scaled(q @ k.transpose(-2, -1), q.shape[-1], x.shape[-1])
    mask = None if valid_lens is None else masked(padding_mask(valid_lens, x.shape[1])[:, None])
    return mixed(merge(softmax(scores, mask) @ v), W_o)


def slice_input(x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, num_heads: int) -> Tensor:
    """Head i projects only the i-th slice of the input."""
    d = x.shape[-1] // num_heads
    block = torch.block_diag(*[torch.ones(d, d)] * num_heads)
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


def smallest_sufficient(accuracies: dict[int, float], tolerance: float) -> int:
    best = max(accuracies.values())
    return min(heads for heads, accuracy in accuracies.items() if accuracy >= best - tolerance)


def best_heads(accuracies: dict[int, float], tolerance: float) -> Any:
    return max(accuracies, key=accuracies.__getitem__)


EXERCISES = (
    Exercise(
        "split_heads",
        split_heads,
        draw_input,
        {
            "the shape is right, but a head now holds pieces of several tokens: cut the last axis into "
            "(num_heads, d) first, then swap the axes of tokens and heads.": (
                lambda x, h: x.reshape(x.shape[0], h, x.shape[1], -1)
            ),
            "the heads are cut, but their axis still stands after the tokens: swap axes 1 and 2.": (
                lambda x, h: x.reshape(*x.shape[:2], h, -1)
            ),
            "the last axis is cut as (d, num_heads), so each head takes every num_heads-th number: "
            "cut it as (num_heads, d).": (lambda x, h: x.reshape(*x.shape[:2], -1, h).permute(0, 3, 1, 2)),
            "this gives the transpose of each head, (B, H, d, N): (B, H, N, d) is wanted.": (
                lambda x, h: split_heads(x, h).transpose(2, 3)
            ),
        },
    ),
    Exercise(
        "repeat_valid_lens",
        lambda valid_lens, num_heads: valid_lens.repeat_interleave(num_heads),
        draw_lengths,
        {
            "repeat gives 3, 2, 3, 2: with heads folded into the batch, all heads of the first sample come "
            "first, so its length must come num_heads times in a row: repeat_interleave.": (
                lambda valid_lens, num_heads: valid_lens.repeat(num_heads)
            ),
            "one row a sample: (B, H) is a length for each query to d2l's masked softmax; flatten it.": (
                lambda valid_lens, num_heads: valid_lens[:, None].expand(-1, num_heads)
            ),
        },
    ),
    Exercise(
        "multi_head",
        multi_head,
        draw_layer_and_lengths,
        {
            "the scores are not divided by the square root of d.": partial(
                multi_head, scaled=lambda s, d, D: s
            ),
            "the scores are divided by the square root of the whole width D: a head's own width d is "
            "wanted.": partial(multi_head, scaled=lambda s, d, D: s / D**0.5),
            "the scores are multiplied by the square root of d: divide.": (
                partial(multi_head, scaled=lambda s, d, D: s * d**0.5)
            ),
            "the scores are divided by d itself: its square root is wanted.": (
                partial(multi_head, scaled=lambda s, d, D: s / d)
            ),
            "valid_lens is not used: keys beyond it still get weight.": partial(
                multi_head, masked=lambda mask: None
            ),
            "the mask is upside down: only padding is attended to.": (
                partial(multi_head, masked=lambda mask: ~mask)
            ),
            "the mask hides queries (rows) instead of keys (columns).": (
                partial(multi_head, masked=lambda mask: mask.transpose(-2, -1))
            ),
            "the weights sum to 1 over the queries: take the softmax over the keys, the last axis.": (
                partial(multi_head, softmax=lambda s, m: plain_softmax(s.mT, m.mT).mT)
            ),
            "the values are projected with W_k.": (
                partial(multi_head, projected=lambda x, W_q, W_k, W_v: (x @ W_q, x @ W_k, x @ W_k))
            ),
            "the heads are cut with one view to (B, H, N, d), which mixes tokens: cut, then swap axes.": (
                partial(multi_head, split=lambda x, h: x.reshape(x.shape[0], h, x.shape[1], -1))
            ),
            "the heads are merged without swapping their axis back behind the tokens.": (
                partial(multi_head, merge=lambda x: x.reshape(x.shape[0], x.shape[2], -1))
            ),
            "the last step is missing: W_o, which mixes the heads.": (
                partial(multi_head, mixed=lambda merged, W_o: merged)
            ),
        },
    ),
    Exercise(
        "serial_heads",
        multi_head,
        draw_layer,
        {
            "each head here sees a slice of the input; it must see all of it, through its own columns of "
            "W_q, W_k and W_v.": slice_input,
            "the heads' outputs lie side by side, and W_o is still missing.": (
                partial(multi_head, mixed=lambda merged, W_o: merged)
            ),
            "the scores are not divided by the square root of d.": partial(
                multi_head, scaled=lambda s, d, D: s
            ),
            "the scores are divided by the square root of the whole width D: a head's own width d is "
            "wanted.": partial(multi_head, scaled=lambda s, d, D: s / D**0.5),
        },
    ),
    Exercise(
        "count_parameters",
        count,
        draw_head_sizes,
        {
            "this counts a single head: W_q, W_k and W_v hold num_heads of them side by side.": (
                lambda D, h, d, d_v: D * (2 * d + d_v) + d_v * D
            ),
            "W_o is missing: it takes num_heads * value_head_dim numbers back to num_hiddens.": (
                lambda D, h, d, d_v: D * h * (2 * d + d_v)
            ),
            "W_o is counted as (D, D); its input is num_heads * value_head_dim wide.": (
                lambda D, h, d, d_v: D * h * (2 * d + d_v) + D * D
            ),
            "this takes value_head_dim = head_dim; they may differ.": lambda D, h, d, d_v: 4 * D * h * d,
            "this takes the heads to be D/h wide, 4 D² in all; here their widths are given.": (
                lambda D, h, d, d_v: 4 * D * D
            ),
        },
    ),
    Exercise(
        "head_distances",
        total_variation,
        draw_weights,
        {
            "a head can be at most 1 away from another: the sum of differences is to be halved.": (
                lambda w: 2 * total_variation(w)
            ),
            "the differences of a row are summed over the keys, not averaged.": (
                lambda w: total_variation(w) / w.shape[-1]
            ),
            "compare first and average then: here the maps are averaged over samples and queries before they "
            "are compared, and differences cancel.": (
                lambda w: total_variation(w.mean((0, 2))[None, :, None])
            ),
        },
    ),
    Exercise(
        "mean_entropies",
        mean_entropy,
        draw_weights,
        {
            "a weight of 0 gives 0 · log 0, NaN to the computer and 0 to the formula: use "
            "torch.special.xlogy(weights, weights).": lambda w: -(w * w.log()).sum(-1).mean((0, 2)),
            "the sign is missing: logarithms of weights are negative, an entropy is not.": (
                lambda w: -mean_entropy(w)
            ),
            "this is measured in bits, with log2; the natural logarithm is wanted.": (
                lambda w: mean_entropy(w) / torch.tensor(2.0).log()
            ),
            "this is the entropy of the averaged map; take each row's entropy first and average then.": (
                lambda w: mean_entropy(w.mean((0, 2))[None, :, None])
            ),
        },
    ),
    Exercise(
        "importance_by_removal",
        removal,
        draw_loss,
        {
            "the sign is turned: a head matters if the loss grows without it.": lambda f, h: -removal(f, h),
            "this is the loss without each head; take off the loss with all heads.": loss_without,
            "this keeps one head and removes all others: set one entry of the mask to 0, the rest to 1.": (
                lambda f, h: torch.stack([f(mask) for mask in torch.eye(h)]) - f(torch.ones(h))
            ),
            "heads once removed stay removed: start each time from a mask of ones.": (
                lambda f, h: torch.stack([f(m) for m in torch.ones(h, h).triu(1)]) - f(torch.ones(h))
            ),
        },
    ),
    Exercise(
        "importance_by_gradient",
        lambda loss_of, num_heads: gradient(loss_of, num_heads).abs(),
        draw_loss,
        {
            "take the absolute value: a head matters whichever way the loss would move.": gradient,
            "the gradient is taken with all heads silenced (a mask of zeros); all heads must be on.": (
                lambda f, h: gradient(f, h, at=0.0).abs()
            ),
        },
    ),
    Exercise(
        "choose_num_heads",
        smallest_sufficient,
        draw_accuracies,
        {
            "this takes the best; the fewest heads within the tolerance of the best are wanted.": best_heads,
            "this takes the most heads within the tolerance; the fewest are wanted.": (
                lambda a, t: max(heads for heads, accuracy in a.items() if accuracy >= max(a.values()) - t)
            ),
            "this returns the accuracy; the number of heads is wanted.": lambda a, t: max(a.values()),
        },
    ),
)
