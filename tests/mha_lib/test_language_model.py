"""A language model of our blocks, and the same model as transformers reads it from one small GGUF file."""

import re
import sys
from typing import Any

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from mha_lib import EncoderLayer, KVCache, LanguageModel
from mha_lib.language_model import from_gguf
from tests.mha_lib.bad_calls import BadCalls, assert_refused, each_bad_call
from tests.mha_lib.layers import with_random_parameters
from tests.mha_lib.small_gguf import WIDTH, write

V, D, B, N = 13, 12, 2, 7
TOKENS = torch.randint(V, (B, N), generator=torch.Generator().manual_seed(0))


def make(unembedding=None):
    options = {"rotary": True, "gated": True, "norm": nn.RMSNorm}
    layers = [EncoderLayer(D, 3, 17, window=3, **options), EncoderLayer(D, 2, 17, **options)]
    model = LanguageModel(nn.Embedding(V, D), layers, nn.RMSNorm(D), unembedding)
    return with_random_parameters(model).eval()


def caches_of(model, batch=B):
    return [KVCache(layer.self_attention, batch, N) for layer in model.layers]


@torch.no_grad()
@pytest.mark.parametrize("unembedding", [None, nn.Embedding(V, D)], ids=["tied", "untied"])
def test_the_model_is_its_table_its_layers_its_norm_and_the_rows_that_score(unembedding):
    model = make(unembedding)
    x = model.table.weight[TOKENS]
    for layer in model.layers:
        x = layer(x, is_causal=True)
    rows = (unembedding or model.table).weight
    assert_close(model(TOKENS), model.norm(x) @ rows.T)
    assert model.read_out is rows


@torch.no_grad()
def test_tokens_that_come_in_chunks_with_caches_get_the_logits_of_the_whole_text():
    model = make()
    caches = caches_of(model)
    chunks = [model(chunk, caches) for chunk in TOKENS.split([3, 1, 1, 2], dim=1)]
    assert_close(torch.cat(chunks, 1), model(TOKENS))


@torch.no_grad()
def test_an_error_in_a_later_layer_leaves_all_caches_as_they_were():
    model = make()
    caches = caches_of(model)
    model(TOKENS[:, :3], caches)
    caches[1].max_tokens = 3  # the second layer has no room
    with pytest.raises(ValueError, match="room"):
        model(TOKENS[:, 3:], caches)
    caches[1].max_tokens = N
    assert_close(model(TOKENS[:, 3:], caches), model(TOKENS)[:, 3:])


ANOTHER_LAYER: Any = nn.Linear(D, D)
BAD_CALLS: dict[type[Exception], BadCalls] = {
    TypeError: [
        (lambda: LanguageModel(nn.Embedding(V, D), [ANOTHER_LAYER], nn.RMSNorm(D)),
         "layers[0] must be an EncoderLayer, got Linear; try"),
        (lambda: make()(TOKENS.float()), "tokens must hold tokens as integers, got torch.float32"),
    ],
    ValueError: [
        (lambda: make()(TOKENS[0]), "tokens must be (B, N), got shape (7,); for a single sample: tokens["),
        (lambda: make()(TOKENS + V), "tokens must hold tokens from 0 to 12, got … another model's"),
        (lambda: make()(TOKENS, caches_of(make())[:1]), "caches must be 2, one for each layer, got 1; try ["),
    ],
}  # fmt: skip


@each_bad_call(BAD_CALLS)
def test_a_bad_call_is_refused_with_the_way_out(call, error, words):
    assert_refused(call, error, words)


def theirs(path):
    """The model and the tokenizer of transformers, from the same file."""
    transformers = pytest.importorskip("transformers")
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    config = transformers.LlamaConfig(**load_gguf_checkpoint(path)["config"])
    model = transformers.LlamaForCausalLM(config).eval()
    tensors = load_gguf_checkpoint(path, return_tensors=True, model_to_load=model)["tensors"]
    missing, unexpected = model.load_state_dict(tensors, strict=False)
    assert [*missing, *unexpected] == (["lm_head.weight"] if config.tie_word_embeddings else [])
    model.tie_weights()
    return model, transformers.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)


