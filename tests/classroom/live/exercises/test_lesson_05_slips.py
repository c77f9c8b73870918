"""Slips in the exercises of lesson 05: right answers with one or two places changed by mistake."""

import pytest

from tests.classroom.live.exercises.slips import assert_named, assert_right, each_slip, written

GROUPED = """
def answer(queries, keys, values):
    G, d = keys.shape[1], keys.shape[-1]
    shared_by = queries.shape[1] // G
    heads = []
    for h in range(queries.shape[1]):
        k, v = keys[:, h // shared_by], values[:, h // shared_by]
        scores = queries[:, h] @ k.mT / d**0.5
        weights = scores.softmax(-1)
        heads.append(weights @ v)
    return torch.stack(heads, dim=1)
"""
POOL = """
def answer(W, num_heads, num_kv_heads):
    d, size = W.shape[1] // num_heads, num_heads // num_kv_heads
    pooled = torch.zeros(W.shape[0], num_kv_heads * d)
    for g in range(num_kv_heads):
        for h in range(g * size, (g + 1) * size):
            pooled[:, g * d : (g + 1) * d] += W[:, h * d : (h + 1) * d]
    return pooled / size
"""
ROTATE = """
def answer(x, positions):
    d, turned = x.shape[-1], torch.zeros_like(x)
    for j in range(d // 2):
        angle = positions / 10000 ** (2 * j / d)
        a, b = x[..., 2 * j], x[..., 2 * j + 1]
        turned[..., 2 * j] = a * angle.cos() - b * angle.sin()
        turned[..., 2 * j + 1] = a * angle.sin() + b * angle.cos()
    return turned
"""
CACHE = """
def answer(x, W_q, W_k, W_v, cache):
    q = x @ W_q
    k = x @ W_k
    v = x @ W_v
    cache.keys = torch.cat([cache.keys, k], dim=1)
    cache.values = torch.cat([cache.values, v], dim=1)
    keys, values = cache.keys, cache.values
    scores = q @ keys.transpose(1, 2) / q.shape[-1] ** 0.5
    new, kept = scores.shape[1:]
    mask = torch.arange(kept) <= torch.arange(kept - new, kept)[:, None]
    scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(-1)
    return weights @ values
"""
TILES = """
def answer(queries, tiles):
    output, total, largest = 0, 0, torch.full((len(queries), 1), -torch.inf)
    for keys, values in tiles:
        scores = torch.einsum("qd,kd->qk", queries, keys) / queries.shape[1] ** 0.5
        here = scores.max(dim=1, keepdim=True).values
        new = torch.maximum(largest, here)
        factor = torch.exp(largest - new)
        largest = new
        scores = torch.exp(scores - new)
        total = factor * total + scores.sum(dim=1, keepdim=True)
        output = factor * output + scores @ values
    return output / total
"""
SOURCES = {
    "grouped_query_attention": GROUPED,
    "pool_heads": POOL,
    "rotate": ROTATE,
    "attend_with_cache": CACHE,
    "online_softmax": TILES,
}

