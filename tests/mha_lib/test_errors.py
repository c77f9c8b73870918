"""Bad calls: each is an error that names the argument, what was required and what came."""

import math

import pytest
import torch
from torch import nn

from mha_lib import (
    AdditiveAttention,
    MultiHeadAttention,
    SingleHeadAttention,
    causal_mask,
    dot_product_attention,
    masked_softmax,
    merge_heads,
    padding_mask,
    sinusoidal_positions,
    split_heads,
)

B, Q, K, H, D = 2, 3, 5, 7, 14


def x(*shape, **options):
    return torch.zeros(shape, **options)


def lens(*lengths):
    return torch.tensor(lengths)


def yes(*shape):
    return torch.ones(shape, dtype=torch.bool)


LAYER = MultiHeadAttention(D, H)
CROSS = MultiHeadAttention(D, H, query_size=3, key_size=4, value_size=6)
HEAD = SingleHeadAttention(D, 4)
ADDITIVE = AdditiveAttention(8, query_size=3, key_size=4)
QUERIES, KEYS = x(B, Q, D), x(B, K, D)


def attend(**arguments):
    return lambda: LAYER(QUERIES, KEYS, **arguments)


BAD_CALLS = {
    # how it is called: (the call, the error, what its message must say)
    "lengths: a list": (
        attend(valid_lens=[1, 2]),
        TypeError,
        ["valid_lens", "tensor", "list", "torch.tensor"],
    ),
    "lengths: floats": (
        attend(valid_lens=lens(1.0, 2.0)),
        TypeError,
        ["valid_lens", "integers", "float32", "long"],
    ),
    "lengths: a mask": (attend(valid_lens=yes(B, K)), TypeError, ["valid_lens", "integers", "bool", "mask="]),
    "lengths: complex": (attend(valid_lens=lens(1j, 2j)), TypeError, ["valid_lens", "integers", "complex"]),
    "lengths: negative": (
        attend(valid_lens=lens(-1, 2)),
        ValueError,
        ["valid_lens", "0", "5", "-1", "clamp"],
    ),
    "lengths: too long": (attend(valid_lens=lens(1, 6)), ValueError, ["valid_lens", "5", "6", "clamp"]),
    "lengths: a scalar": (attend(valid_lens=torch.tensor(2)), ValueError, ["valid_lens", "(B,)", "()"]),
    "lengths: three axes": (
        attend(valid_lens=lens(1, 2)[:, None, None]),
        ValueError,
        ["valid_lens", "(2, 1, 1)"],
    ),
    "lengths: of another batch": (
        attend(valid_lens=lens(1, 2, 3)),
        ValueError,
        ["valid_lens", "(2,)", "(3,)"],
    ),
    "lengths: one for each key": (
        attend(valid_lens=torch.ones(B, K, dtype=torch.long)),
        ValueError,
        ["valid_lens", "(2, 3)", "(2, 5)"],
    ),
    "lengths: one head, too long": (
        lambda: HEAD(KEYS, valid_lens=lens(1, 6)),
        ValueError,
        ["valid_lens", "5", "6"],
    ),
    "lengths: one head, of another batch": (
        lambda: HEAD(KEYS, valid_lens=lens(1)),
        ValueError,
        ["valid_lens", "(2,)", "(1,)"],
    ),
    "padding_mask: too long": (lambda: padding_mask(lens(6), 5), ValueError, ["valid_lens", "5", "6"]),
    "padding_mask: floats": (
        lambda: padding_mask(lens(2.0), 5),
        TypeError,
        ["valid_lens", "integers", "float32"],
    ),
    "padding_mask: num_keys a tensor": (
        lambda: padding_mask(lens(2), lens(5)),
        TypeError,
        ["num_keys", "integer"],
    ),
    "padding_mask: num_keys negative": (
        lambda: padding_mask(lens(0), -1),
        ValueError,
        ["num_keys", "0", "-1"],
    ),
    "causal_mask: more queries than keys": (
        lambda: causal_mask(5, 3),
        ValueError,
        ["num_queries", "num_keys", "5 > 3"],
    ),
    "causal_mask: a float": (lambda: causal_mask(3.0, 3), TypeError, ["num_queries", "integer", "3.0"]),
    "causal: more queries than keys": (
        lambda: LAYER(KEYS, QUERIES, is_causal=True),
        ValueError,
        ["is_causal", "num_queries <= num_keys", "5 > 3"],
    ),
    "causal: one query, no key": (
        lambda: LAYER(x(B, 1, D), x(B, 0, D), is_causal=True),
        ValueError,
        ["is_causal", "1 > 0"],
    ),
    "causal: one head, more queries than keys": (
        lambda: HEAD(KEYS, QUERIES, is_causal=True),
        ValueError,
        ["is_causal", "5 > 3"],
    ),
    "mask: a list": (attend(mask=[True]), TypeError, ["mask", "boolean", "list"]),
    "mask: floats": (attend(mask=x(Q, K)), TypeError, ["mask", "boolean", "float32", "bool()"]),
    "mask: integers": (
        attend(mask=x(B, Q, K, dtype=torch.long)),
        TypeError,
        ["mask", "boolean", "int64", "bool()"],
    ),
    "mask: lengths": (
        attend(mask=lens(1, 2)),
        TypeError,
        ["mask", "boolean", "int64", "padding_mask", "valid_lens"],
    ),
    "mask: one axis": (attend(mask=yes(K)), ValueError, ["mask", "(Q, K) = (3, 5)", "(5,)"]),
    "mask: five axes": (attend(mask=yes(1, 1, 1, Q, K)), ValueError, ["mask", "(1, 1, 1, 3, 5)"]),
    "mask: (K, Q)": (attend(mask=yes(K, Q)), ValueError, ["mask", "(Q, K) = (3, 5)", "(5, 3)"]),
    "mask: (B, K)": (
        attend(mask=yes(B, K)),
        ValueError,
        ["mask", "(Q, K) = (3, 5)", "(2, 5)", "mask[:, None]"],
    ),
    "mask: (H, Q, K)": (
        attend(mask=yes(H, Q, K)),
        ValueError,
        ["mask", "(B, Q, K) = (2, 3, 5)", "(7, 3, 5)"],
    ),
    "mask: (B*H, Q, K)": (attend(mask=yes(B * H, Q, K)), ValueError, ["mask", "(B, Q, K)", "(14, 3, 5)"]),
    "mask: (H, B, Q, K)": (
        attend(mask=yes(H, B, Q, K), need_weights=True),
        ValueError,
        ["mask", "(B, H, Q, K) = (2, 7, 3, 5)", "(7, 2, 3, 5)"],
    ),
    "mask: one key for all": (attend(mask=yes(Q, 1)), ValueError, ["mask", "(3, 5)", "(3, 1)"]),
    "mask: one head, four axes": (
        lambda: HEAD(KEYS, mask=yes(B, 1, K, K)),
        ValueError,
        ["mask", "(B, Q, K) = (2, 5, 5)", "(2, 1, 5, 5)"],
    ),
    "mask: on another device": (
        attend(mask=yes(Q, K).to("meta")),
        ValueError,
        ["mask", "cpu", "meta", "to('cpu')"],
    ),
    "masked_softmax: lengths": (
        lambda: masked_softmax(x(B, Q, K), lens(1, 2)),
        TypeError,
        ["mask", "boolean", "int64", "padding_mask"],
    ),
    "masked_softmax: integers": (
        lambda: masked_softmax(x(Q, K).long()),
        TypeError,
        ["scores", "int64", "float()"],
    ),
    "masked_softmax: a list": (lambda: masked_softmax([1.0]), TypeError, ["scores", "tensor", "list"]),
    "masked_softmax: one axis": (lambda: masked_softmax(x(K)), ValueError, ["scores", "(Q, K)", "(5,)"]),
    "masked_softmax: five axes": (
        lambda: masked_softmax(x(1, 1, 1, Q, K)),
        ValueError,
        ["scores", "(B, H, Q, K)"],
    ),
    "masked_softmax: a mask with more axes": (
        lambda: masked_softmax(x(Q, K), yes(B, Q, K)),
        ValueError,
        ["mask", "(Q, K) = (3, 5)", "(2, 3, 5)"],
    ),
    "masked_softmax: a mask on another device": (
        lambda: masked_softmax(x(Q, K), yes(Q, K).to("meta")),
        ValueError,
        ["mask", "cpu", "meta"],
    ),
    "queries: no tensor": (lambda: LAYER([[1.0]]), TypeError, ["queries", "tensor", "list"]),
    "queries: integers": (
        lambda: LAYER(QUERIES.long()),
        TypeError,
        ["queries", "floating", "int64", "float()"],
    ),
    "queries: a single sample": (
        lambda: LAYER(x(Q, D)),
        ValueError,
        ["queries", "(B, N, 14)", "(3, 14)", "[None]"],
    ),
    "queries: four axes": (
        lambda: LAYER(x(B, H, Q, D)),
        ValueError,
        ["queries", "(B, N, 14)", "(2, 7, 3, 14)"],
    ),
    "queries: too wide": (lambda: LAYER(x(B, Q, 15)), ValueError, ["queries", "14", "15", "query_size=15"]),
    "queries: of another dtype than the layer": (
        lambda: LAYER(QUERIES.double()),
        TypeError,
        ["queries", "layer", "float32", "float64"],
    ),
    "queries: on another device than the layer": (
        lambda: LAYER(QUERIES.to("meta")),
        ValueError,
        ["queries", "layer", "cpu", "meta"],
    ),
    "keys: too wide": (
        lambda: CROSS(x(B, Q, 3), x(B, K, 6)),
        ValueError,
        ["keys", "(B, N, 4)", "key_size=6"],
    ),
    "keys: of another batch": (
        lambda: LAYER(QUERIES, x(3, K, D)),
        ValueError,
        ["keys", "batch", "(2,)", "(3, 5, 14)"],
    ),
    "keys: of one sample, not repeated": (lambda: LAYER(QUERIES, x(1, K, D)), ValueError, ["keys", "expand"]),
    "keys: of another dtype": (
        lambda: LAYER(QUERIES, KEYS.half()),
        TypeError,
        ["keys", "float32", "float16"],
    ),
    "keys: on another device": (lambda: LAYER(QUERIES, KEYS.to("meta")), ValueError, ["keys", "cpu", "meta"]),
    "values: keys of another width stand in": (
        lambda: CROSS(x(B, Q, 3), x(B, K, 4)),
        ValueError,
        ["values", "(B, N, 6)", "(2, 5, 4)", "value_size=4"],
    ),
    "values: more than keys": (
        lambda: LAYER(QUERIES, KEYS, x(B, 6, D)),
        ValueError,
        ["values", "keys", "5", "6"],
    ),
    "values: of another batch": (
        lambda: LAYER(QUERIES, KEYS, x(1, K, D)),
        ValueError,
        ["values", "batch", "(1, 5, 14)"],
    ),
    "one head: too wide": (lambda: HEAD(x(B, Q, 15)), ValueError, ["queries", "14", "num_hiddens=15"]),
    "one head: values more than keys": (
        lambda: HEAD(QUERIES, KEYS, x(B, 6, D)),
        ValueError,
        ["values", "5", "6"],
    ),
    "additive: keys of the wrong width": (
        lambda: ADDITIVE(x(B, Q, 3), x(B, K, 3), x(B, K, 1)),
        ValueError,
        ["keys", "(B, N, 4)", "(2, 5, 3)", "key_size=3"],
    ),
    "additive: values more than keys": (
        lambda: ADDITIVE(x(B, Q, 3), x(B, K, 4), x(B, 6, 1)),
        ValueError,
        ["values", "5", "6"],
    ),
    "additive: dropout": (
        lambda: ADDITIVE(x(B, Q, 3), x(B, K, 4), x(B, K, 1), dropout_p=2),
        ValueError,
        ["dropout_p", "0 to 1", "2"],
    ),
    "additive: lengths": (
        lambda: ADDITIVE(x(B, Q, 3), x(B, K, 4), x(B, K, 1), lens(1, 2)),
        TypeError,
        ["mask", "boolean", "padding_mask"],
    ),
    "dot product: widths": (
        lambda: dot_product_attention(x(B, Q, 3), x(B, K, 4), x(B, K, 4)),
        ValueError,
        ["keys", "queries", "3", "4", "AdditiveAttention"],
    ),
    "dot product: ranks": (
        lambda: dot_product_attention(x(B, Q, 3), x(K, 3), x(K, 3)),
        ValueError,
        ["keys", "(B, N, d)", "(5, 3)", "(2, 3, 3)"],
    ),
    "dot product: five axes": (
        lambda: dot_product_attention(*[x(1, 1, 1, Q, 3)] * 3),
        ValueError,
        ["queries", "(B, H, N, d)", "(1, 1, 1, 3, 3)"],
    ),
    "dot product: heads": (
        lambda: dot_product_attention(x(B, H, Q, 3), x(B, 1, K, 3), x(B, 1, K, 3)),
        ValueError,
        ["keys", "batch and heads", "(2, 7)", "(2, 1, 5, 3)"],
    ),
    "dot product: dtypes": (
        lambda: dot_product_attention(x(Q, 3), x(K, 3), x(K, 3).double()),
        TypeError,
        ["values", "queries", "float32", "float64"],
    ),
    "dot product: devices": (
        lambda: dot_product_attention(x(Q, 3), x(K, 3), x(K, 3, device="meta")),
        ValueError,
        ["values", "queries", "cpu", "meta"],
    ),
    "dot product: dropout": (
        lambda: dot_product_attention(x(Q, 3), x(K, 3), x(K, 3), dropout_p=-0.1),
        ValueError,
        ["dropout_p", "0 to 1", "-0.1"],
    ),
    "dot product: a layer's dropout": (
        lambda: dot_product_attention(x(Q, 3), x(K, 3), x(K, 3), None, nn.Dropout()),
        TypeError,
        ["dropout_p", "number", "Dropout"],
    ),
    "layer: heads do not divide": (
        lambda: MultiHeadAttention(100, 3),
        ValueError,
        ["num_hiddens=100", "num_heads=3", "1, 2, 4, 5, 10, 20, 25, 50, 100", "head_dim"],
    ),
    "layer: no heads": (lambda: MultiHeadAttention(14, 0), ValueError, ["num_heads", "at least 1", "0"]),
    "layer: heads a float": (lambda: MultiHeadAttention(14, 7.0), TypeError, ["num_heads", "integer", "7.0"]),
    "layer: heads a bool": (
        lambda: MultiHeadAttention(14, True),
        TypeError,
        ["num_heads", "integer", "True"],
    ),
    "layer: negative width": (
        lambda: MultiHeadAttention(-14, 7),
        ValueError,
        ["num_hiddens", "at least 1", "-14"],
    ),
    "layer: no head width": (
        lambda: MultiHeadAttention(14, 7, head_dim=0),
        ValueError,
        ["head_dim", "1", "0"],
    ),
    "layer: no value head width": (
        lambda: MultiHeadAttention(14, 7, value_head_dim=0),
        ValueError,
        ["value_head_dim", "at least 1", "0"],
    ),
    "layer: no key width": (
        lambda: MultiHeadAttention(14, 7, key_size=0),
        ValueError,
        ["key_size", "1", "0"],
    ),
    "layer: dropout above 1": (
        lambda: MultiHeadAttention(14, 7, 1.5),
        ValueError,
        ["dropout", "0 to 1", "1.5"],
    ),
    "layer: dropout NaN": (
        lambda: MultiHeadAttention(14, 7, math.nan),
        ValueError,
        ["dropout", "0 to 1", "nan"],
    ),
    "layer: dropout True": (
        lambda: MultiHeadAttention(14, 7, True),
        TypeError,
        ["dropout", "number", "True"],
    ),
    "layer: dropout a text": (
        lambda: MultiHeadAttention(14, 7, "0.1"),
        TypeError,
        ["dropout", "number", "0.1"],
    ),
    "one head: no width": (lambda: SingleHeadAttention(14, 0), ValueError, ["head_dim", "at least 1", "0"]),
    "one head: no value width": (lambda: SingleHeadAttention(14, 2, 0), ValueError, ["value_dim", "1", "0"]),
    "additive: no width": (lambda: AdditiveAttention(0), ValueError, ["num_hiddens", "at least 1", "0"]),
    "head_mask: a list": (attend(head_mask=[1] * H), TypeError, ["head_mask", "tensor", "list"]),
    "head_mask: too few heads": (attend(head_mask=x(6)), ValueError, ["head_mask", "(7,)", "(6,)"]),
    "head_mask: (H, B)": (attend(head_mask=x(H, B)), ValueError, ["head_mask", "(2, 7)", "(7, 2)"]),
    "head_mask: on another device": (
        attend(head_mask=x(H).to("meta")),
        ValueError,
        ["head_mask", "cpu", "meta"],
    ),
    "split_heads: heads do not divide": (
        lambda: split_heads(x(B, Q, 10), 4),
        ValueError,
        ["x", "10", "num_heads=4"],
    ),
    "split_heads: no heads": (
        lambda: split_heads(x(B, Q, 10), 0),
        ValueError,
        ["num_heads", "at least 1", "0"],
    ),
    "split_heads: two axes": (lambda: split_heads(x(Q, 10), 2), ValueError, ["x", "(B, N, H*d)", "(3, 10)"]),
    "merge_heads: three axes": (
        lambda: merge_heads(x(B, Q, 10)),
        ValueError,
        ["x", "(B, H, N, d)", "(2, 3, 10)"],
    ),
    "merge_heads: no tensor": (lambda: merge_heads(None), TypeError, ["x", "tensor", "NoneType"]),
    "positions: odd": (lambda: sinusoidal_positions(3, 5), ValueError, ["num_hiddens", "even", "5", "6"]),
    "positions: none wide": (
        lambda: sinusoidal_positions(3, 0),
        ValueError,
        ["num_hiddens", "at least 1", "0"],
    ),
    "positions: negative": (lambda: sinusoidal_positions(-1, 4), ValueError, ["num_positions", "0", "-1"]),
    "from_torch: another layer": (
        lambda: MultiHeadAttention.from_torch(nn.Linear(2, 2)),
        TypeError,
        ["module", "nn.MultiheadAttention", "Linear"],
    ),
    "from_torch: add_bias_kv": (
        lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(14, 7, add_bias_kv=True)),
        ValueError,
        ["module", "add_bias_kv"],
    ),
    "from_torch: add_zero_attn": (
        lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(14, 7, add_zero_attn=True)),
        ValueError,
        ["module", "add_zero_attn"],
    ),
}


@pytest.mark.parametrize(("call", "error", "words"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_a_bad_call_says_what_was_required_and_what_came(call, error, words):
    with pytest.raises(error) as raised:
        call()
    message = str(raised.value)
    assert type(raised.value) is error
    for word in words:
        assert word in message, f"{word!r} is missing from: {message}"


LAYER_CALLS = [name for name in BAD_CALLS if name.split(":")[0] in ("lengths", "mask", "head_mask", "causal")]


@pytest.mark.parametrize("name", [n for n in LAYER_CALLS if "one head" not in n and "need_weights" not in n])
def test_both_paths_refuse_alike(name, monkeypatch):
    call, error, _ = BAD_CALLS[name]
    with pytest.raises(error) as fast:
        call()
    forward = MultiHeadAttention.forward
    monkeypatch.setattr(
        MultiHeadAttention,
        "forward",
        lambda *args, **options: forward(*args, **(options | {"need_weights": True})),
    )
    with pytest.raises(error) as readable:
        call()
    assert str(fast.value) == str(readable.value)


def test_there_are_enough_bad_calls():
    assert len(BAD_CALLS) >= 40
