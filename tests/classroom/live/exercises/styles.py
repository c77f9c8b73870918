"""Other right answers: by the library, by broadcasting, einsum, in place, in another dtype.

A function is called as its exercise and its style.
"""

import math

import torch

import mha_lib

masked_softmax__by_the_library = empty_rows__by_the_library = mha_lib.masked_softmax
mask_from_lengths__by_the_library = mha_lib.padding_mask
positions__by_the_library = mha_lib.sinusoidal_positions
causal_mask__by_the_library = mha_lib.causal_mask
split_heads__by_the_library = mha_lib.split_heads
rotate__by_the_library = mha_lib.rotate_by_position


def dot_product_attention__by_the_library(*call):
    return mha_lib.dot_product_attention(*call)[0]


def masked_softmax__by_a_fill_of_a_million(scores, mask):
    return scores.masked_fill(~mask, -1e6).softmax(-1)


def masked_softmax__by_the_lowest_fill(scores, mask):
    return scores.masked_fill(~mask, torch.finfo().min).softmax(-1)


def masked_softmax__written_out(scores, mask):
    largest = scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True)
    exponentials = (scores - largest).exp().masked_fill(~mask, 0)
    return exponentials / exponentials.sum(-1, keepdim=True)


def grouped_query_attention__by_a_group_axis(queries, keys, values):
    grouped = queries.unflatten(1, (keys.shape[1], -1))
    scores = torch.einsum("bghqd,bgkd->bghqk", grouped, keys) * keys.shape[-1] ** -0.5
    return torch.einsum("bghqk,bgkv->bghqv", scores.softmax(-1), values).flatten(1, 2)


def grouped_query_attention__by_broadcasting(queries, keys, values):
    B, H, Q, d = queries.shape
    scores = queries.reshape(B, keys.shape[1], -1, Q, d) @ keys.unsqueeze(2).mT / math.sqrt(d)
    return (scores.softmax(-1) @ values.unsqueeze(2)).reshape(B, H, Q, -1)


def grouped_query_attention__by_longer_lists_of_queries(queries, keys, values):
    B, H, Q, d = queries.shape
    rows = queries.reshape(B, keys.shape[1], -1, d)
    return ((rows @ keys.mT / d**0.5).softmax(-1) @ values).reshape(B, H, Q, -1)


def grouped_query_attention__by_pytorch(queries, keys, values):
    return torch.nn.functional.scaled_dot_product_attention(queries, keys, values, enable_gqa=True)


def grouped_query_attention__in_float64(queries, keys, values):
    keys, values = (x.double().repeat_interleave(queries.shape[1] // x.shape[1], 1) for x in (keys, values))
    return (queries.double() @ keys.mT / keys.shape[-1] ** 0.5).softmax(-1) @ values


def pool_heads__by_view(W, num_heads, num_kv_heads):
    return W.view(len(W), num_kv_heads, num_heads // num_kv_heads, -1).mean(dim=-2).view(len(W), -1)


def pool_heads__by_a_matrix(W, num_heads, num_kv_heads):
    size, d = num_heads // num_kv_heads, W.shape[1] // num_heads
    P = torch.eye(num_kv_heads).repeat_interleave(size, 0) / size
    return W @ torch.kron(P, torch.eye(d))


def pool_heads__by_lists_of_heads(W, num_heads, num_kv_heads):
    heads = W.chunk(num_heads, dim=1)
    size = num_heads // num_kv_heads
    groups = [heads[first : first + size] for first in range(0, num_heads, size)]
    return torch.cat([sum(group) / size for group in groups], dim=1)


def rotate__in_place_of_a_copy(x, positions):
    d = x.shape[-1]
    angles = torch.outer(positions.float(), 10000.0 ** (-torch.arange(0, d, 2) / d))
    cos, sin = angles.cos(), angles.sin()
    x = x.clone()
    a = x[..., 0::2].clone()
    x[..., 0::2] = a * cos - x[..., 1::2] * sin
    x[..., 1::2] = a * sin + x[..., 1::2] * cos
    return x


def rotate__as_complex_numbers(x, positions):
    d = x.shape[-1]
    angles = positions[:, None].double() / 10000 ** (torch.arange(0, d, 2).double() / d)
    turned = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)))
    turned = turned * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2)


