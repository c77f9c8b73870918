"""Bad calls: the error names the argument, what was required, what came, and the way out."""

import math
from typing import Any

import torch
from torch import nn
from torch.ao.nn.quantizable import MultiheadAttention as Quantizable
from torch.nn import MultiheadAttention as Theirs
from torch.nn import Transformer

from mha_lib import (
    AdditiveAttention,
    KVCache,
    LatentAttention,
    Llama3Scaling,
    MultiHeadAttention,
    Rotary,
    YarnScaling,
    causal_mask,
    masked_softmax,
    merge_heads,
    padding_mask,
    prune_heads,
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


def with_part(module: Any, name: str, part: nn.Module) -> Any:
    setattr(module, name, part)
    return module


@torch.no_grad()
def filled_cache(num_tokens: int, layer: nn.Module | None = None) -> KVCache:
    """Return a cache that has room for two more tokens."""
    layer = LAYER if layer is None else layer
    cache = KVCache(layer, B, num_tokens + 2)
    layer(x(B, num_tokens, D), cache=cache, is_causal=True)
    return cache


@torch.no_grad()
def small_cache(layer: nn.Module, max_tokens: int, num_tokens: int) -> KVCache:
    """Return a cache that has got more tokens than fit in, one by one."""
    cache = KVCache(layer, B, max_tokens)
    for _ in range(num_tokens):
        layer(x(B, 1, D), cache=cache, is_causal=True)
    return cache


@torch.no_grad()
def step(token: Any, layer: Any = None, autocast: bool = False, **options: Any) -> None:
    """Call a layer with one more token than the cache of ``LAYER`` holds."""
    cache = filled_cache(3)
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        (layer or LAYER)(token, cache=cache, **options)


def step_inside_vmap() -> None:
    cache = filled_cache(3, FROZEN)
    with torch.no_grad():
        torch.func.vmap(lambda token: FROZEN(token, cache=cache))(x(1, B, 1, D))


from_torch, from_multi_head = MultiHeadAttention.from_torch, MultiHeadAttention.from_multi_head
LAYER = MultiHeadAttention(D, H)
FROZEN = MultiHeadAttention(D, H).requires_grad_(False)
ROTARY = MultiHeadAttention(D, H, rotary=True)
CROSS = MultiHeadAttention(D, H, query_size=3, key_size=4, value_size=6)
ADDITIVE = AdditiveAttention(8, query_size=3, key_size=4)
LATENT = LatentAttention(D, H, 5, 4)
WINDOWED = MultiHeadAttention(D, H, window=4)
QUERIES, KEYS = x(B, Q, D), x(B, K, D)
QKV = x(Q, 3), x(K, 3), x(K, 3)


def attend(**arguments: Any) -> Call:
    return lambda: LAYER(QUERIES, KEYS, **arguments)


# fmt: off
# The call, and the words that the message must hold, in this order.
TYPE_ERRORS: BadCalls = [
    (attend(valid_lens=[1, 2]), "valid_lens must be a tensor, got list; try torch.as_tensor(valid_lens)"),
    (attend(valid_lens=lens(1.0, 2.0)),
        "valid_lens must hold integers, got torch.float32; try valid_lens.long()"),
    (attend(valid_lens=yes(B, K)),
        "valid_lens … got torch.bool; a mask (B, K) goes into key_mask=, others into mask="),
    (lambda: LAYER(QUERIES, is_causal=torch.ones(3, 3)),
        "is_causal must be True or False, got Tensor; a mask goes into mask="),
    (attend(mask=x(Q, K)), "mask … got torch.float32; all zeros … mask == 0 … mask.bool()"),
    (attend(mask=lens(1, 2)), "mask … got torch.int64; lengths … padding_mask … valid_lens="),
    (lambda: masked_softmax(x(Q, K).long()),
        "scores must hold floating-point numbers, got torch.int64; try scores.float()"),
    (lambda: LAYER([[1.0]]), "queries must be a tensor, got list; try torch.as_tensor(queries)"),
    (lambda: LAYER(QUERIES.double()), "queries … got torch.float64 … .to(torch.float32) … torch.autocast"),
    (lambda: dot_product(*QKV, None, nn.Dropout()),
        "dropout_p must be a number from 0 to 1, got Dropout(p=0.5, inplace=False)"),
    (attend(head_mask=[1] * H), "head_mask must be a tensor, got list; try torch.as_tensor(head_mask)"),
    (attend(need_weights="no"), "need_weights must be True or False, got 'no'"),
    (attend(change_weights=lambda w, _: None),
        "change_weights must return weights, got NoneType; return a tensor like the weights"),
    (lambda: merge_heads(None), "x must be a tensor, got NoneType; try torch.as_tensor(x)"),
    (lambda: from_torch(nn.Linear(2, 2)), "module must be an nn.MultiheadAttention, got Linear"),
    (lambda: LAYER(KEYS, mask=Transformer.generate_square_subsequent_mask(K)),
        "mask … got torch.float32 … 0 = may attend, and −∞ = may not … mask == 0"),
    (attend(mask=torch.full((Q, K), 0.5)),
        "mask … got torch.float32; numbers to be added to the scores go into score_bias="),
    (attend(mask=ones_and_zeros(Q, K).float()),
        "mask … got torch.float32; if 1 = may attend, try mask.bool(); … mask == 0"),
    (attend(mask=ones_and_zeros(B, K)), "mask … got torch.int64 … mask.bool() as key_mask= … (B, K)"),
    (attend(mask=x(Q, K, device="meta")), "mask … got torch.float32; True where … mask == 0 or mask != 0"),
    (attend(key_mask=ones_and_zeros(B, K)), "key_mask … got torch.int64 … key_mask.bool() … key_mask == 0"),
    (attend(score_bias=[1.0]), "score_bias must be a tensor, got list; try torch.as_tensor(score_bias)"),
    (attend(score_bias=yes(Q, K)), "score_bias … got torch.bool; a mask goes into mask="),
    (lambda: step([[[0.0]]]), "queries must be a tensor, got list"),
    (lambda: step(x(B, 1, D).half()), "queries must have the dtype of the layer, torch.float32"),
    (lambda: step(x(B, 1, D), is_causal=yes(1, 4)), "is_causal must be True or False"),
    (attend(cache={}), "cache must be a KVCache, got dict; try KVCache(layer, batch, max_tokens)"),
    (lambda: KVCache(nn.Linear(2, 2), B, 9),
        "layer must be a MultiHeadAttention or a LatentAttention, got Linear; MultiHeadAttention.from_torch"),
    (lambda: rotate_by_position(x(K, 4).long(), torch.arange(K)),
        "x must hold floating-point numbers, got torch.int64; try x.float()"),
    (lambda: rotate_by_position(x(K, 4), 3),
        "positions must be a tensor, got int; try torch.as_tensor(positions)"),
    (lambda: from_torch(Doubling(14, 7)), "module … got Doubling … into an nn.MultiheadAttention first"),
    (lambda: from_torch(Quantizable(14, 7)), "module … got MultiheadAttention … copy its weights"),
    (lambda: from_torch(with_part(Theirs(D, H), "out_proj", nn.Identity())),
        "the out_proj of module … got Identity; undo the quantization"),
    (lambda: from_multi_head(Theirs(14, 7), 1),
        "layer … got MultiheadAttention; MultiHeadAttention.from_torch"),
    (lambda: from_multi_head(with_part(MultiHeadAttention(D, H), "W_v", nn.Sequential()), 1),
        "W_v of the layer must be an nn.Linear, got Sequential; undo the quantization"),
    (lambda: bool(KVCache(LAYER, B, 9)),
        "a cache must not be used as True or False … try cache is not None, or len(cache) > 0"),
    (lambda: filled_cache(8).keep(1, 3.0), "last must be an integer, got 3.0"),
    (lambda: filled_cache(8).reorder([0]), "index must be a tensor, got list"),
    (lambda: filled_cache(8).reorder(torch.tensor([0.0])),
        "index must be a tensor of integers (B,), got torch.float32"),
    (lambda: LATENT(KEYS, absorb="no"),
        "absorb must be True or False, got 'no'; None chooses by the number of keys"),
    (lambda: LatentAttention(D, H, 5, 4, rotary=True),
        "rotary must be a Rotary, got bool; try Rotary(base=10_000)"),
    (lambda: Rotary(scaling="llama3"),
        "scaling must be a number above 0, a Llama3Scaling or a YarnScaling, got 'llama3'"),
    (lambda: MultiHeadAttention(8, 2, rotary="far"),
        "rotary must be True or False, got 'far'; or how: Rotary(base=10_000)"),
    (lambda: prune_heads(nn.Linear(2, 2), [0]),
        "layer must be a MultiHeadAttention, got Linear; MultiHeadAttention.from_torch"),
    (lambda: prune_heads(with_part(MultiHeadAttention(D, H), "W_o", nn.Sequential()), [0]),
        "W_o of the layer must be an nn.Linear, got Sequential; undo the quantization"),
    (lambda: prune_heads(LAYER, [True, False]), "keep must be an integer, got True; try int(keep)"),
]
VALUE_ERRORS: BadCalls = [
    (lambda: LAYER(x(H, Q, D), score_bias=x(H, Q, Q)),
        "score_bias must have four axes … score_bias[None] if it is one for each head, score_bias[:, None]"),
    (attend(valid_lens=lens(-1, 2)), "valid_lens … got -1 to 2; try valid_lens.clamp(0, 5)"),
    (attend(valid_lens=lens(1, 6)),
        "valid_lens must lie from 0 to the number of keys, 5, got 1 to 6; try valid_lens.clamp(0, 5)"),
    (attend(valid_lens=torch.tensor(2)), "valid_lens must be (B,) … or (B, Q) … got shape ()"),
    (attend(valid_lens=lens(1, 2, 3)), "valid_lens … got shape (3,); (B,): … (B, Q): one for each query"),
    (lambda: padding_mask(lens(6), 5), "valid_lens … got 6 to 6; try valid_lens.clamp(0, 5)"),
    (lambda: causal_mask(5, 3),
        "a causal mask (is_causal) … got 5 > 3 … aligned at the end … a mask of your own"),
    (lambda: LAYER(KEYS, QUERIES, is_causal=True),
        "a causal mask (is_causal) … got 5 > 3 … aligned at the end … a mask of your own"),
    (attend(mask=yes(K)),
        "mask must be (Q, K) = (3, 5) or (B, Q, K) = … or (B, H, Q, K) = (2, 7, 3, 5), … got shape (5,)"),
    (attend(mask=yes(Q, 1)), "mask must be (Q, K) = (3, 5) … any axis but K may be 1, got shape (3, 1)"),
    (attend(mask=yes(B, K)), "mask … got shape (2, 5); for (B, K): mask[:, None], or key_mask= of a layer"),
    (attend(mask=yes(H, Q, K)), "mask … got shape (7, 3, 5); for (H, Q, K), one for each head: mask[None]"),
    (attend(mask=yes(Q, K).to("meta")),
        "mask must be on cpu, with what it applies to, got meta; try mask.to('cpu')"),
    (lambda: masked_softmax(x(K)),
        "scores must be (Q, K), (B, Q, K) or (B, H, Q, K), got shape (5,); for one row: scores[None]"),
    (lambda: masked_softmax(x(Q, K), yes(B, Q, K)),
        "mask must be (Q, K) = (3, 5), any axis but K may be 1, got shape (2, 3, 5)"),
    (lambda: LAYER(x(Q, D)), "queries … got shape (3, 14); for a single sample: queries[None]"),
    (lambda: LAYER(x(B, Q, 15)),
        "queries … got shape (2, 3, 15); for such queries build the layer with query_size=15"),
    (lambda: CROSS(x(B, Q, 3), x(B, K, 6)),
        "keys … got shape (2, 5, 6); for such keys build the layer with key_size=6"),
    (lambda: LAYER(QUERIES, x(3, K, D)),
        "keys must agree with queries in batch, (2,), got shape (3, 5, 14); keys.expand"),
    (lambda: LAYER(QUERIES, KEYS, x(B, 6, D)), "values must be as many as keys, 5, got 6; each key has one"),
    (lambda: ADDITIVE(x(B, Q, 3), x(B, K, 3), x(B, K, 1)),
        "keys … got shape (2, 5, 3); for such keys build the layer with key_size=3"),
    (lambda: ADDITIVE(x(B, Q, 3), x(B, K, 4), x(B, K, 1), dropout_p=2),
        "dropout_p must be a probability from 0 to 1, got 2"),
    (lambda: dot_product(x(B, Q, 3), x(B, K, 4), x(B, K, 4)),
        "keys … got 4; project both to one width, or use AdditiveAttention"),
    (lambda: dot_product(x(B, Q, 3), x(K, 3), x(K, 3)),
        "queries, keys and values … got keys of shape (5, 3) with queries of shape (2, 3, 3)"),
    (lambda: dot_product(x(B, H, Q, 3), x(B, 1, K, 3), x(B, 1, K, 3)),
        "keys must agree with queries in batch and heads, (2, 7), got shape (2, 1, 5, 3); keys.expand"),
    (lambda: dot_product(x(Q, 3), x(K, 3), x(K, 3, device="meta")),
        "values … got meta; move one of them with .to('cpu')"),
    (lambda: MultiHeadAttention(100, 3),
        "num_hiddens=100 … divisible by num_heads=3; divisors: 1, 2, 4, 5, 10, 20, 25, 50, 100; … head_dim"),
    (lambda: MultiHeadAttention(14, 7, math.nan), "dropout must be a probability from 0 to 1, got nan"),
    (attend(head_mask=x(6)), "head_mask … got shape (6,); 1 keeps a head, 0 silences it"),
    (attend(head_mask=x(H).to("meta")), "head_mask … got meta; try head_mask.to('cpu')"),
    (attend(head_mask=torch.full((H,), math.nan)),
        "head_mask must hold finite numbers, got [nan, … 1 keeps a head, 0 silences it"),
    (attend(score_bias=torch.full((Q, K), math.inf)),
        "score_bias must hold finite numbers, or −∞ … got inf; find it by score_bias.isfinite()"),
    (lambda: causal_mask(3, 3, window=0), "window must be at least 1, got 0"),
    (attend(change_weights=lambda w, _: w[:, :1]),
        "change_weights must return torch.float32 of shape (2, 7, 3, 5) … got … of shape (2, 1, 3, 5)"),
    (lambda: split_heads(x(B, Q, 10), 4), "the width of x … got 10; project x to a multiple of num_heads"),
    (lambda: split_heads(x(Q, 10), 2), "x must be (B, N, H*d), got shape (3, 10)"),
    (lambda: merge_heads(x(B, Q, 10)), "x must be (B, H, N, d), got shape (2, 3, 10); split_heads makes one"),
    (lambda: sinusoidal_positions(3, 5),
        "num_hiddens must be even, since its columns form pairs, got 5; try 6"),
    (lambda: sinusoidal_positions(-1, 4), "num_positions must be at least 0, got -1"),
    (lambda: from_torch(Theirs(14, 7, add_bias_kv=True)),
        "module … got add_bias_kv=True … append it to keys and values"),
    (lambda: from_torch(Theirs(14, 7, add_zero_attn=True)),
        "module … got add_zero_attn=True … append it to keys and values"),
    (lambda: LAYER(KEYS, valid_lens=ones_and_zeros(B, K)),
        "valid_lens … got (2, 5) … mask … key_mask=valid_lens.bool() … mask=torch.arange(5) < valid_lens"),
    (attend(key_mask=yes(Q, K)), "key_mask … got shape (3, 5); a mask with another shape goes into mask="),
    (attend(key_mask=yes(B, K).to("meta")), "key_mask … got meta; try key_mask.to('cpu')"),
    (attend(score_bias=x(Q, K, device="meta")), "score_bias … got meta; try score_bias.to('cpu')"),
    (lambda: dot_product(*QKV, score_bias=x(K, Q)),
        "score_bias must be (Q, K) = (3, 5), any axis but K may be 1, got shape (5, 3)"),
    (attend(cache=KVCache(LAYER, 3, 9)), "cache … got a cache for 3; try KVCache(layer, 2, 9)"),
    (lambda: step(x(1, 1, D)), "cache … got a cache for 2; try KVCache(layer, 1, 5)"),
    (lambda: step(x(B, 1, D), FROZEN), "cache must have been made for this layer"),
    (lambda: step(x(B, 1, D + 1)), "queries must be (B, N, 14), got shape (2, 1, 15)"),
    (lambda: LAYER(KEYS, cache=filled_cache(7)), "cache … got max_tokens=9 … cache.reset() … larger"),
    (lambda: step(x(B, 1, D), autocast=True),
        "cache … got 7 of 2 in torch.bfloat16 on cpu; call cache.reset() first"),
    (lambda: LAYER(x(B, 2, D), cache=filled_cache(3), valid_lens=lens(6, 6)),
        "valid_lens … got 6 to 6; try valid_lens.clamp(0, 5)"),
    (lambda: MultiHeadAttention(21, 7, rotary=True),
        "head_dim must be even, since its columns form pairs, got 3; try 4"),
    (lambda: ROTARY(KEYS, QUERIES), "with rotary=True, num_queries … got 5 > 3 … without rotary"),
    (lambda: ROTARY(QUERIES, KEYS, cache=KVCache(ROTARY, B, 9)),
        "with rotary=True and a cache, keys … got 5 keys for 3 queries; leave out keys … without rotary"),
    (lambda: MultiHeadAttention(12, 6, num_kv_heads=4),
        "num_heads=6 must be divisible by num_kv_heads=4 … divisors: 1, 2, 3, 6"),
    (lambda: rotate_by_position(x(K, 3), torch.arange(K)),
        "the width of x must be even, since its columns form pairs, got 3; try 4"),
    (lambda: rotate_by_position(x(4), torch.arange(4)),
        "x must be (..., N, d), got shape (4,); for a single token: x[None]"),
    (lambda: rotate_by_position(x(K, 4), torch.arange(Q)),
        "positions must be (N,) = (5,), got shape (3,); try torch.arange(x.shape[-2])"),
    (lambda: rotate_by_position(x(K, 4), torch.arange(K).to("meta")),
        "positions … got meta; try positions.to('cpu')"),
    (lambda: from_multi_head(LAYER, 2), "num_kv_heads … got 2; divisors: 1, 7"),
    (lambda: filled_cache(8).keep(-1, 3), "first must be at least 0, got -1"),
    (lambda: filled_cache(8, WINDOWED).keep(1, 2),
        "cache.keep needs a layer without window … got window=4 … keep(first, last) each step"),
    (lambda: filled_cache(8).crop(9), "num_tokens must be at most the 8 that the cache holds, got 9"),
    (lambda: small_cache(WINDOWED, 4, num_tokens=8).crop(1),
        "cache must still hold what the window=4 would see again, got a crop of 2 … cache.reset()"),
    (lambda: filled_cache(8).reorder(torch.tensor([-1, 0])),
        "index must name samples from 0 to 1, got [-1, 0]"),
    (lambda: filled_cache(8).reorder(torch.tensor([0, 2])),
        "index must name samples from 0 to 1, got [0, 2]"),
    (lambda: LatentAttention(D, H, 5, 3),
        "rope_dim must be even, since its columns form pairs, got 3; try 4"),
    (lambda: Rotary(base=0), "base must be a number above 0, got 0"),
    (lambda: Llama3Scaling(low=4, high=1), "high must be above low=4, got 1"),
    (lambda: YarnScaling(low=4, high=1), "high must be above low=4, got 1"),
    (lambda: prune_heads(MultiHeadAttention(D, H, num_kv_heads=1), [0]),
        "layer … got num_kv_heads=1 for num_heads=7 … head_mask"),
    (lambda: prune_heads(LAYER, []), "keep … got []; a head_mask of zeros"),
    (lambda: prune_heads(LAYER, [0, 7]), "keep … got [0, 7]; a head_mask of zeros"),
]
RUNTIME_ERRORS: BadCalls = [
    (attend(cache=KVCache(LAYER, B, 9)), "cache … got some that require gradients … torch.no_grad()"),
    (lambda: LAYER(x(B, 1, D), cache=filled_cache(3)), "cache … got some that require gradients"),
    (step_inside_vmap, "cache … got a call inside one of them; call the layer without a cache there"),
]
# fmt: on


@each_bad_call({TypeError: TYPE_ERRORS, ValueError: VALUE_ERRORS, RuntimeError: RUNTIME_ERRORS})
def test_a_bad_call_says_what_came_and_the_way_out(call, error, words):
    assert_refused(call, error, words)
