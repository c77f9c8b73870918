"""Attention whose steps can be replaced, and the mistakes that more than one exercise recognises.

A lesson takes one of these functions as the right answer to an exercise. A mistake is the same function with
one step replaced by the wrong one. What is said about a mistake stands in ``words/``, under its name.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from mha_lib import merge_heads, padding_mask, split_heads

Step = Callable[..., Tensor]


class Sizes(NamedTuple):
    """The sizes from which a divisor of the scores is taken, rightly or wrongly."""

    num_keys: int
    head_dim: int
    value_dim: int
    num_hiddens: int


def hide(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -torch.inf)


def softmax_over_keys(scores: Tensor, mask: Tensor) -> Tensor:
    """Unlike ``mha_lib.masked_softmax``, this takes every mask that broadcasts, the wrong ones too."""
    return hide(scores, mask).softmax(-1).nan_to_num()  # a row that may attend to nothing gets zeros


def masked_weights(
    scores: Tensor,
    mask: Tensor | None = None,
    *,
    masked: Step = lambda mask: mask,
    weigh: Step = softmax_over_keys,
) -> Tensor:
    """Scores (..., Q, K) and a mask to weights (..., Q, K); each keyword replaces one step."""
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
    return weigh(scores, masked(mask))


def attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None = None,
    num_hiddens: int = 0,
    *,
    score: Step = lambda queries, keys: queries @ keys.mT,
    divisor: Callable[[Sizes], float] = lambda sizes: sizes.head_dim**0.5,
    mix: Step = lambda weights, keys, values: weights @ values,
    **steps: Any,
) -> Tensor:
    """(..., Q, d), (..., K, d) and (..., K, d_v) to (..., Q, d_v); each keyword replaces one step.

    ``num_hiddens`` is the width of the tokens before they were projected, where they were.
    """
    sizes = Sizes(keys.shape[-2], queries.shape[-1], values.shape[-1], num_hiddens)
    scores = score(queries, keys) / divisor(sizes)  # (..., Q, K)
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
    project: Callable[..., tuple[Tensor, ...]] = project_each,
    split: Step = split_heads,
    merge: Step = merge_heads,
    mix_heads: Step = lambda merged, W_o: merged @ W_o,
    **steps: Any,
) -> Tensor:
    """Multi-head self-attention over tokens (B, N, D); each keyword replaces one step."""
    q, k, v = (split(projected, num_heads) for projected in project(x, W_q, W_k, W_v))  # (B, H, N, d)
    mask = None if valid_lens is None else padding_mask(valid_lens, x.shape[1])[:, None]  # (B, 1, 1, N)
    heads = attention(q, k, v, mask, num_hiddens=x.shape[-1], **steps)
    return mix_heads(merge(heads), W_o)


SCALE: dict[str, dict[str, Any]] = {
    "scale_missing": {"divisor": lambda sizes: 1.0},
    "scale_without_root": {"divisor": lambda sizes: sizes.head_dim},
    "scale_multiplied": {"divisor": lambda sizes: sizes.head_dim**-0.5},
    "scale_of_whole_width": {"divisor": lambda sizes: sizes.num_hiddens**0.5},
}
MASK: dict[str, dict[str, Any]] = {
    "mask_missing": {"masked": torch.ones_like},
    "mask_upside_down": {"masked": torch.logical_not},
    "forbidden_scores_zero": {"weigh": lambda scores, mask: (scores * mask).softmax(-1)},
    "forbidden_weights_zero": {"weigh": lambda scores, mask: scores.softmax(-1) * mask},
}
AXIS: dict[str, dict[str, Any]] = {
    "softmax_over_queries": {"weigh": lambda scores, mask: softmax_over_keys(scores.mT, mask.mT).mT},
    "softmax_missing": {"weigh": hide},
}
MIXING: dict[str, dict[str, Any]] = {
    "weights_returned": {"mix": lambda weights, keys, values: weights},
    "values_from_W_k": {"project": lambda x, W_q, W_k, W_v: (x @ W_q, x @ W_k, x @ W_k)},
    "heads_not_mixed": {"mix_heads": lambda merged, W_o: merged},
}
SHARED = SCALE | MASK | AXIS | MIXING


def shared(answer: Callable[..., Any], *names: str) -> dict[str, Callable[..., Any]]:
    """The shared mistakes of these names, made in this answer."""
    return {name: partial(answer, **SHARED[name]) for name in names}


def cut_with_one_view(x: Tensor, num_heads: int) -> Tensor:
    """The usual wrong way to split the heads: the shape is right and tokens are mixed."""
    return x.reshape(x.shape[0], num_heads, x.shape[1], -1)
