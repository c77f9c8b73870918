"""The fast paths give the output and the gradients of the readable one, whatever the input."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import mha_lib.multihead
import mha_lib.packing
from mha_lib import MultiHeadAttention, causal_mask
from mha_lib.fused import attend, queries_at_a_time
from mha_lib.masks import Limits, checked_limits
from mha_lib.packing import has_varlen_kernel, worth_packing
from tests.mha_lib.layers import DEVICES, NEEDS_GPU, output_and_gradients

B, Q, K, H, HEAD = 2, 3, 5, 7, 11

TOLERANCE = {
    torch.float16: {"atol": 5e-3, "rtol": 2e-2},
    torch.bfloat16: {"atol": 4e-2, "rtol": 8e-2},
}


@pytest.fixture
def built_masks(monkeypatch):
    """Record the masks that the fast path builds."""
    built, allowed = [], Limits.allowed
    monkeypatch.setattr(Limits, "allowed", lambda *args: built.append(allowed(*args)) or built[-1])
    return built


@pytest.fixture
def packed_calls(monkeypatch):
    """Record the calls that leave out padded keys."""
    calls = []
    original = mha_lib.multihead.packed_attention
    monkeypatch.setattr(
        mha_lib.multihead, "packed_attention", lambda *args: calls.append(args) or original(*args)
    )
    return calls


KINDS = {
    "lengths (B,)": lambda q, k: {"valid_lens": torch.tensor([0, k])},
    "causal, lengths (B,)": lambda q, k: {"valid_lens": torch.tensor([0, k]), "is_causal": True},
    "lengths (B, Q)": lambda q, k: {"valid_lens": torch.randint(k + 1, (B, q))},
    "causal, lengths (B, Q)": lambda q, k: {"valid_lens": torch.randint(k + 1, (B, q)), "is_causal": True},
    "causal": lambda q, k: {"is_causal": True},
    "causal, key_mask": lambda q, k: {"key_mask": torch.rand(B, k) < 0.6, "is_causal": True},
    "mask, bias": lambda q, k: {"mask": torch.rand(B, 1, q, k) < 0.6, "score_bias": torch.randn(q, k)},
}


@DEVICES
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("always_pack")
def test_fast_path_gives_output_and_gradients_of_the_readable_path(kind, dtype, device, packed_calls):
    """``test_formula.py`` compares both in double precision."""
    layer = MultiHeadAttention(128, 8, bias=True).to(device, dtype)
    queries, keys = (torch.randn(B, n, 128).to(device, dtype) for n in (Q, K))
    arguments = {
        name: x.to(device) if isinstance(x, torch.Tensor) else x for name, x in KINDS[kind](Q, K).items()
    }
    inputs = [queries, keys, keys.flip(1)]
    readable, _ = output_and_gradients(layer, layer, inputs, arguments | {"need_weights": True})
    fast, _ = output_and_gradients(layer, layer, inputs, arguments)
    for expected, got in zip(readable, fast, strict=True):
        assert got.isfinite().all()
        torch.testing.assert_close(got, expected, **TOLERANCE[expected.dtype])
    assert len(packed_calls) == (kind in ("lengths (B,)", "causal, lengths (B,)"))


def test_large_padded_batches_skip_their_padding_and_small_ones_mask_it(packed_calls):
    layer = MultiHeadAttention(64, 4)
    for num_tokens, calls in ((8, 0), (256, 1)):
        x, valid_lens = torch.randn(3, num_tokens, 64), torch.tensor([1, num_tokens // 2, num_tokens])
        expected, _ = layer(x, valid_lens=valid_lens, need_weights=True)
        torch.testing.assert_close(layer(x, valid_lens=valid_lens), expected)
        assert len(packed_calls) == calls


def test_full_lengths_cost_neither_mask_nor_packing(packed_calls, built_masks):
    layer, x = MultiHeadAttention(64, 4), torch.randn(3, 256, 64)
    torch.testing.assert_close(layer(x, valid_lens=torch.tensor([256, 256, 256])), layer(x))
    assert not packed_calls
    assert not built_masks


def test_padded_keys_are_not_even_projected(always_pack):
    layer, projected = MultiHeadAttention(14, H), []
    layer.W_k.register_forward_hook(lambda module, inputs, output: projected.append(inputs[0]))
    x = torch.randn(B, K, 14)
    layer(x, valid_lens=torch.tensor([2, 4]))
    assert torch.equal(projected[0], torch.cat([x[0, :2], x[1, :4]])[None])


@pytest.mark.parametrize("valid_lens", [None, torch.tensor([0, 40, 64])], ids=["plain", "packed"])
def test_no_weights_are_ever_built(valid_lens, always_pack):
    """No tensor of the backward graph holds as many numbers as there are weights."""
    layer, saved = MultiHeadAttention(8, 4, value_head_dim=3), []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: saved.append(x.numel()) or x, lambda x: x):
        layer(torch.randn(3, 64, 8), valid_lens=valid_lens, is_causal=True)
    assert max(saved) < 64 * 64


@pytest.mark.parametrize("kind", ["causal, lengths (B, Q)", "lengths (B, Q)"])
def test_masks_are_built_for_a_chunk_of_queries_and_kept_for_none(kind, chunks_of, built_masks):
    """No mask holds all queries at once, and the backward graph keeps no mask of a chunk."""
    chunks_of(64)
    num_queries, num_keys = 512, 640
    layer, x, y = MultiHeadAttention(4, 2), torch.randn(B, num_queries, 4), torch.randn(B, num_keys, 4)
    kept = {}
    with torch.autograd.graph.saved_tensors_hooks(
        lambda x: kept.update({x.untyped_storage().data_ptr(): x.untyped_storage().nbytes()}) or x,
        lambda x: x,
    ):
        output = layer(x, y, **KINDS[kind](num_queries, num_keys))
    assert [mask.shape[-2] for mask in built_masks] == [64] * 8
    if "causal" in kind:  # later keys are not even looked at
        assert [mask.shape[-1] for mask in built_masks] == list(range(192, 641, 64))
    assert sum(kept.values()) < num_queries * num_keys
    built_masks.clear()
    output.sum().backward()
    assert len(built_masks) == 8  # built again for the gradients


def test_a_chunk_has_as_many_queries_as_a_mask_has_room_for():
    """8 million cells hold 512 rows of 16,384 keys, and a mask for each of two samples halves that."""
    queries, lengths = torch.empty(2, 1, 16_384, 1), torch.tensor([3, 16_384])
    shape, device = (2, 1, 16_384, 16_384), torch.device("cpu")
    assert queries_at_a_time(queries, checked_limits(shape, device, is_causal=True)) == 512
    assert queries_at_a_time(queries, checked_limits(shape, device, lengths, is_causal=True)) == 256


def test_a_mask_that_is_the_same_for_all_queries_is_not_built_in_chunks(small_chunks, built_masks):
    layer, x = MultiHeadAttention(14, H), torch.randn(B, 6, 14)
    layer(x, key_mask=torch.rand(B, 6) < 0.5)
    layer(x, x[:, :1], is_causal=False)
    layer(x[:, :1], x, is_causal=True)  # one query sees every key
    assert [tuple(mask.shape) for mask in built_masks] == [(B, 1, 1, 6)]


def test_dropout_in_chunks_is_the_same_in_the_second_computation_for_the_gradients(small_chunks):
    layer = MultiHeadAttention(14, H, dropout=0.5).double()
    x, y = torch.randn(B, 4, 14).double().requires_grad_(), torch.randn(B, 6, 14).double()

    def output(x):
        torch.manual_seed(3)
        return layer(x, y, is_causal=True)

    torch.autograd.gradcheck(output, x, fast_mode=True)


# Variable-length kernels


def reference_varlen_attn(
    query, key, value, cu_seq_q, cu_seq_k, max_q, max_k, *, window_size=(-1, -1), enable_gqa=False
):
    """Compute what the documentation of ``varlen_attn`` says, in a loop over samples and heads."""
    assert cu_seq_q.dtype == cu_seq_k.dtype == torch.int32
    assert cu_seq_q[0] == cu_seq_k[0] == 0
    assert max_q == cu_seq_q.diff().max()
    assert max_k == cu_seq_k.diff().max()
    assert type(max_q) is type(max_k) is int
    assert cu_seq_q[-1] == len(query)
    assert cu_seq_k[-1] == len(key) == len(value)
    assert query.shape[2] == key.shape[2] == value.shape[2]
    assert window_size in ((-1, -1), (-1, 0))
    assert enable_gqa == (query.shape[1] != key.shape[1])
    outputs = []
    for i in range(len(cu_seq_q) - 1):
        q, k, v = (
            x[ends[i] : ends[i + 1]].transpose(0, 1)
            for x, ends in ((query, cu_seq_q), (key, cu_seq_k), (value, cu_seq_k))
        )
        k, v = (x.repeat_interleave(len(q) // len(x), dim=0) for x in (k, v))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if window_size == (-1, 0):
            scores = scores.masked_fill(~causal_mask(q.shape[1], k.shape[1]), -torch.inf)
        outputs.append((scores.softmax(-1) @ v).transpose(0, 1))
    return torch.cat(outputs)


@pytest.fixture
def varlen(monkeypatch):
    """Put an empty module in the place of PyTorch's, and say that its kernel works here."""
    module = ModuleType("torch.nn.attention.varlen")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(mha_lib.packing, "has_varlen_kernel", lambda *_: True)
    return module


