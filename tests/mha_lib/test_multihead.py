"""Multi-head attention: against other libraries, against itself, and against published numbers."""

import pytest
import torch
from torch import nn

from mha_lib import MultiHeadAttention, SingleHeadAttention, merge_heads, padding_mask, split_heads

B, Q, K, H, HEAD = 2, 3, 5, 7, 11
D = H * HEAD


def test_split_heads_gives_each_head_its_block_of_columns():
    x = torch.randn(B, Q, D)
    heads = split_heads(x, H)
    for h in range(H):
        assert torch.equal(heads[:, h], x[:, :, h * HEAD : (h + 1) * HEAD])


def test_merge_heads_undoes_split_heads():
    x = torch.randn(B, Q, D)
    assert torch.equal(merge_heads(split_heads(x, H)), x)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("kdim", [None, 13])
def test_from_torch_gives_what_the_torch_module_gives(bias, batch_first, kdim):
    vdim = None if kdim is None else 17
    theirs = nn.MultiheadAttention(D, H, bias=bias, batch_first=batch_first, kdim=kdim, vdim=vdim)
    for parameter in theirs.parameters():  # the biases start at zero, which would hide a mistake
        nn.init.normal_(parameter, std=0.3)
    ours = MultiHeadAttention.from_torch(theirs)
    queries, keys, values = torch.randn(B, Q, D), torch.randn(B, K, kdim or D), torch.randn(B, K, vdim or D)
    valid_lens = torch.tensor([2, 5])
    inputs = (queries, keys, values) if batch_first else [x.transpose(0, 1) for x in (queries, keys, values)]
    expected, expected_weights = theirs(
        *inputs, key_padding_mask=~padding_mask(valid_lens, K)[:, 0], average_attn_weights=False
    )
    output, weights = ours(queries, keys, values, valid_lens, need_weights=True)
    torch.testing.assert_close(output, expected if batch_first else expected.transpose(0, 1))
    torch.testing.assert_close(weights, expected_weights)
    torch.testing.assert_close(ours(queries, keys, values, valid_lens), output)


def test_one_head_is_a_single_head_and_an_output_projection():
    single, multi = SingleHeadAttention(D, D), MultiHeadAttention(D, 1)
    multi.load_state_dict(single.state_dict() | {"W_o.weight": multi.W_o.weight})
    x, valid_lens = torch.randn(B, K, D), torch.tensor([2, 5])
    output, weights = multi(x, valid_lens=valid_lens, is_causal=True, need_weights=True)
    expected, expected_weights = single(x, valid_lens=valid_lens, is_causal=True)
    torch.testing.assert_close(output, multi.W_o(expected))
    torch.testing.assert_close(weights[:, 0], expected_weights)
