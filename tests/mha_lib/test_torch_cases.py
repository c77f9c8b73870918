"""Layers under PyTorch: transforms, tracing, stand-ins for tensors and projections, precision."""

import copy

import pytest
import torch
from torch import nn
from torch.autograd import forward_ad

from mha_lib import (
    AdditiveAttention,
    KVCache,
    MultiHeadAttention,
    causal_mask,
    dot_product_attention,
    padding_mask,
)
from mha_lib.fused import attend
from mha_lib.masks import checked_limits
from tests.mha_lib.layers import PATHS, output_of

B, K, H, D = 2, 5, 7, 14
LENS = torch.tensor([2, 5])


# Transforms and tracing


@pytest.mark.filterwarnings("ignore:There is a performance drop")  # PyTorch of loops in its vmap
@PATHS
def test_vmap_over_inputs_lengths_and_masks(need_weights):
    layer, x, masks = MultiHeadAttention(D, H), torch.randn(3, B, K, D), torch.rand(3, B, K) < 0.6

    def one(x, mask, lens):
        with_mask = output_of(layer, x, key_mask=mask, valid_lens=lens, need_weights=need_weights)
        return with_mask + output_of(
            layer, x, mask=mask[:, None], valid_lens=lens, is_causal=True, need_weights=need_weights
        )

    inputs = x, masks, torch.tensor([[2, 5], [0, 3], [5, 5]])
    expected = torch.stack([one(*each) for each in zip(*inputs, strict=True)])
    torch.testing.assert_close(torch.vmap(one)(*inputs), expected)


@PATHS
@torch.no_grad()
def test_stand_ins_for_tensors_pass_through(need_weights):
    """The library makes its own tensors on the device of the inputs: on the meta device others raise."""
    layer = MultiHeadAttention(32, 2, rotary=True, dtype=torch.bfloat16, device="meta")
    x, y = (torch.empty(B, n, 32, dtype=torch.bfloat16, device="meta") for n in (3, K))
    key_mask = torch.empty(B, K, dtype=torch.bool, device="meta")
    for arguments in (
        {"valid_lens": LENS},
        {"valid_lens": LENS.to("meta"), "is_causal": True, "head_mask": torch.empty(2, device="meta")},
        {"key_mask": key_mask, "valid_lens": LENS},
        {"score_bias": torch.empty(3, K, device="meta"), "mask": key_mask[:, None]},
    ):
        output = output_of(layer, x, y, need_weights=need_weights, **arguments)
        assert (output.is_meta, output.dtype, output.shape) == (True, torch.bfloat16, (B, 3, 32))
    cache = KVCache(layer, B, 9)
    assert output_of(layer, x, cache=cache, is_causal=True, need_weights=need_weights).is_meta
    assert cache.keys is not None
    assert cache.keys.is_meta


# Derivatives


def test_the_readable_path_has_second_derivatives():
    layer, x = MultiHeadAttention(4, 2).double(), torch.randn(B, 3, 4).double().requires_grad_()
    arguments = {"valid_lens": torch.tensor([0, 2]), "is_causal": True, "need_weights": True}
    assert torch.autograd.gradcheck(lambda x: layer(x, **arguments), x)
    assert torch.autograd.gradgradcheck(lambda x: layer(x, **arguments), x)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.* is deprecated:DeprecationWarning")
@torch.no_grad()
def test_the_readable_path_has_forward_mode_derivatives():
    layer, x = MultiHeadAttention(D, H).double(), torch.randn(B, K, D).double()
    direction = torch.randn(B, K, D).double()

    def call(x):
        return layer(x, valid_lens=LENS, need_weights=True)[0]

    _, got = torch.func.jvp(call, (x,), (direction,))
    with forward_ad.dual_level():
        dual = forward_ad.unpack_dual(call(forward_ad.make_dual(x, direction))).tangent
    expected = (call(x + 1e-6 * direction) - call(x - 1e-6 * direction)) / 2e-6
    torch.testing.assert_close(got, expected, atol=1e-7, rtol=1e-5)
    torch.testing.assert_close(dual, expected, atol=1e-7, rtol=1e-5)


def test_func_grad_gives_the_gradient(attend):
    """Where queries are computed in chunks, ``checkpoint`` would raise."""
    layer, x, y = MultiHeadAttention(D, H), torch.randn(B, 3, D, requires_grad=True), torch.randn(B, K, D)

    def loss(x):
        return attend(layer, x, y, valid_lens=LENS, is_causal=True).square().sum()

    torch.testing.assert_close(torch.func.grad(loss)(x), torch.autograd.grad(loss(x), x)[0])


def test_returned_weights_carry_their_gradient():
    q, k = torch.randn(K, 4, requires_grad=True), torch.randn(K, 4)
    assert torch.autograd.grad(dot_product_attention(q, k, k)[1].square().sum(), q)[0].any()
    _, weights = AdditiveAttention(4)(q[None], k[None], k[None])
    assert torch.autograd.grad(weights.square().sum(), q)[0].any()


