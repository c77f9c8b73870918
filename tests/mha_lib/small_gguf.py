"""A GGUF file of a small model in the form of Llama, made by the tests."""

import pytest
import torch

WIDTH, HEADS, GROUPS, INNER, BLOCKS = 64, 4, 2, 96, 2
MERGES = ["t h", "Ġ th", "th e", "1 2", "Ġ 1"]
SETTINGS = {
    "block_count": BLOCKS,
    "context_length": 128,
    "embedding_length": WIDTH,
    "feed_forward_length": INNER,
    "attention.head_count": HEADS,
    "attention.head_count_kv": GROUPS,
    "attention.layer_norm_rms_epsilon": 0.01,
    "rope.dimension_count": 16,
    "rope.freq_base": 500.0,
}


def write(path, *, architecture="llama", head_dim=16, tokenizer="gpt2", split="smollm", **changes):
    """Write a small Llama with random numbers, some of 8 bits; ``changes`` are settings, flags or tensors."""
    gguf = pytest.importorskip("gguf")
    pre_tokenizers = pytest.importorskip("tokenizers").pre_tokenizers
    tokens = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *(merge.replace(" ", "") for merge in MERGES)]
    kinds = [1] * len(tokens) + [3, 4]
    tokens += ["<|end|>", "<user>"]
    shapes = {"token_embd.weight": (len(tokens), WIDTH), "output_norm.weight": (WIDTH,)}
    for block in range(BLOCKS):
        own = {
            "attn_norm": (WIDTH,),
            "ffn_norm": (WIDTH,),
            "ffn_gate": (INNER, WIDTH),
            "ffn_up": (INNER, WIDTH),
        }
        own |= {"ffn_down": (WIDTH, INNER), "attn_q": (HEADS * head_dim, WIDTH)}
        own |= {name: (GROUPS * head_dim, WIDTH) for name in ("attn_k", "attn_v")}
        own["attn_output"] = (WIDTH, HEADS * head_dim)
        shapes |= {f"blk.{block}.{name}.weight": shape for name, shape in own.items()}
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name("small")
    for name, value in (SETTINGS | changes).items():
        if isinstance(value, tuple):  # of a tensor; empty: leave it out
            shapes[name] = value
        elif isinstance(value, bool):
            writer.add_bool(f"tokenizer.ggml.{name}", value)
        elif isinstance(value, str):
            writer.add_string(f"{architecture}.{name}", value)
        elif isinstance(value, float):
            writer.add_float32(f"{architecture}.{name}", value)
        else:
            writer.add_uint32(f"{architecture}.{name}", value)
    writer.add_tokenizer_model(tokenizer)
    writer.add_tokenizer_pre(split)
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(MERGES)
    writer.add_eos_token_id(len(tokens) - 2)
    generator = torch.Generator().manual_seed(3)
    for name, shape in shapes.items():
        if shape:
            x = torch.randn(shape, generator=generator).mul(0.3).numpy()
            kind = gguf.GGMLQuantizationType.Q8_0 if "ffn" in name and len(shape) > 1 else None
            writer.add_tensor(name, x if kind is None else gguf.quantize(x, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
