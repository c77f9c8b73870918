"""Right and wrong answers to the exercises of the lesson on the heads of today."""

import math

import torch
from torch.nn import functional as F

import mha_lib
from mha_lib import MultiHeadAttention
from mha_lib.classroom.exercises.lesson_06_heads_today import MODELS
from tests.classroom.exercises.answers import Answers


def all_tiles(queries, tiles):
    keys, values = (torch.cat(parts)[None] for parts in zip(*tiles, strict=True))
    return mha_lib.dot_product_attention(queries[None], keys, values)[0][0]


def keeps_no_values(x, W_q, W_k, W_v, cache):
    cache.keys = torch.cat([cache.keys, x @ W_k], dim=1)
    return (x @ W_q @ cache.keys.mT).softmax(-1) @ cache.values


cache_bytes = Answers(
    """
def answer(num_layers, num_hiddens, num_heads, num_kv_heads, num_tokens, batch, bits):
    head_dim = num_hiddens // num_heads
    kept = 2 * num_layers * batch * num_tokens * num_kv_heads * head_dim
    return kept * bits // 8
""",
    right=[
        lambda L, D, H, G, T, B, bits: math.prod([2, L, D * G // H, T, B, bits]) >> 3,
        {"bits // 8": "bits / 8"},
        {"return ": "return torch.tensor(1) * "},
    ],
    wrong=[
        ("values_forgotten", {"2 * ": ""}),
        ("queries_kept", {"2 * ": "3 * "}),
        ("heads_of_queries", {"num_kv_heads * head_dim": "num_hiddens"}),
        ("group_size", {"num_kv_heads * head_dim": "num_heads // num_kv_heads * head_dim"}),
        ("width_of_the_model", {"num_kv_heads * head_dim": "num_kv_heads * num_hiddens"}),
        ("heads_missing", {" * num_kv_heads": ""}),
        ("width_missing", {" * head_dim": ""}),
        ("in_bits", {" // 8": ""}),
        ("numbers_counted", {" * bits // 8": ""}),
        ("layers_missing", {"num_layers * ": "", "2 * ": "2 * "}),
        ("batch_missing", {"* batch ": ""}),
        ("tokens_missing", {"* num_tokens ": ""}),
        ("tokens_squared", {"num_tokens * num_kv": "num_tokens**2 * num_kv"}),
        ("in_gigabytes", {"bits // 8": "bits / 8 / 1e9"}),
        ("bits_ignored", {"bits // 8": "2"}),
        ("multiplied_by_8", {"bits // 8": "8 * bits"}),
    ],
    together=[("values_forgotten", "batch_missing"), ("heads_of_queries", "in_bits")],
)

grouped_query_attention = Answers(
    """
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
    right=[
        {"weights @ v": "torch.nn.functional.scaled_dot_product_attention(queries[:, h], k, v)"},
        {"h] @ k.mT": "h].double() @ k.double().mT", "@ v)": "@ v.double())"},
    ],
    wrong=[
        ("dealt_out", {"h // shared_by": "h % G"}),
        ("keys_dealt_out", {"keys[:, h // shared_by]": "keys[:, h % G]"}),
        ("values_dealt_out", {"values[:, h // shared_by]": "values[:, h % G]"}),
        ("group_number_for_size", {"h // shared_by": "h // G"}),
        ("one_head_for_all", {"h // shared_by": "0"}),
        ("first_heads_alone", {"range(queries.shape[1])": "range(G)", "h // shared_by": "h"}),
        ("scale_of_whole_width", {"d**0.5": "(d * queries.shape[1]) ** 0.5"}),
        ("scale_missing", {" / d**0.5": ""}),
        ("scale_without_root", {" / d**0.5": " / d"}),
        ("scale_multiplied", {" / d**0.5": " * d**0.5"}),
        ("softmax_over_queries", {"softmax(-1)": "softmax(-2)"}),
        ("exponentials", {"scores.softmax(-1)": "scores.exp()"}),
        ("weights_returned", {"weights @ v": "weights"}),
        ("merged", {"torch.stack(heads, dim=1)": "mha_lib.merge_heads(torch.stack(heads, dim=1))"}),
        ("group_axis_left", {"dim=1)": "dim=1).unflatten(1, (G, -1))"}),
        ("group_summed", {"dim=1)": "dim=1).unflatten(1, (G, -1)).sum(2)"}),
        (
            "keys_averaged",
            {"keys[:, h // shared_by]": "keys.mean(1)", "values[:, h // shared_by]": "values.mean(1)"},
        ),
        ("softmax_over_samples", {"scores.softmax(-1)": "scores.softmax(0)"}),
        ("scale_of_another_axis", {"d**0.5": "queries.shape[1] ** 0.5"}),
        ("scale_of_another_axis", {"d**0.5": "queries.shape[2] ** 0.5"}),
        ("scale_of_values", {"d**0.5": "v.shape[-1] ** 0.5"}),
        ("finished_function", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True)),
    ],
    together=[("dealt_out", "scale_missing"), ("values_dealt_out", "softmax_over_queries")],
)


def pooled_by_a_matrix(W, num_heads, num_kv_heads):
    size, d = num_heads // num_kv_heads, W.shape[1] // num_heads
    P = torch.eye(num_kv_heads).repeat_interleave(size, 0) / size
    return W @ torch.kron(P, torch.eye(d))


pool_heads = Answers(
    """
def answer(W, num_heads, num_kv_heads):
    d, size = W.shape[1] // num_heads, num_heads // num_kv_heads
    pooled = torch.zeros(W.shape[0], num_kv_heads * d)
    for g in range(num_kv_heads):
        for h in range(g * size, (g + 1) * size):
            pooled[:, g * d : (g + 1) * d] += W[:, h * d : (h + 1) * d]
    return pooled / size
""",
    right=[
        pooled_by_a_matrix,
        lambda W, H, G: F.avg_pool2d(W.view(len(W), 1, H, -1), (H // G, 1)).flatten(1),
        lambda W, H, G: W.mT.reshape(G, H // G, -1, len(W)).mean(1).flatten(0, 1).mT,
    ],
    wrong=[
        ("dealt_out", {"range(g * size, (g + 1) * size)": "range(g, num_heads, num_kv_heads)"}),
        ("summed", {" / size": ""}),
        ("one_of_each_group", {"+=": "=", " / size": ""}),
        ("divided_by_all_heads", {" / size": " / num_heads"}),
        ("divided_by_kv_heads", {" / size": " / num_kv_heads"}),
        ("transposed", {"    return pooled": "    pooled = pooled.T\n    return pooled"}),
        ("first_heads_kept", {"pooled / size": "W[:, : num_kv_heads * d]"}),
        ("neighbouring_columns", {"pooled / size": "W.view(len(W), -1, size).mean(-1)"}),
        ("group_number_for_size", {"pooled / size": "W.view(len(W), size, -1, d).mean(2).flatten(1)"}),
        ("not_joined", {"pooled / size": "(pooled / size).unflatten(1, (-1, d))"}),
        ("largest_of_each_group", lambda W, H, G: W.view(len(W), G, H // G, -1).amax(2).flatten(1)),
    ],
    together=[("dealt_out", "summed"), ("divided_by_all_heads", "transposed")],
)

absorb = Answers(
    """
def answer(queries, latents, W_uk, W_uv):
    heads = []
    for q, up_keys, up_values in zip(queries, W_uk, W_uv, strict=True):
        scores = (q @ up_keys.T) @ latents.T / q.shape[1] ** 0.5
        weights = scores.softmax(-1)
        heads.append((weights @ latents) @ up_values)
    return torch.stack(heads)
""",
    right=[
        {"weights @ latents": "(weights[..., None] * latents).sum(1)"},
        {"(q @ up_keys.T) @ latents.T": "torch.einsum('qk,ck,lc->ql', q, up_keys, latents)"},
    ],
    wrong=[
        ("latents_expanded", {"(weights @ latents) @ up_values": "weights @ (latents @ up_values)"}),
        ("latents_expanded", {"(q @ up_keys.T) @ latents.T": "q @ (latents @ up_keys).T"}),
        ("scale_of_latents", {"q.shape[1]": "latents.shape[1]"}),
        ("values_not_made", {" @ up_values)": ")"}),
        ("one_matrix_for_queries", {"q @ up_keys.T": "q @ W_uk[0].T"}),
        ("one_matrix_for_values", {" @ up_values)": " @ W_uv[0])"}),
        ("merged", {"torch.stack(heads)": "torch.cat(heads, dim=1)"}),
        ("heads_summed", {"torch.stack(heads)": "sum(heads)"}),
        ("scale_missing", {" / q.shape[1] ** 0.5": ""}),
        ("scale_of_another_axis", {"q.shape[1] **": "len(latents) **"}),
        ("softmax_over_queries", {"softmax(-1)": "softmax(-2)"}),
        ("exponentials", {"scores.softmax(-1)": "scores.exp()"}),
    ],
)


def rotated_as_complex_numbers(x, positions):
    d = x.shape[-1]
    angles = positions[:, None].double() / 10000 ** (torch.arange(0, d, 2).double() / d)
    turned = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)))
    turned = turned * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2)


rotate = Answers(
    """
def answer(x, positions):
    d, turned = x.shape[-1], torch.zeros_like(x)
    for j in range(d // 2):
        angle = positions / 10000 ** (2 * j / d)
        a, b = x[..., 2 * j], x[..., 2 * j + 1]
        turned[..., 2 * j] = a * angle.cos() - b * angle.sin()
        turned[..., 2 * j + 1] = a * angle.sin() + b * angle.cos()
    return turned
""",
    right=[{"torch.zeros_like(x)": "x.clone()"}, rotated_as_complex_numbers],
    wrong=[
        ("split_into_halves", {"x[..., 2 * j + 1]": "x[..., j + d // 2]", "x[..., 2 * j]": "x[..., j]"}),
        ("halves_paired", {"2 * j + 1]": "j + d // 2]", "2 * j]": "j]"}),
        ("joined_as_halves", {"2 * j + 1] =": "j + d // 2] =", "2 * j] =": "j] ="}),
        ("turned_backwards", {"positions / ": "-positions / "}),
        ("sign_wrong", {"- b": "+ b"}),
        ("first_overwritten", {"+ 1] = a *": "+ 1] = turned[..., 2 * j] *"}),
        ("positions_from_1", {"positions / ": "(positions + 1) / "}),
        ("positions_ignored", {"positions / ": "torch.arange(x.shape[1]) / "}),
        ("exponent_not_doubled", {"(2 * j / d)": "(j / d)"}),
        ("exponent_doubled_twice", {"(2 * j / d)": "(4 * j / d)"}),
        ("exponent_from_1", {"(2 * j / d)": "(2 * (j + 1) / d)"}),
        ("last_pair_at_1", {"(2 * j / d)": "(j / (d // 2 - 1))"}),
        ("one_angle", {" / 10000 ** (2 * j / d)": ""}),
        ("angle_multiplied", {" / 10000 **": " * 10000 **"}),
        ("other_base", {"10000": "1000"}),
        ("overwritten", {"return turned": "return x.copy_(turned)"}),
        ("finished_function", mha_lib.rotate_by_position),
    ],
    together=[("exponent_not_doubled", "turned_backwards"), ("split_into_halves", "positions_from_1")],
)

COPIED_TO_EACH_DEVICE_THAT_NEEDS_IT = {
    "if num_kv_heads": "if num_heads",
    "r * kv_heads\n": "r * num_kv_heads // num_devices\n",
    "kv_first + kv_heads": "kv_first + max(1, kv_heads)",
}
plan_shards = Answers(
    """
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
    right=[
        {"append(device)": "append(tuple(device))"},
        {"return plan": "return torch.tensor(plan)"},
        {"range(num_devices)": "torch.arange(num_devices)"},
        {"if num_kv_heads": "if num_heads % num_devices or num_kv_heads"},
        {"return []": "return torch.zeros(0, 4)"},
        {"return []": "return ()"},
    ],
    wrong=[
        ("kv_heads_cut", {"if num_kv_heads": "if num_heads"}),
        ("kv_heads_cut", COPIED_TO_EACH_DEVICE_THAT_NEEDS_IT),
        ("heads_counted", {" * head_dim": ""}),
        ("kv_heads_as_heads", {"num_devices, num_kv_heads //": "num_devices, num_heads //"}),
        ("all_kv_heads_everywhere", {"kv_first * head_dim, (kv_first + kv_heads)": "0, num_kv_heads"}),
        ("devices_from_1", {"range(num_devices)": "range(1, num_devices + 1)"}),
        ("width_for_end", {"(first + heads)": "heads", "(kv_first + kv_heads)": "kv_heads"}),
        ("devices_in_columns", {"return plan": "return torch.tensor(plan).T"}),
        ("pairs_nested", {"return plan": "return torch.tensor(plan).view(-1, 2, 2)"}),
        ("wrong_shape", lambda *_: [], "is wanted, got (0,)"),
    ],
    together=[("heads_counted", "kv_heads_cut"), ("devices_from_1", "heads_counted")],
)


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
        {
            "W_q\n": "W_q.double()\n",
            "x @": "x.double() @",
            "W_k\n": "W_k.double()\n",
            "W_v\n": "W_v.double()\n",
        },
        {"weights @ values": "torch.nn.functional.scaled_dot_product_attention(q, keys, values, mask)"},
        {"-1e9": "float('-inf')"},
        {"[cache.keys, k]": "[*cache.keys.split(1, 1), k]"},
    ],
    wrong=[
        ("mask_at_the_start", {"torch.arange(kept - new, kept)": "torch.arange(new)"}),
        ("new_tokens_see_later_ones", {FILLED: "scores"}),
        ("mask_upside_down", {"~mask": "mask"}),
        ("token_does_not_see_itself", {"arange(kept) <=": "arange(kept) <"}),
        (
            "cache_not_extended",
            {
                "    keys, values = cache.keys, cache.values\n": "",
                "cache.keys =": "keys =",
                "cache.values =": "values =",
            },
        ),
        ("cache_replaced", {"    return": "    cache.keys, cache.values = k, v\n    return"}),
        ("new_tokens_alone", {"keys, values = cache.keys, cache.values": "keys, values = k, v"}),
        (
            "new_tokens_first",
            {"[cache.keys, k]": "[k, cache.keys]", "[cache.values, v]": "[v, cache.values]"},
        ),
        ("queries_kept", {"k = x @ W_k": "k = x @ W_q"}),
        ("last_token_alone", {"weights @ values": "(weights @ values)[:, -1:]"}),
        ("scale_missing", {" / q.shape[-1] ** 0.5": ""}),
        ("scale_of_whole_width", {" / q.shape[-1]": " / x.shape[-1]"}),
        ("scale_of_another_axis", {" / q.shape[-1]": " / keys.shape[1]"}),
        ("softmax_over_queries", {"softmax(-1)": "softmax(1)"}),
        ("forbidden_scores_zero", {"-1e9": "0"}),
        ("weights_returned", {"weights @ values": "weights"}),
        (
            "renormalised",
            {FILLED: "scores", "weights @": "torch.nn.functional.normalize(weights * mask, 1, -1) @"},
        ),
        ("only_nan", {FILLED: "scores + ~mask * -torch.inf"}),
        ("softmax_over_samples", {"softmax(-1)": "softmax(0)"}),
        ("line_raised", keeps_no_values, "your line `return (x @ W_q @ cache.keys.mT)"),
        ("tensor_wanted", {"weights @ values": "weights @ values, cache"}, "returned a tuple"),
        ("wrong_entry", {"@ values": "@ values * 1.5"}, "a SimpleNamespace) the entry [0, 0, 0] should be"),
    ],
    together=[("mask_at_the_start", "scale_missing"), ("cache_replaced", "new_tokens_see_later_ones")],
)


def streamed_by_logarithms_of_sums(queries, tiles):
    output, logs = 0, torch.full((len(queries), 1), -torch.inf)
    for keys, values in tiles:
        scores = queries @ keys.T / math.sqrt(queries.shape[1])
        new = torch.logaddexp(logs, scores.logsumexp(1, keepdim=True))
        output = output * (logs - new).exp() + (scores - new).exp() @ values
        logs = new
    return output


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
        streamed_by_logarithms_of_sums,
        {"queries, keys)": "queries.double(), keys.double())", "@ values": "@ values.double()"},
    ],
    wrong=[
        ("nothing_rescaled", {"factor = torch.exp(largest - new)": "factor = 1"}),
        ("sum_not_rescaled", {"factor * total": "total"}),
        ("output_not_rescaled", {"factor * output": "output"}),
        ("largest_not_subtracted", {"torch.maximum(largest, here)": "torch.zeros_like(here)"}),
        ("largest_of_the_tile", {"torch.maximum(largest, here)": "here"}),
        ("one_largest_for_all", {"scores.max(dim=1, keepdim=True).values": "scores.max()"}),
        ("starts_at_zero", {"-torch.inf": "0.0"}),
        ("only_nan", {"largest - new": "new - largest"}),
        (
            "divided_at_each_tile",
            {"    return output / total": "        output = output / total\n    return output"},
        ),
        ("first_tile_alone", {"    return output": "        return output"}),
        ("sum_of_the_last_tile", {"factor * total + ": ""}),
        ("output_of_the_last_tile", {"factor * output + ": ""}),
        ("last_tile_alone", {"factor * output + ": "", "factor * total + ": ""}),
        ("not_divided", {"output / total": "output"}),
        ("sum_of_all_queries", {".sum(dim=1, keepdim=True)": ".sum()"}),
        ("scale_missing", {" / queries.shape[1] ** 0.5": ""}),
        ("scale_without_root", {"queries.shape[1] ** 0.5": "queries.shape[1]"}),
        ("scale_of_another_axis", {"/ queries.shape[1]": "/ keys.shape[0]"}),
        ("all_tiles_at_once", all_tiles),
        ("tiles_averaged", lambda q, tiles: sum(all_tiles(q, [tile]) for tile in tiles) / len(tiles)),
    ],
    together=[("sum_not_rescaled", "scale_missing"), ("output_not_rescaled", "scale_missing")],
)


