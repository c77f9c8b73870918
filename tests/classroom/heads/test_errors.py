"""Models and inputs that can't be shown are refused by a sentence that says why, and the way out."""

from pathlib import Path

import pytest
import torch

pytest.importorskip("transformers")

from transformers import AutoTokenizer

from mha_lib.classroom.heads import explore_model
from tests.classroom.heads.small_models import BART, CASES, Fixed, ids, made, saved, with_attentions

GPT2 = CASES["gpt2"]
SWIN = {"image_size": 16, "patch_size": 2, "embed_dim": 12, "depths": [2], "num_heads": [3], "window_size": 4}
LONG = {"input_ids": ids(65, 0), "decoder_input_ids": ids(5, 1)}
STATES = {"vocab_size": 61, "hidden_size": 24, "num_hidden_layers": 2}


REFUSED = {
    "Swin": (made("Swin", **SWIN), {"pixel_values": torch.rand(1, 3, 16, 16)}, r"windows \(Swin\)"),
    "Mamba": (made("Mamba", **STATES, state_size=4), ids(5, 0), "MambaModel returned none.*attend at all"),
    "pooled": (lambda: with_attentions(torch.rand(1, 3, 6, 3)), ids(6, 0), r"got \(Q, K\) of \(6, 3\)"),
    "none": (lambda: Fixed((None,)), ids(3, 0), r'attentions\[0\] must be .*got None.*"eager"'),
    "another": (torch.nn.Linear(3, 3).eval, ids(3, 0), r"Linear\.forward does not take it"),
    "lists": (GPT2.make, {"input_ids": [[3, 4]]}, "got a list in input_ids.*return_tensors='pt'"),
    "device": (GPT2.make, ids(5, 0).to("meta"), r"device, cpu, got input_ids on meta.*inputs\.to\('cpu'\)"),
    "negative": (GPT2.make, torch.tensor([[3, -1]]), "below 61, .*got -1 to 3 in input_ids"),
    "positions": (CASES["bart"].make, LONG, r"at most 64 tokens.*got input_ids of 65.*input_ids\[:, :64\]"),
    "one axis": (GPT2.make, ids(3, 0)[0], r"first axis of length 1.*\(3,\).*input_ids\[None\]"),
    "training": (lambda: GPT2.make().train(), ids(5, 0), r"call model\.eval\(\)"),
    "batch": (GPT2.make, ids(10, 0).reshape(2, 5), r"one text.*\(2, 5\).*input_ids\[:1\]"),
    "vocabulary": (GPT2.make, torch.tensor([[3, 61]]), "below 61.*tokenizer of another model"),
    "class": (lambda: type(GPT2.make()), ids(5, 0), "module of PyTorch, got type"),
    "decoder": (CASES["t5"].make, ids(3, 0), "decoder_input_ids too"),
    "text": (GPT2.make, "the cat", r"explore_model\(model, text, tokenizer\), got NoneType"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_with_the_reason(case):
    make, inputs, message = REFUSED[case]
    model = make()
    with pytest.raises((TypeError, ValueError), match=message):
        explore_model(model, inputs)


@pytest.fixture
def folder(tmp_path):
    return saved(tmp_path / "gpt2", "gpt2")


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # PyTorch's own
def test_a_compiled_model_is_read_as_it_was_before():
    model = GPT2.make()
    found = explore_model(torch.compile(model), GPT2.inputs()).attention
    assert found.model is model
    assert torch.equal(found.layers["self"][1].weights, GPT2.read().layers["self"][1].weights)


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_a_text_beside_a_tokenizer_is_cut_into_tokens(name, folder):
    model = GPT2.make() if name == "gpt2" else made("Bart", "ForConditionalGeneration", **BART)()
    explorer = explore_model(model, "the cat sat", AutoTokenizer.from_pretrained(folder))
    assert explorer.inputs["input_ids"].tolist() == [[3, 4, 5]]
    assert explorer.table["labels"][0] == [["the", "␣cat", "␣sat"]]
    assert ("decoder_input_ids" in explorer.inputs) == (name == "bart")


def test_labels_or_a_tokenizer_may_stand_beside_a_name(folder):
    labels = explore_model(Path(folder), "the cat", ["a", "b"]).table["labels"][0]
    assert labels == [["a", "b"]]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert explore_model(folder, "the cat", tokenizer).table["labels"][0] == [["the", "␣cat"]]
