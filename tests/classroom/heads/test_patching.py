"""Patching is held to the same patch by plain hooks, and to relations that must hold."""

from typing import Any

import pytest
import torch

from mha_lib.classroom.heads import patched_heads, read_attention
from tests.classroom.heads.small_models import CASES, GPT2, SIZES, ids, made, text

CHANGED = 4  # the place of the word in which the two texts differ
ANSWER, OTHER = 7, 9


def pair(inputs):
    """The inputs, and the same with another token in one place."""
    tokens = inputs["input_ids"].clone()
    tokens[0, CHANGED] = 60
    return inputs, {"input_ids": tokens}


def answers(output):
    """The difference of two logits at the last token."""
    last = output.logits[0, -1]
    return (last[ANSWER] - last[OTHER]).item()


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_the_last_layers_stream_brings_everything_back_and_the_model_is_as_before(name):
    model = CASES[name].make()
    clean, corrupted = pair(text())
    before = {key: value.clone() for key, value in model.state_dict().items()}
    read_attention(model, clean)  # transformers hooks a model that is asked for attentions, and stays there
    hooks = [len(module._forward_hooks) for module in model.modules()]
    patched = patched_heads(model, clean, corrupted, answers)
    assert patched.layers == [0, 1]
    assert patched.heads.shape == (2, 3 if name == "gpt2" else 6)
    assert patched.streams[-1] == pytest.approx(1)
    assert patched_heads(model, clean, corrupted, answers, position=-1).streams[-1] == pytest.approx(1)
    assert patched.clean == pytest.approx(answers(model(**clean)), abs=1e-5)
    assert patched.corrupted == pytest.approx(answers(model(**corrupted)), abs=1e-5)
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert [len(module._forward_hooks) for module in model.modules()] == hooks
    assert model.config._attn_implementation != "mha_lib"


def test_what_comes_before_the_changed_word_brings_nothing_back():
    clean, corrupted = pair(text())
    patched = patched_heads(CASES["gpt2"].make(), clean, corrupted, answers, position=CHANGED - 1)
    for recovery in (patched.heads, patched.streams, patched.networks):
        torch.testing.assert_close(recovery, torch.zeros_like(recovery), rtol=0, atol=1e-5)


@pytest.mark.parametrize("position", [None, CHANGED])
def test_a_head_and_a_network_of_gpt2_are_patched_as_by_plain_hooks(position):
    model = CASES["gpt2"].make()
    clean, corrupted = pair(text())
    patched = patched_heads(model, clean, corrupted, answers, position)
    place = slice(None) if position is None else position
    without = answers(model(**corrupted))
    width = GPT2["n_embd"] // GPT2["n_head"]
    for layer, block in enumerate(model.transformer.h):
        for module, columns, recovery in [
            *(
                (block.attn.c_proj, slice(h * width, (h + 1) * width), patched.heads[layer, h])
                for h in range(3)
            ),
            (block.mlp.c_proj, slice(None), patched.networks[layer]),
        ]:
            kept: list[torch.Tensor] = []
            with module.register_forward_pre_hook(lambda _, given, kept=kept: kept.append(given[0].clone())):
                model(**clean)

            def put(_, given, kept=kept, columns=columns):
                given[0][:, place, columns] = kept[0][:, place, columns]

            with module.register_forward_pre_hook(put):
                value = answers(model(**corrupted))
            wanted = (value - without) / (answers(model(**clean)) - without)
            assert recovery == pytest.approx(wanted, rel=1e-3, abs=1e-4)


NETWORKS = {
    "OPT": "model.decoder.layers.1.fc2",
    "GPTNeoX": "gpt_neox.layers.1.mlp",  # beside the attention, not behind it
    "Gemma2": "model.layers.1.post_feedforward_layernorm",
}
OTHERS: dict[str, Any] = {
    "OPT": {"ffn_dim": 17, "word_embed_proj_dim": 24, "max_position_embeddings": 64},
    "GPTNeoX": {},
    "Gemma2": {"head_dim": 8, "num_key_value_heads": 1},
}


@pytest.mark.parametrize("kind", NETWORKS)
def test_a_network_is_found_by_what_it_adds_whatever_its_name(kind):
    model = made(kind, "ForCausalLM", vocab_size=61, num_attention_heads=3, **SIZES, **OTHERS[kind])()
    clean, corrupted = pair(text())
    patched = patched_heads(model, clean, corrupted, answers)
    network = model.get_submodule(NETWORKS[kind])
    kept: list[torch.Tensor] = []
    with network.register_forward_hook(lambda _, __, output: kept.append(output)):
        model(**clean)
    with network.register_forward_hook(lambda *_: kept[0]):
        value = answers(model(**corrupted))
    wanted = (value - patched.corrupted) / (patched.clean - patched.corrupted)
    assert patched.networks[1] == pytest.approx(wanted, rel=1e-3, abs=1e-4)
    assert not patched.networks.isnan().any()


def test_a_layer_that_is_no_sum_of_its_parts_has_no_network():
    model = made("Bert", "ForMaskedLM", vocab_size=61, num_attention_heads=3, **SIZES)()
    assert patched_heads(model, text(), pair(text())[1], answers).networks.isnan().all()


def test_of_several_pairs_the_mean_is_patched():
    model = CASES["gpt2"].make()
    pairs = [pair({"input_ids": ids(11, seed)}) for seed in range(3)]
    clean, corrupted = ({"input_ids": torch.cat([each[at]["input_ids"] for each in pairs])} for at in (0, 1))

    def each_answer(output):
        return output.logits[:, -1, ANSWER] - output.logits[:, -1, OTHER]

    patched = patched_heads(model, clean, corrupted, each_answer, position=CHANGED)
    alone = [patched_heads(model, before, after, answers, CHANGED) for before, after in pairs]
    assert (patched.pairs, alone[0].pairs) == (3, 1)
    assert patched.clean == pytest.approx(sum(each.clean for each in alone) / 3, abs=1e-5)
    brought = torch.stack([each.heads * (each.clean - each.corrupted) for each in alone]).mean(0)
    wanted = brought / (patched.clean - patched.corrupted)
    torch.testing.assert_close(patched.heads, wanted, atol=1e-4, rtol=1e-3)


def test_what_cannot_be_patched_is_said_with_the_way_out():
    model = CASES["gpt2"].make()
    clean, corrupted = pair(text())
    with pytest.raises(ValueError, match=r"same shape as clean, \(1, 11\), got \(1, 10\)"):
        patched_heads(model, clean, {"input_ids": corrupted["input_ids"][:, :-1]}, answers)
    with pytest.raises(ValueError, match="metric must differ between the two texts, got 1 and 1"):
        patched_heads(model, clean, corrupted, lambda output: 1)
    masks = [{"attention_mask": torch.arange(11)[None] < real} for real in (11, 10)]
    with pytest.raises(ValueError, match="padding where clean has it"):
        patched_heads(model, clean | masks[0], corrupted | masks[1], answers)
    with pytest.raises(ValueError, match="position must be from -11 to 10 for 11 tokens, got 11"):
        patched_heads(model, clean, corrupted, answers, position=11)
    two_texts = CASES["bart"]
    with pytest.raises(ValueError, match="model must have one text, got attention of encoder"):
        patched_heads(two_texts.make(), two_texts.inputs(), two_texts.inputs(), answers)
    shared = made("Albert", "ForMaskedLM", vocab_size=61, num_attention_heads=3, embedding_size=8, **SIZES)()
    with pytest.raises(ValueError, match="have a module of its own; 1 of 2 do"):
        patched_heads(shared, clean, corrupted, answers)
