"""The explorer shows a model's own weights: each layer, an overview, and parts of long texts."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

pytest.importorskip("transformers")

from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.lesson.outputs import FOR_A_PAGE
from mha_lib.classroom.models import explore_model
from mha_lib.classroom.models.explore import SMALL, WHOLE, WINDOW, name_of
from mha_lib.classroom.models.measures import measures_of
from mha_lib.classroom.models.reading import read_attention
from tests.classroom.models.small_models import (
    CASES,
    GPT2,
    SIZES,
    SOURCE,
    T5,
    TARGET,
    ids,
    made,
    with_attentions,
)

WORDS = words_in("en")["models"]
each_case = pytest.mark.parametrize("name", CASES)


def setting_of(explorer, **texts):
    """The setting with these options, by the texts that the browser shows."""
    found = [*explorer.setting]
    for control in explorer.controls:
        if control["trait"] == "setting" and control["name"] in texts:
            found[control["at"]] = control["texts"].index(texts[control["name"]])
    return found


def answer_at(explorer, **texts):
    """Return what the browser gets for a setting: the entry of a table's directory, and the table."""
    setting = setting_of(explorer, **texts)
    explorer.set_state({"setting": setting})
    tables = filter(None, (explorer.table, explorer.answer))
    answers = ((entry, table) for table in tables for entry in table["directory"])
    return next((entry, table) for entry, table in answers if [*entry["setting"]] == setting)


def entry_at(explorer, **texts):
    """The entry of a setting with its labels, the weights and the forbidden cells."""
    entry, table = answer_at(explorer, **texts)
    assert "error" not in entry, entry
    _, heads, queries, keys = entry["shape"]
    (start,) = entry["at"]
    numbers = np.frombuffer(table["maps"], "<f2")[start:]
    half = numbers[: heads * queries * keys].reshape(heads, queries, keys)
    axes = {name: table["labels"][entry[name]][0] for name in ("query_labels", "key_labels")}
    return entry | axes, torch.tensor(np.abs(half)).float(), torch.tensor(np.signbit(half))


def explored(name, *tokens):
    return explore_model(CASES[name].make(), CASES[name].inputs(), *tokens)


@each_case
def test_every_weight_of_every_layer_is_shown_in_half_precision_with_the_models_mask(name):
    explorer = explored(name)
    for kind, layers in CASES[name].read().layers.items():
        prefix = "" if kind == "self" else f"{kind}: "
        for number, layer in enumerate(layers):
            entry, weights, forbidden = entry_at(explorer, layer=f"{prefix}layer {number}")
            assert entry["shape"] == (1, *layer.weights.shape)
            torch.testing.assert_close(weights, layer.weights, atol=0.0008, rtol=0)
            assert torch.equal(forbidden, ~layer.allowed)
            assert entry["head_labels"][1] == f"{prefix}layer {number}, head 1"


def test_the_overview_has_all_heads_and_a_click_leads_to_the_head():
    explorer = explored("bart")
    entry, weights, _ = entry_at(explorer, layer="decoder: all layers")
    assert weights.shape == (3 * 4, TARGET, TARGET)  # a text this short has no blocks
    assert entry["overview"]["rows"] == ["layer 0", "layer 1", "layer 2"]
    assert entry["overview"]["columns"] == ["0", "1", "2", "3"]
    assert entry["short_labels"][6] == "L1 H2"
    setting, head = entry["overview"]["opens"][6]
    assert (setting, head) == (tuple(setting_of(explorer, layer="decoder: layer 1")), 2)
    _, opened, _ = entry_at(explorer, layer="decoder: layer 1")
    assert torch.equal(opened[2], weights[6])


def test_a_single_layer_needs_no_overview():
    explorer = explore_model(with_attentions(torch.rand(1, 3, 5, 5)), ids(5, 0))
    assert explorer.controls[0]["texts"] == ["layer 0"]
    assert "overview" not in entry_at(explorer, layer="layer 0")[0]


def test_layers_with_fewer_heads_make_no_grid():
    model = with_attentions(torch.rand(1, 3, 5, 5), torch.rand(1, 2, 5, 5))
    entry, weights, _ = entry_at(explore_model(model, ids(5, 0)), layer="all layers")
    assert entry["overview"]["rows"] == []
    assert len(weights) == 5
    assert [head for _, head in entry["overview"]["opens"]] == [0, 1, 2, 0, 1]


def long_model(**settings):
    return made("GPT2", **GPT2 | {"n_positions": 512} | settings)()


def in_blocks(weights, size_down, size_across):
    """The oracle of blocks, cell by cell: the sum over the keys of a block, the mean over its queries."""
    heads, queries, keys = weights.shape
    rows, columns = range(0, queries, size_down), range(0, keys, size_across)
    found = torch.empty(heads, len(rows), len(columns))
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            block = weights[:, row : row + size_down, column : column + size_across]
            found[:, i, j] = block.sum(-1).mean(-1)
    return found


