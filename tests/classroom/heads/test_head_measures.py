"""Measures of heads against loops over queries and keys, and on heads that were set by hand."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from mha_lib import EncoderLayer, LanguageModel
from mha_lib.classroom.heads import head_measures
from mha_lib.classroom.stories import tales_here
from tests.classroom.exercises.looking_up import looking_up

V, D, B, N = 5, 12, 2, 9
TOKENS, CONTROL = torch.randint(V, (2, B, N), generator=torch.Generator().manual_seed(4))
QUERIES = torch.rand(B, N, generator=torch.Generator().manual_seed(5)) > 0.5


@pytest.fixture
def model():
    torch.manual_seed(0)
    layers = [EncoderLayer(D, 3, 7, rotary=True, window=4), EncoderLayer(D, 2, 7, rotary=True)]
    model = LanguageModel(nn.Embedding(V, D), layers, nn.RMSNorm(D)).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.7)
    return model


def is_of_interest(name, text, query, key):
    if name == "before":
        return key == query - 1
    if name == "itself":
        return key == query
    if name == "first":
        return key == 0
    if name == "same":
        return key < query and text[key] == text[query]
    return 0 < key <= query and text[key - 1] == text[query]  # after same


def by_loops(name, weights, counted):
    """The mean over queries of the sum over keys of weights (B, N, N)."""
    sums = [
        sum(weights[b, query, key] for key in range(N) if is_of_interest(name, TOKENS[b], query, key))
        for b in range(B)
        for query in range(N)
        if counted[b, query]
    ]
    return torch.as_tensor(sums).mean()


@torch.no_grad()
@pytest.mark.parametrize("queries", [None, QUERIES], ids=["all_but_the_first", "chosen"])
def test_a_measure_is_the_mean_weight_on_its_keys_beside_even_weights_and_a_control(model, queries):
    found = head_measures(model, TOKENS, queries=queries, control=CONTROL)
    assert found.control is not None
    counted = torch.arange(N).expand(B, N) > 0 if queries is None else queries
    weights = []
    for text in (TOKENS, CONTROL):
        x = model.table(text)
        for layer in model.layers:
            x, here = layer(x, is_causal=True, need_weights=True)
            weights.append(here)
    for number, name in enumerate(found.names):
        for layer, (heads, window) in enumerate([(3, 4), (2, N)]):
            for head in range(heads):
                expected = by_loops(name, weights[layer][:, head], counted)
                assert_close(found.weights[layer, head, number], expected)
                expected = by_loops(name, weights[2 + layer][:, head], counted)
                assert_close(found.control[layer, head, number], expected)
            even = torch.ones(N, N).tril().triu(1 - window)
            even = (even / even.sum(1, keepdim=True)).expand(B, N, N)
            assert_close(found.even[layer, number], by_loops(name, even, counted))
    assert found.weights[1, 2].isnan().all()
    assert head_measures(model, TOKENS).control is None


def test_heads_set_by_hand_have_their_names_and_nothing_in_the_control():
    """Head 0.0 looks at the token before, head 1.0 at what came after the same token."""
    first, other = torch.randperm(len(tales_here().vocabulary), generator=torch.Generator().manual_seed(0))[
        :24
    ].chunk(2)
    second_half = torch.arange(24)[None] >= 12
    found = head_measures(
        looking_up(),
        torch.cat([first, first])[None],
        queries=second_half,
        control=torch.cat([other, first])[None],
    )
    assert found.control is not None
    before, after = found.names.index("before"), found.names.index("after same")
    assert found.weights[0, 0, before] > 0.9 > 0.2 > found.even[0, before]
    assert found.weights[1, 0, after] > 0.9 > 0.2 > found.control[1, 0, after]


@pytest.mark.parametrize("name", ["queries", "control"])
def test_a_tensor_of_another_shape_is_refused(model, name):
    with pytest.raises(ValueError, match=rf"{name} must be \(B, N\) = \(2, 9\), got \(2, 8\)"):
        head_measures(model, TOKENS, **{name: TOKENS[:, 1:]})
