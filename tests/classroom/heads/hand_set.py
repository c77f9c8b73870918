"""A GPT-2 and a Llama whose weights are set by hand: one previous-token head and one induction head.

The stream holds one-hot tokens, one-hot positions (GPT-2) or a constant (Llama), and a slot in which head 0
of layer 0 writes the token before. Head 1 of layer 1 looks for the slot that holds its own token. All other
heads look evenly at what they may.
"""

from typing import Any

import torch
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from mha_lib.classroom.heads import Head

TOKENS, POSITIONS = 12, 28
PREVIOUS, INDUCTION = Head("self", 0, 0), Head("self", 1, 1)
SHARP = 100.0


def emptied(model: Any) -> Any:
    for name, parameter in model.named_parameters():
        is_gain = name.endswith("weight") and ("norm" in name or "ln_" in name)
        parameter.data.fill_(1.0 if is_gain else 0.0)
    return model.eval()


@torch.no_grad()
def gpt2() -> Any:
    slot, width = TOKENS + POSITIONS, 2 * TOKENS + POSITIONS + 4
    size = width // 2  # of a head
    ends: dict[str, Any] = {"bos_token_id": 0, "eos_token_id": 0}
    config = GPT2Config(vocab_size=TOKENS, n_positions=POSITIONS, n_embd=width, n_layer=2, n_head=2, **ends)
    model = emptied(GPT2LMHeadModel(config))
    model.transformer.wte.weight[:, :TOKENS] = torch.eye(TOKENS)
    model.transformer.wpe.weight[:, TOKENS:slot] = torch.eye(POSITIONS)
    first, second = (block.attn for block in model.transformer.h)
    matrix = first.c_attn.weight  # (D, 3 D), for queries, keys and values
    for position in range(1, POSITIONS):  # asks for the position before
        matrix[TOKENS + position, position - 1] = SHARP
    matrix[TOKENS : TOKENS + POSITIONS, width : width + POSITIONS] = torch.eye(POSITIONS)
    matrix[:TOKENS, 2 * width : 2 * width + TOKENS] = torch.eye(TOKENS)
    first.c_proj.weight[:TOKENS, slot : slot + TOKENS] = 0.2 * torch.eye(TOKENS)
    matrix = second.c_attn.weight
    matrix[:TOKENS, size : size + TOKENS] = SHARP * torch.eye(TOKENS)
    matrix[slot : slot + TOKENS, width + size : width + size + TOKENS] = torch.eye(TOKENS)
    return model


@torch.no_grad()
def llama() -> Any:
    """Its positions are rotations: a head looks one back if its queries are turned by one position."""
    constant, slot, width, size = TOKENS, TOKENS + 1, 2 * TOKENS + 2, 32
    half = size // 2
    config = LlamaConfig(
        vocab_size=TOKENS,
        hidden_size=width,
        intermediate_size=3,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=size,
        max_position_embeddings=POSITIONS,
        rope_parameters={"rope_type": "default", "rope_theta": 1e9},
    )
    model = emptied(LlamaForCausalLM(config))
    model.model.embed_tokens.weight[:, :TOKENS] = torch.eye(TOKENS)
    model.model.embed_tokens.weight[:, constant] = 1
    first, second = (layer.self_attn for layer in model.model.layers)
    turns = 1e9 ** (-torch.arange(half) / half)  # of each pair of dimensions, by one position
    first.q_proj.weight[:half, constant] = SHARP * turns.cos()
    first.q_proj.weight[half:size, constant] = -SHARP * turns.sin()
    first.k_proj.weight[:half, constant] = 1
    first.v_proj.weight[:TOKENS, :TOKENS] = torch.eye(TOKENS)
    first.o_proj.weight[slot : slot + TOKENS, :TOKENS] = torch.eye(TOKENS)
    slow = size + half - TOKENS  # the pairs that hardly turn
    second.q_proj.weight[slow : slow + TOKENS, :TOKENS] = SHARP * torch.eye(TOKENS)
    second.k_proj.weight[slow : slow + TOKENS, slot : slot + TOKENS] = torch.eye(TOKENS)
    return model
