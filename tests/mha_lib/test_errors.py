"""Bad calls: the error names the argument, what was required, what came, and the way out."""

import math
import warnings
from typing import Any

import torch
from torch import nn
from torch.ao.nn.quantizable import MultiheadAttention as Quantizable
from torch.nn import MultiheadAttention as Theirs
from torch.nn import Transformer

from mha_lib import (
    AdditiveAttention,
    FeedForward,
    KVCache,
    MultiHeadAttention,
    SingleHeadAttention,
    alibi_slopes,
    causal_mask,
    masked_softmax,
    merge_heads,
    padding_mask,
    rotate_by_position,
    sinusoidal_positions,
    split_heads,
)
from mha_lib import dot_product_attention as dot_product
from tests.mha_lib.bad_calls import BadCalls, Call, assert_refused, each_bad_call

B, Q, K, H, D = 2, 3, 5, 7, 14


def x(*shape: int, **options: Any) -> torch.Tensor:
    return torch.zeros(shape, **options)


def lens(*lengths: complex) -> torch.Tensor:
    return torch.tensor(lengths)


def yes(*shape: int) -> torch.Tensor:
    return torch.ones(shape, dtype=torch.bool)


def ones_and_zeros(*shape: int) -> torch.Tensor:
    return torch.ones(shape, dtype=torch.long).tril()


class Doubling(Theirs):
    def forward(self, *args, **options):
        output, weights = super().forward(*args, **options)
        return 2 * output, weights


def with_identity() -> Theirs:
    module = Theirs(D, H)
    module.out_proj = wrong(nn.Identity())
    return module


def with_wrapped_values() -> MultiHeadAttention:
    layer = MultiHeadAttention(D, H)
    layer.W_v = wrong(nn.Sequential(layer.W_v))
    return layer


def filled_cache(num_tokens: int) -> KVCache:
    """Return a cache that has room for two more tokens."""
    cache = KVCache(LAYER, B, num_tokens + 2)
    with torch.no_grad():
        LAYER(x(B, num_tokens, D), cache=cache)
    return cache


@torch.no_grad()
def half_step(cache: KVCache) -> None:
    with torch.autocast("cpu", torch.bfloat16):
        LAYER(x(B, 1, D), cache=cache)


def step_inside_vmap() -> None:
    torch.func.vmap(lambda q: FROZEN(q, cache=KVCache(FROZEN, B, 9)))(QUERIES[None])


from_torch, from_multi_head = MultiHeadAttention.from_torch, MultiHeadAttention.from_multi_head
LAYER = MultiHeadAttention(D, H)
FROZEN = MultiHeadAttention(D, H).requires_grad_(False)
ROTARY = MultiHeadAttention(D, H, rotary=True)
CROSS = MultiHeadAttention(D, H, query_size=3, key_size=4, value_size=6)
HEAD = SingleHeadAttention(D, 4)
ADDITIVE = AdditiveAttention(8, query_size=3, key_size=4)
QUERIES, KEYS = x(B, Q, D), x(B, K, D)
QKV = x(Q, 3), x(K, 3), x(K, 3)


def wrong(value: object) -> Any:
    """Hide from the type checker that a value is of a type that the signature refuses."""
    return value


def attend(**arguments: Any) -> Call:
    return lambda: LAYER(QUERIES, KEYS, **arguments)


def attend_two_more(**arguments: Any) -> Call:
    """Give two tokens to a layer whose cache holds three."""
    return lambda: LAYER(x(B, 2, D), cache=filled_cache(3), **arguments)


def nested(*samples: torch.Tensor) -> torch.Tensor:
    return torch.nested.nested_tensor(list(samples), layout=torch.jagged)


def scripted(layer: nn.Module) -> None:
    with warnings.catch_warnings(action="ignore"):  # PyTorch itself says that its language is deprecated
        torch.jit.script(layer)


