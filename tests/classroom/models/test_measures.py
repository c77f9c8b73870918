"""The measures of a model's heads, in its text and on random tokens that are said twice."""

import math

import pytest
import torch

pytest.importorskip("transformers")

from mha_lib.classroom.models import explore_model
from mha_lib.classroom.models.measures import measures_of, measures_of_layer, repeated_tokens
from mha_lib.classroom.models.reading import read_attention
from tests.classroom.models.small_models import BART, CASES, GPT2, ids, made

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


def test_repeated_tokens_are_all_different_and_their_control_begins_with_others():
    texts = repeated_tokens(CASES["gpt2"].make(), 25, 0)
    assert texts
    repeated, control = texts
    first, again = repeated[0].chunk(2)
    assert torch.equal(first, again)
    others, same = control[0].chunk(2)
    assert torch.equal(same, again)
    assert len({*first.tolist(), *others.tolist()}) == 2 * len(first) == 50
    assert repeated.max() < 61


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_induction_is_measured_against_its_control_over_seeds_and_lengths(name):
    attention = CASES[name].read()
    found, remark = measures_of(attention, CASES[name].inputs())
    assert not remark
    kind = "self" if name == "gpt2" else "decoder"

    def score(tokens, number):
        n = tokens.shape[-1] // 2
        inputs = {"input_ids": tokens} | ({} if name == "gpt2" else {"decoder_input_ids": tokens})
        weights = read_attention(attention.model, inputs).layers[kind][number].weights
        return torch.stack([weights[:, n + i, i + 1] for i in range(n)]).mean(0)

    texts = [repeated_tokens(attention.model, most, seed) for most in (25, 12) for seed in range(3)]
    for number, measures in enumerate(found[kind]):
        scores = [score(pair[0], number) - score(pair[1], number) for pair in texts if pair]
        assert len(scores) == 6
        torch.testing.assert_close(measures["induction"], torch.stack(scores).mean(0))


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_changes_no_measure(side):
    model = CASES["llama"].make()  # its positions are relative, so padding moves nothing
    text, padding = ids(11, 0), torch.zeros(1, 5, dtype=torch.long)
    parts = [(text, 1), (padding, 0)] if side == "right" else [(padding, 0), (text, 1)]
    padded = {
        "input_ids": torch.cat([tokens for tokens, _ in parts], -1),
        "attention_mask": torch.cat([torch.full_like(tokens, real) for tokens, real in parts], -1),
    }
    expected, found = (measures_of(read_attention(model, each), each)[0]["self"] for each in (text, padded))
    for alone, beside in zip(expected, found, strict=True):
        for name in ("entropy", "previous", "first", "same"):
            torch.testing.assert_close(beside[name], alone[name], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (made("GPT2", "ForSequenceClassification", **GPT2), "no padding token"),
        (made("Bart", "ForSequenceClassification", **BART), "<eos>"),
    ],
)
def test_a_model_that_refuses_random_texts_has_all_measures_but_induction_and_says_why(make, reason):
    inputs = {"input_ids": torch.tensor([[5, 9, 11, 2]])}
    explorer = explore_model(
        make(), inputs | {"decoder_input_ids": inputs["input_ids"]} if "eos" in reason else inputs
    )
    (entry, *_) = explorer.table["directory"]
    assert "induction" not in entry["measures"]
    assert "previous token" in entry["measures"]
    assert reason in entry["note"]
