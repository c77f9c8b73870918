"""Bad calls: each is an error that names the argument, what was required and what came."""

import math
from collections.abc import Callable
from typing import Any

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


def x(*shape: int, **options: Any) -> torch.Tensor:
    return torch.zeros(shape, **options)


def lens(*lengths: complex) -> torch.Tensor:
    return torch.tensor(lengths)


def yes(*shape: int) -> torch.Tensor:
    return torch.ones(shape, dtype=torch.bool)


LAYER = MultiHeadAttention(D, H)
CROSS = MultiHeadAttention(D, H, query_size=3, key_size=4, value_size=6)
HEAD = SingleHeadAttention(D, 4)
ADDITIVE = AdditiveAttention(8, query_size=3, key_size=4)
QUERIES, KEYS = x(B, Q, D), x(B, K, D)


def wrong(value: object) -> Any:
    """A value of a type that the signature refuses: a type checker must not see it."""
    return value


def attend(**arguments: Any) -> Callable[[], object]:
    return lambda: LAYER(QUERIES, KEYS, **arguments)


BAD_CALLS: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    # how it is called: (the call, the error, its message)
    "lengths: a list": (
        attend(valid_lens=[1, 2]),
        TypeError,
        "valid_lens must be a tensor of integers, got list; try torch.tensor(valid_lens)",
    ),
    "lengths: floats": (
        attend(valid_lens=lens(1.0, 2.0)),
        TypeError,
        "valid_lens must hold integers, got torch.float32; try valid_lens.long()",
    ),
    "lengths: a mask": (
        attend(valid_lens=yes(B, K)),
        TypeError,
        "valid_lens must hold integers, got torch.bool; a mask goes into mask=",
    ),
    "lengths: complex": (
        attend(valid_lens=lens(1j, 2j)),
        TypeError,
        "valid_lens must hold integers, got torch.complex64; try valid_lens.long()",
    ),
    "lengths: negative": (
        attend(valid_lens=lens(-1, 2)),
        ValueError,
        "valid_lens must lie from 0 to the number of keys, 5, got -1 to 2; try valid_lens.clamp(0, 5)",
    ),
    "lengths: too long": (
        attend(valid_lens=lens(1, 6)),
        ValueError,
        "valid_lens must lie from 0 to the number of keys, 5, got 1 to 6; try valid_lens.clamp(0, 5)",
    ),
    "lengths: a scalar": (
        attend(valid_lens=torch.tensor(2)),
        ValueError,
        "valid_lens must be (B,), a length for each sample, or (B, Q), one for each query; got shape ()",
    ),
    "lengths: three axes": (
        attend(valid_lens=lens(1, 2)[:, None, None]),
        ValueError,
        "valid_lens must be (B,), a length for each sample, or (B, Q), one for each query; "
        "got shape (2, 1, 1)",
    ),
    "lengths: of another batch": (
        attend(valid_lens=lens(1, 2, 3)),
        ValueError,
        "valid_lens must be (B,) = (2,) or (B, Q) = (2, 3), got shape (3,); (B,): a length "
        "for each sample, (B, Q): one for each query",
    ),
    "lengths: one for each key": (
        attend(valid_lens=torch.ones(B, K, dtype=torch.long)),
        ValueError,
        "valid_lens must be (B,) = (2,) or (B, Q) = (2, 3), got shape (2, 5); (B,): a length "
        "for each sample, (B, Q): one for each query",
    ),
    "lengths: one head, too long": (
        lambda: HEAD(KEYS, valid_lens=lens(1, 6)),
        ValueError,
        "valid_lens must lie from 0 to the number of keys, 5, got 1 to 6; try valid_lens.clamp(0, 5)",
    ),
    "lengths: one head, of another batch": (
        lambda: HEAD(KEYS, valid_lens=lens(1)),
        ValueError,
        "valid_lens must be (B,) = (2,) or (B, Q) = (2, 5), got shape (1,); (B,): a length "
        "for each sample, (B, Q): one for each query",
    ),
    "padding_mask: too long": (
        lambda: padding_mask(lens(6), 5),
        ValueError,
        "valid_lens must lie from 0 to the number of keys, 5, got 6 to 6; try valid_lens.clamp(0, 5)",
    ),
    "padding_mask: floats": (
        lambda: padding_mask(lens(2.0), 5),
        TypeError,
        "valid_lens must hold integers, got torch.float32; try valid_lens.long()",
    ),
    "padding_mask: num_keys a tensor": (
        lambda: padding_mask(lens(2), wrong(lens(5))),
        TypeError,
        "num_keys must be an integer, got tensor([5])",
    ),
    "padding_mask: num_keys negative": (
        lambda: padding_mask(lens(0), -1),
        ValueError,
        "num_keys must be at least 0, got -1",
    ),
    "causal_mask: more queries than keys": (
        lambda: causal_mask(5, 3),
        ValueError,
        "a causal mask (is_causal) needs num_queries <= num_keys, got 5 > 3: it is aligned at"
        " the end, so the first queries would see nothing; pass a mask of your own",
    ),
    "causal_mask: a float": (
        lambda: causal_mask(wrong(3.0), 3),
        TypeError,
        "num_queries must be an integer, got 3.0",
    ),
    "causal: more queries than keys": (
        lambda: LAYER(KEYS, QUERIES, is_causal=True),
        ValueError,
        "a causal mask (is_causal) needs num_queries <= num_keys, got 5 > 3: it is aligned at"
        " the end, so the first queries would see nothing; pass a mask of your own",
    ),
    "causal: one query, no key": (
        lambda: LAYER(x(B, 1, D), x(B, 0, D), is_causal=True),
        ValueError,
        "a causal mask (is_causal) needs num_queries <= num_keys, got 1 > 0: it is aligned at"
        " the end, so the first queries would see nothing; pass a mask of your own",
    ),
    "causal: one head, more queries than keys": (
        lambda: HEAD(KEYS, QUERIES, is_causal=True),
        ValueError,
        "a causal mask (is_causal) needs num_queries <= num_keys, got 5 > 3: it is aligned at"
        " the end, so the first queries would see nothing; pass a mask of your own",
    ),
    "mask: a list": (
        attend(mask=[True]),
        TypeError,
        "mask must be a boolean tensor (True = may attend), got list",
    ),
    "mask: floats": (
        attend(mask=x(Q, K)),
        TypeError,
        "mask must be boolean (True = may attend), got torch.float32; for a mask of 0 and 1: mask.bool()",
    ),
    "mask: integers": (
        attend(mask=x(B, Q, K, dtype=torch.long)),
        TypeError,
        "mask must be boolean (True = may attend), got torch.int64; for a mask of 0 and 1: mask.bool()",
    ),
    "mask: lengths": (
        attend(mask=lens(1, 2)),
        TypeError,
        "mask must be boolean (True = may attend), got torch.int64; for lengths: "
        "padding_mask(valid_lens, num_keys), or valid_lens= of a layer",
    ),
    "mask: one axis": (
        attend(mask=yes(K)),
        ValueError,
        "mask must be (Q, K) = (3, 5) or (B, Q, K) = (2, 3, 5) or (B, H, Q, K) = (2, 7, 3, "
        "5), any axis but K may be 1, got shape (5,)",
    ),
    "mask: five axes": (
        attend(mask=yes(1, 1, 1, Q, K)),
        ValueError,
        "mask must be (Q, K) = (3, 5) or (B, Q, K) = (2, 3, 5) or (B, H, Q, K) = (2, 7, 3, "
        "5), any axis but K may be 1, got shape (1, 1, 1, 3, 5)",
    ),
    "mask: (K, Q)": (
        attend(mask=yes(K, Q)),
        ValueError,
        "mask must be (Q, K) = (3, 5) or (B, Q, K) = (2, 3, 5) or (B, H, Q, K) = (2, 7, 3, "
        "5), any axis but K may be 1, got shape (5, 3)",
    ),
    "mask: (B, K)": (
        attend(mask=yes(B, K)),
        ValueError,
        "mask must be (Q, K) = (3, 5) or (B, Q, K) = (2, 3, 5) or (B, H, Q, K) = (2, 7, 3, "
        "5), any axis but K may be 1, got shape (2, 5); for a mask (B, K): mask[:, None]",
    ),
    "mask: (H, Q, K)": (
        attend(mask=yes(H, Q, K)),
        ValueError,
        "mask must be (Q, K) = (3, 5) or (B, Q, K) = (2, 3, 5) or (B, H, Q, K) = (2, 7, 3, "
        "5), any axis but K may be 1, got shape (7, 3, 5)",
    ),
    "mask: (B*H, Q, K)": (
        attend(mask=yes(B * H, Q, K)),
        ValueError,
        "mask must be (Q, K) = (3, 5) or (B, Q, K) = (2, 3, 5) or (B, H, Q, K) = (2, 7, 3, "
        "5), any axis but K may be 1, got shape (14, 3, 5)",
    ),
    "mask: (H, B, Q, K)": (
        attend(mask=yes(H, B, Q, K), need_weights=True),
        ValueError,
        "mask must be (Q, K) = (3, 5) or (B, Q, K) = (2, 3, 5) or (B, H, Q, K) = (2, 7, 3, "
        "5), any axis but K may be 1, got shape (7, 2, 3, 5)",
    ),
    "mask: one key for all": (
        attend(mask=yes(Q, 1)),
        ValueError,
        "mask must be (Q, K) = (3, 5) or (B, Q, K) = (2, 3, 5) or (B, H, Q, K) = (2, 7, 3, "
        "5), any axis but K may be 1, got shape (3, 1)",
    ),
    "mask: one head, four axes": (
        lambda: HEAD(KEYS, mask=yes(B, 1, K, K)),
        ValueError,
        "mask must be (Q, K) = (5, 5) or (B, Q, K) = (2, 5, 5), any axis but K may be 1, got "
        "shape (2, 1, 5, 5)",
    ),
    "mask: on another device": (
        attend(mask=yes(Q, K).to("meta")),
        ValueError,
        "mask must be on cpu, with what it applies to, got meta; try mask.to('cpu')",
    ),
    "masked_softmax: lengths": (
        lambda: masked_softmax(x(B, Q, K), lens(1, 2)),
        TypeError,
        "mask must be boolean (True = may attend), got torch.int64; for lengths: "
        "padding_mask(valid_lens, num_keys), or valid_lens= of a layer",
    ),
    "masked_softmax: integers": (
        lambda: masked_softmax(x(Q, K).long()),
        TypeError,
        "scores must hold floating-point numbers, got torch.int64; try scores.float()",
    ),
    "masked_softmax: a list": (
        lambda: masked_softmax(wrong([1.0])),
        TypeError,
        "scores must be a tensor, got list; try torch.as_tensor(scores)",
    ),
    "masked_softmax: one axis": (
        lambda: masked_softmax(x(K)),
        ValueError,
        "scores must be (Q, K), (B, Q, K) or (B, H, Q, K), got shape (5,)",
    ),
    "masked_softmax: five axes": (
        lambda: masked_softmax(x(1, 1, 1, Q, K)),
        ValueError,
        "scores must be (Q, K), (B, Q, K) or (B, H, Q, K), got shape (1, 1, 1, 3, 5)",
    ),
    "masked_softmax: a mask with more axes": (
        lambda: masked_softmax(x(Q, K), yes(B, Q, K)),
        ValueError,
        "mask must be (Q, K) = (3, 5), any axis but K may be 1, got shape (2, 3, 5)",
    ),
    "masked_softmax: a mask on another device": (
        lambda: masked_softmax(x(Q, K), yes(Q, K).to("meta")),
        ValueError,
        "mask must be on cpu, with what it applies to, got meta; try mask.to('cpu')",
    ),
    "queries: no tensor": (
        lambda: LAYER(wrong([[1.0]])),
        TypeError,
        "queries must be a tensor, got list; try torch.as_tensor(queries)",
    ),
    "queries: integers": (
        lambda: LAYER(QUERIES.long()),
        TypeError,
        "queries must hold floating-point numbers, got torch.int64; try queries.float()",
    ),
    "queries: a single sample": (
        lambda: LAYER(x(Q, D)),
        ValueError,
        "queries must be (B, N, 14), got shape (3, 14); for a single sample: queries[None]",
    ),
    "queries: four axes": (
        lambda: LAYER(x(B, H, Q, D)),
        ValueError,
        "queries must be (B, N, 14), got shape (2, 7, 3, 14)",
    ),
    "queries: too wide": (
        lambda: LAYER(x(B, Q, 15)),
        ValueError,
        "queries must be (B, N, 14), got shape (2, 3, 15); for such queries build the layer "
        "with query_size=15",
    ),
    "queries: of another dtype than the layer": (
        lambda: LAYER(QUERIES.double()),
        TypeError,
        "queries must have the dtype of the layer, torch.float32, got torch.float64; convert "
        "one of them with .to(torch.float32), or run under torch.autocast",
    ),
    "queries: on another device than the layer": (
        lambda: LAYER(QUERIES.to("meta")),
        ValueError,
        "queries must be on the device of the layer, cpu, got meta; move one of them with .to('cpu')",
    ),
    "keys: too wide": (
        lambda: CROSS(x(B, Q, 3), x(B, K, 6)),
        ValueError,
        "keys must be (B, N, 4), got shape (2, 5, 6); for such keys build the layer with key_size=6",
    ),
    "keys: of another batch": (
        lambda: LAYER(QUERIES, x(3, K, D)),
        ValueError,
        "keys must agree with queries in batch, (2,), got shape (3, 5, 14); keys.expand "
        "repeats a single sample without copying it",
    ),
    "keys: of one sample, not repeated": (
        lambda: LAYER(QUERIES, x(1, K, D)),
        ValueError,
        "keys must agree with queries in batch, (2,), got shape (1, 5, 14); keys.expand "
        "repeats a single sample without copying it",
    ),
    "keys: of another dtype": (
        lambda: LAYER(QUERIES, KEYS.half()),
        TypeError,
        "keys must have the dtype of the layer, torch.float32, got torch.float16; convert one"
        " of them with .to(torch.float32), or run under torch.autocast",
    ),
    "keys: on another device": (
        lambda: LAYER(QUERIES, KEYS.to("meta")),
        ValueError,
        "keys must be on the device of the layer, cpu, got meta; move one of them with .to('cpu')",
    ),
    "values: keys of another width stand in": (
        lambda: CROSS(x(B, Q, 3), x(B, K, 4)),
        ValueError,
        "values must be (B, N, 6), got shape (2, 5, 4); for such values build the layer with value_size=4",
    ),
    "values: more than keys": (
        lambda: LAYER(QUERIES, KEYS, x(B, 6, D)),
        ValueError,
        "values must be as many as keys, 5, got 6; each key has one",
    ),
    "values: of another batch": (
        lambda: LAYER(QUERIES, KEYS, x(1, K, D)),
        ValueError,
        "values must agree with queries in batch, (2,), got shape (1, 5, 14); values.expand "
        "repeats a single sample without copying it",
    ),
    "one head: too wide": (
        lambda: HEAD(x(B, Q, 15)),
        ValueError,
        "queries must be (B, N, 14), got shape (2, 3, 15); for such queries build the layer "
        "with num_hiddens=15",
    ),
    "one head: values more than keys": (
        lambda: HEAD(QUERIES, KEYS, x(B, 6, D)),
        ValueError,
        "values must be as many as keys, 5, got 6; each key has one",
    ),
    "additive: keys of the wrong width": (
        lambda: ADDITIVE(x(B, Q, 3), x(B, K, 3), x(B, K, 1)),
        ValueError,
        "keys must be (B, N, 4), got shape (2, 5, 3); for such keys build the layer with key_size=3",
    ),
    "additive: values more than keys": (
        lambda: ADDITIVE(x(B, Q, 3), x(B, K, 4), x(B, 6, 1)),
        ValueError,
        "values must be as many as keys, 5, got 6; each key has one",
    ),
    "additive: dropout": (
        lambda: ADDITIVE(x(B, Q, 3), x(B, K, 4), x(B, K, 1), dropout_p=2),
        ValueError,
        "dropout_p must be a probability from 0 to 1, got 2",
    ),
    "additive: lengths": (
        lambda: ADDITIVE(x(B, Q, 3), x(B, K, 4), x(B, K, 1), lens(1, 2)),
        TypeError,
        "mask must be boolean (True = may attend), got torch.int64; for lengths: "
        "padding_mask(valid_lens, num_keys), or valid_lens= of a layer",
    ),
    "dot product: widths": (
        lambda: dot_product_attention(x(B, Q, 3), x(B, K, 4), x(B, K, 4)),
        ValueError,
        "keys must be as wide as queries for a dot product, 3, got 4; project both to one "
        "width, or use AdditiveAttention",
    ),
    "dot product: ranks": (
        lambda: dot_product_attention(x(B, Q, 3), x(K, 3), x(K, 3)),
        ValueError,
        "queries, keys and values must all be (N, d), (B, N, d) or (B, H, N, d), got keys of "
        "shape (5, 3) with queries of shape (2, 3, 3)",
    ),
    "dot product: five axes": (
        lambda: dot_product_attention(x(1, 1, 1, Q, 3), x(1, 1, 1, Q, 3), x(1, 1, 1, Q, 3)),
        ValueError,
        "queries, keys and values must all be (N, d), (B, N, d) or (B, H, N, d), got queries "
        "of shape (1, 1, 1, 3, 3) with queries of shape (1, 1, 1, 3, 3)",
    ),
    "dot product: heads": (
        lambda: dot_product_attention(x(B, H, Q, 3), x(B, 1, K, 3), x(B, 1, K, 3)),
        ValueError,
        "keys must agree with queries in batch and heads, (2, 7), got shape (2, 1, 5, 3); "
        "keys.expand repeats a single sample without copying it",
    ),
    "dot product: dtypes": (
        lambda: dot_product_attention(x(Q, 3), x(K, 3), x(K, 3).double()),
        TypeError,
        "values must have the dtype of queries, torch.float32, got torch.float64; convert one"
        " of them with .to(torch.float32), or run under torch.autocast",
    ),
    "dot product: devices": (
        lambda: dot_product_attention(x(Q, 3), x(K, 3), x(K, 3, device="meta")),
        ValueError,
        "values must be on the device of queries, cpu, got meta; move one of them with .to('cpu')",
    ),
    "dot product: dropout": (
        lambda: dot_product_attention(x(Q, 3), x(K, 3), x(K, 3), dropout_p=-0.1),
        ValueError,
        "dropout_p must be a probability from 0 to 1, got -0.1",
    ),
    "dot product: a layer's dropout": (
        lambda: dot_product_attention(x(Q, 3), x(K, 3), x(K, 3), None, wrong(nn.Dropout())),
        TypeError,
        "dropout_p must be a number from 0 to 1, got Dropout(p=0.5, inplace=False)",
    ),
    "layer: heads do not divide": (
        lambda: MultiHeadAttention(100, 3),
        ValueError,
        "num_hiddens=100 must be divisible by num_heads=3; divisors: 1, 2, 4, 5, 10, 20, 25, "
        "50, 100; or choose the width of a head yourself with head_dim",
    ),
    "layer: no heads": (lambda: MultiHeadAttention(14, 0), ValueError, "num_heads must be at least 1, got 0"),
    "layer: heads a float": (
        lambda: MultiHeadAttention(14, wrong(7.0)),
        TypeError,
        "num_heads must be an integer, got 7.0",
    ),
    "layer: heads a bool": (
        lambda: MultiHeadAttention(14, True),
        TypeError,
        "num_heads must be an integer, got True",
    ),
    "layer: negative width": (
        lambda: MultiHeadAttention(-14, 7),
        ValueError,
        "num_hiddens must be at least 1, got -14",
    ),
    "layer: no head width": (
        lambda: MultiHeadAttention(14, 7, head_dim=0),
        ValueError,
        "head_dim must be at least 1, got 0",
    ),
    "layer: no value head width": (
        lambda: MultiHeadAttention(14, 7, value_head_dim=0),
        ValueError,
        "value_head_dim must be at least 1, got 0",
    ),
    "layer: no key width": (
        lambda: MultiHeadAttention(14, 7, key_size=0),
        ValueError,
        "key_size must be at least 1, got 0",
    ),
    "layer: dropout above 1": (
        lambda: MultiHeadAttention(14, 7, 1.5),
        ValueError,
        "dropout must be a probability from 0 to 1, got 1.5",
    ),
    "layer: dropout NaN": (
        lambda: MultiHeadAttention(14, 7, math.nan),
        ValueError,
        "dropout must be a probability from 0 to 1, got nan",
    ),
    "layer: dropout True": (
        lambda: MultiHeadAttention(14, 7, True),
        TypeError,
        "dropout must be a number from 0 to 1, got True",
    ),
    "layer: dropout a text": (
        lambda: MultiHeadAttention(14, 7, wrong("0.1")),
        TypeError,
        "dropout must be a number from 0 to 1, got '0.1'",
    ),
    "one head: no width": (
        lambda: SingleHeadAttention(14, 0),
        ValueError,
        "head_dim must be at least 1, got 0",
    ),
    "one head: no value width": (
        lambda: SingleHeadAttention(14, 2, 0),
        ValueError,
        "value_dim must be at least 1, got 0",
    ),
    "additive: no width": (lambda: AdditiveAttention(0), ValueError, "num_hiddens must be at least 1, got 0"),
    "head_mask: a list": (
        attend(head_mask=[1] * H),
        TypeError,
        "head_mask must be a tensor, got list; try torch.tensor(head_mask)",
    ),
    "head_mask: too few heads": (
        attend(head_mask=x(6)),
        ValueError,
        "head_mask must be (H,) = (7,) or (B, H) = (2, 7), got shape (6,)",
    ),
    "head_mask: (H, B)": (
        attend(head_mask=x(H, B)),
        ValueError,
        "head_mask must be (H,) = (7,) or (B, H) = (2, 7), got shape (7, 2)",
    ),
    "head_mask: on another device": (
        attend(head_mask=x(H).to("meta")),
        ValueError,
        "head_mask must be on cpu, with what it applies to, got meta; try head_mask.to('cpu')",
    ),
    "split_heads: heads do not divide": (
        lambda: split_heads(x(B, Q, 10), 4),
        ValueError,
        "the width of x, 10, must be divisible by num_heads=4",
    ),
    "split_heads: no heads": (
        lambda: split_heads(x(B, Q, 10), 0),
        ValueError,
        "num_heads must be at least 1, got 0",
    ),
    "split_heads: two axes": (
        lambda: split_heads(x(Q, 10), 2),
        ValueError,
        "x must be (B, N, H*d), got shape (3, 10)",
    ),
    "merge_heads: three axes": (
        lambda: merge_heads(x(B, Q, 10)),
        ValueError,
        "x must be (B, H, N, d), got shape (2, 3, 10); split_heads makes such",
    ),
    "merge_heads: no tensor": (
        lambda: merge_heads(wrong(None)),
        TypeError,
        "x must be a tensor, got NoneType; try torch.as_tensor(x)",
    ),
    "positions: odd": (
        lambda: sinusoidal_positions(3, 5),
        ValueError,
        "num_hiddens must be even, a sine and a cosine for each pair, got 5; try 6",
    ),
    "positions: none wide": (
        lambda: sinusoidal_positions(3, 0),
        ValueError,
        "num_hiddens must be at least 1, got 0",
    ),
    "positions: negative": (
        lambda: sinusoidal_positions(-1, 4),
        ValueError,
        "num_positions must be at least 0, got -1",
    ),
    "from_torch: another layer": (
        lambda: MultiHeadAttention.from_torch(wrong(nn.Linear(2, 2))),
        TypeError,
        "module must be an nn.MultiheadAttention, got Linear",
    ),
    "from_torch: add_bias_kv": (
        lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(14, 7, add_bias_kv=True)),
        ValueError,
        "module must be built without add_bias_kv, got add_bias_kv=True, which adds a key of "
        "its own; append it to keys and values yourself",
    ),
    "from_torch: add_zero_attn": (
        lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(14, 7, add_zero_attn=True)),
        ValueError,
        "module must be built without add_zero_attn, got add_zero_attn=True, which adds a key"
        " of its own; append it to keys and values yourself",
    ),
}


@pytest.mark.parametrize(("call", "error", "expected"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_a_bad_call_says_what_was_required_and_what_came(call, error, expected):
    """The whole sentence: so no case would accept the message of another."""
    with pytest.raises(error) as raised:
        call()
    assert type(raised.value) is error
    assert str(raised.value) == expected


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
