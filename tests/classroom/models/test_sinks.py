"""A softmax with a sink (gpt-oss): what it takes from the tokens is shown, measured, and in the entropy."""

import pytest
import torch

pytest.importorskip("transformers")

from transformers.models.gpt_oss import modeling_gpt_oss

from mha_lib.classroom.heads.changes import entropy
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.models.explore import SMALL, WINDOW, ModelPictures
from mha_lib.classroom.models.measures import measures_of
from mha_lib.classroom.models.reading import read_attention
from tests.classroom.models.small_models import ids, made

SINK = words_in("en")["models"]["sink"]
HEADS = 6
SETTINGS = {
    **{"vocab_size": 61, "hidden_size": 24, "intermediate_size": 16, "num_hidden_layers": 2},
    **{"num_attention_heads": HEADS, "num_key_value_heads": 2, "head_dim": 4, "sliding_window": 5},
    **{"num_local_experts": 2, "num_experts_per_tok": 1, "max_position_embeddings": 256},
    "rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0},
}


@pytest.fixture
def model():
    """A small gpt-oss whose sinks differ: its first parameters make them all nearly 0."""
    model = made("GptOss", "ForCausalLM", **SETTINGS)()
    for number, layer in enumerate(model.model.layers):
        layer.self_attn.sinks.data = torch.linspace(-2, 3, HEADS) - number
    return model


@pytest.fixture
def softmaxes(monkeypatch):
    """The softmax of each layer with its sink, (H, Q, K + 1), as this test computes it."""
    eager, found = modeling_gpt_oss.eager_attention_forward, []

    def spy(module, query, key, value, attention_mask, scaling, **options):
        keys = key.repeat_interleave(module.num_key_value_groups, dim=1)
        scores = query @ keys.mT * scaling + attention_mask
        sinks = module.sinks[None, :, None, None].expand(*scores.shape[:-1], 1)
        found.append(torch.cat([scores, sinks], -1).softmax(-1)[0])
        return eager(module, query, key, value, attention_mask, scaling, **options)

    monkeypatch.setattr(modeling_gpt_oss, "eager_attention_forward", spy)
    return found


def test_the_weights_and_the_sink_are_the_softmax(model, softmaxes):
    layers = read_attention(model, ids(11, 0)).layers["self"]
    for layer, expected in zip(layers, softmaxes, strict=True):
        torch.testing.assert_close(layer.weights, expected[..., :-1])
        torch.testing.assert_close(layer.sink, expected[..., -1])


def test_the_sink_is_measured_and_the_entropy_is_that_of_the_whole_softmax(model, softmaxes):
    attention = read_attention(model, ids(11, 0))
    whole = [*softmaxes]
    for expected, measures in zip(whole, measures_of(attention, ids(11, 0))[0]["self"], strict=True):
        torch.testing.assert_close(measures["sink"], expected[:, 1:, -1].mean(-1))
        torch.testing.assert_close(measures["entropy"], entropy(expected[:, 1:]).mean(-1))
        torch.testing.assert_close(measures["first"], expected[:, 1:, 0].mean(-1))


def test_the_sink_is_the_last_column_of_a_layer_of_the_overview_and_of_a_part(model):
    length = WINDOW + 33
    attention = read_attention(model, ids(length, 0))
    pictures = ModelPictures(attention, ids(length, 0), None)
    layer = attention.layers["self"][1]
    assert layer.sink is not None
    whole = torch.cat([layer.weights, layer.sink[..., None]], -1)
    of_layer, blocks = pictures(("self", 1)), pictures(("self", None))
    assert of_layer.key_labels
    assert blocks.key_labels
    assert blocks.query_labels
    torch.testing.assert_close(of_layer.weights, whole)
    assert of_layer.key_labels[-2:] == [str(length - 1), SINK]
    assert of_layer.mask[0, ..., -1].all()
    part = pictures(("self", 1), (64, length), (0, 64))
    torch.testing.assert_close(part.weights, whole[:, 64:, [*range(64), length]])
    size = -(-length // SMALL)
    assert blocks.key_labels[-1] == SINK
    expected = torch.stack([rows.mean(-1) for rows in layer.sink.split(size, -1)], -1)
    torch.testing.assert_close(blocks.weights[HEADS:, :, -1], expected)
    torch.testing.assert_close(blocks.weights.sum(-1), torch.ones(2 * HEADS, len(blocks.query_labels)))