@pytest.mark.parametrize("length", [8, 257])
def test_long_texts_are_shown_in_blocks_and_their_parts_token_by_token(length):
    model, text = long_model(), ids(length, 0)
    explorer = explore_model(model, text, [f"t{number}" for number in range(length)])
    whole = read_attention(model, text).layers["self"][1].weights
    for layer, most, number in (("all layers", SMALL, 3), ("layer 1", WHOLE, 0)):
        size = -(-length // most)
        entry, weights, forbidden = entry_at(explorer, layer=layer)
        expected = in_blocks(whole, size, size)
        torch.testing.assert_close(weights[number : number + 3], expected, atol=0.0008, rtol=0)
        assert torch.equal(forbidden[0], expected[0] == 0)
        assert weights.shape[1] == -(-length // size) <= most
        assert bool(entry.get("note")) == (size > 1)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, weights.shape[1]), atol=0.05, rtol=0)
    names = [control["name"] for control in explorer.controls]
    assert ("queries" in names) == ("keys" in names) == (length > WINDOW)
    if length > WINDOW:
        assert (entry["key_labels"][1], entry["key_labels"][-1]) == ("2–3 t2 t3", "256–256 t256")
        part = f"64–{min(128, length) - 1}"
        entry, weights, _ = entry_at(explorer, layer="layer 1", queries=part, keys="0–63")
        expected = whole[:, 64:128, :64]
        torch.testing.assert_close(weights, expected, atol=0.0008, rtol=0)
        assert entry["query_labels"] == [f"t{number}" for number in range(64, min(128, length))]
        assert not entry.get("note")


def test_a_part_beyond_the_end_of_the_shorter_text_says_so():
    texts = {"input_ids": ids(100, 0), "decoder_input_ids": ids(7, 1)}
    explorer = explore_model(made("T5", **T5)(), texts)
    entry, _ = answer_at(explorer, layer="cross: layer 0", queries="64–99")
    assert "There are 7 tokens here, and none from 64 to 99" in entry["error"]


def test_all_heads_have_the_measures_of_their_layer():
    explorer = explored("t5")
    measured, _ = measures_of(CASES["t5"].read(), CASES["t5"].inputs())
    shown = [entry_at(explorer, layer=f"decoder: layer {layer}")[0]["measures"] for layer in range(3)]
    for found, expected in zip(shown, measured["decoder"], strict=True):
        assert [*found] == [WORDS["measures"][name] for name in expected]
        assert found["induction"] == pytest.approx(expected["induction"].tolist(), abs=1e-4)
    shown = entry_at(explorer, layer="cross: all layers")[0]["measures"]
    entropies = torch.cat([layer["entropy"] for layer in measured["cross"]])
    assert shown["entropy"] == pytest.approx(entropies.tolist(), abs=1e-4)
    assert [*shown] == ["entropy", "first token"]
    names = [control["name"] for control in explorer.controls]
    assert names[-4:] == ["beside each head", "order", "colours 0–max", "colours √"]


def test_a_page_carries_all_layers_in_blocks_if_it_must(monkeypatch):
    monkeypatch.setenv(FOR_A_PAGE, "1")
    monkeypatch.setattr("mha_lib.classroom.models.explore.BUDGET", 400_000)
    explorer = explore_model(long_model(n_layer=6, n_head=6), ids(200, 0))
    assert explorer.table["directory"][0]["overview"], "the overview comes first"
    of_layers = [entry for entry in explorer.table["directory"] if not any(entry["setting"][1:])]
    assert len(of_layers) == 1 + 6  # the overview, too
    assert all("block" in entry["note"] for entry in of_layers)
    assert sum(2 * np.prod(entry["shape"]) for entry in of_layers) <= 400_000
    assert of_layers[1]["shape"][2] > SMALL


@pytest.mark.parametrize("length", [WINDOW, WINDOW + 1])
def test_a_long_text_begins_with_colours_that_show_small_weights(length):
    assert explore_model(long_model(), ids(length, 0)).by_root == (length > WINDOW)


def test_a_closed_explorer_keeps_no_weights():
    explorer = explored("gpt2")
    explorer.close()
    assert not explorer.attention.layers


def test_encoder_and_decoder_have_labels_of_their_own():
    tokens = {"encoder": [f"s{n}" for n in range(SOURCE)], "decoder": [f"t{n}" for n in range(TARGET)]}
    entry, _, _ = entry_at(explored("bart", tokens), layer="cross: layer 0")
    assert entry["query_labels"] == tokens["decoder"]
    assert entry["key_labels"] == tokens["encoder"]


def test_patches_are_labelled_by_row_and_column():
    entry, _, _ = entry_at(explored("vit"), layer="layer 0")
    assert entry["key_labels"] == ["CLS", "0,0", "0,1", "0,2", "1,0", "1,1", "1,2"]
    assert "induction" not in entry["measures"]


PICTURE = {"image_size": 8, "patch_size": 4, "num_attention_heads": 3, **SIZES}
FRAMES = {"num_frames": 4, "tubelet_size": 2}


