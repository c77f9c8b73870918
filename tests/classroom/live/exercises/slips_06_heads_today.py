"""Answers to the exercises of the lesson on the heads of today, and slips that students make in them."""

SOURCES = {
    "grouped_query_attention": """
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
""",
    "pool_heads": """
def answer(W, num_heads, num_kv_heads):
    d, size = W.shape[1] // num_heads, num_heads // num_kv_heads
    pooled = torch.zeros(W.shape[0], num_kv_heads * d)
    for g in range(num_kv_heads):
        for h in range(g * size, (g + 1) * size):
            pooled[:, g * d : (g + 1) * d] += W[:, h * d : (h + 1) * d]
    return pooled / size
""",
    "absorb": """
def answer(queries, latents, W_uk, W_uv):
    heads = []
    for q, up_keys, up_values in zip(queries, W_uk, W_uv, strict=True):
        scores = (q @ up_keys.T) @ latents.T / q.shape[1] ** 0.5
        weights = scores.softmax(-1)
        heads.append((weights @ latents) @ up_values)
    return torch.stack(heads)
""",
    "rotate": """
def answer(x, positions):
    d, turned = x.shape[-1], torch.zeros_like(x)
    for j in range(d // 2):
        angle = positions / 10000 ** (2 * j / d)
        a, b = x[..., 2 * j], x[..., 2 * j + 1]
        turned[..., 2 * j] = a * angle.cos() - b * angle.sin()
        turned[..., 2 * j + 1] = a * angle.sin() + b * angle.cos()
    return turned
""",
    "attend_with_cache": """
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
    "online_softmax": """
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
    "cache_bytes": """
def answer(num_layers, num_hiddens, num_heads, num_kv_heads, num_tokens, batch, bits):
    head_dim = num_hiddens // num_heads
    kept = 2 * num_layers * batch * num_tokens * num_kv_heads * head_dim
    return kept * bits // 8
""",
    "plan_shards": """
def answer(num_heads, num_kv_heads, head_dim, num_devices):
    if num_kv_heads % num_devices != 0:
        return []
    plan = []
    heads, kv_heads = num_heads // num_devices, num_kv_heads // num_devices
    for r in range(num_devices):
        first, kv_first = r * heads, r * kv_heads
        device = [first * head_dim, (first + heads) * head_dim]
        device += [kv_first * head_dim, (kv_first + kv_heads) * head_dim]
        plan.append(device)
    return plan
""",
}

