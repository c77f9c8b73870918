"""Removed heads: the layer is smaller, and equal to the layer in which they are silenced."""

import torch
from torch import nn

from mha_lib import MultiHeadAttention, prune_heads

B, Q, K, H, D = 2, 3, 5, 7, 14
KEEP = [5, 0, 2]


def test_a_pruned_layer_gives_what_the_layer_gives_with_those_heads_silenced():
    widths = {"query_size": 3, "key_size": 4, "value_size": 6, "head_dim": 8, "value_head_dim": 5}
    layer = MultiHeadAttention(D, H, bias=True, rotary=True, **widths)
    pruned, valid_lens = prune_heads(layer, KEEP), torch.tensor([2, 5])
    inputs = torch.randn(B, Q, 3), torch.randn(B, K, 4), torch.randn(B, K, 6)
    head_mask = torch.zeros(H).index_fill(0, torch.tensor(KEEP), 1)
    expected, weights = layer(*inputs, valid_lens, head_mask=head_mask, need_weights=True)
    output, kept_weights = pruned(*inputs, valid_lens, need_weights=True)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(kept_weights, weights[:, KEEP])
    torch.testing.assert_close(pruned(*inputs, valid_lens), expected)


def test_a_pruned_layer_has_the_parameters_of_the_heads_that_stay():
    pruned = prune_heads(MultiHeadAttention(D, H, bias=True, value_head_dim=5), KEEP)
    same = MultiHeadAttention(D, len(KEEP), bias=True, head_dim=2, value_head_dim=5)
    assert str(pruned) == str(same)
    same.load_state_dict(pruned.state_dict())
    x = torch.randn(B, Q, D)
    torch.testing.assert_close(same(x), pruned(x))


def test_pruning_leaves_the_layer_as_it_was():
    layer = MultiHeadAttention(D, H, dropout=0.2).requires_grad_(False).eval().double()
    before = {name: x.clone() for name, x in layer.state_dict().items()}
    pruned = prune_heads(layer, [1])
    nn.init.zeros_(pruned.W_o.weight)
    assert layer.num_heads == layer.num_kv_heads == H
    assert all(torch.equal(x, before[name]) for name, x in layer.state_dict().items())
    assert not any(x.requires_grad for x in pruned.parameters())
    assert (pruned.training, pruned.dropout, pruned.W_q.weight.dtype) == (False, 0.2, torch.float64)
