"""The measures of heads, on weights that are made by hand."""

import math

import torch

from mha_lib.classroom.heads.changes import evened
from mha_lib.classroom.heads.measures import measures_of_layer

N = 7


def shifted(by):
    """Weights of a head in which each query looks ``by`` tokens back; those that can't look at themselves."""
    weights = torch.zeros(N, N)
    for query in range(N):
        weights[query, query - by if query >= by else query] = 1
    return weights


def test_each_measure_is_one_for_the_head_that_is_named_so():
    """The first query does not count: in a causal model it has only itself to look at."""
    at_first, evenly = torch.eye(N)[0].expand(N, N), torch.full((N, N), 1 / N)
    weights = torch.stack([shifted(1), at_first, shifted(0), evenly])
    found = measures_of_layer(weights, torch.ones_like(weights, dtype=torch.bool), is_cross=False)
    assert [*found] == ["entropy", "previous", "first", "same"]
    even = 1 / N
    for name, expected in {
        "entropy": [0, 0, 0, math.log(N)],
        "previous": [1, 1 / (N - 1), 0, even],  # the first token is the previous one of the second
        "first": [1 / (N - 1), 1, 0, even],
        "same": [0, 0, 1, even],
    }.items():
        torch.testing.assert_close(found[name], torch.tensor(expected, dtype=torch.float32))


def test_evened_weights_of_a_query_without_allowed_keys_are_zero():
    allowed = torch.tensor([[[False, False], [True, True]]])
    assert evened(torch.rand(1, 2, 2), allowed).tolist() == [[[0, 0], [0.5, 0.5]]]