@pytest.mark.parametrize(
    ("num_queries", "is_causal", "num_kv_heads"), [(1, True, 1), (Q, True, 6), (Q, False, 3), (K, True, 3)]
)
@pytest.mark.usefixtures("always_pack")
def test_the_gpu_kernel_is_given_what_it_needs(num_queries, is_causal, num_kv_heads, varlen, monkeypatch):
    calls = []
    varlen.varlen_attn = lambda *args, **options: calls.append(1) or reference_varlen_attn(*args, **options)
    monkeypatch.setattr(mha_lib.packing, "attend_one_by_one", None)
    layer = MultiHeadAttention(12, 6, bias=True, num_kv_heads=num_kv_heads, rotary=True).double()
    x, y = torch.randn(4, num_queries, 12).double(), torch.randn(4, K, 12).double()
    arguments = {"valid_lens": torch.tensor([0, 5, 1, 3]), "is_causal": is_causal}
    expected, _ = output_and_gradients(layer, layer, [x, y], arguments | {"need_weights": True})
    found, _ = output_and_gradients(layer, layer, [x, y], arguments)
    torch.testing.assert_close(found, expected)
    assert calls


class CopiesFromTheCPU(TorchDispatchMode):
    """Count the tensors that are sent from the CPU to another device."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten._to_copy.default and args[0].device.type == "cpu":
            self.count += (kwargs or {}).get("device", args[0].device) != args[0].device
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("is_causal", [False, True])
def test_packing_reads_nothing_from_the_device_and_sends_it_the_lengths_alone(is_causal, varlen):
    """The meta device raises when a number is read."""
    varlen.varlen_attn = lambda query, *_, **__: torch.empty_like(query)
    layer, x = MultiHeadAttention(14, H, device="meta", rotary=True), torch.empty(4, K, 14, device="meta")
    with CopiesFromTheCPU() as copies:
        output = layer(x, valid_lens=torch.tensor([0, 5, 1, 3]), is_causal=is_causal)
    assert (output.device.type, tuple(output.shape)) == ("meta", (4, K, 14))
    assert copies.count == 1


def takes(width=64, value_width=None, dropout_p=0.0, device="cuda", dtype=torch.bfloat16):
    return has_varlen_kernel(torch.device(device), dtype, width, value_width or width, dropout_p)


def test_the_kernel_is_used_only_for_what_it_can_take_and_where_it_is_there(monkeypatch):
    """As if this PyTorch were built for an NVIDIA GPU with FlashAttention; then without one part of it."""
    monkeypatch.setattr(torch.version, "hip", None)
    monkeypatch.setattr(torch.backends.cuda, "is_flash_attention_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (8, 0))
    for width in (8, 64, 256):
        assert takes(width)
        assert takes(width, dtype=torch.float16)
    assert not takes(12)
    assert not takes(264)
    assert not takes(value_width=32)
    assert not takes(dropout_p=0.1)
    assert not takes(device="cpu")
    assert not takes(dtype=torch.float32)
    for lacking in (
        (torch.cuda, "get_device_capability", lambda device: (7, 5)),
        (torch.version, "hip", "6.4"),
        (torch.backends.cuda, "is_flash_attention_available", lambda: False),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(*lacking)
            assert not takes(), lacking


LENGTHS = torch.tensor([3, 512])


def is_packed(device, **limits):
    queries = SimpleNamespace(device=torch.device(device), shape=(2, 512, 512), dtype=torch.float32)
    place = limits["valid_lens"].device if "valid_lens" in limits else torch.device("cpu")
    return worth_packing(queries, 8, 8, 64, 64, checked_limits((2, 8, 512, 512), place, **limits), 0.0)


def test_only_a_cpu_takes_samples_one_by_one_and_only_lengths_of_samples_are_packed(monkeypatch):
    monkeypatch.setattr(mha_lib.packing, "has_varlen_kernel", lambda *_: False)
    assert is_packed("cpu", valid_lens=LENGTHS)
    assert not is_packed("mps", valid_lens=LENGTHS)
    monkeypatch.setattr(mha_lib.packing, "has_varlen_kernel", lambda *_: True)
    for device in ("cpu", "cuda"):
        assert is_packed(device, valid_lens=LENGTHS)
        assert not is_packed(device)
        assert not is_packed(device, valid_lens=torch.full((2, 512), 7))
        assert not is_packed(device, valid_lens=LENGTHS, key_mask=torch.ones(2, 512).bool())
        assert not is_packed(device, valid_lens=LENGTHS, mask=torch.ones(512, 512).bool())
        assert not is_packed(device, valid_lens=LENGTHS, window=7)
        assert not is_packed(device, valid_lens=LENGTHS, score_bias=torch.zeros(512, 512))
        assert not is_packed(device, valid_lens=LENGTHS.to("meta")), "nobody can read them"


def test_heads_that_share_keys_are_not_given_copies_of_them(monkeypatch):
    """PyTorch's kernel gets the keys and values without copies."""
    shapes, sdpa = [], torch.nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(
        torch.nn.functional,
        "scaled_dot_product_attention",
        lambda q, k, v, *rest, **options: (
            shapes.append((k.shape, v.shape)) or sdpa(q, k, v, *rest, **options)
        ),
    )
    q, k, v = torch.randn(B, 6, Q, HEAD), torch.randn(B, 2, K, HEAD), torch.randn(B, 2, K, HEAD)
    expected = sdpa(q, k.repeat_interleave(3, dim=1), v.repeat_interleave(3, dim=1))
    limits = checked_limits((B, 6, Q, K), q.device)
    torch.testing.assert_close(attend(q, k, v, limits)[0], expected)
    assert shapes == [(k.shape, v.shape)]


@NEEDS_GPU
@pytest.mark.parametrize("kind", ["causal", "lengths (B,)", "lengths (B, Q)", "causal, lengths (B,)"])
def test_lengths_on_the_cpu_make_nobody_wait_for_the_gpu(kind):
    layer = MultiHeadAttention(128, 8).to("cuda", torch.bfloat16)
    x = torch.randn(B, 64, 128, device="cuda", dtype=torch.bfloat16)
    arguments = KINDS[kind](64, 64)
    layer(x, **arguments)  # PyTorch loads parts of itself at first use
    torch.cuda.set_sync_debug_mode("error")
    try:
        layer(x, **arguments)
        layer(x, need_weights=True, **arguments)
    finally:
        torch.cuda.set_sync_debug_mode("default")