@pytest.mark.parametrize(
    ("make", "pixels", "before"),
    [
        (made("DeiT", **PICTURE), (1, 3, 8, 8), ["CLS", "+1"]),
        (made("Dinov2WithRegisters", num_register_tokens=2, **PICTURE), (1, 3, 8, 8), ["CLS", "+1", "+2"]),
        (made("VideoMAE", **PICTURE, **FRAMES), (1, 4, 3, 8, 8), None),
        (made("Yolos", num_detection_tokens=5, **(PICTURE | {"image_size": (8, 8)})), (1, 3, 8, 8), None),
    ],
)
def test_patches_have_numbers_where_other_tokens_stand_among_them(make, pixels, before):
    explorer = explore_model(make(), {"pixel_values": torch.rand(pixels)})
    labels = entry_at(explorer, layer="layer 0")[0]["key_labels"]
    patches = ["0,0", "0,1", "1,0", "1,1"]
    assert labels == ([*map(str, range(len(labels)))] if before is None else before + patches)


@pytest.mark.parametrize("states", [4, 7, 12])
def test_a_decoder_alone_has_labels_of_its_own_and_numbers_for_what_it_is_given(states):
    model = made("GPT2", "LMHeadModel", add_cross_attention=True, **GPT2)()
    inputs = {"input_ids": ids(7, 0), "encoder_hidden_states": torch.rand(1, states, 24)}
    explorer = explore_model(model, inputs, list("abcdefg"))
    entry, _, weights = entry_at(explorer, layer="self: layer 0")
    assert entry["query_labels"] == entry["key_labels"] == list("abcdefg")
    assert weights.shape[-2:] == (7, 7)
    entry, _, weights = entry_at(explorer, layer="cross: layer 0")
    assert entry["query_labels"] == list("abcdefg")
    assert entry["key_labels"] == [*map(str, range(states))]
    assert weights.shape[-2:] == (7, states)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["a", "b"], r"label for each of the 11 tokens of the encoder, got 2"),
        ({"decoder": ["a"] * 11}, "labels of encoder, got decoder"),
    ],
)
def test_wrong_labels_get_a_clear_error(tokens, message):
    with pytest.raises((TypeError, ValueError), match=message):
        explored("gpt2", tokens)


def test_the_weights_of_the_explorer_are_the_models_own_not_blocks():
    model, text = long_model(), ids(257, 0)
    explorer, layers = explore_model(model, text), read_attention(model, text).layers["self"]
    assert torch.equal(explorer.weights, torch.cat([layer.weights for layer in layers]))
    explorer.show(layer=1, head=2)
    assert torch.equal(explorer.weights, layers[1].weights)
    explorer.show(layer=1, queries=(192, 256), keys=(256, 257))
    assert torch.equal(explorer.weights, layers[1].weights[:, 192:256, 256:])


def test_a_call_shows_a_layer_a_head_or_the_overview():
    explorer = explored("bart")
    assert explorer.show(layer=1, head=2, kind="cross") is explorer
    assert (explorer.setting, explorer.enlarged) == (setting_of(explorer, layer="cross: layer 1"), 2)
    explorer.show(layer=0)
    assert (explorer.setting, explorer.enlarged) == (setting_of(explorer, layer="encoder: layer 0"), -1)
    explorer.show(kind="decoder")
    assert (explorer.setting, explorer.enlarged) == (setting_of(explorer, layer="decoder: all layers"), -1)


def test_the_call_of_a_picture_shows_it_again():
    explorer = explore_model(long_model(), ids(100, 0))
    setting = setting_of(explorer, layer="layer 1", queries="64–99", keys="0–63")
    entry, _ = answer_at(explorer, layer="layer 1", queries="64–99", keys="0–63")
    assert entry["call"] == "explorer.show(layer=1{head}, queries=(64, 100), keys=(0, 64))"
    explorer.show()
    eval(entry["call"].format(head=", head=2"), {"explorer": explorer})
    assert (explorer.setting, explorer.enlarged) == (setting, 2)
    assert "call" not in answer_at(explorer, layer="all layers")[0]
    of_kind, _ = answer_at(explored("t5"), layer="cross: layer 0")
    assert of_kind["call"] == "explorer.show(layer=0{head}, kind='cross')"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({"layer": 1, "head": 3}, "2 layers of 3 heads"),
        ({"layer": 0, "queries": (3, 5)}, r"queries must be one of \[None, \(0, 64\), .*got \(3, 5\)"),
    ],
)
def test_a_call_for_what_is_not_there_gets_a_clear_error(place, message):
    explorer = explore_model(long_model(), ids(100, 0))
    with pytest.raises(ValueError, match=message):
        explorer.show(**place)
    assert explorer.setting == [0, 0, 0]


@pytest.mark.parametrize(
    ("loaded_from", "name"),
    [("owner/tiny-gpt2", "tiny-gpt2"), ("/home/me/minilm/", "minilm"), ("", "SimpleNamespace")],
)
def test_a_saved_page_is_called_by_the_name_of_its_model(loaded_from, name):
    assert name_of(SimpleNamespace(config=SimpleNamespace(name_or_path=loaded_from))) == name