def rotate__by_matrices(x, positions):
    d = x.shape[-1]
    out = torch.empty_like(x)
    for n, p in enumerate(positions.tolist()):
        angles = [p / 10000 ** (2 * j / d) for j in range(d // 2)]
        blocks = [[[math.cos(t), math.sin(t)], [-math.sin(t), math.cos(t)]] for t in angles]
        out[:, n] = x[:, n] @ torch.block_diag(*map(torch.tensor, blocks))
    return out


def rotate__by_interleaved_tables(x, positions):
    d = x.shape[-1]
    angles = (positions[:, None] / 10000 ** (torch.arange(0, d, 2) / d)).repeat_interleave(2, -1)
    swapped = torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2)
    return x * angles.cos() + swapped * angles.sin()


def attend_with_cache__attended_token_by_token(x, W_q, W_k, W_v, cache):
    outputs = []
    for token in x.split(1, dim=1):
        cache.keys = torch.cat((cache.keys, token @ W_k), 1)
        cache.values = torch.cat((cache.values, token @ W_v), 1)
        weights = (token @ W_q @ cache.keys.mT / math.sqrt(W_k.shape[1])).softmax(-1)
        outputs.append(weights @ cache.values)
    return torch.cat(outputs, 1)


def attend_with_cache__attended_by_pytorch(x, W_q, W_k, W_v, cache):
    cache.keys = torch.cat([cache.keys, x @ W_k], dim=1)
    cache.values = torch.cat([cache.values, x @ W_v], dim=1)
    mask = mha_lib.causal_mask(x.shape[1], cache.keys.shape[1])
    return torch.nn.functional.scaled_dot_product_attention(x @ W_q, cache.keys, cache.values, mask)


def attend_with_cache__in_float64(x, W_q, W_k, W_v, cache):
    q, k, v = (x.double() @ W.double() for W in (W_q, W_k, W_v))
    cache.keys, cache.values = torch.cat([cache.keys, k], 1), torch.cat([cache.values, v], 1)
    mask = mha_lib.causal_mask(x.shape[1], cache.keys.shape[1])
    return mha_lib.dot_product_attention(q, cache.keys, cache.values, mask)[0]


def online_softmax__divided_as_one_goes(queries, tiles):
    output, total, largest = 0, torch.zeros(len(queries), 1), torch.full((len(queries), 1), -torch.inf)
    for keys, values in tiles:
        scores = queries @ keys.T / math.sqrt(queries.shape[1])
        new = torch.maximum(largest, scores.amax(1, keepdim=True))
        before = total * (largest - new).exp()
        total = before + (scores - new).exp().sum(1, keepdim=True)
        output = output * before / total + (scores - new).exp() @ values / total
        largest = new
    return output


def online_softmax__by_logarithms_of_sums(queries, tiles):
    output, logs = 0, torch.full((len(queries), 1), -torch.inf)
    for keys, values in tiles:
        scores = queries @ keys.T / math.sqrt(queries.shape[1])
        new = torch.logaddexp(logs, scores.logsumexp(1, keepdim=True))
        output = output * (logs - new).exp() + (scores - new).exp() @ values
        logs = new
    return output


def online_softmax__in_place_one_query_after_the_other(queries, tiles):
    rows = []
    for query in queries:
        largest, total, output = -math.inf, 0.0, torch.zeros(tiles[0][1].shape[1])
        for keys, values in tiles:
            for key, value in zip(keys, values, strict=True):
                score = (query @ key).item() / math.sqrt(len(query))
                new = max(largest, score)
                shrink, share = math.exp(largest - new), math.exp(score - new)
                total = total * shrink + share
                output.mul_(shrink).add_(share * value)
                largest = new
        rows.append(output / total)
    return torch.stack(rows)


def online_softmax__in_float64(queries, tiles):
    queries, total, output, largest = queries.double(), 0, 0, -1e30
    for keys, values in tiles:
        scores = queries @ keys.double().T / queries.shape[1] ** 0.5
        new = scores.amax(1, keepdim=True).clamp(min=largest)
        total = total * (largest - new).exp() + (scores - new).exp().sum(1, keepdim=True)
        output = output * (largest - new).exp() + (scores - new).exp() @ values.double()
        largest = new
    return output / total
