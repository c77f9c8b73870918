"""A model is loaded by its name, from a folder here; without it one line says what to do."""

from pathlib import Path

import pytest

pytest.importorskip("transformers")

import huggingface_hub.constants
import torch

from mha_lib.classroom.models import explore_model, load
from mha_lib.classroom.models.load import CannotLoad
from tests.classroom.models.small_models import saved


def test_a_name_and_a_text_are_enough_and_the_model_keeps_the_layer_that_predicts_tokens(tmp_path):
    explorer = explore_model(Path(saved(tmp_path, "gpt2")), "the cat sat the cat")
    assert [*explorer.attention.layers] == ["self"]
    assert explorer.table["labels"][0] == [["the", "␣cat", "␣sat", "␣the", "␣cat"]]
    inputs = explorer.inputs
    assert torch.isfinite(explorer.attention.model(**inputs, labels=inputs["input_ids"]).loss)


def test_a_model_with_a_decoder_writes_its_answer(tmp_path):
    explorer = explore_model(saved(tmp_path, "bart"), "the cat sat")
    assert [*explorer.attention.layers] == ["encoder", "decoder", "cross"]
    assert explorer.attention.layers["cross"][0].weights.shape[-1] == 3


def test_a_model_that_is_not_here_gets_one_line(monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(CannotLoad, match="nobody/no-model is neither in the cache nor") as caught:
        explore_model("nobody/no-model", "the cat")
    assert caught.value._render_traceback_() == [str(caught.value)]
    assert "\n" not in str(caught.value)


def test_without_transformers_one_line_says_what_to_install(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(load, "import_module", missing)
    with pytest.raises(CannotLoad, match=r"mha-lib\[models\]"):
        explore_model("gpt2", "the cat")


@pytest.mark.parametrize("text", ["", "  ", None])
def test_an_empty_text_gets_one_line_and_loads_nothing(monkeypatch, text):
    monkeypatch.setattr(load, "import_module", pytest.fail)
    with pytest.raises(CannotLoad, match="needs a text"):
        explore_model("gpt2", text)