def test_without_gradients_the_weights_are_the_same_and_nothing_of_the_caller_is_overwritten():
    q, k, v = torch.randn(B, 3, 4), torch.randn(B, K, 4), torch.randn(B, K, 4)
    mask, bias = torch.rand(3, K) < 0.6, torch.randn(3, K)
    before = [x.clone() for x in (q, k, v, mask, bias)]
    got = dot_product_attention(q, k, v, mask, score_bias=bias)
    expected = dot_product_attention(q.requires_grad_(), k, v, mask, score_bias=bias)
    for one, other in zip(got, expected, strict=True):
        torch.testing.assert_close(one, other)
    assert all(torch.equal(x, y) for x, y in zip((q, k, v, mask, bias), before, strict=True))


# Precision


@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize(("dtype", "most"), [(torch.bfloat16, 0.02), (torch.float16, 0.003)])
def test_half_precision_is_as_exact_on_both_paths(dtype, most, autocast):
    q, k, v = (torch.randn(B, 4, 64, 64).to(dtype) for _ in range(3))
    q = 8 * q
    exact, exact_weights = dot_product_attention(q.double(), k.double(), v.double())
    with torch.autocast("cpu", dtype, enabled=autocast):
        readable, weights = dot_product_attention(q, k, v)
        fast, _ = attend(q, k, v, checked_limits((B, 4, 64, 64), q.device))
    assert readable.dtype == weights.dtype == fast.dtype == dtype
    assert (readable - exact).abs().max() < most
    assert (fast - exact).abs().max() < most
    torch.testing.assert_close(weights, exact_weights.to(dtype))


@pytest.mark.parametrize(("dtype", "entry"), [(torch.float16, 2000.0), (torch.float32, 4e18)], ids=str)
def test_large_scores_do_not_overflow(dtype, entry):
    """In single precision 64 · entry² overflows; divided by √64 it doesn't."""
    x = torch.full((1, 1, 1, 64), entry, dtype=dtype)
    output, weights = dot_product_attention(x, x, x)
    assert torch.equal(output, x)
    assert weights.item() == 1
    if dtype == torch.float16:  # PyTorch's kernel for single precision divides after the product
        assert torch.equal(attend(x, x, x, checked_limits((1, 1, 1, 1), x.device))[0], x)


@PATHS
def test_autocast_takes_inputs_of_several_dtypes(need_weights):
    layer, x = MultiHeadAttention(D, H), torch.randn(B, K, D)
    with torch.autocast("cpu", torch.bfloat16):
        twice = output_of(layer, output_of(layer, x, need_weights=need_weights), need_weights=need_weights)
        mixed = output_of(layer, x.bfloat16(), x, valid_lens=LENS, need_weights=need_weights)
    assert twice.dtype == mixed.dtype == torch.bfloat16
    torch.testing.assert_close(twice.float(), layer(layer(x)), atol=2e-2, rtol=5e-2)
    torch.testing.assert_close(mixed.float(), layer(x, valid_lens=LENS), atol=2e-2, rtol=5e-2)
    with torch.autocast("cpu", torch.bfloat16, enabled=False), pytest.raises(TypeError, match="dtype"):
        layer(x.bfloat16())


# Replaced projections


class Int8Linear(nn.Module):
    """Has only its weights in 8 bits, and no ``in_features``."""

    def __init__(self, linear):
        super().__init__()
        scale = linear.weight.detach().abs().amax(dim=1, keepdim=True) / 127
        self.register_buffer("weight", (linear.weight.detach() / scale).round().to(torch.int8))
        self.register_buffer("scale", scale)

    def forward(self, x):
        return x @ (self.weight * self.scale).mT


@PATHS
@pytest.mark.parametrize("kind", ["int8", "offloaded"])
def test_projections_may_be_replaced(kind, need_weights):
    layer, x = MultiHeadAttention(D, H), torch.randn(B, K, D)
    replaced = copy.deepcopy(layer)
    for name, linear in layer.named_children():
        if kind == "int8":
            setattr(replaced, name, Int8Linear(linear))
        else:  # a hook fetches the weights, as libraries that offload do
            getattr(replaced, name).to("meta").forward = linear.forward
    got = output_of(replaced, x, valid_lens=LENS, need_weights=need_weights)
    expected = output_of(layer, x, valid_lens=LENS, need_weights=need_weights)
    torch.testing.assert_close(got, expected, **({"atol": 3e-2, "rtol": 3e-2} if kind == "int8" else {}))


# Constructors


def test_sizes_may_be_integers_of_numpy():
    int64 = pytest.importorskip("numpy").int64
    layer = MultiHeadAttention(int64(12), int64(4), head_dim=int64(3), num_kv_heads=int64(2))
    assert [type(n) for n in (layer.num_heads, layer.head_dim, layer.num_kv_heads)] == [int, int, int]
    assert layer(torch.randn(B, K, 12)).shape == (B, K, 12)


def test_masks_are_made_on_the_device_asked_for():
    for mask in (padding_mask(LENS, K, torch.device("meta")), causal_mask(3, K, torch.device("meta"))):
        assert mask.is_meta
    assert padding_mask(LENS.to("meta"), K).is_meta
