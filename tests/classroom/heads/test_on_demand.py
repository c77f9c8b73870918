"""Weights that are too many to be held are computed layer by layer, and are the same."""

import pytest
import torch

pytest.importorskip("transformers")

from mha_lib.classroom.heads import (
    changed_heads,
    explore_model,
    importance_by_removal,
    on_demand,
    read_attention,
)
from mha_lib.classroom.heads.on_demand import LayerOnDemand
from tests.classroom.heads.small_models import CASES, ids


@pytest.fixture(autouse=True)
def nothing_fits(monkeypatch):
    monkeypatch.setattr(on_demand, "MOST_HELD", 0)


@pytest.mark.parametrize("name", ["gpt2", "llama", "bart", "t5"])
def test_every_layer_is_the_same_as_if_it_were_held(name):
    model, inputs = CASES[name].make(), CASES[name].inputs()
    held, attention = read_attention(model, inputs), explore_model(model, inputs).attention
    assert attention.heads == held.heads
    for kind, layers in held.layers.items():
        for layer, other in reversed([*zip(layers, attention.layers[kind], strict=True)]):
            assert isinstance(other, LayerOnDemand)
            assert torch.equal(other.weights, layer.weights)
            assert torch.equal(other.allowed, layer.allowed)
            assert other.module is layer.module
            assert other.shape == layer.weights.shape


def test_the_pictures_are_the_same(monkeypatch):
    model, inputs = CASES["gpt2"].make(), CASES["gpt2"].inputs()
    table = explore_model(model, inputs).table
    monkeypatch.setattr(on_demand, "MOST_HELD", 2**29)
    assert explore_model(model, inputs).table == table


def test_changed_heads_stay_changed_after_the_block():
    attention = CASES["gpt2"].read()
    with changed_heads(attention, [("self", 1, 2)]) as changed:
        explorer = explore_model(changed, CASES["gpt2"].inputs())
    weights = explorer.attention.layers["self"][1].weights
    assert not weights[2].any()
    assert weights[1].any()
    with changed_heads(attention, [("self", 1, 1)]):
        assert explorer.attention.layers["self"][0].weights.any()
        assert explorer.attention.layers["self"][1].weights[1].any()


def test_heads_can_be_removed():
    attention = explore_model(CASES["gpt2"].make(), CASES["gpt2"].inputs()).attention
    inputs = CASES["gpt2"].inputs()

    def loss(model):
        return model(**inputs, labels=inputs["input_ids"]).loss

    assert importance_by_removal(attention, loss) == importance_by_removal(CASES["gpt2"].read(), loss)


def test_one_layer_at_most_is_held():
    attention = explore_model(CASES["gpt2"].make(), CASES["gpt2"].inputs()).attention
    first, second = attention.layers["self"]
    assert isinstance(first, LayerOnDemand)
    kept = first.weights
    assert first.weights is kept
    assert second.weights is second.weights
    assert first.weights is not kept


def test_a_text_that_is_too_long_gets_the_same_error():
    with pytest.raises(ValueError, match="at most 64 tokens"):
        explore_model(CASES["gpt2"].make(), ids(65, 0))