CASES = {
    "tied": {},
    "untied": {"output.weight": (263, WIDTH)},
    "wide_heads": {"head_dim": 24, "attention.key_length": 24, "rope.dimension_count": 24},
}


@torch.no_grad()
@pytest.mark.parametrize("case", CASES)
def test_a_file_gives_the_logits_and_tokens_that_transformers_reads_from_it(tmp_path, case):
    path = write(tmp_path / "small.gguf", **CASES[case])
    (model, tokenizer), (expected, their_tokenizer) = from_gguf(path), theirs(path)
    for text in ("The other, then the 3 others: ñ 你好\n\n ", "<|end|>the <user> th"):
        tokens = tokenizer.encode(text).ids
        assert tokens == their_tokenizer(text)["input_ids"]
        assert tokenizer.decode(tokens, skip_special_tokens=False) == text
        read = torch.tensor([tokens])
        assert_close(model(read), expected(read).logits, atol=1e-5, rtol=1e-5)
    assert not model.training
    assert not any(parameter.requires_grad for parameter in model.parameters())
    assert (model.unembedding is None) == (case != "untied")


def test_digits_stand_alone_and_special_tokens_are_never_cut(tmp_path):
    _, tokenizer = from_gguf(write(tmp_path / "small.gguf"))
    assert tokenizer.encode("12 12").tokens == ["1", "2", "Ġ", "1", "2"]
    assert tokenizer.encode("the<|end|><user>").tokens == ["the", "<|end|>", "<user>"]
    assert tokenizer.decode(tokenizer.encode("the<|end|><user>").ids) == "the<user>"


REFUSED = {
    "general.architecture: qwen2": {"architecture": "qwen2"},
    "blk.0.attn_q.bias: left over": {"blk.0.attn_q.bias": (WIDTH,)},
    "rope_freqs.weight: left over": {"rope_freqs.weight": (8,)},
    "blk.1.ffn_gate_exps.weight: left over": {"blk.1.ffn_gate_exps.weight": (3, 32)},
    "blk.1.attn_v.weight: missing": {"blk.1.attn_v.weight": ()},
    "llama.rope.scaling.factor: 4.0, llama.rope.scaling.type: linear": {
        "rope.scaling.type": "linear",
        "rope.scaling.factor": 4.0,
    },
    "llama.attention.sliding_window: 32": {"attention.sliding_window": 32},
    "llama.rope.dimension_count: 8": {"rope.dimension_count": 8},
    "llama.attention.value_length: 8": {"attention.value_length": 8},
    "tokenizer.ggml.model: llama": {"tokenizer": "llama"},
    "tokenizer.ggml.pre: llama-bpe": {"split": "llama-bpe"},
    "tokenizer.ggml.add_bos_token: True": {"add_bos_token": True},
}


@pytest.mark.parametrize("lost", REFUSED)
def test_what_would_be_lost_is_refused_by_name(tmp_path, lost):
    path = write(tmp_path / "small.gguf", **REFUSED[lost])
    with pytest.raises(ValueError, match=re.escape(f"carry whole, got {lost}; try transformers")):
        from_gguf(path)


def test_what_says_nothing_is_no_reason_to_refuse_a_file(tmp_path):
    from_gguf(write(tmp_path / "small.gguf", add_bos_token=False, expert_count=0))


def test_no_numbers_are_drawn_for_a_table_that_the_file_fills(tmp_path, monkeypatch):
    """To draw them on "meta" imports torch's compiler, which takes longer than the file."""
    monkeypatch.setattr(nn.init, "normal_", None)
    from_gguf(write(tmp_path / "small.gguf"))


def test_a_missing_package_is_named_with_the_way_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'mha-lib[real]'")):
        from_gguf("model.gguf")
