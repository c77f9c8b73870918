"""Two small trained models of the course's layers as models of transformers.

One is lesson 07's; the other was trained by somebody else and is not part of the project: see
``tests/mha_lib/stories.py``.
"""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

pytest.importorskip("transformers")

import transformers

from evidence.heads import run_cells
from evidence.stories import lesson_of
from mha_lib import LanguageModel
from tests.mha_lib.stories import BEGIN, STORY, needs_stories, read_model

NAMES = {
    "self_attention_norm": "input_layernorm",
    "feed_forward_norm": "post_attention_layernorm",
    "self_attention.W_q": "self_attn.q_proj",
    "self_attention.W_k": "self_attn.k_proj",
    "self_attention.W_v": "self_attn.v_proj",
    "self_attention.W_o": "self_attn.o_proj",
    "feed_forward.W_gate": "mlp.gate_proj",
    "feed_forward.W_1": "mlp.up_proj",
    "feed_forward.W_2": "mlp.down_proj",
}


def as_theirs(ours):
    """The same model as one of transformers, which turns the halves of a head in place of neighbours.

    Qwen 2 is a Llama with windows in some layers, and with biases, which are 0 here.
    """
    attention, (vocabulary, width) = ours.layers[0].self_attention, ours.table.weight.shape
    windows = [layer.self_attention.window for layer in ours.layers]
    theirs = transformers.Qwen2ForCausalLM(
        transformers.Qwen2Config(
            vocab_size=vocabulary,
            hidden_size=width,
            intermediate_size=len(ours.layers[0].feed_forward.W_1.weight),
            num_hidden_layers=len(ours.layers),
            num_attention_heads=attention.num_heads,
            num_key_value_heads=attention.num_kv_heads,
            max_position_embeddings=512,
            rms_norm_eps=ours.norm.eps or torch.finfo(torch.float32).eps,
            tie_word_embeddings=True,
            use_sliding_window=True,
            sliding_window=max(window or 0 for window in windows) or None,
            layer_types=["sliding_attention" if window else "full_attention" for window in windows],
        )
    ).eval()
    size = width // attention.num_heads
    state = {"model.embed_tokens.weight": ours.table.weight, "lm_head.weight": ours.table.weight}
    state["model.norm.weight"] = ours.norm.weight
    for number, layer in enumerate(ours.layers):
        for name, place in NAMES.items():
            weight = layer.get_parameter(f"{name}.weight")
            if place.endswith(("q_proj", "k_proj")):
                weight = weight.unflatten(0, (-1, size // 2, 2)).transpose(1, 2).flatten(0, 2)
            state[f"model.layers.{number}.{place}.weight"] = weight
    of_theirs = theirs.state_dict()
    state |= {name: torch.zeros_like(x) for name, x in of_theirs.items() if name.endswith("bias")}
    theirs.load_state_dict(state)
    return theirs


TRAINED = ("imports", "model", "trained")


def stories260k(in_course):
    table, layers, norm = read_model()
    numbers = [torch.tensor([BEGIN, *sentence]) for sentence in STORY]
    return LanguageModel(nn.Embedding.from_pretrained(table), layers, norm).eval(), numbers


def lesson_07(in_course):
    lesson = run_cells(lesson_of("en"), *TRAINED, given=in_course(lesson_of("en")))
    return lesson["model"], [*lesson["tales"].draw(3, 60, torch.Generator().manual_seed(2)).tokens]


MODELS = [pytest.param(stories260k, marks=needs_stories), pytest.param(lesson_07, marks=pytest.mark.ci)]


@pytest.mark.parametrize("make", MODELS)
def test_theirs_is_the_model_of_the_courses_layers(make, in_course):
    ours, numbers = make(in_course)
    theirs = as_theirs(ours)
    for each in numbers:
        assert_close(theirs(each[None]).logits, ours(each[None]), atol=1e-3, rtol=1e-3)
