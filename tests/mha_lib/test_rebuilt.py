"""The classes of ``references.py``, rebuilt from the library: equal outputs after copying weights."""

import pytest
import torch

from mha_lib import MultiHeadAttention, SingleHeadAttention
from tests.mha_lib.references import (
    FoldedMultiHead,
    KeyValueSingleHead,
    ListOfHeads,
    SelfSingleHead,
    ValuesFirstMultiHead,
)


def copy(pairs):
    with torch.no_grad():
        for target, source in pairs:
            target.copy_(source)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("valid_lens", [None, [3, 2], [[1, 2, 3, 4], [6, 5, 1, 2]]])
def test_a_heads_folded_into_the_batch(valid_lens, bias):
    theirs = FoldedMultiHead(7, 11, 13, 100, 5, dropout=0.5, bias=bias).eval()
    ours = MultiHeadAttention(100, 5, 0.5, bias, key_size=7, query_size=11, value_size=13).eval()
    projections = [theirs.to_queries, theirs.to_keys, theirs.to_values, theirs.to_output]
    for target, source in zip([ours.W_q, ours.W_k, ours.W_v, ours.W_o], projections, strict=True):
        target.load_state_dict(source.state_dict())
    inputs = torch.randn(2, 4, 11), torch.randn(2, 6, 7), torch.randn(2, 6, 13)
    valid_lens = None if valid_lens is None else torch.tensor(valid_lens)
    torch.testing.assert_close(ours(*inputs, valid_lens), theirs(*inputs, valid_lens))


@pytest.mark.parametrize("with_mask", [False, True])
def test_b_values_first_and_biases_everywhere(with_mask):
    theirs = ValuesFirstMultiHead(12, 3)
    ours = MultiHeadAttention(12, 3, bias=True)
    projections = [theirs.query_dense, theirs.key_dense, theirs.value_dense, theirs.dense]
    for target, source in zip([ours.W_q, ours.W_k, ours.W_v, ours.W_o], projections, strict=True):
        target.load_state_dict(source.state_dict())
    v, k, q = torch.randn(2, 5, 12), torch.randn(2, 5, 12), torch.randn(2, 4, 12)
    ignored = (torch.rand(2, 1, 1, 5) < 0.4) & (torch.arange(5) > 0) if with_mask else None
    expected, expected_weights = theirs(v, k, q, None if ignored is None else ignored.float())
    output, weights = ours(q, k, v, mask=None if ignored is None else ~ignored, need_weights=True)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(weights, expected_weights)


def test_c_one_head_with_separate_inputs():
    theirs, ours = KeyValueSingleHead(512, 64, 64), SingleHeadAttention(512, 64)
    copy([(ours.W_q.weight, theirs.Wq.T), (ours.W_k.weight, theirs.Wk.T), (ours.W_v.weight, theirs.Wv.T)])
    queries, keys_values = torch.randn(32, 10, 512), torch.randn(32, 20, 512)
    output, weights = ours(queries, keys_values)
    assert output.shape == (32, 10, 64)
    assert weights.shape == (32, 10, 20)
    torch.testing.assert_close(output, theirs(queries, keys_values))


def test_c_one_head_of_self_attention_with_values_of_another_width():
    theirs, ours = SelfSingleHead(4, 5, 6), SingleHeadAttention(4, 5, 6)
    copy([(ours.W_q.weight, theirs.Wq.T), (ours.W_k.weight, theirs.Wk.T), (ours.W_v.weight, theirs.Wv.T)])
    x = torch.randn(2, 3, 4)
    output, _ = ours(x)
    assert output.shape == (2, 3, 6)
    torch.testing.assert_close(output, theirs(x))


@pytest.mark.parametrize("d_v", [8, 12])
def test_d_a_list_of_heads_and_a_projection_back(d_v):
    theirs = ListOfHeads(4, 8, d_v, 4)
    ours = MultiHeadAttention(4, 4, head_dim=2, value_head_dim=d_v // 4)
    copy(
        (projection.weight, torch.cat([getattr(head, name).T for head in theirs.heads]))
        for projection, name in ((ours.W_q, "Wq"), (ours.W_k, "Wk"), (ours.W_v, "Wv"))
    )
    ours.W_o.load_state_dict(theirs.W_o.state_dict())
    x = torch.randn(2, 3, 4)
    assert ours(x).shape == (2, 3, 4)
    torch.testing.assert_close(ours(x), theirs(x))
    torch.testing.assert_close(ours(x, need_weights=True)[0], theirs(x))
