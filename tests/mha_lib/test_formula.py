"""The layer with every option, drawn at random: each way through it gives what the formula gives.

The formula is written here in einsum, in double precision, with as little of the library as there can be:
the turns of rotary positions alone come from it, which ``test_positions.py`` compares with their paper.
"""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import mha_lib.fused
import mha_lib.packing
from mha_lib import KVCache, MultiHeadAttention, Rotary, rotate_by_position
from tests.mha_lib.layers import allowed_by, output_and_gradients, with_random_parameters

WAYS = {
    "readable": {},
    "fused": {},
    "packed": {"WORTH_SKIPPING": -1},
    "chunks": {"MASK_CELLS": 1, "SMALLEST_CHUNK": 2, "SMALLEST_BLOCK": 1000},
    "blocks": {"SMALLEST_BLOCK": 1},
}
HEADS = [(1, 1, 5), (3, 3, 1), (2, 1, 4), (5, 5, 3), (4, 2, 2), (6, 3, 6)]  # heads of queries and keys, width
drawn = settings(max_examples=150, deadline=None, derandomize=True)


def formula(layer, queries, keys, values, *, change_weights=None, score_bias=None, head_mask=None, **limits):
    """Return the output and the weights that the docstring of the layer promises."""
    allowed = allowed_by(layer.window, len(queries), queries.shape[1], keys.shape[1], **limits)
    places = torch.arange(keys.shape[1])
    q = heads_of(layer, layer.W_q, queries, layer.q_norm, places[keys.shape[1] - queries.shape[1] :])
    k = heads_of(layer, layer.W_k, keys, layer.k_norm, places)
    v = linear(layer.W_v, values).unflatten(2, (layer.num_kv_heads, layer.value_head_dim))
    k, v = (x.repeat_interleave(layer.num_heads // layer.num_kv_heads, dim=2) for x in (k, v))
    scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(layer.head_dim)
    if score_bias is not None:
        score_bias = score_bias[:, None] if score_bias.dim() == 3 else score_bias
        scores, allowed = scores + score_bias, allowed & (score_bias > -math.inf)
    shares = scores.exp() * allowed
    total = shares.sum(-1, keepdim=True)
    if layer.sinks:
        total = total + layer.sink_logits.exp()[:, None, None]
    weights = shares / total.clamp(min=1e-30)  # a row of nothing is a row of zeros
    if change_weights is not None:
        weights = change_weights(weights, allowed.expand_as(weights))
    heads = torch.einsum("bhqk,bkhd->bqhd", weights, v)
    if head_mask is not None:
        heads = heads * head_mask.double().reshape(-1, 1, layer.num_heads, 1)
    return linear(layer.W_o, heads.flatten(2)), weights


def linear(projection, x):
    output = torch.einsum("bni,oi->bno", x, projection.weight)
    return output if projection.bias is None else output + projection.bias


def heads_of(layer, projection, x, norm, places):
    x = linear(projection, x).unflatten(2, (-1, layer.head_dim))  # (B, N, H, d)
    if norm is not None:
        x = x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * norm.weight
    if layer.rotary is None:
        return x
    return rotate_by_position(x.transpose(1, 2), places, layer.rotary).transpose(1, 2)


def changed(weights, allowed):
    """A function for the seam that tells the heads, the weights and what is allowed apart."""
    return weights.square() * torch.arange(1, 1 + weights.shape[1])[:, None, None] + 0.1 * allowed


def draw_layer(draw, num_inputs, may_turn=True):
    num_heads, num_kv_heads, head_dim = draw(st.sampled_from(HEADS))
    widths = {2: {"query_size": 4, "key_size": 5, "value_size": 5}, 3: {"key_size": 5, "value_size": 7}}
    rotary = st.sampled_from([False, True, Rotary(30.0, scaling=3.0, halves=True)])
    layer = MultiHeadAttention(
        draw(st.sampled_from([num_heads * head_dim, 8])),
        num_heads,
        bias=draw(st.booleans()),
        head_dim=head_dim,
        value_head_dim=draw(st.sampled_from([None, 2, 7])),
        num_kv_heads=num_kv_heads,
        rotary=may_turn and head_dim % 2 == 0 and draw(rotary),
        qk_norm=draw(st.booleans()),
        window=draw(st.sampled_from([None, None, 1, 3, 20])),
        sinks=draw(st.sampled_from([False, False, True])),
        **widths.get(num_inputs, {}),
    )
    return with_random_parameters(layer).double()


def draw_options(draw, layer, batch, num_queries, num_keys):
    """Draw up to four options of a call."""
    num_heads = layer.num_heads
    shapes = [(num_queries, num_keys), (batch, num_queries, num_keys), (batch, 1, num_keys)]
    shapes.append((batch, num_heads, num_queries, num_keys))
    names = ["lengths", "valid_lens", "key_mask", "mask", "score_bias", "head_mask", "change_weights"]
    options = {}
    for name in sorted(draw(st.sets(st.sampled_from(names), max_size=4))):
        if name == "lengths":
            options["valid_lens"] = torch.randint(num_keys + 1, (batch,))
        elif name == "valid_lens":
            options[name] = torch.randint(num_keys + 1, (batch, num_queries))
            if num_queries == num_keys:  # numbers of 0 and 1 alone would be taken for a mask
                options[name][:, :1] = num_keys
        elif name == "key_mask":
            options[name] = torch.rand(batch, num_keys) < 0.7
        elif name == "mask":
            options[name] = torch.rand(draw(st.sampled_from(shapes))) < 0.7
        elif name == "score_bias":
            if batch == num_heads > 1:  # three axes could be of heads or of samples
                shapes = [shape for shape in shapes if len(shape) != 3]
            bias = torch.randn(draw(st.sampled_from([*shapes, (1, num_heads, 1, num_keys)]))).double()
            bias.masked_fill_(torch.rand(bias.shape) < 0.2, -math.inf)
            options[name] = bias.requires_grad_()
        elif name == "head_mask":
            shape = (batch, num_heads) if draw(st.booleans()) else (num_heads,)
            options[name] = torch.rand(shape).double().requires_grad_()
        else:
            options[name] = changed
    return options


@drawn
@given(data=st.data())
def test_every_way_gives_output_weights_and_gradients_of_the_formula(data):
    """Keys that ``valid_lens`` or ``key_mask`` hide from all queries are NaN or ∞, and do nothing."""
    draw = data.draw
    torch.manual_seed(draw(st.integers(0, 1000)))
    num_inputs = draw(st.sampled_from([1, 2, 3]))
    batch, num_keys = draw(st.integers(0, 6)), draw(st.integers(0, 9))
    is_causal = draw(st.booleans())
    num_queries = num_keys if num_inputs == 1 else draw(st.integers(0, num_keys if is_causal else 9))
    layer = draw_layer(draw, num_inputs, may_turn=num_queries <= num_keys)
    options = draw_options(draw, layer, batch, num_queries, num_keys) | {"is_causal": is_causal}
    sizes = [(num_queries, layer.query_size), (num_keys, layer.key_size), (num_keys, layer.value_size)]
    inputs = [torch.randn(*size, batch).double().permute(2, 0, 1) for size in sizes[:num_inputs]]
    spoilt, bad = inputs, draw(st.sampled_from([math.nan, math.inf]))
    if num_inputs > 1 and num_queries:
        padding = {name: options[name] for name in ("valid_lens", "key_mask") if name in options}
        hidden = ~allowed_by(None, batch, num_queries, num_keys, **padding).any(2).mT  # (B, K, 1)
        spoilt = [inputs[0], *(x.masked_fill(hidden, bad) for x in inputs[1:])]
        inputs = [inputs[0], *(x.masked_fill(hidden, 0.0) for x in inputs[1:])]

    def as_promised(queries, keys=None, values=None, **options):
        keys = queries if keys is None else keys
        return formula(layer, queries, keys, keys if values is None else values, **options)

    expected, expected_weights = output_and_gradients(layer, as_promised, inputs, options)
    for way, changes in WAYS.items():
        with pytest.MonkeyPatch.context() as patch:
            for name, value in changes.items():
                patch.setattr(mha_lib.packing if name == "WORTH_SKIPPING" else mha_lib.fused, name, value)
            asked = options | {"need_weights": way == "readable"}
            found, weights = output_and_gradients(layer, layer, spoilt, asked)
        torch.testing.assert_close(found, expected, msg=lambda said, way=way: f"{way}: {said}")
        if weights is not None:
            torch.testing.assert_close(weights, expected_weights)


@drawn
@given(data=st.data())
@torch.no_grad()
def test_steps_with_a_cache_give_what_the_formula_gives_for_all_tokens_at_once(data):
    draw = data.draw
    torch.manual_seed(draw(st.integers(0, 1000)))
    batch, sizes = draw(st.integers(1, 3)), draw(st.lists(st.sampled_from([1, 1, 2, 5]), max_size=6))
    layer, num_tokens = draw_layer(draw, 1), sum(sizes)
    options = draw_options(draw, layer, batch, num_tokens, num_tokens) | {"is_causal": True}
    if layer.window is not None:
        options.pop("valid_lens", None)  # lengths count from the first key, which the cache forgets
    x, need_weights = torch.randn(batch, num_tokens, layer.num_hiddens).double(), draw(st.booleans())
    expected, expected_weights = formula(layer, x, x, x, **options)
    cache, end = KVCache(layer, batch, max(1, num_tokens)), 0
    for size in sizes:
        start, end = end, end + size
        first = start - len(cache)  # of the keys that the cache holds
        step = {name: part_of(name, value, start, first, end) for name, value in options.items()}
        result = layer(x[:, start:end], cache=cache, need_weights=need_weights, **step)
        output, weights = result if need_weights else (result, expected_weights[:, :, start:end, first:end])
        torch.testing.assert_close(output, expected[:, start:end])
        torch.testing.assert_close(weights, expected_weights[:, :, start:end, first:end])
        assert len(cache) == (end if layer.window is None else min(end, layer.window - 1))


def part_of(name, value, start, first, end):
    """Return what an option says of the queries from ``start`` and the keys from ``first`` up to ``end``."""
    if name == "valid_lens":
        return (value if value.dim() == 1 else value[:, start:end]).clamp(max=end)
    if name == "key_mask":
        return value[:, first:end]
    if name in ("mask", "score_bias"):
        rows = value if value.shape[-2] == 1 else value[..., start:end, :]
        return rows[..., first:end]
    return value
