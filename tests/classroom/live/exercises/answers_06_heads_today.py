"""Wrong answers in the lesson on the heads of today, each with its mistake, and unusual right ones.

More right ones stand in ``styles.py``.
"""

import math

import torch
from torch.nn import functional as F

from tests.classroom.live.exercises.slips import written
from tests.classroom.live.exercises.slips_06_heads_today import SOURCES


def changed(exercise, *changes):
    return written(SOURCES[exercise], *changes)


def cache_bytes(heads=lambda H, G: G, width=lambda D, H, G: D // H, size=lambda bits: bits / 8, kinds=2):
    def answer(layers, D, H, G, tokens, batch, bits):
        return kinds * layers * tokens * batch * heads(H, G) * width(D, H, G) * size(bits)

    return answer


def all_tiles(queries, tiles):
    keys, values = (torch.cat(parts) for parts in zip(*tiles, strict=True))
    return (queries @ keys.T / queries.shape[1] ** 0.5).softmax(-1) @ values


def growing_tiles(queries, tiles):
    keys, values = queries[:0], None
    for more_keys, more_values in tiles:
        keys = torch.cat([keys, more_keys])
        values = more_values if values is None else torch.cat([values, more_values])
    return F.scaled_dot_product_attention(queries[None], keys[None], values[None])[0]


def all_scores_first(queries, tiles):
    scores = torch.cat([queries @ keys.T for keys, _ in tiles], 1) / queries.shape[1] ** 0.5
    shares = scores.softmax(1).split([len(keys) for keys, _ in tiles], 1)
    return sum(share @ values for share, (_, values) in zip(shares, tiles, strict=True))


def merged_pair_by_pair(queries, tiles):
    """Attends to each tile alone and merges two results by their log-sum-exp."""
    output, logs = None, None
    for keys, values in tiles:
        scores = queries @ keys.T * len(keys.T) ** -0.5
        here, here_logs = scores.softmax(1) @ values, scores.logsumexp(1, keepdim=True)
        share = 1.0 if logs is None else torch.sigmoid(here_logs - logs)
        output = here if output is None else output + share * (here - output)
        logs = here_logs if logs is None else torch.logaddexp(logs, here_logs)
    return output


def keys_side_by_side(q, latents, W_uk, W_uv):
    """Makes the keys of all heads in one product."""
    keys = (latents @ W_uk.transpose(0, 1).flatten(1)).unflatten(1, (len(q), -1)).transpose(0, 1)
    return (q @ keys.mT / q.shape[2] ** 0.5).softmax(-1) @ latents @ W_uv


def wide_attention(wide, latents):
    by_head = latents.expand(len(wide), -1, -1)
    return F.scaled_dot_product_attention(wide, by_head, by_head)


def plan(otherwise=lambda H, G, d, n: [], fits=lambda H, G, n: G % n == 0):
    def answer(H, G, d, n):
        if not fits(H, G, n):
            return otherwise(H, G, d, n)
        return [
            [r * H * d // n, (r + 1) * H * d // n, r * G * d // n, (r + 1) * G * d // n] for r in range(n)
        ]

    return answer


def copies(H, G, d, n):
    """As vLLM places them: each device has a whole key-value head, and some have the same one."""
    if G % n and n % G:
        return []
    rows = [(r * G // n, r * G // n + 1) for r in range(n)]
    return [[r * H // n * d, (r + 1) * H // n * d, first * d, end * d] for r, (first, end) in enumerate(rows)]


def turned(pair, positions):
    a, b = pair
    angles = positions[:, None] / 10000 ** (torch.arange(a.shape[-1]) / a.shape[-1])
    return a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()


WRONG = {
    "cache_bytes": [
        ("bits_ignored", cache_bytes(size=lambda bits: 2)),
        ("heads_of_queries", cache_bytes(width=lambda D, H, G: D // G)),
        ("multiplied_by_8", cache_bytes(size=lambda bits: 8 * bits)),
        ("group_size", cache_bytes(heads=lambda H, G: H // G)),
        ("values_forgotten", cache_bytes(kinds=1)),
    ],
    "grouped_query_attention": [
        ("dealt_out", changed("grouped_query_attention", {"h // shared_by": "h % G"})),
        ("one_head_for_all", lambda q, k, v: F.scaled_dot_product_attention(q, k[:, :1], v[:, :1])),
        (
            "keys_averaged",
            lambda q, k, v: F.scaled_dot_product_attention(q, k.mean(1, True), v.mean(1, True)),
        ),
        ("first_heads_alone", lambda q, k, v: F.scaled_dot_product_attention(q[:, : k.shape[1]], k, v)),
        (
            "softmax_over_samples",
            changed("grouped_query_attention", {"scores.softmax(-1)": "scores.softmax(0)"}),
        ),
    ],
    "pool_heads": [
        ("summed", changed("pool_heads", {" / size": ""})),
        ("first_heads_kept", lambda W, H, G: W[:, : W.shape[1] // H * G]),
        ("neighbouring_columns", lambda W, H, G: F.avg_pool1d(W, H // G)),
        ("dealt_out", lambda W, H, G: W.view(len(W), H // G, -1).mean(1)),
        ("one_of_each_group", lambda W, H, G: W.view(len(W), G, H // G, -1)[:, :, 0].flatten(1)),
        ("largest_of_each_group", lambda W, H, G: W.view(len(W), G, H // G, -1).amax(2).flatten(1)),
    ],
    "absorb": [
        ("latents_expanded", lambda q, c, W_uk, W_uv: F.scaled_dot_product_attention(q, c @ W_uk, c @ W_uv)),
        ("latents_expanded", keys_side_by_side),
        ("scale_of_latents", lambda q, c, W_uk, W_uv: wide_attention(q @ W_uk.mT, c) @ W_uv),
        ("values_not_made", changed("absorb", {" @ up_values)": ")"})),
        (
            "heads_summed",
            lambda q, c, W_uk, W_uv: (
                wide_attention(q @ W_uk.mT / c.shape[1] ** -0.5 / q.shape[2] ** 0.5, c) @ W_uv
            ).sum(0),
        ),
    ],
    "rotate": [
        ("positions_from_1", changed("rotate", {"positions / ": "(positions + 1) / "})),
        ("positions_ignored", changed("rotate", {"positions / ": "torch.arange(len(positions)) / "})),
        ("one_angle", changed("rotate", {"2 * j / d": "2 * j // d"})),
        ("halves_paired", lambda x, p: torch.cat(turned(x.chunk(2, -1), p), -1)),
        ("joined_as_halves", lambda x, p: torch.cat(turned((x[..., 0::2], x[..., 1::2]), p), -1)),
        (
            "overwritten",
            lambda x, p: x.copy_(torch.stack(turned((x[..., 0::2], x[..., 1::2]), p), -1).flatten(-2)),
        ),
    ],
    "plan_shards": [
        ("kv_heads_cut", plan(fits=lambda H, G, n: True)),
        ("kv_heads_cut", plan(fits=lambda H, G, n: H % n == 0)),
        ("kv_heads_cut", plan(otherwise=copies)),
        ("kv_heads_cut", plan(lambda H, G, d, n: [[0, H * d, 0, G * d]])),
        ("heads_counted", lambda H, G, d, n: plan()(H, G, 1, n)),
        ("kv_heads_as_heads", lambda H, G, d, n: [row[:2] * 2 for row in plan()(H, G, d, n)]),
    ],
    "attend_with_cache": [
        (
            "renormalised",
            changed(
                "attend_with_cache",
                {
                    "-1e9)": "-1e9) if 0 else scores",
                    "scores.softmax(-1)": "torch.nn.functional.normalize(scores.softmax(-1) * mask, 1, -1)",
                },
            ),
        ),
        (
            "zero_times_infinity",
            changed("attend_with_cache", {"scores.masked_fill(~mask, -1e9)": "scores + ~mask * -torch.inf"}),
        ),
        (
            "mask_at_the_start",
            changed("attend_with_cache", {"torch.arange(kept - new, kept)": "torch.arange(new)"}),
        ),
        (
            "new_tokens_see_later_ones",
            changed("attend_with_cache", {"scores.masked_fill(~mask, -1e9)": "scores"}),
        ),
        ("softmax_over_samples", changed("attend_with_cache", {"softmax(-1)": "softmax(0)"})),
    ],
    "online_softmax": [
        ("all_tiles_at_once", all_tiles),
        ("all_tiles_at_once", growing_tiles),
        ("all_tiles_at_once", all_scores_first),
        ("tiles_averaged", lambda q, tiles: sum(all_tiles(q, [tile]) for tile in tiles) / len(tiles)),
        ("divided_at_each_tile", lambda q, tiles: sum(all_tiles(q, [tile]) for tile in tiles)),
        ("starts_at_zero", changed("online_softmax", {"-torch.inf": "0.0"})),
    ],
}


RIGHT = {
    "cache_bytes": [
        cache_bytes(),
        lambda L, D, H, G, T, B, bits: math.prod([2, L, D * G // H, T, B, bits]) >> 3,
    ],
    "grouped_query_attention": [
        changed("grouped_query_attention", {"shared_by]": "shared_by]"}),
        lambda q, k, v: torch.cat(
            [
                F.scaled_dot_product_attention(part, k[:, [g]], v[:, [g]])
                for g, part in enumerate(q.chunk(k.shape[1], 1))
            ],
            1,
        ),
    ],
    "absorb": [
        changed("absorb", {"weights @ latents": "(weights[..., None] * latents).sum(1)"}),
        lambda q, c, W_uk, W_uv: torch.einsum(
            "hqc,hcv->hqv", wide_attention(q @ W_uk.mT * (W_uk.shape[1] / q.shape[2]) ** 0.5, c), W_uv
        ),
    ],
    "pool_heads": [
        lambda W, H, G: F.avg_pool2d(W.view(len(W), 1, H, -1), (H // G, 1)).flatten(1),
        lambda W, H, G: W.mT.reshape(G, H // G, -1, len(W)).mean(1).flatten(0, 1).mT,
    ],
    "rotate": [
        lambda x, p: torch.stack(turned((x[..., 0::2], x[..., 1::2]), p), -1).flatten(-2),
        lambda x, p: torch.stack(turned(x.unflatten(-1, (-1, 2)).unbind(-1), p), -1).reshape(x.shape),
    ],
    "plan_shards": [
        plan(),
        lambda H, G, d, n: plan()(H, G, d, n) if n <= G and not G % n else torch.empty(0, 4),
    ],
    "attend_with_cache": [
        changed("attend_with_cache", {"-1e9": "float('-inf')"}),
        changed("attend_with_cache", {"[cache.keys, k]": "[*cache.keys.split(1, 1), k]"}),
    ],
    "online_softmax": [merged_pair_by_pair, lambda q, tiles: merged_pair_by_pair(q, iter(tiles))],
}
