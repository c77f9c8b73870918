"""The measures of heads, on weights that are made by hand."""

import math

import pytest
import torch

pytest.importorskip("transformers")

from mha_lib.classroom.heads.attention import read_attention
from mha_lib.classroom.heads.measures import induction, measures_of, measures_of_layer, repeated_tokens
from tests.classroom.heads.small_models import CASES

N = 7


def shifted(by):
    """Weights of a head in which each query looks ``by`` tokens back; those that can't look at themselves."""
    weights = torch.zeros(N, N)
    for query in range(N):
        weights[query, query - by if query >= by else query] = 1
    return weights


FIRST = torch.eye(N)[0].expand(N, N)
EVEN = torch.full((N, N), 1 / N)


def test_each_measure_is_one_for_the_head_that_is_named_so():
    """The first query does not count: in a causal model it has only itself to look at."""
    found = measures_of_layer(torch.stack([shifted(1), FIRST, shifted(0), EVEN]), is_cross=False)
    assert [*found] == ["entropy", "previous", "first", "same"]
    even = 1 / N
    for name, expected in {
        "entropy": [0, 0, 0, math.log(N)],
        "previous": [1, 1 / (N - 1), 0, even],  # the first token is the previous one of the second
        "first": [1 / (N - 1), 1, 0, even],
        "same": [0, 0, 1, even],
    }.items():
        torch.testing.assert_close(found[name], torch.tensor(expected, dtype=torch.float32))


def test_cross_attention_has_no_previous_token():
    assert [*measures_of_layer(torch.rand(2, 3, 5), is_cross=True)] == ["entropy", "first"]


def test_an_induction_head_looks_at_the_token_after_the_same_one():
    n = 4
    weights = torch.zeros(2, 2 * n, 2 * n)
    for query in range(2 * n):
        weights[0, query, query - n + 1 if query >= n else 0] = 1
        weights[1, query, max(0, query - n)] = 1  # looks at the same token: that is no induction
    assert induction(weights).tolist() == [1, 0]


@pytest.mark.parametrize("name", ["gpt2", "bert", "t5"])
def test_repeated_tokens_are_all_different_and_said_twice(name):
    tokens = repeated_tokens(CASES[name].make())
    assert tokens is not None
    first, again = tokens[0].chunk(2)
    assert torch.equal(first, again)
    assert len({*first.tolist()}) == len(first) == 25
    assert tokens.max() < 61


def test_induction_is_measured_on_the_repeated_tokens_and_not_on_the_text():
    attention = CASES["gpt2"].read()
    found = measures_of(attention, CASES["gpt2"].inputs())
    repeated = read_attention(attention.model, repeated_tokens(attention.model)).layers["self"]
    for layer, measures in zip(repeated, found["self"], strict=True):
        expected = torch.stack([layer.weights[:, 25 + i, i + 1] for i in range(25)]).mean(0)
        torch.testing.assert_close(measures["induction"], expected)
