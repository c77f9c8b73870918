"""The exercises of lesson 02, self-attention."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from mha_lib import causal_mask, sinusoidal_positions
from mha_lib.classroom.exercises.judge import Exercise, draw, draw_sizes

Layer = Callable[[Tensor], Tensor]


def draw_projections(generator: torch.Generator) -> tuple:
    """x (2, N, D), W_q and W_k (D, d), W_v (D, d_v)"""
    tokens, width, head_dim, value_dim = draw_sizes(generator, 3, 5, 6, 7)
    x = torch.randn(2, tokens, width, generator=generator)
    return x, *(torch.randn(width, size, generator=generator) for size in (head_dim, head_dim, value_dim))


def draw_attend(generator: torch.Generator) -> tuple:
    """A layer that minds the order of its tokens or does not, tokens (2, N, D) and a new order."""
    tokens, width, head_dim = draw_sizes(generator, 4, 6, 7)
    x, *projections = (
        torch.randn(*shape, generator=generator)
        for shape in [(2, tokens, width), (width, head_dim), (width, head_dim), (width, width)]
    )
    places = torch.randn(tokens, width, generator=generator)
    mask = causal_mask(tokens, tokens)
    kind = draw(0, 2, generator)

    def attend(x: Tensor) -> Tensor:
        if kind == 0:
            return self_attention(x, *projections)
        if kind == 1:
            return self_attention(x + places, *projections)
        return self_attention(x, *projections, weigh=lambda scores: hide_scores(scores, mask).softmax(-1))

    turned = torch.arange(tokens).roll(1)  # not its own inverse
    return attend, x, turned[torch.randperm(tokens, generator=generator)] if kind == 0 else turned


def draw_position_sizes(generator: torch.Generator) -> tuple:
    return draw(5, 9, generator), 2 * draw(2, 6, generator)


def draw_mask_sizes(generator: torch.Generator) -> tuple:
    queries = draw(2, 5, generator)
    return queries, queries + draw(1, 4, generator)


def draw_queries_keys_values(generator: torch.Generator) -> tuple:
    tokens, head_dim, value_dim = draw_sizes(generator, 4, 5, 7)
    return tuple(torch.randn(tokens, size, generator=generator) for size in (head_dim, head_dim, value_dim))


def draw_layer(generator: torch.Generator) -> tuple:
    """A layer that is causal or has one of four leaks, and tokens (N, D)."""
    tokens, width, head_dim = draw_sizes(generator, 5, 6, 7)
    x, *projections = (
        torch.randn(*shape, generator=generator) / width**0.5
        for shape in [(tokens, width), (width, head_dim), (width, head_dim), (width, width)]
    )
    mask = causal_mask(tokens, tokens)
    kind = draw(0, 4, generator)

    def layer(x: Tensor) -> Tensor:
        centred = x - x.mean(0) if kind == 4 else x
        q, k, v = (centred @ projection for projection in projections)
        if kind == 1:
            return causal_attention(q, k, v, weigh=lambda s, m: s.softmax(-1) * m)
        if kind == 2:
            return causal_attention(q, k, v, mask=mask | torch.ones_like(mask).tril(1))
        if kind == 3:
            return causal_attention(q, k, v, mask=torch.ones_like(mask))
        return causal_attention(q, k, v)

    return layer, x


def draw_widths(generator: torch.Generator) -> tuple:
    return tuple(draw_sizes(generator, 7, 11, 13))


def self_attention(
    x: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    *,
    scaled: Callable = lambda scores, d, width: scores / d**0.5,
    weigh: Callable = lambda scores: scores.softmax(-1),
    valued: Callable = lambda x, W_q, W_k, W_v: x @ W_v,
) -> Tensor:
    """Self-attention; each keyword replaces one step by a mistake."""
    scores = scaled(x @ W_q @ (x @ W_k).mT, W_q.shape[1], x.shape[-1])
    return weigh(scores) @ valued(x, W_q, W_k, W_v)


def equivariance_gap(attend: Layer, x: Tensor, order: Tensor) -> Tensor:
    return (attend(x[:, order]) - attend(x)[:, order]).abs().max()


def waves(
    num_positions: int,
    num_hiddens: int,
    first: int = 0,
    angle: Callable = lambda position, column, width: position / 10000 ** (2 * column / width),
    ordered: Callable = lambda sines, cosines: torch.stack([sines, cosines], -1).flatten(1),
) -> Tensor:
    """Sinusoidal positions; each default replaced gives a mistake."""
    position = torch.arange(first, first + num_positions, dtype=torch.float64)[:, None]
    angles = angle(position, torch.arange(num_hiddens // 2), num_hiddens)
    return ordered(angles.sin(), angles.cos()).float()


def hide_scores(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -torch.inf)


def causal_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    weigh: Callable = lambda scores, mask: hide_scores(scores, mask).softmax(-1),
    mask: Tensor | None = None,
    scaled: Callable = lambda scores, d: scores / d**0.5,
) -> Tensor:
    """Causal attention over (N, d); each default replaced gives a mistake."""
    mask = causal_mask(len(queries), len(keys)) if mask is None else mask
    return weigh(scaled(queries @ keys.mT, queries.shape[-1]), mask) @ values


def who_sees_whom(layer: Layer, x: Tensor, kept: bool = False) -> Tensor:
    """(N, N), True where the output (row) changes with the token (column)."""
    before, seen, changed = layer(x), [], x.clone()
    for token in range(len(x)):
        changed = changed if kept else x.clone()
        changed[token] += 1
        seen.append((layer(changed) != before).any(-1))
    return torch.stack(seen, dim=1)


def crossover(num_hiddens: int, head_dim: int, value_dim: int) -> float:
    """N where N · D · (2d + d_v), the projections, equals N² · (d + d_v), scores and mixture."""
    return num_hiddens * (2 * head_dim + value_dim) / (head_dim + value_dim)


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "self_attention",
        self_attention,
        draw_projections,
        {
            "the scores are not divided by the square root of d, the width of queries and keys.": (
                partial(self_attention, scaled=lambda s, d, D: s)
            ),
            "the scores are divided by the square root of D, the width of x: d, the width of queries and "
            "keys, is wanted.": partial(self_attention, scaled=lambda s, d, D: s / D**0.5),
            "the scores are multiplied by the square root of d: divide.": (
                partial(self_attention, scaled=lambda s, d, D: s * d**0.5)
            ),
            "the scores are divided by d itself: its square root is wanted.": (
                partial(self_attention, scaled=lambda s, d, D: s / d)
            ),
            "the weights sum to 1 over the queries: take the softmax over the keys, the last axis.": (
                partial(self_attention, weigh=lambda s: s.softmax(-2))
            ),
            "queries and keys have changed places: a row belongs to a query, so the scores are q @ k.mT.": (
                partial(self_attention, scaled=lambda s, d, D: s.mT / d**0.5)
            ),
            "the values are projected with W_k.": (
                partial(self_attention, valued=lambda x, W_q, W_k, W_v: x @ W_k)
            ),
            "the values are x itself: project them with W_v.": (
                partial(self_attention, valued=lambda x, W_q, W_k, W_v: x)
            ),
        },
    ),
    Exercise(
        "equivariance_gap",
        equivariance_gap,
        draw_attend,
        {
            "this compares with the output in the old order: that would test invariance. Permute the output "
            "as well.": lambda f, x, order: (f(x[:, order]) - f(x)).abs().max(),
            "both sides must be in the new order: compare attend(x[:, order]) with attend(x)[:, order].": (
                lambda f, x, order: (f(x[:, order])[:, order] - f(x)).abs().max()
            ),
            "without abs, differences below zero are overlooked.": (
                lambda f, x, order: (f(x[:, order]) - f(x)[:, order]).max()
            ),
            "a mean hides a single wrong entry: take the largest difference.": (
                lambda f, x, order: (f(x[:, order]) - f(x)[:, order]).abs().mean()
            ),
            "nothing is permuted on the way in: attend must see x[:, order].": (
                lambda f, x, order: (f(x) - f(x)[:, order]).abs().max()
            ),
        },
        rounds=8,
    ),
    Exercise(
        "positions",
        sinusoidal_positions,
        draw_position_sizes,
        {
            "all sines come first here, then all cosines; they are to alternate: column 2j the sine, 2j + 1 "
            "the cosine of one angle.": partial(waves, ordered=lambda s, c: torch.cat([s, c], -1)),
            "sine and cosine have changed places: column 0 is a sine.": (
                partial(waves, ordered=lambda s, c: torch.stack([c, s], -1).flatten(1))
            ),
            "positions are counted from 1; the first is 0.": partial(waves, first=1),
            "the exponent is 2j/D, with j counting pairs of columns; here it is j/D.": (
                partial(waves, angle=lambda i, j, D: i / 10000 ** (j / D))
            ),
            "column by column the angle changes: the sine and the cosine of a pair share one, with the "
            "exponent of the even column.": lambda N, D: torch.where(
                torch.arange(D) % 2 == 0,
                (torch.arange(N)[:, None] / 10000 ** (torch.arange(D) / D)).sin(),
                (torch.arange(N)[:, None] / 10000 ** (torch.arange(D) / D)).cos(),
            ),
            "the angle is multiplied by 10000^(2j/D): divide.": (
                partial(waves, angle=lambda i, j, D: i * 10000 ** (2 * j / D))
            ),
        },
    ),
    Exercise(
        "causal_mask",
        causal_mask,
        draw_mask_sizes,
        {
            "this is aligned at the start: query 0 sees key 0 alone. The queries are the last tokens, so the "
            "last query must see every key.": lambda q, k: torch.ones(q, k).tril() > 0,
            "this is upside down: True means may attend.": lambda q, k: ~causal_mask(q, k),
            "a token may see itself: the diagonal is missing.": (
                lambda q, k: torch.ones(q, k).tril(k - q - 1) > 0
            ),
            "this shows each token its future and hides its past.": (
                lambda q, k: torch.ones(q, k).triu(k - q) > 0
            ),
            "this is to be added to scores (0 and -inf); a boolean mask is wanted, True = may attend.": (
                lambda q, k: torch.zeros(q, k).masked_fill(~causal_mask(q, k), -torch.inf)
            ),
        },
    ),
    Exercise(
        "who_sees_whom",
        who_sees_whom,
        draw_layer,
        {
            "rows and columns have changed places: row i is the output i, column j the token that was "
            "changed.": lambda f, x: who_sees_whom(f, x).mT,
            "the changes pile up: start from the original tokens each time (clone).": (
                partial(who_sees_whom, kept=True)
            ),
            "this is True where nothing changed.": lambda f, x: ~who_sees_whom(f, x),
            "only later tokens were tried; fill in the whole table.": (
                lambda f, x: who_sees_whom(f, x).triu(1)
            ),
        },
        rounds=10,
    ),
    Exercise(
        "causal_attention",
        causal_attention,
        draw_queries_keys_values,
        {
            "still the leak: weights set to 0 after the softmax are already divided by a sum over the "
            "future. Hide the scores before the softmax.": (
                partial(causal_attention, weigh=lambda s, m: s.softmax(-1) * m)
            ),
            "a score of 0 is not hidden, exp(0) = 1: set forbidden scores to -inf.": (
                partial(causal_attention, weigh=lambda s, m: (s * m).softmax(-1))
            ),
            "the mask is upside down: each token sees its future.": (
                partial(causal_attention, weigh=lambda s, m: hide_scores(s, m.mT).softmax(-1))
            ),
            "the first token may see nothing, which gives NaN: let each token see itself.": (
                partial(causal_attention, weigh=lambda s, m: hide_scores(s, m.tril(-1)).softmax(-1))
            ),
            "nothing is hidden.": partial(causal_attention, weigh=lambda s, m: s.softmax(-1)),
            "the leak is mended, but the scores are no longer divided by the square root of d.": (
                partial(causal_attention, scaled=lambda s, d: s)
            ),
        },
    ),
    Exercise(
        "crossover",
        crossover,
        draw_widths,
        {
            "there are two projections to the width d, one for the queries and one for the keys.": (
                lambda D, d, d_v: float(D)
            ),
            "the projection of the values is missing: D · d_v for each token.": (
                lambda D, d, d_v: D * 2 * d / (d + d_v)
            ),
            "the mixture of the values is missing: d_v for each pair.": (
                lambda D, d, d_v: D * (2 * d + d_v) / d
            ),
            "the scores are missing: d for each pair.": lambda D, d, d_v: D * (2 * d + d_v) / d_v,
            "this is right for d_v = d only; they may differ.": lambda D, d, d_v: 1.5 * D,
            "the fraction is upside down.": lambda D, d, d_v: (d + d_v) / (D * (2 * d + d_v)),
        },
    ),
)