# fmt: off
BAD_CALLS: BadCalls = {
    # how it is called: (the call, the error, the words that its message must hold, in this order)
    "queries: nested": (lambda: LAYER(nested(x(2, D), x(3, D))), TypeError,
        "queries must be a plain tensor, got a nested one; try queries.to_padded_tensor(0.0)"),
    "bias: of heads or of samples": (lambda: LAYER(x(H, Q, D), score_bias=x(H, Q, Q)), ValueError,
        "score_bias must have four axes … score_bias[None] if it is one for each head, score_bias[:, None]"),
    "head mask: complex": (attend(head_mask=torch.ones(H, dtype=torch.complex64)), TypeError,
        "head_mask must hold real numbers, got torch.complex64; try head_mask.real"),
    "scripting: heads": (lambda: scripted(LAYER), TypeError,
        "a layer must not be scripted by torch.jit … got a script of MultiHeadAttention; try torch.compile"),
    "scripting: one head": (lambda: scripted(HEAD), TypeError,
        "a layer must not be scripted by torch.jit … got a script of SingleHeadAttention"),
    "scripting: additive": (lambda: scripted(ADDITIVE), TypeError,
        "a layer must not be scripted by torch.jit … got a script of AdditiveAttention"),
    "scripting: feed-forward": (lambda: scripted(FeedForward(2, 3)), TypeError,
        "a layer must not be scripted by torch.jit … got a script of FeedForward"),
    "lengths: a list": (attend(valid_lens=[1, 2]), TypeError,
        "valid_lens must be a tensor, got list; try torch.as_tensor(valid_lens)"),
    "lengths: floats": (attend(valid_lens=lens(1.0, 2.0)), TypeError,
        "valid_lens must hold integers, got torch.float32; try valid_lens.long()"),
    "lengths: a mask": (attend(valid_lens=yes(B, K)), TypeError,
        "valid_lens … got torch.bool; a mask (B, K) goes into key_mask=, others into mask="),
    "lengths: complex": (attend(valid_lens=lens(1j, 2j)), TypeError,
        "valid_lens must hold integers, got torch.complex64; try valid_lens.real.long()"),
    "lengths: negative": (attend(valid_lens=lens(-1, 2)), ValueError,
        "valid_lens … got -1 to 2; try valid_lens.clamp(0, 5)"),
    "lengths: too long": (attend(valid_lens=lens(1, 6)), ValueError,
        "valid_lens must lie from 0 to the number of keys, 5, got 1 to 6; try valid_lens.clamp(0, 5)"),
    "lengths: a scalar": (attend(valid_lens=torch.tensor(2)), ValueError,
        "valid_lens must be (B,) … or (B, Q) … got shape ()"),
    "lengths: of another batch": (attend(valid_lens=lens(1, 2, 3)), ValueError,
        "valid_lens … got shape (3,); (B,): … (B, Q): one for each query"),
    "padding_mask: too long": (lambda: padding_mask(lens(6), 5), ValueError,
        "valid_lens … got 6 to 6; try valid_lens.clamp(0, 5)"),
    "padding_mask: num_keys negative": (lambda: padding_mask(lens(0), -1), ValueError,
        "num_keys must be at least 0, got -1"),
    "causal_mask: more queries than keys": (lambda: causal_mask(5, 3), ValueError,
        "a causal mask (is_causal) … got 5 > 3 … aligned at the end … a mask of your own"),
    "causal_mask: a float": (lambda: causal_mask(wrong(3.0), 3), TypeError,
        "num_queries must be an integer, got 3.0; try int(num_queries)"),
    "causal: more queries than keys": (lambda: LAYER(KEYS, QUERIES, is_causal=True), ValueError,
        "a causal mask (is_causal) … got 5 > 3 … aligned at the end … a mask of your own"),
    "causal: a mask": (lambda: LAYER(QUERIES, is_causal=torch.ones(3, 3)), TypeError,
        "is_causal must be True or False, got Tensor; a mask goes into mask="),
    "causal: fewer keys than none": (lambda: causal_mask(0, -1), ValueError,
        "num_keys must be at least 0, got -1"),
    "mask: a list": (attend(mask=[True]), TypeError, "mask … got list; try torch.as_tensor(mask)"),
    "mask: floats": (attend(mask=x(Q, K)), TypeError,
        "mask … got torch.float32; all zeros … mask == 0 … mask.bool()"),
    "mask: lengths": (attend(mask=lens(1, 2)), TypeError,
        "mask … got torch.int64; lengths … padding_mask … valid_lens="),
    "mask: one axis": (attend(mask=yes(K)), ValueError,
        "mask must be (Q, K) = (3, 5) or (B, Q, K) = … or (B, H, Q, K) = (2, 7, 3, 5), … got shape (5,)"),
    "mask: (K, Q)": (attend(mask=yes(K, Q)), ValueError, "mask … got shape (5, 3)"),
    "mask: (B, K)": (attend(mask=yes(B, K)), ValueError,
        "mask … got shape (2, 5); for (B, K): mask[:, None], or key_mask= of a layer"),
    "mask: (H, Q, K)": (attend(mask=yes(H, Q, K)), ValueError,
        "mask … got shape (7, 3, 5); for (H, Q, K), one for each head: mask[None]"),
    "mask: one key for all": (attend(mask=yes(Q, 1)), ValueError, "mask … got shape (3, 1)"),
    "mask: one head, four axes": (lambda: HEAD(KEYS, mask=yes(B, 1, K, K)), ValueError,
        "mask … got shape (2, 1, 5, 5)"),
    "mask: on another device": (attend(mask=yes(Q, K).to("meta")), ValueError,
        "mask must be on cpu, with what it applies to, got meta; try mask.to('cpu')"),
    "masked_softmax: integers": (lambda: masked_softmax(x(Q, K).long()), TypeError,
        "scores must hold floating-point numbers, got torch.int64; try scores.float()"),
    "masked_softmax: a list": (lambda: masked_softmax(wrong([1.0])), TypeError,
        "scores must be a tensor, got list; try torch.as_tensor(scores)"),
    "masked_softmax: one axis": (lambda: masked_softmax(x(K)), ValueError,
        "scores must be (Q, K), (B, Q, K) or (B, H, Q, K), got shape (5,)"),
    "masked_softmax: a mask with more axes": (lambda: masked_softmax(x(Q, K), yes(B, Q, K)), ValueError,
        "mask must be (Q, K) = (3, 5), any axis but K may be 1, got shape (2, 3, 5)"),
    "queries: no tensor": (lambda: LAYER(wrong([[1.0]])), TypeError,
        "queries must be a tensor, got list; try torch.as_tensor(queries)"),
    "queries: integers": (lambda: LAYER(QUERIES.long()), TypeError,
        "queries must hold floating-point numbers, got torch.int64; try queries.float()"),
    "queries: a single sample": (lambda: LAYER(x(Q, D)), ValueError,
        "queries … got shape (3, 14); for a single sample: queries[None]"),
    "queries: too wide": (lambda: LAYER(x(B, Q, 15)), ValueError,
        "queries … got shape (2, 3, 15); for such queries build the layer with query_size=15"),
    "queries: of another dtype than the layer": (lambda: LAYER(QUERIES.double()), TypeError,
        "queries … got torch.float64 … .to(torch.float32) … torch.autocast"),
    "queries: on another device than the layer": (lambda: LAYER(QUERIES.to("meta")), ValueError,
        "queries … got meta; move one of them with .to('cpu')"),
    "keys: too wide": (lambda: CROSS(x(B, Q, 3), x(B, K, 6)), ValueError,
        "keys … got shape (2, 5, 6); for such keys build the layer with key_size=6"),
    "keys: of another batch": (lambda: LAYER(QUERIES, x(3, K, D)), ValueError,
        "keys must agree with queries in batch, (2,), got shape (3, 5, 14); keys.expand"),
    "values: keys of another width stand in": (lambda: CROSS(x(B, Q, 3), x(B, K, 4)), ValueError,
        "values … got shape (2, 5, 4); for such values build the layer with value_size=4"),
    "values: more than keys": (lambda: LAYER(QUERIES, KEYS, x(B, 6, D)), ValueError,
        "values must be as many as keys, 5, got 6; each key has one"),
    "one head: too wide": (lambda: HEAD(x(B, Q, 15)), ValueError,
        "queries … got shape (2, 3, 15); for such queries build the layer with num_hiddens=15"),
    "one head: values more than keys": (lambda: HEAD(QUERIES, KEYS, x(B, 6, D)), ValueError,
        "values must be as many as keys, 5, got 6; each key has one"),
    "additive: keys of the wrong width": (lambda: ADDITIVE(x(B, Q, 3), x(B, K, 3), x(B, K, 1)), ValueError,
        "keys … got shape (2, 5, 3); for such keys build the layer with key_size=3"),
    "additive: values more than keys": (lambda: ADDITIVE(x(B, Q, 3), x(B, K, 4), x(B, 6, 1)), ValueError,
        "values must be as many as keys, 5, got 6; each key has one"),
    "additive: dropout": (lambda: ADDITIVE(x(B, Q, 3), x(B, K, 4), x(B, K, 1), dropout_p=2), ValueError,
        "dropout_p must be a probability from 0 to 1, got 2"),
    "dot product: widths": (lambda: dot_product(x(B, Q, 3), x(B, K, 4), x(B, K, 4)), ValueError,
        "keys … got 4; project both to one width, or use AdditiveAttention"),
    "dot product: ranks": (lambda: dot_product(x(B, Q, 3), x(K, 3), x(K, 3)), ValueError,
        "queries, keys and values … got keys of shape (5, 3) with queries of shape (2, 3, 3)"),
    "dot product: heads": (lambda: dot_product(x(B, H, Q, 3), x(B, 1, K, 3), x(B, 1, K, 3)), ValueError,
        "keys must agree with queries in batch and heads, (2, 7), got shape (2, 1, 5, 3); keys.expand"),
    "dot product: dtypes": (lambda: dot_product(x(Q, 3), x(K, 3), x(K, 3).double()), TypeError,
        "values … got torch.float64 … .to(torch.float32) … torch.autocast"),
    "dot product: devices": (lambda: dot_product(x(Q, 3), x(K, 3), x(K, 3, device="meta")), ValueError,
        "values … got meta; move one of them with .to('cpu')"),
    "dot product: dropout": (lambda: dot_product(*QKV, dropout_p=-0.1), ValueError,
        "dropout_p must be a probability from 0 to 1, got -0.1"),
    "dot product: a layer's dropout": (lambda: dot_product(*QKV, None, wrong(nn.Dropout())), TypeError,
        "dropout_p must be a number from 0 to 1, got Dropout(p=0.5, inplace=False)"),
    "layer: heads do not divide": (lambda: MultiHeadAttention(100, 3), ValueError,
        "num_hiddens=100 … divisible by num_heads=3; divisors: 1, 2, 4, 5, 10, 20, 25, 50, 100; … head_dim"),
    "layer: no heads": (lambda: MultiHeadAttention(14, 0), ValueError, "num_heads must be at least 1, got 0"),
    "layer: heads a float": (lambda: MultiHeadAttention(14, wrong(7.0)), TypeError,
        "num_heads must be an integer, got 7.0; try int(num_heads)"),
    "layer: negative width": (lambda: MultiHeadAttention(-14, 7), ValueError,
        "num_hiddens must be at least 1, got -14"),
    "layer: no head width": (lambda: MultiHeadAttention(14, 7, head_dim=0), ValueError,
        "head_dim must be at least 1, got 0"),
    "layer: no value head width": (lambda: MultiHeadAttention(14, 7, value_head_dim=0), ValueError,
        "value_head_dim must be at least 1, got 0"),
    "layer: no key width": (lambda: MultiHeadAttention(14, 7, key_size=0), ValueError,
        "key_size must be at least 1, got 0"),
    "layer: dropout NaN": (lambda: MultiHeadAttention(14, 7, math.nan), ValueError,
        "dropout must be a probability from 0 to 1, got nan"),
    "layer: dropout True": (lambda: MultiHeadAttention(14, 7, True), TypeError,
        "dropout must be a number from 0 to 1, got True"),
    "one head: no width": (lambda: SingleHeadAttention(14, 0), ValueError,
        "head_dim must be at least 1, got 0"),
    "one head: no value width": (lambda: SingleHeadAttention(14, 2, 0), ValueError,
        "value_head_dim must be at least 1, got 0"),
    "additive: no width": (lambda: AdditiveAttention(0), ValueError, "num_hiddens must be at least 1, got 0"),
    "head_mask: a list": (attend(head_mask=[1] * H), TypeError,
        "head_mask must be a tensor, got list; try torch.as_tensor(head_mask)"),
    "head_mask: too few heads": (attend(head_mask=x(6)), ValueError,
        "head_mask … got shape (6,); 1 keeps a head, 0 silences it"),
    "head_mask: on another device": (attend(head_mask=x(H).to("meta")), ValueError,
        "head_mask … got meta; try head_mask.to('cpu')"),
    "head_mask: NaN": (attend(head_mask=torch.full((H,), math.nan)), ValueError,
        "head_mask must hold finite numbers, got [nan, … 1 keeps a head, 0 silences it"),
    "score_bias: NaN": (attend(score_bias=torch.full((Q, K), math.nan)), ValueError,
        "score_bias must hold finite numbers, or −∞ … got nan; find it by score_bias.isfinite()"),
    "score_bias: +∞": (attend(score_bias=torch.full((Q, K), math.inf)), ValueError,
        "score_bias must hold finite numbers, or −∞ … got inf; find it by score_bias.isfinite()"),
    "causal: one head, a number": (lambda: HEAD(KEYS, is_causal=wrong(1)), TypeError,
        "is_causal must be True or False, got 1; a mask goes into mask="),
    "need_weights: a word": (attend(need_weights=wrong("no")), TypeError,
        "need_weights must be True or False, got 'no'"),
    "layer: bias a word": (lambda: MultiHeadAttention(14, 7, bias=wrong("False")), TypeError,
        "bias must be True or False, got 'False'"),
    "layer: norms a number": (lambda: MultiHeadAttention(14, 7, qk_norm=wrong(1e-6)), TypeError,
        "qk_norm must be True or False, got 1e-06"),
    "one head: bias a number": (lambda: SingleHeadAttention(14, 2, bias=wrong(1)), TypeError,
        "bias must be True or False, got 1"),
    "layer: no window": (lambda: MultiHeadAttention(14, 7, window=0), ValueError,
        "window must be at least 1, got 0"),
    "causal_mask: no window": (lambda: causal_mask(3, 3, window=0), ValueError,
        "window must be at least 1, got 0"),
    "change_weights: nothing returned": (attend(change_weights=lambda w, _: None), TypeError,
        "change_weights must return weights, got NoneType; return a tensor like the weights"),
    "change_weights: another shape": (attend(change_weights=lambda w, _: w[:, :1]), ValueError,
        "change_weights must return torch.float32 of shape (2, 7, 3, 5) … got … of shape (2, 1, 3, 5)"),
    "change_weights: another dtype": (attend(change_weights=lambda w, _: w.double()), ValueError,
        "change_weights … got torch.float64 of shape … return a tensor like the weights"),
    "split_heads: heads do not divide": (lambda: split_heads(x(B, Q, 10), 4), ValueError,
        "the width of x … got 10; project x to a multiple of num_heads"),
    "split_heads: no heads": (lambda: split_heads(x(B, Q, 10), 0), ValueError,
        "num_heads must be at least 1, got 0"),
    "split_heads: two axes": (lambda: split_heads(x(Q, 10), 2), ValueError,
        "x must be (B, N, H*d), got shape (3, 10)"),
    "merge_heads: three axes": (lambda: merge_heads(x(B, Q, 10)), ValueError,
        "x must be (B, H, N, d), got shape (2, 3, 10); split_heads makes one"),
    "merge_heads: no tensor": (lambda: merge_heads(wrong(None)), TypeError,
        "x must be a tensor, got NoneType; try torch.as_tensor(x)"),
    "positions: odd": (lambda: sinusoidal_positions(3, 5), ValueError,
        "num_hiddens must be even, since its columns form pairs, got 5; try 6"),
    "positions: none wide": (lambda: sinusoidal_positions(3, 0), ValueError,
        "num_hiddens must be at least 1, got 0"),
    "positions: negative": (lambda: sinusoidal_positions(-1, 4), ValueError,
        "num_positions must be at least 0, got -1"),
    "from_torch: another layer": (lambda: from_torch(wrong(nn.Linear(2, 2))), TypeError,
        "module must be an nn.MultiheadAttention, got Linear"),
    "from_torch: add_bias_kv": (lambda: from_torch(Theirs(14, 7, add_bias_kv=True)), ValueError,
        "module … got add_bias_kv=True … append it to keys and values"),
    "from_torch: add_zero_attn": (lambda: from_torch(Theirs(14, 7, add_zero_attn=True)), ValueError,
        "module … got add_zero_attn=True … append it to keys and values"),
    "lengths: a mask of 0 and 1": (lambda: LAYER(KEYS, valid_lens=ones_and_zeros(B, K)), ValueError,
        "valid_lens … got (2, 5) … mask … key_mask=valid_lens.bool() … mask=torch.arange(5) < valid_lens"),
    "lengths: (B, Q), too long": (attend(valid_lens=lens(1, 2, 3, 0, 0, 6).view(B, Q)), ValueError,
        "valid_lens … got 0 to 6; try valid_lens.clamp(0, 5)"),
    "mask: 0 and -inf": (lambda: LAYER(KEYS, mask=Transformer.generate_square_subsequent_mask(K)), TypeError,
        "mask … got torch.float32 … 0 = may attend, and −∞ = may not … mask == 0"),
    "mask: 0 and -1e9": (lambda: LAYER(KEYS, mask=x(K, K).masked_fill(~yes(K, K).tril(), -1e9)), TypeError,
        "mask … got torch.float32 … 0 = may attend, and −∞ = may not … mask == 0"),
    "mask: a bias": (attend(mask=wrong(torch.full((Q, K), 0.5))), TypeError,
        "mask … got torch.float32; numbers to be added to the scores go into score_bias="),
    "mask: 0 and 1 as floats": (attend(mask=wrong(ones_and_zeros(Q, K).float())), TypeError,
        "mask … got torch.float32; if 1 = may attend, try mask.bool(); … mask == 0"),
    "mask: 0 and 1 as (B, K)": (attend(mask=wrong(ones_and_zeros(B, K))), TypeError,
        "mask … got torch.int64 … mask.bool() as key_mask= … (B, K)"),
    "mask: lengths of each query": (attend(mask=lens(1, 2, 3, 0, 0, 5).view(B, Q)), TypeError,
        "mask … got torch.int64; lengths … padding_mask … valid_lens="),
    "mask: of numbers nobody can read": (attend(mask=x(Q, K, device="meta")), TypeError,
        "mask … got torch.float32; True where … mask == 0 or mask != 0"),
    "mask: complex": (attend(mask=x(Q, K, dtype=torch.complex64)), TypeError,
        "mask … got torch.complex64; True where … mask == 0 or mask != 0"),
    "key_mask: a list": (attend(key_mask=wrong([[True]])), TypeError,
        "key_mask … got list; try torch.as_tensor(key_mask)"),
    "key_mask: integers": (attend(key_mask=ones_and_zeros(B, K)), TypeError,
        "key_mask … got torch.int64 … key_mask.bool() … key_mask == 0"),
    "key_mask: (Q, K)": (attend(key_mask=yes(Q, K)), ValueError,
        "key_mask … got shape (3, 5); a mask with another shape goes into mask="),
    "key_mask: on another device": (attend(key_mask=yes(B, K).to("meta")), ValueError,
        "key_mask … got meta; try key_mask.to('cpu')"),
    "score_bias: a list": (attend(score_bias=wrong([1.0])), TypeError,
        "score_bias must be a tensor, got list; try torch.as_tensor(score_bias)"),
    "score_bias: a mask": (attend(score_bias=yes(Q, K)), TypeError,
        "score_bias … got torch.bool; a mask goes into mask="),
    "score_bias: integers": (attend(score_bias=x(Q, K, dtype=torch.long)), TypeError,
        "score_bias … got torch.int64; try score_bias.float()"),
    "score_bias: (H, Q, K)": (attend(score_bias=x(H, Q, K)), ValueError,
        "score_bias … got shape (7, 3, 5); for (H, Q, K), one for each head: score_bias[None]"),
    "score_bias: (B, K)": (attend(score_bias=x(B, K)), ValueError,
        "score_bias … got shape (2, 5); for (B, K): score_bias[:, None]"),
    "score_bias: on another device": (attend(score_bias=x(Q, K, device="meta")), ValueError,
        "score_bias … got meta; try score_bias.to('cpu')"),
    "score_bias: dot product": (lambda: dot_product(*QKV, score_bias=x(K, Q)), ValueError,
        "score_bias must be (Q, K) = (3, 5), any axis but K may be 1, got shape (5, 3)"),
    "cache: no cache": (attend(cache=wrong({})), TypeError,
        "cache must be a KVCache, got dict; try KVCache(layer, batch, max_tokens)"),
    "cache: of another layer": (attend(cache=KVCache(CROSS, B, 9)), ValueError,
        "cache … got the cache of another one; every layer needs its own"),
    "cache: of another batch": (attend(cache=KVCache(LAYER, 3, 9)), ValueError,
        "cache … got a cache for 3; try KVCache(layer, 2, 9)"),
    "cache: full": (lambda: LAYER(KEYS, cache=filled_cache(7)), ValueError,
        "cache … got max_tokens=9 … cache.reset() … larger"),
    "cache: gradients": (attend(cache=KVCache(LAYER, B, 9)), RuntimeError,
        "cache … got some that require gradients … torch.no_grad()"),
    "cache: another dtype": (lambda: half_step(filled_cache(7)), ValueError,
        "cache … got torch.bfloat16 on cpu; call cache.reset() first"),
    "cache: inside vmap": (step_inside_vmap, RuntimeError,
        "cache … got a call inside one of them; call the layer without a cache there"),
    "cache: lengths beyond all keys": (attend_two_more(valid_lens=lens(6, 6)), ValueError,
        "valid_lens … got 6 to 6; try valid_lens.clamp(0, 5)"),
    "cache: key_mask for the new keys alone": (attend_two_more(key_mask=yes(B, 2)), ValueError,
        "key_mask … got shape (2, 2); a mask with another shape goes into mask="),
    "KVCache: of no layer": (lambda: KVCache(wrong(nn.Linear(2, 2)), B, 9), TypeError,
        "layer must be a MultiHeadAttention or a LatentAttention, got Linear; MultiHeadAttention.from_torch"),
    "KVCache: no batch": (lambda: KVCache(LAYER, 0, 9), ValueError, "batch must be at least 1, got 0"),
    "KVCache: no tokens": (lambda: KVCache(LAYER, B, 0), ValueError, "max_tokens must be at least 1, got 0"),
    "rotary: an odd head": (lambda: MultiHeadAttention(21, 7, rotary=True), ValueError,
        "head_dim must be even, since its columns form pairs, got 3; try 4"),
    "rotary: more queries than keys": (lambda: ROTARY(KEYS, QUERIES), ValueError,
        "with rotary=True, num_queries … got 5 > 3 … without rotary"),
    "rotary: fixed keys in a cache": (lambda: ROTARY(QUERIES, KEYS, cache=KVCache(ROTARY, B, 9)), ValueError,
        "with rotary=True and a cache, keys … got 5 keys for 3 queries; leave out keys … without rotary"),
    "layer: key-value heads do not divide": (lambda: MultiHeadAttention(12, 6, num_kv_heads=4), ValueError,
        "num_heads=6 must be divisible by num_kv_heads=4 … divisors: 1, 2, 3, 6"),
    "layer: no key-value heads": (lambda: MultiHeadAttention(12, 6, num_kv_heads=0), ValueError,
        "num_kv_heads must be at least 1, got 0"),
    "rotate: odd": (lambda: rotate_by_position(x(K, 3), torch.arange(K)), ValueError,
        "the width of x must be even, since its columns form pairs, got 3; try 4"),
    "rotate: integers": (lambda: rotate_by_position(x(K, 4).long(), torch.arange(K)), TypeError,
        "x must hold floating-point numbers, got torch.int64; try x.float()"),
    "rotate: one token": (lambda: rotate_by_position(x(4), torch.arange(4)), ValueError,
        "x must be (..., N, d), got shape (4,); for a single token: x[None]"),
    "rotate: positions a number": (lambda: rotate_by_position(x(K, 4), wrong(3)), TypeError,
        "positions must be a tensor, got int; try torch.as_tensor(positions)"),
    "rotate: too few": (lambda: rotate_by_position(x(K, 4), torch.arange(Q)), ValueError,
        "positions must be (N,) = (5,), got shape (3,); try torch.arange(x.shape[-2])"),
    "rotate: on another device": (lambda: rotate_by_position(x(K, 4), torch.arange(K).to("meta")), ValueError,
        "positions … got meta; try positions.to('cpu')"),
    "alibi_slopes: no heads": (lambda: alibi_slopes(0), ValueError, "num_heads must be at least 1, got 0"),
    "from_torch: a subclass with another forward": (lambda: from_torch(Doubling(14, 7)), TypeError,
        "module … got Doubling … into an nn.MultiheadAttention first"),
    "from_torch: quantizable": (lambda: from_torch(Quantizable(14, 7)), TypeError,
        "module … got MultiheadAttention … copy its weights"),
    "from_torch: another output projection": (lambda: from_torch(with_identity()), TypeError,
        "the out_proj of module … got Identity; undo the quantization"),
    "from_multi_head: another layer": (lambda: from_multi_head(wrong(Theirs(14, 7)), 1), TypeError,
        "layer … got MultiheadAttention; MultiHeadAttention.from_torch"),
    "from_multi_head: heads do not divide": (lambda: from_multi_head(LAYER, 2), ValueError,
        "num_kv_heads … got 2; divisors: 1, 7"),
    "from_multi_head: no heads": (lambda: from_multi_head(LAYER, 0), ValueError,
        "num_kv_heads must be at least 1, got 0"),
    "from_multi_head: a wrapped projection": (lambda: from_multi_head(with_wrapped_values(), 1), TypeError,
        "W_v of the layer must be an nn.Linear, got Sequential; undo the quantization"),
}
# fmt: on


@each_bad_call(BAD_CALLS)
def test_a_bad_call_says_what_came_and_the_way_out(call, error, words):
    assert_refused(call, error, words)
