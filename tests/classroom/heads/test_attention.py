"""Weights are read from models of each kind as the models compute them, and heads are changed by a hook."""

import re
from typing import Any

import pytest
import torch

pytest.importorskip("transformers")

from mha_lib.classroom import heads as models
from mha_lib.classroom.heads import Head, changed_heads, importance_by_removal, read_attention
from mha_lib.classroom.heads import attention as attention_module
from mha_lib.classroom.heads.attention import KINDS, OURS, ModelAttention, numbered
from mha_lib.classroom.heads.explore import ModelPictures
from tests.classroom.heads.small_models import CASES, SIZES, Fixed, ids, made, text

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


OUTPUTS = {
    "gpt2": "transformer.h.1.attn.c_proj",
    "bert": "encoder.layer.1.attention.output.dense",
    "llama": "model.layers.1.self_attn.o_proj",
    "t5": "decoder.block.2.layer.1.EncDecAttention.o",
    "bart": "decoder.layers.2.encoder_attn.out_proj",
    "vit": "layers.1.attention.o_proj",
}


@each_case
def test_a_silenced_head_is_one_whose_part_of_the_output_projection_is_zero(name):
    attention, inputs = CASES[name].read(), CASES[name].inputs()
    kind, layer, head = attention.heads[-2]
    heads = len(attention.layers[kind][layer].weights)
    with torch.no_grad():
        before = attention.model(**inputs)[0]
        with changed_heads(attention, [(kind, layer, head)]) as changed:
            ours = changed(**inputs)[0]
        torch.testing.assert_close(attention.model(**inputs)[0], before)
    matrix = attention.model.get_parameter(f"{OUTPUTS[name]}.weight")
    inward = matrix if name == "gpt2" else matrix.T  # (H*d, D)
    with torch.no_grad():
        inward.unflatten(0, (heads, -1))[head] = 0
        theirs = attention.model(**inputs)[0]
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_permuted_weights_of_a_llama_use_the_values_of_their_group():
    attention, inputs = CASES["llama"].read(), CASES["llama"].inputs()
    expected = attention.model(**inputs)[0]
    with changed_heads(attention, attention.heads, lambda weights, _: weights.clone()) as same:
        torch.testing.assert_close(same(**inputs)[0], expected)
    with changed_heads(attention, attention.heads, models.permuted) as permuted:
        assert (permuted(**inputs)[0] - expected).abs().max() > 1e-2
        weights = read_attention(permuted, inputs).layers["self"][0].weights
    torch.testing.assert_close(weights.sort().values, attention.layers["self"][0].weights.sort().values)


def test_the_metric_is_the_callers_and_the_most_important_head_comes_first():
    attention, inputs, used = CASES["gpt2"].read(), CASES["gpt2"].inputs(), set()

    def loss(model):
        used.add(model.config._attn_implementation)
        return model(**inputs, labels=inputs["input_ids"]).loss

    found = importance_by_removal(attention, loss)
    assert {*found} == {*attention.heads}
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert used == {OURS}, "the same attention before and after"
    head, value = next(iter(found.items()))
    with torch.no_grad(), changed_heads(attention, [head], models.silenced) as changed:
        after = loss(changed)
    with torch.no_grad(), changed_heads(attention, []) as same:
        before = loss(same)
    assert value == pytest.approx((after - before).item())
    assert importance_by_removal(attention, lambda _: 1.0, [head]) == {head: 0.0}


@torch.no_grad()
def test_the_noise_is_as_large_as_what_rounding_does():
    inputs, losses, noises = CASES["gpt2"].inputs(), {}, {}

    def loss(model):
        return float(model(**inputs, labels=inputs["input_ids"]).loss)

    for dtype in (torch.float32, torch.bfloat16):
        model = CASES["gpt2"].make()
        parameters = {key: value.bfloat16().to(dtype) for key, value in model.state_dict().items()}
        model = model.to(dtype)
        model.load_state_dict(parameters)
        attention = read_attention(model, inputs)
        noises[dtype] = importance_by_removal(attention, loss, attention.heads[:1]).noise
        with changed_heads(attention, []) as eager:
            losses[dtype] = loss(eager)
    rounding = abs(losses[torch.bfloat16] - losses[torch.float32])
    assert rounding / 10 < noises[torch.bfloat16] < 0.1
    assert noises[torch.float32] < noises[torch.bfloat16] / 100


