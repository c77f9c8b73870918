"""Right and wrong answers to the exercises of the lesson on the heads of today."""

import torch
from torch import nn

import mha_lib
from tests.classroom.exercises.answers import Answers


def all_tiles(queries, tiles):
    keys, values = (torch.cat(parts)[None] for parts in zip(*tiles, strict=True))
    return mha_lib.dot_product_attention(queries[None], keys, values)[0][0]


def keeps_no_values(x, W_q, W_k, W_v, cache):
    cache.keys = torch.cat([cache.keys, x @ W_k], dim=1)
    return (x @ W_q @ cache.keys.mT).softmax(-1) @ cache.values


users = Answers(
    """
def answer(gpu, parameters, tokens, layers, kv_heads, head_dim):
    cache = 2 * layers * tokens * kv_heads * head_dim * 2 / 1e9
    return int((gpu - parameters) / cache)
""",
    right=[{"int((gpu - parameters) / cache)": "torch.tensor((gpu - parameters) / cache).floor()"}],
    wrong=[
        ("keys_alone", {"= 2 *": "="}),
        ("keys_alone", {"head_dim * 2": "head_dim"}),
        ("one_layer", {"layers * tokens": "tokens"}),
        ("four_bytes", {"head_dim * 2": "head_dim * 4"}),
        ("gibibytes", {"1e9": "1024**3"}),
        ("parameters_forgotten", {"(gpu - parameters)": "gpu"}),
        ("parameters_for_each_user", {"(gpu - parameters) / cache": "gpu / (cache + parameters)"}),
        ("rounded", {"int(": "round("}),
        ("rounded_up", {"cache)": "cache) + 1"}),
        ("not_whole", {"int": ""}),
    ],
    together=[("keys_alone", "parameters_forgotten"), ("one_layer", "parameters_forgotten")],
)
keys_of_heads = Answers(
    """
def answer(num_heads, num_kv_heads):
    size = num_heads // num_kv_heads
    return [head // size for head in range(num_heads)]
""",
    right=[lambda heads, keys: torch.arange(keys).repeat_interleave(heads // keys)],
    wrong=[
        ("dealt_out", {"head // size": "head % num_kv_heads"}),
        ("group_number_for_size", {"num_heads // num_kv_heads": "num_kv_heads"}),
        ("counted_from_1", {"head // size": "head // size + 1"}),
    ],
)
reach = Answers(right=[5115])
next_sum = Answers(right=[1.46], wrong=[("grown", 23.217)])

FILLED = "scores.masked_fill(~mask, -1e9)"
attend_with_cache = Answers(
    """
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
""",
    right=[
        {"x @": "x.double() @", "W_q\n": "W_q.double()\n"}
        | {"W_k\n": "W_k.double()\n", "W_v\n": "W_v.double()\n"},
        {"-1e9": "float('-inf')"},
    ],
    wrong=[
        ("mask_at_the_start", {"torch.arange(kept - new, kept)": "torch.arange(new)"}),
        ("new_tokens_see_later_ones", {FILLED: "scores"}),
        ("token_does_not_see_itself", {"arange(kept) <=": "arange(kept) <"}),
        ("cache_replaced", {"    return": "    cache.keys, cache.values = k, v\n    return"}),
        ("new_tokens_alone", {"keys, values = cache.keys, cache.values": "keys, values = k, v"}),
        ("scale_missing", {" / q.shape[-1] ** 0.5": ""}),
        ("scale_of_another_axis", {" / q.shape[-1]": " / keys.shape[1]"}),
        (
            "renormalised",
            {FILLED: "scores", "weights @": "torch.nn.functional.normalize(weights * mask, 1, -1) @"},
        ),
        ("only_nan", {FILLED: "scores + ~mask * -torch.inf"}),
        ("line_raised", keeps_no_values, "your line `return (x @ W_q @ cache.keys.mT)"),
        ("tensor_wanted", {"weights @ values": "weights @ values, cache"}, "returned a tuple"),
        ("wrong_entry", {"@ values": "@ values * 1.5"}, "a SimpleNamespace) the entry [0, 0, 0] should be"),
    ],
    together=[("mask_at_the_start", "scale_missing"), ("cache_replaced", "new_tokens_see_later_ones")],
)


online_softmax = Answers(
    """
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
""",
    right=[
        {"queries, keys)": "queries.double(), keys.double())", "@ values": "@ values.double()"},
    ],
    wrong=[
        ("nothing_rescaled", {"factor = torch.exp(largest - new)": "factor = 1"}),
        ("sum_not_rescaled", {"factor * total": "total"}),
        ("largest_not_subtracted", {"torch.maximum(largest, here)": "torch.zeros_like(here)"}),
        ("one_largest_for_all", {"scores.max(dim=1, keepdim=True).values": "scores.max()"}),
        ("only_nan", {"largest - new": "new - largest"}),
        (
            "divided_at_each_tile",
            {"    return output / total": "        output = output / total\n    return output"},
        ),
        ("first_tile_alone", {"    return output": "        return output"}),
        ("last_tile_alone", {"factor * output + ": "", "factor * total + ": ""}),
        ("scale_missing", {" / queries.shape[1] ** 0.5": ""}),
        ("all_tiles_at_once", all_tiles),
        ("tiles_averaged", lambda q, tiles: sum(all_tiles(q, [tile]) for tile in tiles) / len(tiles)),
    ],
    together=[("sum_not_rescaled", "scale_missing")],
)


KEPT = "torch.cat([kept[:, :1], kept[:, 1 - window :]], dim=1)"
slide_cache = Answers(
    """
def slid(kept, new, window):
    kept = torch.cat([kept, new], dim=1)
    return kept if kept.shape[1] <= window else torch.cat([kept[:, :1], kept[:, 1 - window :]], dim=1)

def answer(x, W_q, W_k, W_v, cache, window):
    cache.keys = slid(cache.keys, x @ W_k, window)
    cache.values = slid(cache.values, x @ W_v, window)
    scores = x @ W_q @ cache.keys.mT / W_q.shape[1] ** 0.5
    return scores.softmax(-1) @ cache.values
""",
    right=[{KEPT: "torch.cat([kept[:, :1], kept[:, -(window - 1) :]], dim=1)"}],
    wrong=[
        ("first_forgotten", {KEPT: "kept[:, -window:]"}),
        ("one_token_more", {"<= window": "<= window + 1", "1 - window :": "-window:"}),
        ("first_twice", {"kept if kept.shape[1] <= window else ": ""}),
        ("newest_dropped", {KEPT: "kept[:, :window]"}),
        ("scale_missing", {" / W_q.shape[1] ** 0.5": ""}),
    ],
    together=[("first_forgotten", "scale_missing")],
)


def as_a_layer(x, p, num_heads, num_kv_heads):
    width = x.shape[-1]
    block = mha_lib.EncoderLayer(
        width, num_heads, p.W_up.shape[1], num_kv_heads=num_kv_heads, rotary=True, gated=True, norm=nn.RMSNorm
    )
    heads = block.self_attention
    pairs = [(getattr(heads, name), getattr(p, name)) for name in ("W_q", "W_k", "W_v", "W_o")]
    network = block.feed_forward
    pairs += [(network.W_gate, p.W_gate), (network.W_1, p.W_up), (network.W_2, p.W_down)]
    with torch.no_grad():
        for linear, matrix in pairs:
            linear.weight.copy_(matrix.T)
        block.self_attention_norm.weight.copy_(p.norm_1)
        block.feed_forward_norm.weight.copy_(p.norm_2)
        return block(x, is_causal=True)


SHARED = ".repeat_interleave(num_heads // num_kv_heads, 1)"
rebuild_block = Answers(
    """
def normed(x, gain):
    return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * gain

def answer(x, p, num_heads, num_kv_heads):
    here, y = torch.arange(x.shape[1]), normed(x, p.norm_1)
    q, k, v = y @ p.W_q, y @ p.W_k, y @ p.W_v
    q = mha_lib.split_heads(q, num_heads)
    k = mha_lib.split_heads(k, num_kv_heads)
    v = mha_lib.split_heads(v, num_kv_heads)
    q = mha_lib.rotate_by_position(q, here)
    k = mha_lib.rotate_by_position(k, here)
    k = k.repeat_interleave(num_heads // num_kv_heads, 1)
    v = v.repeat_interleave(num_heads // num_kv_heads, 1)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    scores = scores.masked_fill(here > here[:, None], -torch.inf)
    heads = scores.softmax(-1) @ v
    x = x + mha_lib.merge_heads(heads) @ p.W_o
    y = normed(x, p.norm_2)
    gate, up = y @ p.W_gate, y @ p.W_up
    return x + (torch.nn.functional.silu(gate) * up) @ p.W_down
""",
    right=[as_a_layer],
    wrong=[
        ("mean_subtracted", {"    return x / (x": "    x = x - x.mean(-1, keepdim=True)\n    return x / (x"}),
        ("gain_missing", {" * gain": ""}),
        (
            "keys_dealt_out",
            {
                f"k{SHARED}": "k.repeat(1, num_heads // num_kv_heads, 1, 1)",
                f"v{SHARED}": "v.repeat(1, num_heads // num_kv_heads, 1, 1)",
            },
        ),
        ("values_turned", {f"    v = v{SHARED}": f"    v = mha_lib.rotate_by_position(v, here){SHARED}"}),
        ("sum_missing", {"x = x + mha_lib": "x = mha_lib", "return x + (torch": "return (torch"}),
        ("silu_missing", {"torch.nn.functional.silu(gate)": "gate"}),
    ],
    together=[("keys_dealt_out", "silu_missing")],
)
