"""The fast paths against the readable one: the same output and the same gradients, whatever the input."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import mha_lib.fused
from mha_lib import MultiHeadAttention, causal_mask
from mha_lib.fused import attend_one_by_one, attend_varlen

B, Q, K, H, HEAD = 2, 3, 5, 7, 11
D = H * HEAD

TOLERANCE = {
    torch.float64: {"atol": 1e-12, "rtol": 1e-10},
    torch.float32: {"atol": 2e-5, "rtol": 1e-4},
    torch.float16: {"atol": 5e-3, "rtol": 2e-2},
    torch.bfloat16: {"atol": 4e-2, "rtol": 8e-2},
}
DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")),
]


@pytest.fixture
def always_pack(monkeypatch):
    """Padded keys are skipped however small the batch."""
    monkeypatch.setattr(mha_lib.fused, "WORTH_SKIPPING", -1)


@pytest.fixture
def packed_calls(monkeypatch):
    """How often padded keys were skipped."""
    calls = []
    original = mha_lib.multihead.packed_attention
    monkeypatch.setattr(
        mha_lib.multihead, "packed_attention", lambda *args: calls.append(args) or original(*args)
    )
    return calls


def output_and_gradients(layer, inputs, **arguments):
    """The output, and the gradients of all inputs and parameters for a loss that tells all outputs apart."""
    layer.zero_grad()
    inputs = [x.detach().clone().requires_grad_() for x in inputs]
    output = layer(*inputs, **arguments)
    output = output[0] if isinstance(output, tuple) else output
    (output * torch.arange(output.numel(), device=output.device).reshape(output.shape).cos()).sum().backward()
    gradients = [x.grad for x in inputs] + [parameter.grad for parameter in layer.parameters()]
    return [output.detach(), *gradients]


def assert_paths_agree(layer, *inputs, **arguments):
    readable = output_and_gradients(layer, inputs, need_weights=True, **arguments)
    fast = output_and_gradients(layer, inputs, **arguments)
    for expected, got in zip(readable, fast, strict=True):
        assert got.isfinite().all()
        torch.testing.assert_close(got, expected, **TOLERANCE[expected.dtype])


def make_mask(kind, num_queries, num_keys, num_heads, batch, device):
    shapes = {
        "(Q, K)": (num_queries, num_keys),
        "(B, Q, K)": (batch, num_queries, num_keys),
        "(B, 1, K)": (batch, 1, num_keys),
        "(B, H, Q, K)": (batch, num_heads, num_queries, num_keys),
    }
    return torch.rand(shapes[kind], device=device) < 0.6


MASKS = ["none", "lengths (B,)", "lengths (B, Q)", "causal", "causal, lengths (B,)", "causal, lengths (B, Q)"]
MASKS += ["(Q, K)", "(B, Q, K)", "(B, 1, K)", "(B, H, Q, K)", "everything", "nothing"]


def make_arguments(kind, num_queries, num_keys, num_heads, batch, device):
    arguments = {}
    if "lengths (B,)" in kind:
        arguments["valid_lens"] = torch.tensor(
            ([0, num_keys] * batch)[:batch], dtype=torch.long, device=device
        )
    if "lengths (B, Q)" in kind:
        arguments["valid_lens"] = torch.randint(num_keys + 1, (batch, num_queries), device=device)
    if "causal" in kind:
        arguments["is_causal"] = True
    if kind.startswith("("):
        arguments["mask"] = make_mask(kind, num_queries, num_keys, num_heads, batch, device)
    if kind == "everything":
        arguments["valid_lens"] = torch.full((batch,), num_keys, device=device)
        arguments["mask"] = torch.ones(num_queries, num_keys, dtype=torch.bool, device=device)
    if kind == "nothing":
        arguments["mask"] = torch.zeros(num_queries, num_keys, dtype=torch.bool, device=device)
    return arguments


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("is_self", [True, False], ids=["self", "cross"])
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.usefixtures("always_pack")
def test_fast_path_gives_output_and_gradients_of_the_readable_path(kind, is_self, dtype, device):
    layer = MultiHeadAttention(D, H, bias=True).to(device, dtype)
    queries, keys = torch.randn(B, Q, D), torch.randn(B, K, D)
    inputs = [x.to(device, dtype) for x in ([keys] if is_self else [queries, keys, keys.flip(1)])]
    num_queries = K if is_self else Q
    assert_paths_agree(layer, *inputs, **make_arguments(kind, num_queries, K, H, B, device))


@pytest.mark.parametrize("num_heads", [1, D])
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.usefixtures("always_pack")
def test_paths_agree_for_one_head_and_for_one_dimension_a_head(kind, num_heads):
    layer = MultiHeadAttention(D, num_heads).double()
    x, y = torch.randn(B, Q, D).double(), torch.randn(B, K, D).double()
    assert_paths_agree(layer, x, y, **make_arguments(kind, Q, K, num_heads, B, "cpu"))


@pytest.mark.parametrize("value_head_dim", [2, 17])
@pytest.mark.parametrize("kind", ["none", "lengths (B,)", "causal, lengths (B,)", "(B, H, Q, K)"])
@pytest.mark.usefixtures("always_pack")
def test_paths_agree_for_sizes_of_all_kinds(kind, value_head_dim):
    layer = MultiHeadAttention(
        13, H, query_size=3, key_size=5, value_size=19, head_dim=HEAD, value_head_dim=value_head_dim
    ).double()
    inputs = [torch.randn(B, *shape).double() for shape in ((Q, 3), (K, 5), (K, 19))]
    assert_paths_agree(layer, *inputs, **make_arguments(kind, Q, K, H, B, "cpu"))


@pytest.mark.parametrize("batch", [0, 1, 4])
@pytest.mark.parametrize(("num_queries", "num_keys"), [(0, K), (1, K), (Q, K), (K, K), (Q, 0), (0, 0)])
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.usefixtures("always_pack")
def test_paths_agree_where_there_is_little_or_nothing(kind, num_queries, num_keys, batch):
    if "causal" in kind and num_queries > num_keys:
        pytest.skip("causality wants at least as many keys as queries")
    layer = MultiHeadAttention(14, H, bias=True).double()
    x, y = torch.randn(batch, num_queries, 14).double(), torch.randn(batch, num_keys, 14).double()
    assert_paths_agree(layer, x, y, **make_arguments(kind, num_queries, num_keys, H, batch, "cpu"))


@pytest.mark.parametrize("kind", ["none", "lengths (B,)", "causal, lengths (B,)", "(B, H, Q, K)"])
@pytest.mark.usefixtures("always_pack")
def test_paths_agree_on_non_contiguous_input(kind):
    layer = MultiHeadAttention(D, H).double()
    x = torch.randn(D, 2 * K, B).double().permute(2, 1, 0)[:, ::2]  # (B, K, D), strided in every axis
    arguments = make_arguments(kind, K, K, H, B, "cpu")
    arguments = {k: v.mT.contiguous().mT if k == "mask" else v for k, v in arguments.items()}
    output = layer(x, **arguments)
    torch.testing.assert_close(output, layer(x.contiguous(), need_weights=True, **arguments)[0])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data())
def test_paths_agree_on_anything_drawn(data):
    draw = data.draw
    batch, num_keys = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    is_causal = draw(st.booleans())
    num_queries = draw(st.integers(1, num_keys if is_causal else 9))
    num_heads, head_dim = draw(st.sampled_from([(1, 5), (3, 1), (2, 4), (5, 3)]))
    dtype = draw(st.sampled_from([torch.float64, torch.float32, torch.bfloat16]))
    lengths = st.integers(0, num_keys)
    shape = draw(st.sampled_from([None, (batch,), (batch, num_queries)]))
    arguments = {"is_causal": is_causal}
    if shape is not None:
        count = shape[0] * (shape[1] if len(shape) == 2 else 1)
        drawn = draw(st.lists(lengths, min_size=count, max_size=count))
        length_dtype = draw(st.sampled_from([torch.int64, torch.int32, torch.uint8]))
        arguments["valid_lens"] = torch.tensor(drawn, dtype=length_dtype).reshape(shape)
    torch.manual_seed(draw(st.integers(0, 1000)))
    if draw(st.booleans()):
        mask_kind = draw(st.sampled_from(["(Q, K)", "(B, Q, K)", "(B, 1, K)", "(B, H, Q, K)"]))
        arguments["mask"] = make_mask(mask_kind, num_queries, num_keys, num_heads, batch, "cpu")
    if draw(st.booleans()):
        arguments["head_mask"] = torch.rand((batch, num_heads) if draw(st.booleans()) else (num_heads,))
    layer = MultiHeadAttention(num_heads * head_dim, num_heads, bias=draw(st.booleans())).to(dtype)
    x = torch.randn(batch, num_queries, num_heads * head_dim).to(dtype)
    y = torch.randn(batch, num_keys, num_heads * head_dim).to(dtype)
    threshold = mha_lib.fused.WORTH_SKIPPING
    try:
        mha_lib.fused.WORTH_SKIPPING = draw(st.sampled_from([-1, threshold]))
        assert_paths_agree(layer, x, y, **arguments)
    finally:
        mha_lib.fused.WORTH_SKIPPING = threshold


def test_large_padded_batches_skip_their_padding_and_small_ones_mask_it(packed_calls):
    layer = MultiHeadAttention(64, 4)
    for num_tokens, calls in ((8, 0), (256, 1)):
        x, valid_lens = torch.randn(3, num_tokens, 64), torch.tensor([1, num_tokens // 2, num_tokens])
        expected, _ = layer(x, valid_lens=valid_lens, need_weights=True)
        torch.testing.assert_close(layer(x, valid_lens=valid_lens), expected)
        assert len(packed_calls) == calls


def test_full_lengths_cost_neither_mask_nor_packing(packed_calls, monkeypatch):
    masks = []
    attend = mha_lib.fused.attend_in_one_kernel
    monkeypatch.setattr(
        mha_lib.fused,
        "attend_in_one_kernel",
        lambda q, k, v, mask, *rest: masks.append(mask) or attend(q, k, v, mask, *rest),
    )
    layer, x = MultiHeadAttention(64, 4), torch.randn(3, 256, 64)
    torch.testing.assert_close(layer(x, valid_lens=torch.tensor([256, 256, 256])), layer(x))
    assert masks == [None, None]
    assert not packed_calls


def test_padded_keys_are_not_even_projected(always_pack):
    layer, projected = MultiHeadAttention(14, H), []
    layer.W_k.register_forward_hook(lambda module, inputs, output: projected.append(inputs[0]))
    x = torch.randn(B, K, 14)
    layer(x, valid_lens=torch.tensor([2, 4]))
    assert torch.equal(projected[0], torch.cat([x[0, :2], x[1, :4]]))


@pytest.mark.parametrize("valid_lens", [None, [1, 40, 64], [0, 64, 64]])
@pytest.mark.parametrize("is_causal", [False, True])
def test_no_weights_are_ever_built(valid_lens, is_causal, always_pack):
    """No tensor of the backward graph holds as many numbers as there are weights."""
    layer, num_tokens = MultiHeadAttention(8, 4, value_head_dim=3), 64
    saved = []
    valid_lens = None if valid_lens is None else torch.tensor(valid_lens)
    with torch.autograd.graph.saved_tensors_hooks(lambda x: saved.append(x.numel()) or x, lambda x: x):
        layer(torch.randn(3, num_tokens, 8), valid_lens=valid_lens, is_causal=is_causal)
    assert max(saved) < num_tokens * num_tokens


def reference_varlen_attn(
    query, key, value, cu_seq_q, cu_seq_k, max_q, max_k, *, window_size=(-1, -1), enable_gqa=False
):
    """What ``varlen_attn`` is documented to compute, as a loop over samples and heads."""
    assert cu_seq_q.dtype == cu_seq_k.dtype == torch.int32
    assert max_q == cu_seq_q.diff().max()
    assert max_k == cu_seq_k.diff().max()
    assert cu_seq_q[-1] == len(query)
    assert cu_seq_k[-1] == len(key) == len(value)
    outputs = []
    for i in range(len(cu_seq_q) - 1):
        q, k, v = (
            x[ends[i] : ends[i + 1]].transpose(0, 1)
            for x, ends in ((query, cu_seq_q), (key, cu_seq_k), (value, cu_seq_k))
        )
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if window_size == (-1, 0):
            scores = scores.masked_fill(~causal_mask(q.shape[1], k.shape[1]), -torch.inf)
        outputs.append((scores.softmax(-1) @ v).transpose(0, 1))
    return torch.cat(outputs)


@pytest.mark.parametrize("num_queries", [1, Q, K])
@pytest.mark.parametrize("is_causal", [False, True])
def test_the_gpu_kernel_is_given_what_it_needs(num_queries, is_causal, always_pack, monkeypatch):
    """The packing for ``varlen_attn``, on the CPU: the kernel is replaced by its specification."""
    import torch.nn.attention.varlen as varlen

    monkeypatch.setattr(varlen, "varlen_attn", reference_varlen_attn)
    monkeypatch.setattr(mha_lib.fused, "has_varlen_kernel", lambda *_: True)
    monkeypatch.setattr(mha_lib.fused, "attend_one_by_one", None)
    layer = MultiHeadAttention(14, H, bias=True).double()
    x, y = torch.randn(4, num_queries, 14).double(), torch.randn(4, K, 14).double()
    assert_paths_agree(layer, x, y, valid_lens=torch.tensor([0, 5, 1, 3]), is_causal=is_causal)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("is_causal", [False, True])
def test_the_gpu_kernel_agrees_with_one_sample_at_a_time(is_causal):
    from mha_lib.fused import has_varlen_kernel

    query_counts, key_counts = torch.tensor([1, 0, 5, 3]), torch.tensor([1, 2, 5, 7])
    make = lambda counts: torch.randn(int(counts.sum()), H, 16, device="cuda", dtype=torch.bfloat16)  # noqa: E731
    q, k, v = make(query_counts), make(key_counts), make(key_counts)
    assert has_varlen_kernel(q, 16, 0.0)
    expected = attend_one_by_one(q, k, v, query_counts, key_counts, 0.0, is_causal)
    got = attend_varlen(q, k, v, query_counts, key_counts, 0.0, is_causal)
    torch.testing.assert_close(got, expected, **TOLERANCE[torch.bfloat16])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("is_self", [True, False], ids=["self", "cross"])
@pytest.mark.parametrize("kind", MASKS)
def test_paths_agree_on_a_gpu_where_padded_keys_are_packed(kind, is_self, dtype, packed_calls):
    layer = MultiHeadAttention(128, 8, bias=True).to("cuda", dtype)
    queries, keys = (torch.randn(B, n, 128, device="cuda", dtype=dtype) for n in (Q, K))
    inputs = [keys] if is_self else [queries, keys, keys.flip(1)]
    assert_paths_agree(layer, *inputs, **make_arguments(kind, K if is_self else Q, K, 8, B, "cuda"))
    assert len(packed_calls) == (kind in ("lengths (B,)", "causal, lengths (B,)"))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("kind", ["none", "lengths (B,)", "lengths (B, Q)", "causal, lengths (B,)"])
def test_lengths_on_the_cpu_make_nobody_wait_for_the_gpu(kind):
    layer = MultiHeadAttention(128, 8).to("cuda", torch.bfloat16)
    x = torch.randn(B, 64, 128, device="cuda", dtype=torch.bfloat16)
    arguments = make_arguments(kind, 64, 64, 8, B, "cpu")
    layer(x, **arguments)  # once before, for what is loaded at first use
    torch.cuda.set_sync_debug_mode("error")
    try:
        layer(x, **arguments)
        layer(x, need_weights=True, **arguments)
    finally:
        torch.cuda.set_sync_debug_mode("default")
