"""The exercises of lesson 01, single-head attention."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from mha_lib import masked_softmax, padding_mask
from mha_lib.classroom.exercises.judge import Exercise, draw, draw_sizes


def draw_axes(generator: torch.Generator) -> list[int]:
    """B, Q, K, d and d_v, all different."""
    return draw_sizes(generator, 2, 3, 4, 5, 6, 7)[:5]


def draw_scores(generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Scores (B, Q, K) and a mask that allows and forbids at least one cell in each row and each column."""
    batch, queries, keys, *_ = draw_axes(generator)
    scores = 2 * torch.randn(batch, queries, keys, generator=generator)
    order = torch.rand(batch, queries, keys, generator=generator).argsort(-1)  # each row's keys, shuffled
    mask = order < torch.randint(1, keys, (batch, queries, 1), generator=generator)
    mask[:, 1] = ~mask[:, 0]
    return scores, mask


def draw_scores_with_empty_rows(generator: torch.Generator) -> tuple[Tensor, Tensor]:
    scores, mask = draw_scores(generator)
    mask[:, 0] = False
    return scores, mask


def draw_lengths(generator: torch.Generator) -> tuple[Tensor, int]:
    batch, _, num_keys, *_ = draw_axes(generator)
    lengths = torch.randint(0, num_keys, (batch,), generator=generator)
    lengths[0] = num_keys - 1  # not all keys, so that <= differs from <
    return lengths, num_keys


def draw_attention(generator: torch.Generator) -> tuple[Tensor, ...]:
    scores, mask = draw_scores(generator)
    batch, queries, keys = scores.shape
    d, d_v, _ = draw_sizes(generator, 7, 8, 9)  # neither is Q or K
    shapes = (batch, queries, d), (batch, keys, d), (batch, keys, d_v)
    return (*(torch.randn(shape, generator=generator) for shape in shapes), mask)


def draw_temperature(generator: torch.Generator) -> tuple[Tensor, float]:
    return draw_scores(generator)[0], (0.3, 0.5, 2.0, 3.0)[draw(0, 3, generator)]


def draw_additive(generator: torch.Generator) -> tuple[Tensor, ...]:
    batch, queries, keys, query_size, key_size = draw_axes(generator)
    hiddens, value_size = 8, 9
    shapes = (
        (batch, queries, query_size), (batch, keys, key_size), (batch, keys, value_size),
        (query_size, hiddens), (key_size, hiddens), (hiddens,),
    )  # fmt: skip
    return tuple(torch.randn(shape, generator=generator) for shape in shapes)


def dot_product_output(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor,
    *,
    divisor: Callable = lambda queries, keys, values: math.sqrt(queries.shape[-1]),
    softmax: Callable = masked_softmax,
    mixed: Callable = lambda weights, keys, values: weights @ values,
) -> Tensor:
    """Scaled dot-product attention; each keyword replaces one step by a mistake."""
    scores = queries @ keys.mT / divisor(queries, keys, values)
    return mixed(softmax(scores, mask), keys, values)


def additive_output(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    w_v: Tensor,
    *,
    hidden: Callable = lambda q, k: torch.tanh(q + k),
    softmax: Callable = lambda scores: scores.softmax(-1),
    mixed: Callable = lambda weights, values: weights @ values,
) -> Tensor:
    """Additive attention; each keyword replaces one step by a mistake."""
    scores = hidden((queries @ W_q)[:, :, None], (keys @ W_k)[:, None]) @ w_v
    return mixed(softmax(scores), values)


UPSIDE_DOWN = "the mask is upside down: True means may attend, and here only the forbidden keys are read."
OVER_QUERIES = "the weights sum to 1 over the queries: take the softmax over the keys, the last axis."
ZERO_SCORE = (
    "forbidden scores are set to 0, and e^0 = 1 still gets a share: set them to -inf before the softmax."
)
ZERO_WEIGHT = (
    "the weights are set to 0 after the softmax, so a row no longer sums to 1: mask the scores before it."
)
NOT_MASKED = "the mask is not used: forbidden keys still get weight."

EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "masked_softmax",
        masked_softmax,
        draw_scores,
        {
            NOT_MASKED: lambda scores, mask: scores.softmax(-1),
            UPSIDE_DOWN: lambda scores, mask: masked_softmax(scores, ~mask),
            ZERO_SCORE: lambda scores, mask: (scores * mask).softmax(-1),
            ZERO_WEIGHT: lambda scores, mask: scores.softmax(-1) * mask,
            OVER_QUERIES: lambda scores, mask: scores.masked_fill(~mask, -torch.inf).softmax(-2),
            "these are the exponentials; divide each row by its sum.": lambda scores, mask: (
                scores.exp() * mask
            ),
            "this returns the masked scores; the softmax is missing.": (
                lambda scores, mask: scores.masked_fill(~mask, -torch.inf)
            ),
        },
    ),
    Exercise(
        "empty_rows",
        masked_softmax,
        draw_scores_with_empty_rows,
        {
            "a row with nothing but -inf gives NaN, 0 divided by 0: use the lowest finite number, "
            "torch.finfo(scores.dtype).min, and set forbidden weights to 0 afterwards.": (
                lambda scores, mask: scores.masked_fill(~mask, -torch.inf).softmax(-1)
            ),
            "a row that may read nothing here reads all keys alike: set forbidden weights to 0 afterwards.": (
                lambda scores, mask: scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1)
            ),
            ZERO_WEIGHT: lambda scores, mask: scores.softmax(-1) * mask,
            UPSIDE_DOWN: lambda scores, mask: masked_softmax(scores, ~mask),
        },
    ),
    Exercise(
        "mask_from_lengths",
        padding_mask,
        draw_lengths,
        {
            "one key too many: a length of 3 allows the positions 0, 1 and 2, so < and not <=.": (
                lambda lengths, num_keys: torch.arange(num_keys) <= lengths[:, None, None]
            ),
            "upside down: True means may attend, and here it marks the padding.": (
                lambda lengths, num_keys: ~padding_mask(lengths, num_keys)
            ),
            "this allows the last keys of each sample; padding stands at the end, the first are valid.": (
                lambda lengths, num_keys: padding_mask(lengths, num_keys).flip(-1)
            ),
            "(B, K) lacks the axis of the queries: (B, 1, K) is wanted, the same for each query.": (
                lambda lengths, num_keys: padding_mask(lengths, num_keys)[:, 0]
            ),
            "(B, K, 1) hides queries, the rows; keys are the last axis: (B, 1, K).": (
                lambda lengths, num_keys: padding_mask(lengths, num_keys).mT
            ),
        },
    ),
    Exercise(
        "dot_product_attention",
        dot_product_output,
        draw_attention,
        {
            "the scores are not divided by the square root of d.": partial(
                dot_product_output, divisor=lambda q, k, v: 1
            ),
            "the scores are divided by d itself: its square root is wanted.": (
                partial(dot_product_output, divisor=lambda q, k, v: q.shape[-1])
            ),
            "the scores are multiplied by the square root of d: divide.": (
                partial(dot_product_output, divisor=lambda q, k, v: q.shape[-1] ** -0.5)
            ),
            "the divisor takes the width of the values; the scores come from queries and keys: their d.": (
                partial(dot_product_output, divisor=lambda q, k, v: v.shape[-1] ** 0.5)
            ),
            "the divisor takes the number of keys; their width d, the last axis, is wanted.": (
                partial(dot_product_output, divisor=lambda q, k, v: k.shape[1] ** 0.5)
            ),
            NOT_MASKED: partial(dot_product_output, softmax=lambda scores, mask: scores.softmax(-1)),
            UPSIDE_DOWN: partial(
                dot_product_output, softmax=lambda scores, mask: masked_softmax(scores, ~mask)
            ),
            ZERO_SCORE: partial(dot_product_output, softmax=lambda scores, mask: (scores * mask).softmax(-1)),
            ZERO_WEIGHT: partial(dot_product_output, softmax=lambda scores, mask: scores.softmax(-1) * mask),
            OVER_QUERIES: partial(
                dot_product_output,
                softmax=lambda scores, mask: scores.masked_fill(~mask, -torch.inf).softmax(-2),
            ),
            "this mixes the keys; the keys only decide the shares, the values are what is mixed.": (
                partial(dot_product_output, mixed=lambda weights, keys, values: weights @ keys)
            ),
            "these are the weights; the mixture of the values is wanted.": (
                partial(dot_product_output, mixed=lambda weights, keys, values: weights)
            ),
        },
    ),
    Exercise(
        "temperature",
        lambda scores, temperature: (scores / temperature).softmax(-1),
        draw_temperature,
        {
            "the scores are multiplied by the temperature: divide, so that a high one flattens.": (
                lambda scores, temperature: (scores * temperature).softmax(-1)
            ),
            "the weights are divided after the softmax, and no longer sum to 1: divide the scores.": (
                lambda scores, temperature: scores.softmax(-1) / temperature
            ),
            "the temperature is not used.": lambda scores, temperature: scores.softmax(-1),
            "the scores are divided by the root of the temperature: no root here.": (
                lambda scores, temperature: (scores / temperature**0.5).softmax(-1)
            ),
            "the idea is right, a power of the weights; divide each row by its sum again.": (
                lambda scores, temperature: scores.softmax(-1) ** (1 / temperature)
            ),
            OVER_QUERIES: lambda scores, temperature: (scores / temperature).softmax(-2),
        },
    ),
    Exercise(
        "additive_attention",
        additive_output,
        draw_additive,
        {
            "the tanh is missing: without it the query's part is the same for each key and cancels.": (
                partial(additive_output, hidden=lambda q, k: q + k)
            ),
            "the tanh is taken of each part before they are added: add first, then take the tanh.": (
                partial(additive_output, hidden=lambda q, k: q.tanh() + k.tanh())
            ),
            "the projections are multiplied: in additive attention they are added.": (
                partial(additive_output, hidden=lambda q, k: (q * k).tanh())
            ),
            "this takes a ReLU in the place of the tanh.": (
                partial(additive_output, hidden=lambda q, k: (q + k).relu())
            ),
            "the scores are scaled as dot products are; here w_v learns their size.": (
                partial(additive_output, softmax=lambda s: (s / 8**0.5).softmax(-1))
            ),
            OVER_QUERIES: partial(additive_output, softmax=lambda scores: scores.softmax(1)),
            "these are the weights; the mixture of the values is wanted.": (
                partial(additive_output, mixed=lambda weights, values: weights)
            ),
            "these are the scores themselves at work: the softmax is missing.": (
                partial(additive_output, softmax=lambda scores: scores)
            ),
        },
    ),
    Exercise(
        "attention_flops",
        lambda num_queries, num_keys, d, d_v: 2 * num_queries * num_keys * (d + d_v),
        lambda generator: tuple((3 + torch.randperm(9, generator=generator)[:4]).tolist()),
        {
            "a multiplication and an addition count as two.": lambda q, k, d, d_v: q * k * (d + d_v),
            "these are the scores alone; the mixture of the values is a second product.": (
                lambda q, k, d, d_v: 2 * q * k * d
            ),
            "this takes the values to be as wide as the keys; they may differ.": (
                lambda q, k, d, d_v: 4 * q * k * d
            ),
            "this takes as many keys as queries; they may differ.": (
                lambda q, k, d, d_v: 2 * q * q * (d + d_v)
            ),
        },
    ),
)