# For each exercise the mistakes that the check must name, each with the changes that make it. Several ways
# to make a mistake are a list; a pair of mistakes takes the first.
SLIPS = {
    "grouped_query_attention": {
        "dealt_out": {"h // shared_by": "h % G"},
        "keys_dealt_out": {"keys[:, h // shared_by]": "keys[:, h % G]"},
        "values_dealt_out": {"values[:, h // shared_by]": "values[:, h % G]"},
        "group_number_for_size": {"h // shared_by": "h // G"},
        "one_head_for_all": {"h // shared_by": "0"},
        "first_heads_alone": {"range(queries.shape[1])": "range(G)", "h // shared_by": "h"},
        "scale_of_whole_width": {"d**0.5": "(d * queries.shape[1]) ** 0.5"},
        "scale_missing": {" / d**0.5": ""},
        "scale_without_root": {" / d**0.5": " / d"},
        "scale_multiplied": {" / d**0.5": " * d**0.5"},
        "softmax_over_queries": {"softmax(-1)": "softmax(-2)"},
        "exponentials": {"scores.softmax(-1)": "scores.exp()"},
        "weights_returned": {"weights @ v": "weights"},
        "merged": {"torch.stack(heads, dim=1)": "merge_heads(torch.stack(heads, dim=1))"},
        "group_axis_left": {"torch.stack(heads, dim=1)": "torch.stack(heads, dim=1).unflatten(1, (G, -1))"},
        "group_summed": {
            "torch.stack(heads, dim=1)": "torch.stack(heads, dim=1).unflatten(1, (G, -1)).sum(2)"
        },
    },
    "pool_heads": {
        "dealt_out": [
            {"range(g * size, (g + 1) * size)": "range(g, num_heads, num_kv_heads)"},
            {"pooled / size": "W.view(len(W), size, num_kv_heads, d).mean(1).flatten(1)"},
        ],
        "summed": {" / size": ""},
        "one_of_each_group": {"+=": "=", " / size": ""},
        "divided_by_all_heads": {" / size": " / num_heads"},
        "divided_by_kv_heads": {" / size": " / num_kv_heads"},
        "transposed": {"    return pooled": "    pooled = pooled.T\n    return pooled"},
        "first_heads_kept": {"pooled / size": "W[:, : num_kv_heads * d]"},
        "neighbouring_columns": {"pooled / size": "W.view(len(W), -1, size).mean(-1)"},
        "group_number_for_size": {
            "pooled / size": "W.view(len(W), size, num_kv_heads, d).mean(2).flatten(1)"
        },
        "not_joined": [
            {"pooled / size": "(pooled / size).unflatten(1, (-1, d))"},
            {"pooled / size": "torch.stack((pooled / size).chunk(num_kv_heads, 1))"},
        ],
    },
    "absorb": {
        "latents_expanded": [
            {"(weights @ latents) @ up_values": "weights @ (latents @ up_values)"},
            {"(q @ up_keys.T) @ latents.T": "q @ (latents @ up_keys).T"},
        ],
        "scale_of_latents": {"q.shape[1]": "latents.shape[1]"},
        "values_not_made": {" @ up_values)": ")"},
        "one_matrix_for_queries": {"q @ up_keys.T": "q @ W_uk[0].T"},
        "one_matrix_for_values": {" @ up_values)": " @ W_uv[0])"},
        "merged": {"torch.stack(heads)": "torch.cat(heads, dim=1)"},
        "heads_summed": {"torch.stack(heads)": "sum(heads)"},
        "scale_missing": {" / q.shape[1] ** 0.5": ""},
        "scale_of_number_of_keys": {"q.shape[1] **": "len(latents) **"},
        "softmax_over_queries": {"softmax(-1)": "softmax(-2)"},
        "exponentials": {"scores.softmax(-1)": "scores.exp()"},
    },
    "rotate": {
        "split_into_halves": {"2 * j], x[..., 2 * j + 1]": "j], x[..., j + d // 2]"},
        "halves_paired": {
            "2 * j], x[..., 2 * j + 1]": "j], x[..., j + d // 2]",
            "turned[..., 2 * j] =": "turned[..., j] =",
            "turned[..., 2 * j + 1] =": "turned[..., j + d // 2] =",
        },
        "joined_as_halves": {
            "turned[..., 2 * j] =": "turned[..., j] =",
            "turned[..., 2 * j + 1] =": "turned[..., j + d // 2] =",
        },
        "turned_backwards": [
            {"positions / ": "-positions / "},
            {"- b": "+ b", "a * angle.sin() +": "-a * angle.sin() +"},
        ],
        "sign_wrong": [{"- b": "+ b"}, {"a * angle.sin() +": "a * angle.sin() -"}],
        "first_overwritten": {"+ 1] = a *": "+ 1] = turned[..., 2 * j] *"},
        "positions_from_1": {"positions / ": "(positions + 1) / "},
        "positions_ignored": {"positions / ": "torch.arange(x.shape[1]) / "},
        "exponent_not_doubled": {"(2 * j / d)": "(j / d)"},
        "exponent_doubled_twice": {"(2 * j / d)": "(4 * j / d)"},
        "exponent_from_1": {"(2 * j / d)": "(2 * (j + 1) / d)"},
        "last_pair_at_1": {"(2 * j / d)": "(j / (d // 2 - 1))"},
        "one_angle": {" / 10000 ** (2 * j / d)": ""},
        "angle_multiplied": {" / 10000 **": " * 10000 **"},
        "other_base": {"10000": "1000"},
    },
    "attend_with_cache": {
        "mask_at_the_start": {"torch.arange(kept - new, kept)": "torch.arange(new)"},
        "new_tokens_see_later_ones": [
            {"scores.masked_fill(~mask, -1e9)": "scores"},
            {"arange(kept) <=": "arange(kept) - 1 <="},
        ],
        "mask_upside_down": {"~mask": "mask"},
        "token_does_not_see_itself": {"arange(kept) <=": "arange(kept) <"},
        "cache_not_extended": {
            "cache.keys = ": "keys = ",
            "cache.values = ": "values = ",
            "    keys, values = cache.keys, cache.values\n": "",
        },
        "cache_replaced": {"    return": "    cache.keys, cache.values = k, v\n    return"},
        "new_tokens_alone": {"keys, values = cache.keys, cache.values": "keys, values = k, v"},
        "new_tokens_first": {"[cache.keys, k]": "[k, cache.keys]", "[cache.values, v]": "[v, cache.values]"},
        "queries_kept": {"k = x @ W_k": "k = x @ W_q"},
        "last_token_alone": {"weights @ values": "(weights @ values)[:, -1:]"},
        "scale_missing": {" / q.shape[-1] ** 0.5": ""},
        "scale_of_whole_width": {" / q.shape[-1]": " / x.shape[-1]"},
        "scale_of_number_of_keys": {" / q.shape[-1]": " / keys.shape[1]"},
        "softmax_over_queries": {"softmax(-1)": "softmax(1)"},
        "forbidden_scores_zero": {"-1e9": "0"},
        "weights_returned": {"weights @ values": "weights"},
    },
    "online_softmax": {
        "nothing_rescaled": {"factor = torch.exp(largest - new)": "factor = 1"},
        "sum_not_rescaled": {"factor * total": "total"},
        "output_not_rescaled": {"factor * output": "output"},
        "largest_not_subtracted": {"torch.maximum(largest, here)": "torch.zeros_like(here)"},
        "largest_of_the_tile": {"torch.maximum(largest, here)": "here"},
        "one_largest_for_all": {"scores.max(dim=1, keepdim=True).values": "scores.max()"},
        "starts_at_zero": {"-torch.inf": "0.0"},
        "grows": [
            {"largest - new": "new - largest"},
            {"largest - new": "new - largest", "-torch.inf": "-1e9"},
        ],
        "divided_at_each_tile": [
            {
                "scores @ values": "scores @ values\n        output = output / total",
                "return output / total": "return output",
            },
            {"scores @ values": "scores @ values\n        output = output / total"},
        ],
        "first_tile_alone": {"    return output": "        return output"},
        "sum_of_the_last_tile": {"factor * total + ": ""},
        "output_of_the_last_tile": {"factor * output + ": ""},
        "last_tile_alone": {"factor * output + ": "", "factor * total + ": ""},
        "not_divided": {"output / total": "output"},
        "sum_of_all_queries": {".sum(dim=1, keepdim=True)": ".sum()"},
        "scale_missing": {" / queries.shape[1] ** 0.5": ""},
        "scale_without_root": {"queries.shape[1] ** 0.5": "queries.shape[1]"},
        "scale_of_number_of_keys": {"/ queries.shape[1]": "/ keys.shape[0]"},
    },
    "cache_bytes": {
        "values_forgotten": {"2 * ": ""},
        "queries_kept": [
            {"2 * ": "3 * "},
            {"2 * num_layers": "num_layers", "num_kv_heads *": "(num_heads + 2 * num_kv_heads) *"},
        ],
        "heads_of_queries": [
            {"num_kv_heads * head_dim": "num_hiddens"},
            {"num_kv_heads * head_dim": "num_heads * head_dim"},
        ],
        "group_size": {"num_kv_heads * head_dim": "num_heads // num_kv_heads * head_dim"},
        "width_of_the_model": {"num_kv_heads * head_dim": "num_kv_heads * num_hiddens"},
        "heads_missing": {" * num_kv_heads": ""},
        "width_missing": {" * head_dim": ""},
        "in_bits": {" // 8": ""},
        "numbers_counted": {" * bits // 8": ""},
        "layers_missing": {"num_layers * ": "", "2 * ": "2 * "},
        "batch_missing": {"* batch ": ""},
        "tokens_missing": {"* num_tokens ": ""},
        "tokens_squared": {"num_tokens * num_kv": "num_tokens**2 * num_kv"},
        "in_gigabytes": [{"bits // 8": "bits / 8 / 1e9"}, {"bits // 8": "bits / 8 / 2**30"}],
    },
    "plan_shards": {
        "kv_heads_cut": [
            {"if num_kv_heads": "if num_heads"},
            {"num_kv_heads % num_devices != 0": "num_kv_heads < num_devices"},
            {"num_kv_heads % num_devices != 0": "False"},
            {
                "num_kv_heads % num_devices != 0": "False",
                "num_devices, num_kv_heads //": "num_devices, num_kv_heads /",
                "= num_heads //": "= num_heads /",
            },
            {  # copied to each device that needs it
                "if num_kv_heads": "if num_heads",
                "r * kv_heads\n": "r * num_kv_heads // num_devices\n",
                "kv_first + kv_heads": "kv_first + max(1, kv_heads)",
            },
        ],
        "heads_counted": {" * head_dim": ""},
        "kv_heads_as_heads": {"num_devices, num_kv_heads //": "num_devices, num_heads //"},
        "all_kv_heads_everywhere": {"kv_first * head_dim, (kv_first + kv_heads)": "0, num_kv_heads"},
        "devices_from_1": {"range(num_devices)": "range(1, num_devices + 1)"},
        "width_for_end": {"(first + heads)": "heads", "(kv_first + kv_heads)": "kv_heads"},
        "devices_in_columns": {"return plan": "return torch.tensor(plan).T"},
        "pairs_nested": {"return plan": "return torch.tensor(plan).view(-1, 2, 2)"},
    },
}
PAIRS = [
    ("grouped_query_attention", "dealt_out", "scale_missing"),
    ("grouped_query_attention", "values_dealt_out", "softmax_over_queries"),
    ("pool_heads", "dealt_out", "summed"),
    ("pool_heads", "divided_by_all_heads", "transposed"),
    ("rotate", "exponent_not_doubled", "turned_backwards"),
    ("rotate", "split_into_halves", "positions_from_1"),
    ("attend_with_cache", "mask_at_the_start", "scale_missing"),
    ("attend_with_cache", "cache_replaced", "new_tokens_see_later_ones"),
    ("online_softmax", "sum_not_rescaled", "scale_missing"),
    ("online_softmax", "output_not_rescaled", "scale_missing"),
    ("cache_bytes", "values_forgotten", "batch_missing"),
    ("cache_bytes", "heads_of_queries", "in_bits"),
    ("plan_shards", "heads_counted", "kv_heads_cut"),
    ("plan_shards", "devices_from_1", "heads_counted"),
]

# Changes that leave an answer right.
OTHER_WAYS = [
    ("cache_bytes", {"bits // 8": "bits / 8"}),
    ("cache_bytes", {"return ": "return torch.tensor(1) * "}),
    ("plan_shards", {"append(device)": "append(tuple(device))"}),
    ("plan_shards", {"return plan": "return torch.tensor(plan)"}),
    ("plan_shards", {"range(num_devices)": "torch.arange(num_devices)"}),
    ("plan_shards", {"if num_kv_heads": "if num_heads % num_devices or num_kv_heads"}),
    ("plan_shards", {"return []": "return torch.zeros(0, 4)"}),
    ("plan_shards", {"return []": "return ()"}),
]