def described(**changes):
    """The right layer, with these arguments changed."""

    def layer_of(config):
        arguments = {
            "num_hiddens": config["hidden_size"],
            "num_heads": config["num_attention_heads"],
            "bias": config["attention_bias"],
            "head_dim": config.get("head_dim"),
            "num_kv_heads": config.get("num_key_value_heads"),
            "rotary": config["positions"] == "rotary",
        }
        changed = {name: change(config) if callable(change) else change for name, change in changes.items()}
        return MultiHeadAttention(**arguments | changed)

    return layer_of


def described_in_other_words(config):
    D, H, bias, positions, *_ = config.values()
    kv_heads, width = config.get("num_key_value_heads") or H, config.get("head_dim", D // H)
    rotary = positions == "rotary"
    return MultiHeadAttention(D, H, 0.0, bias, head_dim=width, num_kv_heads=kv_heads, rotary=rotary)


def spoils_its_configuration(config):
    layer = described()(config)
    config.clear()
    return layer


describe_model = Answers(
    right=[
        described(),
        (described_in_other_words, f"right on {', '.join(MODELS)}."),
        spoils_its_configuration,
        spoils_its_configuration,
    ],
    wrong=[
        ("num_heads", described(num_heads=1, num_kv_heads=1), "num_heads is 1, and 32 is wanted"),
        ("num_kv_heads", described(num_kv_heads=None), "Llama 2 70B: num_kv_heads is 64, and 8 is wanted"),
        ("head_dim", described(head_dim=None), "PaLM 540B: head_dim is 384, and 256 is wanted"),
        ("bias", described(bias=False), "GPT-2 small: bias is False, and True is wanted"),
        ("rotary", described(rotary=False), "Llama 2 7B: rotary is False, and True is wanted"),
        (
            "bias",
            "rotary",
            described(bias=True, rotary=False),
            "First: Llama 2 7B: ",
            "bias is True",
            "rotary is",
        ),
        ("value_head_dim", described(value_head_dim=64), "value_head_dim is 64, and 128 is wanted"),
        ("input_sizes", described(key_size=64), "(4096, 64, 4096) wide, and (4096, 4096, 4096) is wanted"),
        ("num_hiddens", described(num_hiddens=lambda config: 2 * config["hidden_size"]), "8192, and 4096 is"),
        (
            "entry_missing",
            described(head_dim=lambda config: config["head_dim"]),
            "raised KeyError: 'head_dim' That entry",
        ),
        ("line_raised", lambda config: MultiHeadAttention(33, 4), "num_hiddens=33 must be divisible by"),
        ("layer_wanted", lambda config: 7, "a MultiHeadAttention is wanted, and this returned 7."),
    ],
)
