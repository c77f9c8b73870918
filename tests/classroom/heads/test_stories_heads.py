"""The heads of a small Llama that somebody else trained: the table, beside the course's own layers and hooks.

The model is not part of the project: see ``tests/mha_lib/stories.py``.
"""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

pytest.importorskip("transformers")

import transformers

from mha_lib.classroom.heads import head_outputs, head_table, logit_shares
from tests.mha_lib.stories import BEGIN, TOLD, encoded, needs_stories, read_model, read_tokens

pytestmark = needs_stories

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


class Stories(nn.Module):
    """The model made of the course's layers."""

    def __init__(self):
        super().__init__()
        table, layers, self.norm = read_model()
        self.table = nn.Embedding.from_pretrained(table)
        self.layers = nn.ModuleList(layers)

    def forward(self, tokens):
        x = self.table(tokens)
        for layer in self.layers:
            x = layer(x, is_causal=True)
        return self.norm(x) @ self.table.weight.T


def as_llama(ours):
    """The same model as a Llama of transformers, which turns the halves of a head in place of neighbours."""
    attention, (vocabulary, width) = ours.layers[0].self_attention, ours.table.weight.shape
    llama = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=vocabulary,
            hidden_size=width,
            intermediate_size=len(ours.layers[0].feed_forward.W_1.weight),
            num_hidden_layers=len(ours.layers),
            num_attention_heads=attention.num_heads,
            num_key_value_heads=attention.num_kv_heads,
            max_position_embeddings=512,
            rms_norm_eps=1e-5,
            tie_word_embeddings=True,
        )
    ).eval()
    size = width // attention.num_heads
    state = {"model.embed_tokens.weight": ours.table.weight, "lm_head.weight": ours.table.weight}
    state["model.norm.weight"] = ours.norm.weight
    for number, layer in enumerate(ours.layers):
        for name, theirs in NAMES.items():
            weight = layer.get_parameter(f"{name}.weight")
            if theirs.endswith(("q_proj", "k_proj")):
                weight = weight.unflatten(0, (-1, size // 2, 2)).transpose(1, 2).flatten(0, 2)
            state[f"model.layers.{number}.{theirs}.weight"] = weight
    llama.load_state_dict(state)
    return llama


@pytest.fixture(scope="module")
def measured():
    ours, pieces = Stories().eval(), read_tokens()
    numbers = [torch.tensor(encoded(sentence, pieces)) for sentence in TOLD.split(". ")]
    pad = nn.utils.rnn.pad_sequence
    inputs = {
        "input_ids": pad(numbers, batch_first=True),
        "attention_mask": pad([torch.ones_like(each) for each in numbers], batch_first=True),
    }
    assert [each[0] for each in numbers] == [BEGIN] * 3
    towards = tuple(numbers[0][1:3].tolist())
    llama = as_llama(ours)
    return ours, llama, numbers, towards, head_table(llama, inputs, towards=towards)


@torch.no_grad()
def test_the_llama_is_the_model_of_the_courses_layers(measured):
    ours, llama, numbers, *_ = measured
    for each in numbers:
        assert_close(llama(each[None]).logits, ours(each[None]), atol=1e-3, rtol=1e-3)


@torch.no_grad()
def test_attributions_are_the_shares_in_the_logits(measured):
    ours, _, numbers, (one, other), table = measured
    found = []
    for each in numbers:
        shares = logit_shares(ours, each[None])
        of_heads = [at for at, part in enumerate(shares.parts) if part[0] == "head"]
        found.append(shares.shares[of_heads, 0, -1, one] - shares.shares[of_heads, 0, -1, other])
    by_table = torch.tensor([[row["attribution"], row["attribution_std"]] for row in table])
    mean, spread = torch.stack(found).mean(0), torch.stack(found).std(0)
    assert_close(by_table, torch.stack([mean, spread], 1), atol=1e-3, rtol=1e-3)


@torch.no_grad()
def test_the_loss_without_each_head_is_that_of_plain_hooks_in_the_courses_layers(measured):
    ours, _, numbers, _, table = measured

    def loss():
        losses = [F.cross_entropy(ours(each[None])[0, :-1], each[1:]) for each in numbers]
        return torch.stack(losses).mean().item()

    before = loss()
    assert table.loss == pytest.approx(before, abs=1e-4)
    outputs = [head_outputs(ours, each[None]) for each in numbers]
    size = ours.layers[0].self_attention.value_head_dim
    for row in table:
        layer, head = row["layer"], row["head"]
        mean = torch.cat([each[layer][0, head] for each in outputs]).mean(0)
        for kind, instead in {"zero": 0 * mean, "mean": mean}.items():

            def put(_, given, head=head, instead=instead):
                changed = given[0].clone()
                changed[..., head * size : (head + 1) * size] = instead
                return (changed,)

            with ours.layers[layer].self_attention.W_o.register_forward_pre_hook(put):
                grown = loss() - before
            assert row[f"{kind}_ablation"] == pytest.approx(grown, abs=2e-4)