def test_a_head_that_layers_share_is_changed_in_all_of_them_or_not_at_all():
    model = made("Albert", vocab_size=61, embedding_size=5, num_attention_heads=3, **SIZES)()
    attention = read_attention(model, ids(7, 0))
    both = [("self", 0, 1), ("self", 1, 1)]
    with pytest.raises(ValueError, match=re.escape(f"pass {both}")), changed_heads(attention, both[:1]):
        pass
    with changed_heads(attention, both) as changed:
        inside = read_attention(changed, ids(7, 0)).layers["self"]
    assert not any(layer.weights[1].any() for layer in inside)


def test_heads_whose_outputs_are_more_than_a_sum_by_weights_are_read_but_not_changed():
    """The sinks of Granite scale the output of each query."""
    make = made("GraniteSWA", **SIZES, vocab_size=61, num_attention_heads=4, num_key_value_heads=2)
    attention = read_attention(make(), ids(7, 0))
    with (
        pytest.raises(ValueError, match="a scale of its own"),
        changed_heads(attention, [("self", 0, 1)]) as model,
    ):
        model(ids(7, 0))


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_weights_that_would_fill_the_memory_are_held_in_half_precision(name, monkeypatch):
    full = CASES[name].read()
    monkeypatch.setattr(attention_module, "MOST_HELD", 2000)  # bytes
    half = CASES[name].read()
    for kind, layers in full.layers.items():
        for layer, small in zip(layers, half.layers[kind], strict=True):
            assert (layer.weights.dtype, small.weights.dtype) == (torch.float32, torch.float16)
            torch.testing.assert_close(small.weights.float(), layer.weights, rtol=1e-3, atol=1e-6)
            assert torch.equal(small.allowed, layer.allowed)
    pictures = ModelPictures(half, CASES[name].inputs(), None)
    assert pictures((next(iter(half.layers)), 0)).weights.isfinite().all()


def test_a_model_that_attends_by_itself_is_read_but_not_changed():
    weights = torch.rand(1, 2, 3, 3)
    attention = read_attention(Fixed((weights,)), ids(3, 0))
    (layer,) = attention.layers["self"]
    assert torch.equal(layer.weights, weights[0])
    assert layer.allowed.all()
    with pytest.raises(ValueError, match="by itself"), changed_heads(attention, [("self", 0, 1)]):
        pass


def test_another_error_of_a_model_stays_as_it_is():
    class Broken(Fixed):
        def forward(self, input_ids, output_attentions=False):
            raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        read_attention(Broken(None), ids(3, 0))


def test_an_unknown_head_gets_an_error_that_names_the_known_ones():
    head = ("self", 0, -1)
    expected = re.escape(f"{head}; there are 'self': 2 layers of 3 heads")
    with pytest.raises(ValueError, match=expected), changed_heads(CASES["gpt2"].read(), [head]):
        pass


def test_layers_are_numbered_as_in_a_model_of_which_some_layers_have_no_attention():
    attention: Any = CASES["gpt2"].read()
    layers = attention.layers["self"]
    attention.model.config.use_cache = False  # a cache has places by these numbers
    for place, number in enumerate((3, 7)):
        layers[place].module.layer_idx = number
    attention = ModelAttention(attention.model, {"self": numbered(layers)})
    assert attention.heads[3] == Head("self", 7, 0)
    assert {head.layer for head in importance_by_removal(attention, lambda _: 0, [("self", 7, 2)])} == {7}
    pictures = ModelPictures(attention, text(), None)
    picture = pictures(("self", None))
    assert picture.head_labels
    assert picture.overview
    assert picture.head_labels[3] == pictures.named("head", "self", layer=7, head=0)
    assert picture.overview.rows == [pictures.words["layer"].format(layer=number) for number in (3, 7)]
