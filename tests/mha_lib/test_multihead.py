"""Multi-head attention: against other libraries, against itself, and against published numbers."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import mha_lib
from mha_lib import (
    EncoderLayer,
    KVCache,
    LatentAttention,
    MultiHeadAttention,
    Rotary,
    SingleHeadAttention,
    padding_mask,
)
from tests.mha_lib.layers import PATHS, assert_padding_reaches_nothing, output_of, with_random_parameters

B, Q, K, H, HEAD = 2, 3, 5, 7, 11
D = H * HEAD


def test_from_torch_gives_what_the_torch_module_gives():
    """``test_transformer.py`` compares modules whose keys and values are as wide as their queries."""
    theirs = nn.MultiheadAttention(D, H, kdim=13, vdim=17, batch_first=True)
    theirs = with_random_parameters(theirs, std=0.3)
    inputs = torch.randn(B, Q, D), torch.randn(B, K, 13), torch.randn(B, K, 17)
    valid_lens = torch.tensor([2, 5])
    expected = theirs(
        *inputs, key_padding_mask=~padding_mask(valid_lens, K)[:, 0], average_attn_weights=False
    )
    found = MultiHeadAttention.from_torch(theirs)(*inputs, valid_lens, need_weights=True)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize(
    ("num_hiddens", "num_heads", "bias", "parameters"),
    [(100, 5, False, 40_000), (768, 12, True, 2_362_368)]
    + [(512, num_heads, True, 1_050_624) for num_heads in (1, 2, 4, 8, 16, 32)],
)
def test_layers_have_the_published_number_of_parameters(num_hiddens, num_heads, bias, parameters):
    """d2l and GPT-2, and the width of the paper, where the number of heads changes nothing."""
    layer = MultiHeadAttention(num_hiddens, num_heads, bias=bias)
    assert sum(parameter.numel() for parameter in layer.parameters()) == parameters


@pytest.mark.parametrize("dtype", [torch.bool, torch.long, torch.float64])
def test_a_head_mask_may_have_any_dtype_and_leaves_the_weights_alone(dtype):
    layer, x, head_mask = MultiHeadAttention(D, H), torch.randn(B, K, D), torch.arange(H) % 2
    output, weights = layer(x, head_mask=head_mask.to(dtype), need_weights=True)
    torch.testing.assert_close(output, layer(x, head_mask=head_mask.float()))
    torch.testing.assert_close(weights, layer(x, need_weights=True)[1])


# Dropout


def test_dropout_is_for_training_only(attend):
    layer, plain, x = MultiHeadAttention(D, H, dropout=0.5), MultiHeadAttention(D, H), torch.randn(B, K, D)
    plain.load_state_dict(layer.state_dict())
    valid_lens = torch.tensor([2, 5])
    expected = attend(plain, x, valid_lens=valid_lens)
    assert not attend(layer, x, valid_lens=valid_lens).allclose(expected, atol=1e-3)
    torch.testing.assert_close(attend(layer.eval(), x, valid_lens=valid_lens), expected)


# A layer among layers


@pytest.mark.ci
@PATHS
@pytest.mark.parametrize("kind", ["lengths (B,)", "lengths (B, Q)", "mask"])
def test_compiles_to_one_graph(kind, need_weights):
    layer, x = MultiHeadAttention(D, H), torch.randn(B, K, D, requires_grad=True)
    arguments = {
        "lengths (B,)": {"valid_lens": torch.tensor([0, 3])},
        "lengths (B, Q)": {"valid_lens": torch.tensor([[0, 1, 2, 3, 4], [5, 5, 5, 0, 1]])},
        "mask": {"mask": torch.rand(B, H, K, K) < 0.6, "is_causal": True, "head_mask": torch.rand(H)},
    }[kind]
    torch.compiler.reset()
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    expected, got = (call(x, need_weights=need_weights, **arguments) for call in (layer, compiled))
    torch.testing.assert_close(got, expected)
    expected, got = (
        torch.autograd.grad((y[0] if need_weights else y).square().sum(), x)[0] for y in (expected, got)
    )
    torch.testing.assert_close(got, expected)


def test_pickling_copying_and_state_dicts_keep_the_layer():
    layer, x = MultiHeadAttention(D, H, 0.1, bias=True, value_head_dim=5).eval(), torch.randn(B, K, D)
    restored = MultiHeadAttention(D, H, 0.1, bias=True, value_head_dim=5).eval()
    restored.load_state_dict(layer.state_dict())
    for twin in (pickle.loads(pickle.dumps(layer)), copy.deepcopy(layer), restored):
        assert torch.equal(twin(x), layer(x))
    assert set(layer.state_dict()) == {f"W_{p}.{kind}" for p in "qkvo" for kind in ("weight", "bias")}


def test_importing_the_library_imports_torch_and_nothing_slow():
    code = (
        "import sys, torch; before = set(sys.modules); import mha_lib; "
        "new = set(sys.modules) - before; print(*{name.split('.')[0] for name in new}, len(new))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split()[:-1] == ["mha_lib"]
    files = Path(mha_lib.__file__).parent.glob("*.py")
    assert int(result.stdout.split()[-1]) <= len(list(files)), "not the classroom"


# Padding never leaks

BAD_NUMBERS = pytest.mark.parametrize("bad", [torch.nan, torch.inf])


@BAD_NUMBERS
@pytest.mark.parametrize("with_key_mask", [False, True])
def test_bad_numbers_in_the_padding_of_self_attention_spoil_no_gradient(attend, bad, with_key_mask):
    layer = MultiHeadAttention(14, 7, bias=True, rotary=True, qk_norm=True)
    assert_padding_reaches_nothing(layer, attend, bad, with_key_mask)


@torch.no_grad()
def test_bad_numbers_in_padding_do_not_come_back_from_a_cache():
    layer, x = MultiHeadAttention(14, 7), torch.randn(B, K, 14)
    bad_x, key_mask = x.clone(), torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 0, 1]]).bool()
    bad_x[0, :2] = bad_x[1, 3] = torch.nan
    cache = KVCache(layer, B, K)
    layer(bad_x[:, :3], cache=cache, key_mask=key_mask[:, :3])
    output = layer(bad_x[:, 3:], cache=cache, key_mask=key_mask)
    expected = layer(x[:, 3:], x, key_mask=key_mask)
    torch.testing.assert_close(output[0], expected[0])
    torch.testing.assert_close(output[1, 1], expected[1, 1])  # row 0 belongs to a bad query


# The seam between weights and values


def test_changed_weights_are_returned_and_then_dropped():
    layer, x = MultiHeadAttention(D, H, dropout=1.0, bias=True), torch.randn(B, K, D)
    output, weights = layer(x, change_weights=lambda weights, _: weights / 2, need_weights=True)
    torch.testing.assert_close(weights.sum(-1), torch.full((B, H, K), 0.5))
    torch.testing.assert_close(output, layer.W_o.bias.expand(B, K, D))  # every weight was dropped


def test_an_encoder_layer_and_latent_attention_pass_it_on():
    x = torch.randn(B, K, D)
    layer = EncoderLayer(D, H, 5)
    _, weights = layer(x, change_weights=lambda weights, _: weights / 4, need_weights=True)
    torch.testing.assert_close(weights, layer(x, need_weights=True)[1] / 4)
    layer = LatentAttention(D, H, 5, 2)
    for absorb in (False, True):
        _, weights = layer(x, change_weights=lambda w, _: w / 4, need_weights=True, absorb=absorb)
        torch.testing.assert_close(weights, layer(x, need_weights=True)[1] / 4)


# Heads that share keys


def test_shared_heads_are_pooled_by_their_mean():
    layer = (
        MultiHeadAttention(24, 12, 0.3, bias=True, key_size=5, num_kv_heads=6, rotary=True).eval().double()
    )
    layer.W_v.weight.requires_grad_(False)
    before = copy.deepcopy(layer.state_dict())
    pooled = MultiHeadAttention.from_multi_head(layer, 2)
    for name, x in before.items():
        assert torch.equal(layer.state_dict()[name], x)
        if name[:3] in ("W_k", "W_v"):
            rows = x.unflatten(0, (6, 2))
            x = torch.cat([rows[:3].mean(0), rows[3:].mean(0)])
        torch.testing.assert_close(pooled.state_dict()[name], x)
    assert (pooled.num_kv_heads, pooled.W_k.out_features, pooled.W_v.out_features) == (2, 4, 4)
    assert (pooled.dropout, pooled.training, pooled.rotary, pooled.key_size) == (0.3, False, Rotary(), 5)
    assert not pooled.W_v.weight.requires_grad
    assert pooled.W_k.weight.requires_grad
    x, y = torch.randn(B, Q, 24).double(), torch.randn(B, K, 5).double()
    assert pooled(x, y, torch.randn(B, K, 24).double()).shape == (B, Q, 24)


@pytest.mark.parametrize("kdim", [None, 5])
def test_from_torch_draws_no_random_numbers_and_keeps_mode_dtype_and_device(kdim):
    theirs = nn.MultiheadAttention(D, H, kdim=kdim, dtype=torch.float64).eval()
    before = torch.get_rng_state()
    with torch.no_grad():
        ours = MultiHeadAttention.from_torch(theirs)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(parameter.requires_grad for parameter in ours.parameters()), "without gradients, too"
    assert {parameter.dtype for parameter in ours.parameters()} == {torch.float64}
    assert not ours.W_q.training
    on_meta = MultiHeadAttention.from_torch(nn.MultiheadAttention(D, H, kdim=kdim, device="meta"))
    assert all(parameter.is_meta for parameter in on_meta.parameters())
    assert on_meta.training


@pytest.mark.ci
@PATHS
@pytest.mark.parametrize("num_kv_heads", [2, 4])
def test_exports_with_any_batch(num_kv_heads, need_weights):
    """The number of tokens may be any as well, unless weights of shared heads are wanted: merging two axes of
    unknown size makes PyTorch guess their strides."""
    layer = MultiHeadAttention(24, 4, num_kv_heads=num_kv_heads).eval()
    any_length = not need_weights or num_kv_heads == 4
    sizes = {
        0: torch.export.Dim("batch", min=2),
        1: torch.export.Dim("tokens", min=2) if any_length else None,
    }

    shapes = {"queries": sizes, "valid_lens": {0: sizes[0]}, "need_weights": None}
    options = {"valid_lens": torch.tensor([7, 0, 4]), "need_weights": need_weights}
    program = torch.export.export(layer, (torch.randn(3, 7, 24),), options, dynamic_shapes=shapes).module()
    y, options["valid_lens"] = torch.randn(5, 9 if any_length else 7, 24), torch.tensor([1, 2, 7, 0, 4])
    torch.testing.assert_close(program(y, **options), layer(y, **options))


@PATHS
def test_keys_that_are_padding_in_all_samples_are_not_even_projected(need_weights):
    layer, projected = MultiHeadAttention(14, 7), []
    layer.W_k.register_forward_hook(lambda module, inputs, output: projected.append(output.shape[1]))
    output_of(layer, torch.randn(B, K, 14), valid_lens=torch.tensor([3, 2]), need_weights=need_weights)
    assert projected == [3]


@BAD_NUMBERS
@pytest.mark.parametrize("is_causal", [False, True])
def test_a_bad_number_that_is_no_padding_is_not_hidden_from_a_sample_beside_a_padded_one(
    attend, is_causal, bad
):
    """PyTorch's kernel for a CPU without a mask gives 0 where no score of a query is a number."""
    layer = MultiHeadAttention(12, 6, num_kv_heads=2, value_head_dim=3)
    limits = {"valid_lens": torch.tensor([2, 5]), "is_causal": is_causal}
    x, y = torch.randn(B, Q, 12), torch.randn(B, K, 12)
    x[0, -1] = bad
    output = attend(layer, x, y, **limits)
    assert output[0, -1].isnan().all()
    assert output[0, :-1].isfinite().all()
    assert output[1].isfinite().all()
    assert attend(layer, x, torch.full((B, K, 12), bad), y, **limits).isnan().all()


@BAD_NUMBERS
@pytest.mark.parametrize("with_key_mask", [False, True])
def test_bad_numbers_in_the_padding_of_one_head_reach_neither_output_nor_gradient(bad, with_key_mask):
    def attend(head, x, **limits):
        return torch.cat(head(x, **limits), dim=-1)  # the output, and the weights

    assert_padding_reaches_nothing(SingleHeadAttention(13, 4), attend, bad, with_key_mask)
