"""Weights are read from models of each kind as the models compute them, and the models stay as they are."""

import threading
from typing import Any

import pytest
import torch
from torch import nn

pytest.importorskip("transformers")

from mha_lib.classroom.heads import Head
from mha_lib.classroom.models import reading
from mha_lib.classroom.models.explore import ModelPictures
from mha_lib.classroom.models.measures import measures_of
from mha_lib.classroom.models.reading import KINDS, ModelAttention, numbered, read_attention
from tests.classroom.models.small_models import CASES, SIZES, Fixed, ids, made, text

each_case = pytest.mark.parametrize("name", CASES)


@each_case
def test_weights_are_the_models_own_and_have_its_mask(name):
    case, eager, model = CASES[name], CASES[name].make(), CASES[name].make()
    eager.set_attn_implementation("eager")
    with torch.no_grad():
        expected = eager(**case.inputs(), output_attentions=True)
    before = model.config._attn_implementation
    found = read_attention(model, case.inputs()).layers
    assert before == model.config._attn_implementation == "sdpa"
    assert {kind: (len(layers), *layers[0].weights.shape) for kind, layers in found.items()} == case.kinds
    for kind, ours in KINDS.items():
        theirs = getattr(expected, kind, None) or []
        for layer, weights in zip(found.get(ours, []), theirs, strict=True):
            assert torch.equal(layer.weights, weights[0])
            assert torch.equal(layer.allowed, layer.weights > 0)  # random weights of allowed cells are not 0
            assert not torch.equal(layer.weights[0], layer.weights[1])


def test_padding_is_not_allowed():
    inputs = CASES["bert"].inputs() | {"attention_mask": (torch.arange(11) < 8).long()[None]}
    (layer, _) = read_attention(CASES["bert"].make(), inputs).layers["self"]
    assert layer.allowed[..., :8].all()
    assert not layer.allowed[..., 8:].any()


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_weights_that_would_fill_the_memory_are_held_in_half_precision(name, monkeypatch):
    full = CASES[name].read()
    monkeypatch.setattr(reading, "MOST_HELD", 2000)  # bytes
    half = CASES[name].read()
    for kind, layers in full.layers.items():
        for layer, small in zip(layers, half.layers[kind], strict=True):
            assert (layer.weights.dtype, small.weights.dtype) == (torch.float32, torch.float16)
            torch.testing.assert_close(small.weights.float(), layer.weights, rtol=1e-3, atol=1e-6)
            assert torch.equal(small.allowed, layer.allowed)
    pictures = ModelPictures(half, CASES[name].inputs(), None)
    assert pictures((next(iter(half.layers)), 0)).weights.isfinite().all()


def test_a_model_that_attends_by_itself_is_read():
    weights = torch.rand(1, 2, 3, 3)
    attention = read_attention(Fixed((weights,)), ids(3, 0))
    (layer,) = attention.layers["self"]
    assert torch.equal(layer.weights, weights[0])
    assert layer.allowed.all()


@torch.no_grad()
def test_a_model_serves_others_while_it_is_read():
    """Eager and sdpa differ by rounding, a missing mask by much more."""
    model, inputs = CASES["llama"].make(), ids(24, 1)
    expected = model(inputs).logits
    alone = read_attention(model, ids(9, 2)).layers["self"]
    served: list[torch.Tensor] = []
    is_read = threading.Event()

    def serve():
        with torch.no_grad():
            while not is_read.is_set() or not served:
                served.append(model(inputs).logits)

    found = []
    readers = [
        threading.Thread(target=lambda: found.extend(read_attention(model, ids(9, 2)).layers["self"]))
        for _ in range(20)
    ]
    server = threading.Thread(target=serve)
    for thread in (server, *readers):
        thread.start()
    for thread in readers:
        thread.join()
    is_read.set()
    server.join()
    assert len(found) == 20 * len(alone)
    for layer, same in zip(found, alone * 20, strict=True):
        torch.testing.assert_close(layer.weights, same.weights)
    for logits in served:
        torch.testing.assert_close(logits, expected)
    assert model.config._attn_implementation == "sdpa"


@torch.no_grad()
def test_a_model_that_switches_its_attention_for_short_texts_is_the_same_afterwards():
    """The texts of random tokens are short: no induction is measured on what the model turns to for them."""
    make = made("BigBird", vocab_size=61, num_attention_heads=3, block_size=4, num_random_blocks=1, **SIZES)
    model, inputs = make(), ids(96, 0)
    before = model(inputs).last_hidden_state
    attention = read_attention(model, inputs)
    measures, remark = measures_of(attention, inputs)
    assert "induction" not in measures["self"][0]
    assert "BigBirdModel attends in another way" in remark
    assert model.attention_type == "block_sparse"
    assert torch.equal(model(inputs).last_hidden_state, before)


def test_a_parallel_model_is_read_as_the_model_in_it():
    model, inputs = CASES["gpt2"].make(), CASES["gpt2"].inputs()
    found, expected = (
        read_attention(each, inputs).layers["self"] for each in (nn.DataParallel(model), model)
    )
    for layer, same in zip(found, expected, strict=True):
        assert torch.equal(layer.weights, same.weights)


def test_a_model_that_cannot_be_copied_is_refused():
    model = CASES["gpt2"].make()
    model.lock = threading.Lock()
    with pytest.raises(ValueError, match=r"copy\.deepcopy copies.*lock"):
        read_attention(model, text())


def test_another_error_of_a_model_stays_as_it_is():
    class Broken(Fixed):
        def forward(self, input_ids, output_attentions=False):
            raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        read_attention(Broken(None), ids(3, 0))


def test_layers_are_numbered_as_in_a_model_of_which_some_layers_have_no_attention():
    attention: Any = CASES["gpt2"].read()
    layers = attention.layers["self"]
    attention.model.config.use_cache = False  # a cache has places by these numbers
    for place, number in enumerate((3, 7)):
        layers[place].module.layer_idx = number
    attention = ModelAttention(attention.model, {"self": numbered(layers)})
    assert attention.heads[3] == Head("self", 7, 0)
    pictures = ModelPictures(attention, text(), None)
    picture = pictures(("self", None))
    assert picture.head_labels
    assert picture.overview
    assert picture.head_labels[3] == pictures.named("head", "self", layer=7, head=0)
    assert picture.overview.rows == [pictures.words["layer"].format(layer=number) for number in (3, 7)]
