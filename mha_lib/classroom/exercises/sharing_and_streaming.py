"""Exercises on the heads of today: how they share keys, know positions, use a cache and take tiles."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from operator import itemgetter
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from mha_lib import merge_heads, sinusoidal_positions
from mha_lib.classroom.exercises.judge import Arguments, Draw, Exercise, Judged
from mha_lib.classroom.exercises.mistakes import (
    ANGLES,
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
from mha_lib.classroom.exercises.on_the_way import makes_axes, not_by

Turn = Callable[..., tuple[Tensor, Tensor]]
Tiles = Iterable[tuple[Tensor, Tensor]]  # keys (k, d) and values (k, d_v)
SHARES = ("share_keys", "share_values")  # steps of grouped-query attention
SHARED_HEADS = ((6, 3), (8, 4), (12, 4), (10, 5), (15, 5))  # H and G; H/G differs from G
NEIGHBOURS, HALVES = -1, -2  # the axis of the pairs, if the last axis is cut into (d/2, 2) or (2, d/2)
NUM_KEYS = 11  # in all tiles; no other axis of the cases is as long


class StepByStep(Exercise):
    """An exercise whose cases are several calls with one cache, which keeps what each call leaves in it."""

    def calls(self) -> Iterator[Arguments]:
        return chain.from_iterable(super().calls())


def draw_shared_heads(draw: Draw) -> tuple[int, int]:
    return SHARED_HEADS[draw.number(0, len(SHARED_HEADS) - 1)]


def draw_grouped_heads(draw: Draw) -> Arguments:
    """Queries (B, H, Q, d), keys (B, G, K, d) and values (B, G, K, d_v)."""
    heads, kv_heads = draw_shared_heads(draw)
    queries, keys, head_dim, value_head_dim = draw.sizes(2, 7, 9, 11)
    shapes = (heads, queries, head_dim), (kv_heads, keys, head_dim), (kv_heads, keys, value_head_dim)
    return draw.tensors(*((2, *shape) for shape in shapes))


def draw_projection(draw: Draw) -> Arguments:
    """W_k or W_v, (D, H*d), H and G; D is a multiple of H, so that its rows could be pooled by mistake."""
    heads, kv_heads = draw_shared_heads(draw)
    head_dim, rows = draw.sizes(7, 9)
    return torch.randn(heads * rows, heads * head_dim, generator=draw), heads, kv_heads


def draw_latents(draw: Draw) -> Arguments:
    """Queries (H, Q, d), latent vectors (K, c), W_uk (H, c, d) and W_uv (H, c, d_v)."""
    queries, head_dim, value_head_dim = draw.sizes(4, 6, 7)
    latent_dim, heads = draw.sizes(5, 8)[0], 3
    return draw.tensors(
        (heads, queries, head_dim),
        (NUM_KEYS, latent_dim),
        (heads, latent_dim, head_dim),
        (heads, latent_dim, value_head_dim),
    )


def draw_positions(draw: Draw) -> Arguments:
    """x (H, N, d) and positions (N,) with gaps between them."""
    heads, tokens = draw.sizes(3, 5)
    x = torch.randn(heads, tokens, 2 * draw.number(3, 4), generator=draw)
    return x, torch.randperm(40, generator=draw)[:tokens].sort().values


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


def share_with_neighbours(x: Tensor, num_heads: int) -> Tensor:
    return x.repeat_interleave(num_heads // x.shape[1], dim=1)


def deal_out(x: Tensor, num_heads: int) -> Tensor:
    """The mistake of dealing G heads out like cards: 0 1 2 0 1 2."""
    return x.repeat(1, num_heads // x.shape[1], 1, 1)


def grouped_query_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    prepare: Step = nothing_done,
    share_keys: Step = share_with_neighbours,
    share_values: Step = share_with_neighbours,
    deliver: Step = nothing_done,
    **steps: Any,
) -> Tensor:
    """(B, H, Q, d_v); each keyword replaces one step by a mistake."""
    num_heads, num_kv_heads = queries.shape[1], keys.shape[1]
    queries = prepare(queries, num_kv_heads)
    keys, values = (share(x, queries.shape[1]) for share, x in ((share_keys, keys), (share_values, values)))
    return deliver(
        attention(queries, keys, values, None, num_heads * queries.shape[3], **steps), num_kv_heads
    )


def pool_heads(
    W: Tensor,
    num_heads: int,
    num_kv_heads: int,
    *,
    cut: Callable[[Tensor, int, int], Tensor] = lambda W, size, number: W.unflatten(1, (number, size, -1)),
    pool: Step = lambda grouped, num_heads, num_kv_heads: grouped.mean(2),
    join: Step = lambda pooled, size: pooled.flatten(1),
    deliver: Step = nothing_done,
) -> Tensor:
    """(D, G*d); each keyword replaces one step by a mistake."""
    size = num_heads // num_kv_heads  # of a group
    grouped = cut(W, size, num_kv_heads)  # (D, G, H/G, d)
    return deliver(join(pool(grouped, num_heads, num_kv_heads), size))


def absorb(
    queries: Tensor,
    latents: Tensor,
    W_uk: Tensor,
    W_uv: Tensor,
    *,
    widen: Step = lambda queries, W_uk: queries @ W_uk.mT,
    make_values: Step = torch.matmul,
    deliver: Step = nothing_done,
    **steps: Any,
) -> Tensor:
    """(H, Q, d_v) of latent vectors, with no key and no value made; each keyword replaces one step."""
    scale: dict[str, Any] = {"divisor": lambda *_: queries.shape[-1] ** 0.5}
    heads = attention(widen(queries, W_uk), latents, latents, **scale | steps)  # (H, Q, c)
    return deliver(make_values(heads, W_uv))


def expands_latents(given: Callable[..., Any], call: Arguments) -> bool:
    """Whether the answer makes a key or a value for each latent vector, by heads or side by side."""
    heads, widths = len(call[0]), [call[2].shape[-1], call[3].shape[-1]]
    axes = widths + [heads * width for width in widths]
    return any(makes_axes(given, call, NUM_KEYS, axis) for axis in axes)


def split_pairs(x: Tensor, axis: int) -> tuple[Tensor, ...]:
    return x.unflatten(-1, (-1, 2) if axis == NEIGHBOURS else (2, -1)).unbind(axis)


def join_pairs(a: Tensor, b: Tensor, axis: int) -> Tensor:
    return torch.stack([a, b], axis).flatten(-2)


def rotate(
    x: Tensor,
    positions: Tensor,
    *,
    place: Step = nothing_done,
    exponent: Step = lambda pairs, width: 2 * pairs / width,
    base: float = 10000,
    angle: Step = lambda positions, wavelengths: positions / wavelengths,
    split: int = NEIGHBOURS,
    turn: Turn = lambda a, b, cos, sin: (a * cos - b * sin, a * sin + b * cos),
    join: int = NEIGHBOURS,
) -> Tensor:
    """(H, N, d) turned by positions (N,); each keyword replaces one step by a mistake."""
    width = x.shape[-1]
    wavelengths = base ** exponent(torch.arange(width // 2), width)  # (d/2,)
    angles = angle(place(positions)[:, None], wavelengths)  # (N, d/2)
    return join_pairs(*turn(*split_pairs(x, split), angles.cos(), angles.sin()), join)


def rotate_with_other_tables(pairs: int, tables: int, x: Tensor, positions: Tensor) -> Tensor:
    """The mistake of pairing columns in one way but laying out sines and cosines in the other."""
    width = x.shape[-1]
    angles = positions[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
    table = join_pairs(angles, angles, tables)  # (N, d)
    a, b = split_pairs(x, pairs)
    return x * table.cos() + join_pairs(-b, a, pairs) * table.sin()


def double_exponent(pairs: Tensor, width: int) -> Tensor:
    return 2 * pairs.double() / width


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


def grow(largest: Tensor, now_largest: Tensor) -> Tensor:
    """The mistake of exp(new - old); the first tile has no old sum to multiply."""
    return torch.where(largest.isinf(), 1, (now_largest - largest).exp())


def forget(x: Tensor, _: Tensor) -> Tensor:
    return torch.zeros_like(x)


def each_tile(queries: Tensor, tiles: Tiles) -> Tensor:
    """(tiles, Q, d_v): attention to each tile alone."""
    return torch.stack([attention(queries, keys, values) for keys, values in tiles])


SHARING: tuple[Judged, ...] = (
    Exercise(
        "grouped_query_attention", grouped_query_attention, draw_grouped_heads, rules=not_by("enable_gqa")
    ).recognising(
        dealt_out=dict.fromkeys(SHARES, deal_out),
        keys_dealt_out={"share_keys": deal_out},
        values_dealt_out={"share_values": deal_out},
        group_number_for_size=dict.fromkeys(SHARES, lambda x, H: x[:, torch.arange(H) // x.shape[1]]),
        one_head_for_all=dict.fromkeys(SHARES, lambda x, H: x[:, :1]),
        keys_averaged=dict.fromkeys(SHARES, lambda x, H: x.mean(1, keepdim=True)),
        queries_averaged={"prepare": lambda queries, G: queries.unflatten(1, (G, -1)).mean(2)},
        first_heads_alone={"prepare": lambda queries, G: queries[:, :G]},
        group_summed=tuple(
            {"deliver": lambda heads, G, add=add: add(heads.unflatten(1, (G, -1)), 2)}
            for add in (torch.sum, torch.mean)
        ),
        group_axis_left={"deliver": lambda heads, G: heads.unflatten(1, (G, -1))},
        merged={"deliver": lambda heads, G: merge_heads(heads)},
        **shared(*SCALE, *WHOLE_WIDTH, "scale_of_values"),
        **shared(*SOFTMAX, "softmax_over_samples", "weights_returned"),
    ),
    Exercise("pool_heads", pool_heads, draw_projection).recognising(
        dealt_out={"cut": lambda W, size, number: W.unflatten(1, (size, number, -1)).transpose(1, 2)},
        group_number_for_size={"cut": lambda W, size, number: W.unflatten(1, (size, number, -1))},
        neighbouring_columns={
            "cut": lambda W, size, number: W.unflatten(1, (number, -1, size)).transpose(2, 3)
        },
        every_other_number={
            "cut": lambda W, size, number: W.unflatten(1, (-1, number, size)).permute(0, 2, 3, 1)
        },
        rows_pooled=lambda W, H, G: pool_heads(W.mT, H, G).mT,
        summed={"pool": lambda grouped, *_: grouped.sum(2)},
        largest_of_each_group={"pool": lambda grouped, *_: grouped.amax(2)},
        one_of_each_group=tuple(
            {"pool": lambda grouped, *_, place=place: grouped.select(2, place)} for place in (0, -1)
        ),
        first_heads_kept=lambda W, H, G: W[:, : W.shape[1] // H * G],
        divided_by_all_heads={"pool": lambda grouped, H, G: grouped.sum(2) / H},
        divided_by_kv_heads={"pool": lambda grouped, H, G: grouped.sum(2) / G},
        all_heads_averaged={
            "pool": lambda grouped, *_: grouped.mean((1, 2), keepdim=True)[:, 0].expand(
                -1, grouped.shape[1], -1
            )
        },
        repeated_back={"join": lambda pooled, size: pooled.repeat_interleave(size, dim=1).flatten(1)},
        not_joined=({"join": nothing_done}, {"join": lambda pooled, size: pooled.transpose(0, 1)}),
        transposed={"deliver": lambda pooled: pooled.mT},
    ),
    Exercise(
        "absorb", absorb, draw_latents, rules={"latents_expanded": expands_latents}, rounds=6
    ).recognising(
        scale_of_latents={"divisor": root_of_d},
        values_not_made={"make_values": nothing_done},
        one_matrix_for_queries={"widen": lambda queries, W_uk: queries @ W_uk[0].mT},
        one_matrix_for_values={"make_values": lambda heads, W_uv: heads @ W_uv[0]},
        merged={"deliver": lambda heads: heads.transpose(0, 1).flatten(1)},
        heads_summed=({"deliver": lambda heads: heads.sum(0)}, {"deliver": lambda heads: heads.mean(0)}),
        **shared("scale_missing", "scale_of_another_axis", *SOFTMAX),
    ),
    Exercise("rotate", rotate, draw_positions, rules=not_by("rotate_by_position")).recognising(
        halves_paired={"split": HALVES, "join": HALVES},
        joined_as_halves={"join": HALVES},
        split_into_halves={"split": HALVES},
        tables_do_not_fit=(
            partial(rotate_with_other_tables, HALVES, NEIGHBOURS),
            partial(rotate_with_other_tables, NEIGHBOURS, HALVES),
        ),
        turned_backwards={"turn": lambda a, b, cos, sin: (a * cos + b * sin, b * cos - a * sin)},
        sign_wrong=(
            {"turn": lambda a, b, cos, sin: (a * cos + b * sin, a * sin + b * cos)},
            {"turn": lambda a, b, cos, sin: (a * cos - b * sin, a * sin - b * cos)},
        ),
        sine_and_cosine_exchanged={"turn": lambda a, b, cos, sin: (a * sin - b * cos, a * cos + b * sin)},
        first_overwritten={
            "turn": lambda a, b, cos, sin: (a * cos - b * sin, (a * cos - b * sin) * sin + b * cos)
        },
        **ANGLES,
        positions_ignored=tuple(
            {"place": lambda positions, first=first: torch.arange(len(positions)) + first} for first in (0, 1)
        ),
        angle_multiplied=(
            # Such large angles depend on the precision of each step.
            {"angle": torch.mul},
            {"exponent": double_exponent, "angle": torch.mul},
            {"exponent": double_exponent, "angle": lambda positions, waves: positions * waves.float()},
            {"exponent": lambda pairs, width: -2 * pairs / width},
        ),
        waves_added=lambda x, positions: x + sinusoidal_positions(40, x.shape[-1])[positions],
    ),
)
STREAMING: tuple[Judged, ...] = (
    StepByStep("attend_with_cache", attend_with_cache, draw_steps).recognising(
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
        old_tokens_alone={"look": old_alone, "diagonal": lambda new, kept: kept},
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
    ).recognising(
        nothing_rescaled={"shrink": lambda largest, now_largest: torch.ones_like(now_largest)},
        sum_not_rescaled={"old_total": nothing_done},
        output_not_rescaled={"old_output": nothing_done},
        largest_not_subtracted={"start": 0.0, "rise": forget},
        largest_of_the_tile={"rise": lambda largest, scores: scores.amax(1, keepdim=True)},
        one_largest_for_all={"rise": lambda largest, scores: torch.maximum(largest, scores.max())},
        starts_at_zero={"start": 0.0},
        grows={"shrink": grow},
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
)
