"""The exercises of the lesson on the heads of today: the cost of caches, then caches, tiles, a block."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from math import ceil, exp
from operator import itemgetter, sub, truediv
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from mha_lib import merge_heads, rotate_by_position, split_heads
from mha_lib.classroom.exercises.judge import Arguments, Draw, Exercise, Judged
from mha_lib.classroom.exercises.mistakes import (
    HIGH_FILLS,
    NOTHING_LEFT,
    SCALE,
    SOFTMAX,
    WHOLE_WIDTH,
    Divisor,
    Step,
    attention,
    nothing_done,
    root_of_d,
    shared,
)
from mha_lib.classroom.exercises.on_the_way import makes_axes
from mha_lib.classroom.exercises.small import Small

Tiles = Iterable[tuple[Tensor, Tensor]]  # keys (k, d) and values (k, d_v)
NUM_KEYS = 11  # in all tiles; no other axis of the cases is as long
NETWORK, PROJECTED = ("W_gate", "W_up"), ("W_q", "W_k", "W_v")


def users(
    gpu: float,
    parameters: float,
    tokens: int,
    layers: int,
    kv_heads: int,
    head_dim: int,
    *,
    both: int = 2,  # keys and values
    counted_layers: Callable[[int], int] = lambda layers: layers,
    number_bytes: int = 2,
    gigabyte: float = 1e9,
    left: Callable[[float, float], float] = sub,
    share: Callable[[float, float], float] = lambda left, cache: int(left // cache),
) -> float:
    """How many caches fit beside the parameters; each keyword replaces one step by a mistake."""
    cache = both * counted_layers(layers) * tokens * kv_heads * head_dim * number_bytes / gigabyte
    return share(left(gpu, parameters), cache)


def draw_users(draw: Draw) -> Arguments:
    """A GPU, parameters in GB, and sizes with which 4 to 200 users fit, and a part of one more.

    The part is 0.2 to 0.45, or 0.55 to 0.8, so that rounding up and rounding to the nearest differ.
    """
    low, high = draw.in_turn((0.2, 0.45), (0.55, 0.8))
    while True:
        gpu, parameters = draw.number(80, 640), draw.number(10, 70)
        tokens, layers, kv_heads = draw.number(2000, 40_000), draw.number(16, 64), draw.number(2, 16)
        head_dim = (64, 96, 128)[draw.number(0, 2)]
        call = gpu, parameters, tokens, layers, kv_heads, head_dim
        if 4 <= (fitting := users(*call, share=truediv)) <= 200 and low <= fitting % 1 <= high:
            return call


def parameters_each(gpu: float, parameters: float, *sizes: int) -> float:
    """The mistake of keeping the parameters once more for every user."""
    return users(gpu, 0, *sizes, share=lambda left, cache: int(left // (cache + parameters)))


class StepByStep(Exercise):
    """An exercise whose cases are several calls with one cache, which keeps what each call leaves in it."""

    def calls(self) -> Iterator[Arguments]:
        return chain.from_iterable(super().calls())


def draw_steps(draw: Draw) -> tuple[Arguments, ...]:
    """Three calls with new tokens (2, N, D), the same matrices and one cache, which may begin empty.

    The very last token has a number so large that its key decides each softmax that sees it.
    """
    width, head_dim, value_head_dim = draw.sizes(5, 6, 7)
    matrices = draw.tensors((width, head_dim), (width, head_dim), (width, value_head_dim))
    kept = draw.in_turn(0, 2)
    keys, values = draw.tensors((2, kept, head_dim), (2, kept, value_head_dim))
    cache = SimpleNamespace(keys=keys, values=values)
    chunks = draw.tensors(*((2, new, width) for new in draw.sizes(1, 3, 4)))
    chunks[-1][:, -1, 0], matrices[0][0], matrices[2][0] = 1e6, 0, 0  # queries and values ignore the number
    return tuple((x, *(W.clone() for W in matrices), cache) for x in chunks)


def draw_sliding_steps(draw: Draw) -> tuple[Arguments, ...]:
    """Seven tokens (2, 1, D), one a call, with the same matrices, one cache and a window of 3 or 4."""
    width, head_dim, value_head_dim = draw.sizes(5, 6, 7)
    matrices = draw.tensors((width, head_dim), (width, head_dim), (width, value_head_dim))
    cache, window = SimpleNamespace(), draw.in_turn(3, 4)
    cache.keys, cache.values = torch.zeros(2, 0, head_dim), torch.zeros(2, 0, value_head_dim)
    tokens = 2 * draw.tensors((2, 7, width))[0]
    return tuple((x, *(W.clone() for W in matrices), cache, window) for x in tokens.split(1, dim=1))


def draw_tiles(draw: Draw) -> Arguments:
    """Queries (Q, d) and tiles, of which the last is smaller; some cases have scores in the hundreds.

    In these the first query has only low scores. Rounding errors would show in large scores, so queries and
    keys are eighths: floats represent their products exactly.
    """
    queries, head_dim, value_head_dim = draw.sizes(4, 6, 7)
    q, keys = (torch.randn(size, head_dim, generator=draw).mul(8).round() / 8 for size in (queries, NUM_KEYS))
    if draw.in_turn(True, False):
        q, keys = 40 * q, keys + 3
        q[0] = -40
    values = torch.randn(NUM_KEYS, value_head_dim, generator=draw)
    return q, list(zip(keys.split(4), values.split(4), strict=True))


def draw_block(draw: Draw) -> Arguments:
    """x (2, N, D), the parameters of a block, H and G; no token and no gain has the mean 0 or 1."""
    heads, kv_heads = draw.in_turn((6, 3), (6, 2), (4, 2))
    tokens, (head_dim, wide) = draw.number(4, 5), (6, 13)
    width = heads * head_dim
    shapes = {name: (width, width) for name in ("W_q", "W_o")}
    shapes |= {name: (width, kv_heads * head_dim) for name in ("W_k", "W_v")}
    shapes |= {name: (width, wide) for name in NETWORK} | {"W_down": (wide, width)}
    matrices = draw.tensors(*shapes.values())
    p = {name: W / W.shape[0] ** 0.5 for name, W in zip(shapes, matrices, strict=True)}
    p["norm_1"], p["norm_2"] = (1 + 0.5 * gain for gain in draw.tensors((width,), (width,)))
    return 2 * draw.tensors((2, tokens, width))[0] + 1, SimpleNamespace(**p), heads, kv_heads


append = partial(torch.cat, dim=1)  # of (old, new), as the three below
old_alone, new_alone = itemgetter(0), itemgetter(1)


def put_before(pair: tuple[Tensor, Tensor]) -> Tensor:
    return torch.cat(pair[::-1], dim=1)


def attend_with_cache(
    x: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    cache: SimpleNamespace,
    *,
    key_of: Step = lambda x, W_q, W_k: x @ W_k,
    keep: Step = append,
    look: Step = append,
    diagonal: Callable[[int, int], int] = lambda new, kept: kept - new,
    deliver: Step = nothing_done,
    **steps: Any,
) -> Tensor:
    """(B, N, d_v), and a larger cache; each keyword replaces one step by a mistake."""
    pairs = (cache.keys, key_of(x, W_q, W_k)), (cache.values, x @ W_v)
    cache.keys, cache.values = map(keep, pairs)
    keys, values = map(look, pairs)
    new, kept = x.shape[1], keys.shape[1]
    mask = torch.ones(new, kept).tril(diagonal(new, kept)) > 0  # (N, K)
    return deliver(attention(x @ W_q, keys, values, mask, x.shape[2], **steps))


def slid(both: tuple[Tensor, Tensor], window: int) -> Tensor:
    """The first token and the newest others, ``window`` in all."""
    kept = append(both)
    return kept if kept.shape[1] <= window else torch.cat([kept[:, :1], kept[:, 1 - window :]], dim=1)


def slide_cache(
    x: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    cache: SimpleNamespace,
    window: int,
    *,
    keep: Step = slid,
    look: Step = slid,
    **steps: Any,
) -> Tensor:
    """(B, 1, d_v), and a cache that has slid; each keyword replaces one step by a mistake."""
    pairs = (cache.keys, x @ W_k), (cache.values, x @ W_v)
    cache.keys, cache.values = (keep(pair, window) for pair in pairs)
    keys, values = (look(pair, window) for pair in pairs)
    return attention(x @ W_q, keys, values, None, x.shape[2], **steps)


def first_twice(both: tuple[Tensor, Tensor], window: int) -> Tensor:
    """The mistake of adding the first token to the newest while it is one of them."""
    kept = append(both)
    return torch.cat([kept[:, :1], kept[:, 1 - window :]], dim=1)


def rms_norm(x: Tensor, gain: Tensor) -> Tensor:
    return F.rms_norm(x, gain.shape, gain, 1e-6)


def share_with_neighbours(x: Tensor, number: int) -> Tensor:
    return x.repeat_interleave(number, dim=1)


def turned(x: Tensor) -> Tensor:
    return rotate_by_position(x, torch.arange(x.shape[2]))


def rebuild_block(
    x: Tensor,
    p: SimpleNamespace,
    num_heads: int,
    num_kv_heads: int,
    *,
    norm: Step = rms_norm,
    share: Step = share_with_neighbours,
    turn: Step = turned,
    turn_values: Step = nothing_done,
    add: Step = torch.add,
    gate: Step = lambda gate, up: F.silu(gate) * up,
    masked: Step = nothing_done,
    **steps: Any,
) -> Tensor:
    """(B, N, D); each keyword replaces one step by a mistake."""
    y, size = norm(x, p.norm_1), num_heads // num_kv_heads
    q, k, v = (
        split_heads(y @ getattr(p, name), number)
        for name, number in zip(PROJECTED, (num_heads, num_kv_heads, num_kv_heads), strict=True)
    )
    k, v = share(turn(k), size), share(turn_values(v), size)
    mask = masked(torch.ones(x.shape[1], x.shape[1]).tril() > 0)
    x = add(x, merge_heads(attention(turn(q), k, v, mask, x.shape[2], **steps)) @ p.W_o)
    y = norm(x, p.norm_2)
    gated, up = (y @ getattr(p, name) for name in NETWORK)
    return add(x, gate(gated, up) @ p.W_down)


def online_softmax(
    queries: Tensor,
    tiles: Tiles,
    *,
    start: float = -torch.inf,
    divisor: Divisor = root_of_d,
    rise: Step = lambda largest, scores: torch.maximum(largest, scores.amax(1, keepdim=True)),
    shrink: Step = lambda largest, now_largest: (largest - now_largest).exp(),
    old_total: Step = torch.mul,
    old_output: Step = torch.mul,
    add_up: Step = lambda exponentials: exponentials.sum(1, keepdim=True),
    each: Step = nothing_done,
    finish: Step = torch.div,
) -> Tensor:
    """(Q, d_v); each keyword replaces one step by a mistake."""
    largest = torch.full((len(queries), 1), start)
    total, output = torch.zeros(1), torch.zeros(1)
    for keys, values in tiles:
        scores = queries @ keys.mT / divisor(queries, keys, values)  # (Q, k)
        now_largest = rise(largest, scores)  # (Q, 1)
        factor, exponentials = shrink(largest, now_largest), (scores - now_largest).exp()
        total = old_total(total, factor) + add_up(exponentials)  # (Q, 1)
        output = each(old_output(output, factor) + exponentials @ values, total)  # (Q, d_v)
        largest = now_largest
    return finish(output, total)


def forget(x: Tensor, _: Tensor) -> Tensor:
    return torch.zeros_like(x)


def each_tile(queries: Tensor, tiles: Tiles) -> Tensor:
    """(tiles, Q, d_v): attention to each tile alone."""
    return torch.stack([attention(queries, keys, values) for keys, values in tiles])


EXERCISES: tuple[Judged, ...] = (
    Exercise("users", users, draw_users, hint="cache-size-why").recognising(
        keys_alone={"both": 1},
        one_layer={"counted_layers": lambda layers: 1},
        four_bytes={"number_bytes": 4},
        gibibytes={"gigabyte": 2.0**30},
        parameters_forgotten={"left": lambda gpu, parameters: gpu},
        parameters_for_each_user=parameters_each,
        rounded={"share": lambda left, cache: round(left / cache)},
        rounded_up={"share": lambda left, cache: ceil(left / cache)},
        not_whole={"share": truediv},
    ),
    Exercise(
        "keys_of_heads",
        lambda num_heads, num_kv_heads: torch.arange(num_heads) // (num_heads // num_kv_heads),
        lambda draw: draw.in_turn((12, 3), (8, 2), (10, 5), (6, 1), (7, 7)),
        hint="fewer-keys-why",
    ).recognising(
        dealt_out=lambda num_heads, num_kv_heads: torch.arange(num_heads) % num_kv_heads,
        group_number_for_size=lambda num_heads, num_kv_heads: torch.arange(num_heads) // num_kv_heads,
        counted_from_1=lambda num_heads, num_kv_heads: (
            torch.arange(num_heads) // (num_heads // num_kv_heads) + 1
        ),
    ),
    Small(
        "reach",
        5 * 1023,
        {"itself_counted": 5 * 1024, "one_layer": 1023, "with_itself": 5 * 1023 + 1},
        hint="reach-why",
    ),
    Small(
        "next_sum",
        3 * exp(-2) + 1 + exp(-3),
        {"not_rescaled": 3 + 1 + exp(-3), "grown": 3 * exp(2) + 1 + exp(-3), "tile_alone": 1 + exp(-3)},
        within=6e-3,
        hint="online-why",
    ),
    StepByStep("attend_with_cache", attend_with_cache, draw_steps, hint="row-a-step-why").recognising(
        mask_at_the_start={"diagonal": lambda new, kept: 0},
        new_tokens_see_later_ones=(
            {"masked": torch.ones_like},
            {"diagonal": lambda new, kept: kept - new + 1},
        ),
        token_does_not_see_itself=tuple(
            {"diagonal": lambda new, kept: kept - new - 1, **rest} for rest in NOTHING_LEFT
        ),
        cache_not_extended={"keep": old_alone},
        cache_replaced={"keep": new_alone},
        new_tokens_alone=({"look": new_alone}, {"keep": new_alone, "look": new_alone}),
        new_tokens_first=({"keep": put_before, "look": put_before}, {"look": put_before}),
        queries_kept={"key_of": lambda x, W_q, W_k: x @ W_q},
        last_token_alone={"deliver": lambda heads: heads[:, -1:]},
        **shared(*SCALE, *WHOLE_WIDTH, "scale_of_values"),
        **shared(*SOFTMAX, "softmax_over_samples", "weights_returned"),
        **shared("mask_upside_down", "forbidden_scores_zero", "forbidden_weights_zero", "renormalised"),
        forbidden_scores_too_high=HIGH_FILLS,
    ),
    Exercise(
        "online_softmax",
        online_softmax,
        draw_tiles,
        rules={"all_tiles_at_once": lambda given, call: makes_axes(given, call, NUM_KEYS)},
        rounds=6,
        hint="tiles-code",
    ).recognising(
        nothing_rescaled={"shrink": lambda largest, now_largest: torch.ones_like(now_largest)},
        sum_not_rescaled={"old_total": nothing_done},
        output_not_rescaled={"old_output": nothing_done},
        largest_not_subtracted={"start": 0.0, "rise": forget},
        largest_of_the_tile={"rise": lambda largest, scores: scores.amax(1, keepdim=True)},
        one_largest_for_all={"rise": lambda largest, scores: torch.maximum(largest, scores.max())},
        starts_at_zero={"start": 0.0},
        divided_at_each_tile=(
            lambda queries, tiles: each_tile(queries, tiles).sum(0),
            {"each": torch.div, "finish": nothing_done},
            {"each": torch.div},
        ),
        tiles_averaged=lambda queries, tiles: each_tile(queries, tiles).mean(0),
        first_tile_alone=lambda queries, tiles: each_tile(queries, tiles)[0],
        last_tile_alone=(
            lambda queries, tiles: each_tile(queries, tiles)[-1],
            {"old_total": forget, "old_output": forget},
        ),
        sum_of_the_last_tile={"old_total": forget},
        output_of_the_last_tile={"old_output": forget},
        not_divided={"finish": nothing_done},
        sum_of_all_queries={"add_up": torch.sum},
        **shared("scale_missing", "scale_without_root", "scale_multiplied", "scale_half_of_d"),
        **shared("scale_of_values", "scale_of_another_axis"),
    ),
    StepByStep("slide_cache", slide_cache, draw_sliding_steps, hint="slide-cache-why").recognising(
        first_forgotten=dict.fromkeys(("keep", "look"), lambda both, window: append(both)[:, -window:]),
        one_token_more=(
            dict.fromkeys(("keep", "look"), lambda both, window: slid(both, window + 1)),
            {"look": lambda both, window: append(both)},
        ),
        first_twice=dict.fromkeys(("keep", "look"), first_twice),
        nothing_dropped=dict.fromkeys(("keep", "look"), lambda both, window: append(both)),
        newest_dropped=dict.fromkeys(("keep", "look"), lambda both, window: append(both)[:, :window]),
        cache_not_extended={"keep": lambda both, window: both[0]},
        **shared("scale_missing", "scale_without_root", "scale_of_values", "scale_of_whole_width"),
        **shared("exponentials", "softmax_over_queries", "weights_returned"),
    ),
    Exercise("rebuild_block", rebuild_block, draw_block, hint="read-it").recognising(
        mean_subtracted={"norm": lambda x, gain: F.layer_norm(x, gain.shape, gain, None, 1e-6)},
        gain_missing={"norm": lambda x, gain: rms_norm(x, torch.ones_like(gain))},
        norm_missing={"norm": lambda x, gain: x},
        root_missing={"norm": lambda x, gain: x / (x.square().mean(-1, keepdim=True) + 1e-6) * gain},
        keys_dealt_out={"share": lambda x, number: x.repeat(1, number, 1, 1)},
        nothing_turned={"turn": nothing_done},
        values_turned={"turn_values": turned},
        later_tokens_seen={"masked": torch.ones_like},
        sum_missing={"add": lambda x, more: more},
        gate_missing={"gate": lambda gate, up: up},
        silu_missing={"gate": torch.mul},
        other_gate={"gate": lambda gate, up: gate.sigmoid() * up},
        **shared(*SCALE, *WHOLE_WIDTH, "softmax_over_queries", "forbidden_scores_zero"),
    ),
)