# For each exercise the changes to its answer, each followed by the mistakes that the check must name.
SLIPS = {
    "grouped_query_attention": [
        ({"h // shared_by": "h % G"}, "dealt_out"),
        ({"keys[:, h // shared_by]": "keys[:, h % G]"}, "keys_dealt_out"),
        ({"values[:, h // shared_by]": "values[:, h % G]"}, "values_dealt_out"),
        ({"h // shared_by": "h // G"}, "group_number_for_size"),
        ({"h // shared_by": "0"}, "one_head_for_all"),
        ({"range(queries.shape[1])": "range(G)", "h // shared_by": "h"}, "first_heads_alone"),
        ({"d**0.5": "(d * queries.shape[1]) ** 0.5"}, "scale_of_whole_width"),
        ({" / d**0.5": ""}, "scale_missing"),
        ({" / d**0.5": " / d"}, "scale_without_root"),
        ({" / d**0.5": " * d**0.5"}, "scale_multiplied"),
        ({"softmax(-1)": "softmax(-2)"}, "softmax_over_queries"),
        ({"scores.softmax(-1)": "scores.exp()"}, "exponentials"),
        ({"weights @ v": "weights"}, "weights_returned"),
        ({"torch.stack(heads, dim=1)": "merge_heads(torch.stack(heads, dim=1))"}, "merged"),
        ({"torch.stack(heads, dim=1)": "torch.stack(heads, dim=1).unflatten(1, (G, -1))"}, "group_axis_left"),
        (
            {"torch.stack(heads, dim=1)": "torch.stack(heads, dim=1).unflatten(1, (G, -1)).sum(2)"},
            "group_summed",
        ),
        ({"h // shared_by": "h % G", " / d**0.5": ""}, "dealt_out", "scale_missing"),
        (
            {"values[:, h // shared_by]": "values[:, h % G]", "softmax(-1)": "softmax(-2)"},
            "values_dealt_out",
            "softmax_over_queries",
        ),
    ],
    "pool_heads": [
        ({"range(g * size, (g + 1) * size)": "range(g, num_heads, num_kv_heads)"}, "dealt_out"),
        ({" / size": ""}, "summed"),
        ({"+=": "=", " / size": ""}, "one_of_each_group"),
        ({" / size": " / num_heads"}, "divided_by_all_heads"),
        ({" / size": " / num_kv_heads"}, "divided_by_kv_heads"),
        ({"pooled / size": "(pooled / size).T"}, "transposed"),
        ({"pooled / size": "W[:, : num_kv_heads * d]"}, "first_heads_kept"),
        ({"pooled / size": "W.view(len(W), -1, size).mean(-1)"}, "neighbouring_columns"),
        ({"pooled / size": "W.view(len(W), size, num_kv_heads, d).mean(1).flatten(1)"}, "dealt_out"),
        (
            {"pooled / size": "W.view(len(W), size, num_kv_heads, d).mean(2).flatten(1)"},
            "group_number_for_size",
        ),
        ({"pooled / size": "(pooled / size).unflatten(1, (-1, d))"}, "not_joined"),
        ({"pooled / size": "torch.stack((pooled / size).chunk(num_kv_heads, 1))"}, "not_joined"),
        (
            {"range(g * size, (g + 1) * size)": "range(g, num_heads, num_kv_heads)", " / size": ""},
            "dealt_out",
            "summed",
        ),
        ({"pooled / size": "(pooled / num_heads).T"}, "divided_by_all_heads", "transposed"),
    ],
    "rotate": [
        ({"2 * j], x[..., 2 * j + 1]": "j], x[..., j + d // 2]"}, "split_into_halves"),
        (
            {
                "2 * j], x[..., 2 * j + 1]": "j], x[..., j + d // 2]",
                "turned[..., 2 * j] =": "turned[..., j] =",
                "turned[..., 2 * j + 1] =": "turned[..., j + d // 2] =",
            },
            "halves_paired",
        ),
        (
            {
                "turned[..., 2 * j] =": "turned[..., j] =",
                "turned[..., 2 * j + 1] =": "turned[..., j + d // 2] =",
            },
            "joined_as_halves",
        ),
        ({"- b": "+ b", "a * angle.sin() +": "-a * angle.sin() +"}, "turned_backwards"),
        ({"positions / ": "-positions / "}, "turned_backwards"),
        ({"- b": "+ b"}, "sign_wrong"),
        ({"a * angle.sin() +": "a * angle.sin() -"}, "sign_wrong"),
        ({"+ 1] = a *": "+ 1] = turned[..., 2 * j] *"}, "first_overwritten"),
        ({"positions / ": "(positions + 1) / "}, "counted_from_1"),
        ({"positions / ": "torch.arange(x.shape[1]) / "}, "positions_ignored"),
        ({"(2 * j / d)": "(j / d)"}, "exponent_not_doubled"),
        ({"(2 * j / d)": "(4 * j / d)"}, "exponent_doubled_twice"),
        ({"(2 * j / d)": "(2 * (j + 1) / d)"}, "exponent_from_1"),
        ({"(2 * j / d)": "(j / (d // 2 - 1))"}, "last_pair_at_1"),
        ({" / 10000 ** (2 * j / d)": ""}, "one_angle"),
        ({" / 10000 **": " * 10000 **"}, "multiplied"),
        ({"10000": "1000"}, "other_base"),
        (
            {"(2 * j / d)": "(j / d)", "positions / ": "-positions / "},
            "exponent_not_doubled",
            "turned_backwards",
        ),
        (
            {"2 * j], x[..., 2 * j + 1]": "j], x[..., j + d // 2]", "positions / ": "(positions + 1) / "},
            "split_into_halves",
            "counted_from_1",
        ),
    ],
    "attend_with_cache": [
        ({"torch.arange(kept - new, kept)": "torch.arange(new)"}, "mask_at_the_start"),
        ({"scores.masked_fill(~mask, -1e9)": "scores"}, "new_tokens_see_later_ones"),
        ({"~mask": "mask"}, "mask_upside_down"),
        ({"arange(kept) <=": "arange(kept) <"}, "token_does_not_see_itself"),
        ({"arange(kept) <=": "arange(kept) - 1 <="}, "new_tokens_see_later_ones"),
        (
            {
                "cache.keys = ": "keys = ",
                "cache.values = ": "values = ",
                "    keys, values = cache.keys, cache.values\n": "",
            },
            "cache_not_extended",
        ),
        ({"    return": "    cache.keys, cache.values = k, v\n    return"}, "cache_replaced"),
        ({"keys, values = cache.keys, cache.values": "keys, values = k, v"}, "new_tokens_alone"),
        (
            {"[cache.keys, k]": "[k, cache.keys]", "[cache.values, v]": "[v, cache.values]"},
            "new_tokens_first",
        ),
        ({"k = x @ W_k": "k = x @ W_q"}, "queries_kept"),
        ({"weights @ values": "(weights @ values)[:, -1:]"}, "last_token_alone"),
        ({" / q.shape[-1] ** 0.5": ""}, "scale_missing"),
        ({" / q.shape[-1]": " / x.shape[-1]"}, "scale_of_whole_width"),
        ({" / q.shape[-1]": " / keys.shape[1]"}, "scale_of_number_of_keys"),
        ({"softmax(-1)": "softmax(1)"}, "softmax_over_queries"),
        ({"-1e9": "0"}, "forbidden_scores_zero"),
        ({"weights @ values": "weights"}, "weights_returned"),
        (
            {"torch.arange(kept - new, kept)": "torch.arange(new)", " / q.shape[-1] ** 0.5": ""},
            "mask_at_the_start",
            "scale_missing",
        ),
        (
            {
                "    return": "    cache.keys, cache.values = k, v\n    return",
                "scores.masked_fill(~mask, -1e9)": "scores",
            },
            "cache_replaced",
            "new_tokens_see_later_ones",
        ),
    ],
    "online_softmax": [
        ({"factor = torch.exp(largest - new)": "factor = 1"}, "nothing_rescaled"),
        ({"factor * total": "total"}, "sum_not_rescaled"),
        ({"factor * output": "output"}, "output_not_rescaled"),
        ({"torch.maximum(largest, here)": "torch.zeros_like(here)"}, "largest_not_subtracted"),
        ({"torch.maximum(largest, here)": "here"}, "largest_of_the_tile"),
        ({"scores.max(dim=1, keepdim=True).values": "scores.max()"}, "one_largest_for_all"),
        ({"-torch.inf": "0.0"}, "starts_at_zero"),
        ({"largest - new": "new - largest"}, "grows"),
        ({"largest - new": "new - largest", "-torch.inf": "-1e9"}, "grows"),
        (
            {
                "scores @ values": "scores @ values\n        output = output / total",
                "return output / total": "return output",
            },
            "divided_at_each_tile",
        ),
        ({"scores @ values": "scores @ values\n        output = output / total"}, "divided_at_each_tile"),
        ({"    return output": "        return output"}, "first_tile_alone"),
        ({"factor * total + ": ""}, "sum_of_the_last_tile"),
        ({"factor * output + ": ""}, "output_of_the_last_tile"),
        ({"factor * output + ": "", "factor * total + ": ""}, "last_tile_alone"),
        ({"output / total": "output"}, "not_divided"),
        ({".sum(dim=1, keepdim=True)": ".sum()"}, "sum_of_all_queries"),
        ({" / queries.shape[1] ** 0.5": ""}, "scale_missing"),
        ({"queries.shape[1] ** 0.5": "queries.shape[1]"}, "scale_without_root"),
        ({"/ queries.shape[1]": "/ keys.shape[0]"}, "scale_of_number_of_keys"),
        ({"factor * total": "total", " / queries.shape[1] ** 0.5": ""}, "sum_not_rescaled", "scale_missing"),
        (
            {"factor * output": "output", " / queries.shape[1] ** 0.5": ""},
            "output_not_rescaled",
            "scale_missing",
        ),
    ],
}


@pytest.mark.parametrize("exercise", SOURCES)
def test_the_answer_without_a_slip_is_right(exercise):
    assert_right(exercise, written(SOURCES[exercise]))


@each_slip(SLIPS)
def test_slips_are_named_one_or_two_at_once(exercise, changes, mistakes):
    assert_named(exercise, written(SOURCES[exercise], changes), *mistakes)
