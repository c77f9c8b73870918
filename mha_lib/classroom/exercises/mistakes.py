"""Right answers whose steps can be replaced, and the mistakes that more than one exercise recognises.

A lesson takes one of these functions as the right answer to an exercise. A mistake is the same function with
one step replaced by a wrong one. The sentence about a mistake stands in ``words/``, under its name.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_lib import merge_heads, padding_mask, split_heads

Step = Callable[..., Tensor]
Divisor = Callable[..., float]  # of queries, keys, values and the width of the tokens before their projection


def nothing_done(x: Tensor, *_: Any) -> Tensor:
    return x


def root_of_d(queries: Tensor, *_: Any) -> float:
    return queries.shape[-1] ** 0.5


def fill_number(number: float) -> Step:
    return lambda scores, mask: scores.masked_fill(~mask, number)


fill_minus_infinity = fill_number(-torch.inf)
fill_lowest = fill_number(torch.finfo().min)  # a row that may attend to nothing gets equal weights


def masked_weights(
    scores: Tensor,
    mask: Tensor | None = None,
    *,
    turn: Step = nothing_done,
    masked: Step = nothing_done,
    fill: Step = fill_minus_infinity,
    normalise: Step = lambda scores: scores.softmax(-1),
    finish: Step = lambda weights, mask: weights.nan_to_num(),
) -> Tensor:
    """Weights (..., Q, K) of scores (..., Q, K) and a mask; each keyword replaces one step.

    Unlike ``mha_lib.masked_softmax``, this takes every mask that broadcasts, even a wrong one. A row that may
    attend to nothing gets zeros. ``turn`` and ``masked`` do nothing here: in their place an answer may
    exchange the axes of the mask by mistake, or turn it upside down.
    """
    mask = masked(turn(torch.ones_like(scores, dtype=torch.bool) if mask is None else mask))
    return finish(normalise(fill(scores, mask)), mask)


def attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None = None,
    num_hiddens: int = 0,
    *,
    score: Step = lambda queries, keys: queries @ keys.mT,
    divisor: Divisor = root_of_d,
    mix: Step = lambda weights, keys, values: weights @ values,
    **steps: Any,
) -> Tensor:
    """(..., Q, d), (..., K, d) and (..., K, d_v) to (..., Q, d_v); each keyword replaces one step.

    ``num_hiddens`` is the width of the tokens before their projection, if there is one.
    """
    scores = score(queries, keys) / divisor(queries, keys, values, num_hiddens)  # (..., Q, K)
    return mix(masked_weights(scores, mask, **steps), keys, values)


def project_each(x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x @ W_q, x @ W_k, x @ W_v


def self_attention(
    x: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    mask: Tensor | None = None,
    *,
    project: Callable[..., tuple[Tensor, ...]] = project_each,
    **steps: Any,
) -> Tensor:
    """One head over tokens (..., N, D); each keyword replaces one step."""
    queries, keys, values = project(x, W_q, W_k, W_v)
    return attention(queries, keys, values, mask, num_hiddens=x.shape[-1], **steps)


def multi_head(
    x: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    W_o: Tensor,
    num_heads: int,
    valid_lens: Tensor | None = None,
    *,
    connect: Step = nothing_done,
    project: Callable[..., tuple[Tensor, ...]] = project_each,
    split: Step = split_heads,
    repeat: Step = lambda valid_lens, num_heads: valid_lens.repeat_interleave(num_heads),
    merge: Step = merge_heads,
    mix_heads: Step = lambda merged, W_o: merged @ W_o,
    **steps: Any,
) -> Tensor:
    """Multi-head self-attention over tokens (B, N, D); each keyword replaces one step.

    ``connect`` does nothing here: in its place an answer may connect a head to only a part of the input.
    ``repeat`` makes the lengths fit the heads folded into the batch, (B,) to (B*H,).
    """
    batch, num_tokens, num_hiddens = x.shape
    projections = project(x, *(connect(W, num_heads) for W in (W_q, W_k, W_v)))
    queries, keys, values = (split(projected, num_heads) for projected in projections)  # (B, H, N, d)
    mask = None
    if valid_lens is not None:
        mask = padding_mask(repeat(valid_lens, num_heads), num_tokens)  # (B*H, 1, N)
        mask = mask.unflatten(0, (batch, num_heads))  # (B, H, 1, N)
    heads = attention(queries, keys, values, mask, num_hiddens, **steps)
    return mix_heads(merge(heads), W_o)


def cut_with_one_view(x: Tensor, num_heads: int) -> Tensor:
    """A wrong way to split heads: the shape is right, and each head holds pieces of several tokens."""
    return x.reshape(x.shape[0], num_heads, x.shape[1], -1)


def cut_every_other_number(x: Tensor, num_heads: int) -> Tensor:
    """A wrong way to split heads: the last axis is cut as (d, num_heads), not as (num_heads, d)."""
    return x.reshape(*x.shape[:2], -1, num_heads).permute(0, 3, 1, 2)


def connect_slices(W: Tensor, num_heads: int) -> Tensor:
    """The weights with which head i gets only the i-th slice of the input: all others are 0."""
    d = W.shape[0] // num_heads
    return W * torch.eye(num_heads).kron(torch.ones(d, d))


# A mistake may forbid a whole row or a whole column. The result then depends on how an answer hides scores:
# zeros, NaN (nothing is done about 0 / 0), or equal weights.
NOTHING_LEFT: tuple[dict[str, Any], ...] = ({}, {"finish": nothing_done}, {"fill": fill_lowest})

# Ways to divide weights by a sum that may be 0: it gives NaN, or zeros, or a small number is added to it.
DIVISIONS: tuple[Step, ...] = (
    torch.div,
    lambda weights, total: (weights / total).nan_to_num(),
    lambda weights, total: weights / (total + 1e-12),
)


def masked_afterwards(divide: Step) -> dict[str, Any]:
    """The mistake of masking the weights and dividing them by their new sum, which may be 0."""

    def finish(weights: Tensor, mask: Tensor) -> Tensor:
        left = weights * mask
        return divide(left, left.sum(-1, keepdim=True))

    return {"fill": nothing_done, "finish": finish}


# Forbidden scores so high that they show in every exercise; others show only beside very low allowed scores.
HIGH_FILLS: tuple[dict[str, Any], ...] = (
    *({"fill": fill_number(low)} for low in (-1.0, -10.0)),
    *({"fill": lambda scores, mask, low=low: scores - low * ~mask} for low in (1.0, 10.0)),
)
# The mistakes by name, each with the different steps that make it.
Shared = dict[str, tuple[dict[str, Any], ...]]
SCALE: Shared = {
    "scale_missing": ({"divisor": lambda *_: 1.0},),
    "scale_without_root": ({"divisor": lambda q, *_: q.shape[-1]},),
    "scale_multiplied": ({"divisor": lambda q, *_: q.shape[-1] ** -0.5},),
    "scale_half_of_d": tuple({"divisor": lambda q, *_, n=n: n * q.shape[-1]} for n in (0.5, 2)),
    "scale_after_softmax": ({"divisor": lambda *_: 1.0, "mix": lambda w, k, v: w @ v / root_of_d(k)},),
    "scale_of_another_axis": tuple(
        {"divisor": lambda q, k, *_, place=place: (*q.shape[-3:-1], len(q), k.shape[-2])[place] ** 0.5}
        for place in (0, 1, -2, -1)
    ),
}
WHOLE_WIDTH: Shared = {
    "scale_of_whole_width": ({"divisor": lambda q, k, v, width: width**0.5},),
    "scale_of_whole_width_multiplied": ({"divisor": lambda q, k, v, width: width**-0.5},),
}
MASK: Shared = {
    "mask_missing": ({"masked": torch.ones_like},),
    "mask_upside_down": tuple({"masked": torch.logical_not} | rest for rest in NOTHING_LEFT),
    "mask_on_queries": tuple({"turn": lambda mask: mask.mT} | rest for rest in NOTHING_LEFT),
    "forbidden_scores_zero": ({"fill": lambda scores, mask: scores * mask},),
    "forbidden_scores_too_high": (*HIGH_FILLS, *({"fill": fill_number(low)} for low in (-100.0, -1000.0))),
    "forbidden_weights_zero": ({"fill": nothing_done, "finish": lambda weights, mask: weights * mask},),
    "renormalised": tuple(map(masked_afterwards, DIVISIONS)),
}
SOFTMAX: Shared = {
    "softmax_over_queries": tuple(
        {"normalise": lambda scores: scores.softmax(-2)} | rest for rest in NOTHING_LEFT
    ),
    "softmax_missing": ({"normalise": nothing_done, "finish": nothing_done},),
    "exponentials": (
        {"normalise": torch.exp},
        {"normalise": lambda scores: (scores - scores.amax(-1, keepdim=True)).exp()},
    ),
}
PROJECTIONS: Shared = {
    "queries_and_keys_exchanged": ({"score": lambda queries, keys: keys @ queries.mT},),
    "values_from_W_k": ({"project": lambda x, W_q, W_k, W_v: (x @ W_q, x @ W_k, x @ W_k)},),
    "matrices_transposed": (
        {
            "project": lambda x, *matrices: tuple(x @ W.mT for W in matrices),
            "mix_heads": lambda merged, W_o: merged @ W_o.mT,
        },
    ),
}
HEADS: Shared = {
    "slices_of_input": ({"connect": connect_slices},),
    "cut_with_one_view": ({"split": cut_with_one_view},),
    "every_other_number": ({"split": cut_every_other_number},),
    "merged_without_swap": ({"merge": lambda heads: heads.reshape(len(heads), heads.shape[2], -1)},),
    "merged_number_by_number": ({"merge": lambda heads: heads.permute(0, 2, 3, 1).flatten(2)},),
    "heads_not_mixed": ({"mix_heads": nothing_done},),
}
OTHERS: Shared = {
    "weights_returned": ({"mix": lambda weights, keys, values: weights},),
    "softmax_over_samples": tuple(
        {"normalise": lambda scores: scores.softmax(0)} | rest for rest in NOTHING_LEFT
    ),
    "underflow": tuple(masked_afterwards(divide) | {"normalise": torch.exp} for divide in DIVISIONS),
    "scale_of_values": ({"divisor": lambda q, k, v, *_: root_of_d(v)},),
    "weights_transposed": ({"mix": lambda weights, keys, values: weights.mT @ values},),
    "lengths_repeated": ({"repeat": lambda valid_lens, num_heads: valid_lens.repeat(num_heads)},),
}
ANGLES: Shared = {  # of sinusoidal and of rotary positions
    "positions_from_1": ({"place": lambda positions: positions + 1},),
    "exponent_not_doubled": ({"exponent": lambda pairs, width: pairs / width},),
    "exponent_doubled_twice": ({"exponent": lambda pairs, width: 4 * pairs / width},),
    "exponent_from_1": ({"exponent": lambda pairs, width: 2 * (pairs + 1) / width},),
    "last_pair_at_1": ({"exponent": lambda pairs, width: pairs / (width // 2 - 1)},),
    "one_angle": ({"exponent": lambda pairs, width: 0 * pairs},),
    "other_base": tuple({"base": base} for base in (1000.0, 100_000.0, 500_000.0)),
}
SHARED = SCALE | WHOLE_WIDTH | MASK | SOFTMAX | PROJECTIONS | HEADS | OTHERS | ANGLES


def shared(*names: str) -> Shared:
    """The shared mistakes of these names."""
    return {name: SHARED[name] for name in names}
