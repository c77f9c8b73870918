"""Models and inputs that can't be shown are refused by a sentence that says why, and the way out."""

from pathlib import Path

import pytest
import torch

pytest.importorskip("transformers")

from transformers import AutoTokenizer

from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.models import explore_model
from mha_lib.classroom.models.load import CannotLoad
from tests.classroom.models.small_models import CASES, SIZES, ids, made, saved, with_attentions

GPT2 = CASES["gpt2"]
BERT_LIKE = {"vocab_size": 61, "num_attention_heads": 3, **SIZES}
WINDOWS = {"attention_window": 10, "max_position_embeddings": 80}
SWIN = {"image_size": 16, "patch_size": 2, "embed_dim": 12, "depths": [2], "num_heads": [3], "window_size": 4}
STATES = {"vocab_size": 61, "hidden_size": 24, "num_hidden_layers": 2}
FUNNEL = {"vocab_size": 61, "block_sizes": [1, 1], "d_model": 24, "n_head": 3, "d_head": 8, "d_inner": 17}


def with_past():
    past = GPT2.make()(ids(5, 0), use_cache=True).past_key_values
    return {"input_ids": ids(3, 1), "past_key_values": past}


def without_names():
    model = GPT2.make()
    model.config.return_dict = False
    return model


REFUSED = {
    "Longformer": (made("Longformer", **BERT_LIKE, **WINDOWS), ids(11, 0), "places in a window"),
    "Swin": (made("Swin", **SWIN), {"pixel_values": torch.rand(1, 3, 16, 16)}, r"windows \(Swin\)"),
    "Rwkv": (made("Rwkv", **STATES, attention_hidden_size=24), ids(5, 0), r"keys \(RWKV\)"),
    "Mamba": (made("Mamba", **STATES, state_size=4), ids(5, 0), "MambaModel returned none.*attend at all"),
    "Funnel": (made("Funnel", **FUNNEL), ids(8, 0), "FunnelModel pools its tokens"),
    "pooled": (lambda: with_attentions(torch.rand(1, 3, 6, 3)), ids(6, 0), r"got \(Q, K\) of \(6, 3\)"),
    "past": (GPT2.make, with_past(), "the whole text, got past_key_values"),
    "tuple": (GPT2.make, GPT2.inputs() | {"return_dict": False}, "leave return_dict out"),
    "config": (without_names, GPT2.inputs(), r"config\.return_dict = True"),
    "lists": (GPT2.make, {"input_ids": [[3, 4]]}, "got a list in input_ids.*return_tensors='pt'"),
    "device": (GPT2.make, ids(5, 0).to("meta"), r"device, cpu, got input_ids on meta.*inputs\.to\('cpu'\)"),
    "floats": (GPT2.make, torch.rand(1, 5), "numbers of tokens from 0"),
    "negative": (GPT2.make, torch.tensor([[3, -1]]), "numbers of tokens from 0, got input_ids from -1"),
    "training": (lambda: GPT2.make().train(), ids(5, 0), r"call model\.eval\(\)"),
    "batch": (GPT2.make, ids(10, 0).reshape(2, 5), r"one text.*\(2, 5\).*input_ids\[:1\]"),
    "vocabulary": (GPT2.make, torch.tensor([[3, 61]]), "below 61.*tokenizer of another model"),
    "positions": (
        made("Roberta", max_position_embeddings=60, **BERT_LIKE),
        ids(59, 0),
        r"at most 58.*\[:, :58\]",
    ),
    "class": (lambda: type(GPT2.make()), ids(5, 0), "module of PyTorch, got type"),
    "text": (GPT2.make, "the cat", r"explore_model\(model, text, tokenizer\), got NoneType"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_with_the_reason(case):
    make, inputs, message = REFUSED[case]
    model = make()
    with pytest.raises((TypeError, ValueError), match=message):
        explore_model(model, inputs)


def test_a_text_as_long_as_the_error_says_is_shown():
    explore_model(REFUSED["positions"][0](), ids(58, 0))


@pytest.fixture
def folder(tmp_path):
    return saved(tmp_path / "gpt2", "gpt2")


@pytest.mark.parametrize("name", ["./nowhere", "/nowhere/at/all", "models/of/mine", Path("nowhere/gpt2/it")])
def test_a_folder_that_is_not_there_gets_one_line(name):
    with pytest.raises(CannotLoad) as caught:
        explore_model(name, "the cat")
    assert str(caught.value) == words_in("en")["models"]["no_folder"].format(name=name)


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # PyTorch's own
def test_a_compiled_model_is_read_as_it_was_before():
    model = GPT2.make()
    found = explore_model(torch.compile(model), GPT2.inputs()).attention
    assert found.model is model
    assert torch.equal(found.layers["self"][1].weights, GPT2.read().layers["self"][1].weights)


def test_a_text_beside_a_tokenizer_is_cut_into_tokens(folder):
    explorer = explore_model(GPT2.make(), "the cat sat", AutoTokenizer.from_pretrained(folder))
    assert explorer.inputs["input_ids"].tolist() == [[3, 4, 5]]
    assert explorer.table["labels"][0] == [["the", "␣cat", "␣sat"]]


def test_a_text_for_a_model_that_writes_no_answer_says_what_is_missing(folder):
    with pytest.raises(ValueError, match="decoder_input_ids too"):
        explore_model(CASES["bart"].make(), "the cat", AutoTokenizer.from_pretrained(folder))


def test_an_empty_text_and_a_tokenizer_in_the_place_of_a_text_get_a_clear_error(folder):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with pytest.raises(ValueError, match="text of at least one token, got ' '"):
        explore_model(GPT2.make(), " ", tokenizer)
    with pytest.raises(TypeError, match=r"inputs must be a tensor or a mapping.*got TokenizersBackend"):
        explore_model(GPT2.make(), tokenizer, "the cat")


def test_labels_or_a_tokenizer_may_stand_beside_a_name(folder):
    labels = explore_model(folder, "the cat", ["a", "b"]).table["labels"][0]
    assert labels == [["a", "b"]]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert explore_model(folder, "the cat", tokenizer).table["labels"][0] == [["the", "␣cat"]]
