"""A language model made of our blocks, or read from a file; shape letters as in ``encoder_decoder.py``."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mha_lib import checks
from mha_lib.cache import KVCache, UnchangedByErrors
from mha_lib.positions import Rotary
from mha_lib.transformer import EncoderLayer


class LanguageModel(nn.Module):
    """Scores at each token of a text all tokens that may come next.

        x = table[tokens]
        x = layer(x, is_causal=True)        for each layer
        logits = norm(x) read_outᵀ

    table        ``nn.Embedding(V, D)``
    layers       ``EncoderLayer`` of width D, with ``rotary`` where they shall know positions
    norm         a norm of width D, such as ``nn.RMSNorm(D)``
    unembedding  ``nn.Embedding(V, D)``, whose rows score the tokens; None: those of ``table`` do ("tied")

    ``logits[:, n]`` score what may come after ``tokens[:, : n + 1]``. Raises TypeError for other layers.

    Source: Radford et al. 2018; one table for both: Press and Wolf 2017. Elsewhere: ``LlamaForCausalLM``
    (Hugging Face), whose ``embed_tokens`` is ``table`` and ``lm_head`` is ``unembedding``.
    """

    def __init__(
        self,
        table: nn.Embedding,
        layers: Iterable[EncoderLayer],
        norm: nn.Module,
        unembedding: nn.Embedding | None = None,
    ):
        super().__init__()
        self.table = table
        self.layers: Any = nn.ModuleList(layers)
        self.norm, self.unembedding = norm, unembedding
        for number, layer in enumerate(self.layers):
            checks.check_class(f"layers[{number}]", layer, EncoderLayer, "try EncoderLayer(D, H, 4 * D)")

    @property
    def read_out(self) -> Tensor:
        """The row that scores each token, ``(V, D)``."""
        return (self.table if self.unembedding is None else self.unembedding).weight

    def embed(self, tokens: Tensor) -> Tensor:
        """``(B, N) -> (B, N, D)``. Raises TypeError or ValueError for what is no token of ``table``."""
        checks.check_token_numbers("tokens", tokens, self.table, "is it another model's vocabulary?")
        return self.table(tokens)

    def forward(self, tokens: Tensor, caches: Sequence[KVCache] | None = None) -> Tensor:
        """
        tokens  ``(B, N)``, integers; with caches, only the tokens after those of earlier calls
        caches  a ``KVCache`` of each layer's ``self_attention``, which take in the tokens of each call

        Returns the logits ``(B, N, V)``. Raises TypeError or ValueError for arguments that don't fit.
        """
        each: Sequence[KVCache | None] = [None] * len(self.layers) if caches is None else caches
        if len(each) != len(self.layers):
            raise ValueError(
                f"caches must be {len(self.layers)}, one for each layer, got {len(each)}; "
                "try [KVCache(layer.self_attention, batch, max_tokens) for layer in model.layers]"
            )
        x = self.embed(tokens)  # (B, N, D)
        with UnchangedByErrors(each):
            for layer, cache in zip(self.layers, each, strict=True):
                x = layer(x, is_causal=True, cache=cache)
        return self.norm(x) @ self.read_out.T


# A GGUF file's names of the parts of a layer, and all that it may say of a Llama and of its tokenizer.
PARTS = {"attn_norm": "self_attention_norm", "ffn_norm": "feed_forward_norm", "attn_q": "self_attention.W_q"}
PARTS |= {"attn_k": "self_attention.W_k", "attn_v": "self_attention.W_v", "attn_output": "self_attention.W_o"}
PARTS |= {"ffn_gate": "feed_forward.W_gate", "ffn_up": "feed_forward.W_1", "ffn_down": "feed_forward.W_2"}
LLAMA = "block_count context_length embedding_length feed_forward_length vocab_size rope.freq_base "
LLAMA += "rope.dimension_count attention.head_count attention.head_count_kv attention.key_length "
LLAMA += "attention.value_length attention.layer_norm_rms_epsilon"
TOKENIZER = "model pre tokens token_type merges bos_token_id eos_token_id unknown_token_id padding_token_id"
KNOWN = {f"llama.{name}" for name in LLAMA.split()} | {f"tokenizer.ggml.{name}" for name in TOKENIZER.split()}


def from_gguf(path: str | Path) -> tuple[LanguageModel, Any]:
    """Read a language model in the form of Llama, and its tokenizer, from a GGUF file.

    path  the file; its numbers, 4-bit ones too, become float32

    Returns the model, in evaluation mode and without gradients, and a ``tokenizers.Tokenizer``:
    ``encode(text).ids`` are tokens, ``decode(tokens)`` is a text.
    Raises ImportError without the extra ``real``, and ValueError where something of the file would be lost:
    another architecture or tokenizer, settings that our layers don't have (scaled positions), tensors left
    over (biases, experts) or missing. It names them.

    Source: the format of llama.cpp, which sorts the rows of ``W_q`` and ``W_k`` so that neighbours turn
    together. Elsewhere: ``from_pretrained(folder, gguf_file=…)`` (Hugging Face).
    """
    sizes, state, tokenizer = read_gguf(path)
    return llama(sizes, state), tokenizer


def llama(sizes: dict[str, Any], state: dict[str, Tensor]) -> LanguageModel:
    """Return the model of these sizes, whose parameters are the tensors of ``state``."""
    norm = partial(nn.RMSNorm, eps=sizes["eps"])
    width, heads, hidden = (sizes[name] for name in ("width", "heads", "hidden"))
    options: Any = {"num_kv_heads": sizes["kv_heads"], "head_dim": sizes["head_dim"]}
    options |= {"rotary": Rotary(sizes["base"]), "gated": True, "norm": norm}
    # To draw an embedding's first numbers on "meta" would import torch's compiler: two seconds.
    names = [name for name in ("table.weight", "unembedding.weight") if name in state]
    tables = [nn.Embedding.from_pretrained(state[name]) for name in names]
    with torch.device("meta"):  # the parameters come from the file
        layers = [EncoderLayer(width, heads, hidden, **options) for _ in range(sizes["layers"])]
        model = LanguageModel(tables[0], layers, norm(width), *tables[1:])
    model.load_state_dict(state, assign=True)
    return model.requires_grad_(False).eval()


def read_gguf(path: str | Path) -> tuple[dict[str, Any], dict[str, Tensor], Any]:
    """Return what ``llama`` makes the model of, its sizes and its tensors by our names, and the tokenizer."""
    try:
        from gguf import GGUFReader, dequantize
        from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    except ImportError as error:
        raise ImportError(f"from_gguf needs more than torch, {error}; pip install 'mha-lib[real]'") from None
    reader = GGUFReader(path)
    said = {name: field.contents() for name, field in reader.fields.items()}
    own = {name for name, value in said.items() if name.startswith(("llama.", "tokenizer.ggml.")) and value}
    only = {"general.architecture": "llama", "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm"}
    refuse({name for name, value in only.items() if said.get(name) != value} | own - KNOWN, said)
    width, heads = said["llama.embedding_length"], said["llama.attention.head_count"]
    head_dim = said.get("llama.attention.key_length", width // heads)
    widths = {name for name in own if name.endswith(("value_length", "dimension_count"))}
    refuse({name for name in widths if said[name] != head_dim}, said)

    tensors = {each.name: each for each in reader.tensors}
    count, is_tied = said["llama.block_count"], "output.weight" not in tensors
    names = {"token_embd.weight": "table.weight", "output_norm.weight": "norm.weight"}
    names |= {} if is_tied else {"output.weight": "unembedding.weight"}
    for at in range(count):
        names |= {f"blk.{at}.{name}.weight": f"layers.{at}.{ours}.weight" for name, ours in PARTS.items()}
    refuse(tensors.keys() ^ names.keys(), {name: "left over" for name in tensors})
    sizes = {"layers": count, "width": width, "hidden": said["llama.feed_forward_length"]}
    sizes |= {"heads": heads, "kv_heads": said.get("llama.attention.head_count_kv"), "head_dim": head_dim}
    sizes |= {"base": said.get("llama.rope.freq_base", 10_000.0)}
    sizes |= {"eps": said["llama.attention.layer_norm_rms_epsilon"]}
    state = {names[x.name]: torch.tensor(dequantize(x.data, x.tensor_type)) for x in reader.tensors}

    tokens, merges, kinds = (said[f"tokenizer.ggml.{name}"] for name in ("tokens", "merges", "token_type"))
    pairs = [tuple(merge.split(" ")) for merge in merges]
    tokenizer = Tokenizer(models.BPE({token: number for number, token in enumerate(tokens)}, pairs))
    steps = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Sequence([*steps]), decoders.ByteLevel()
    for token, kind in zip(tokens, kinds, strict=True):
        if kind in (3, 4):  # control, and defined by a user: never cut
            tokenizer.add_tokens([AddedToken(token, normalized=False, special=kind == 3)])
    return sizes, state, tokenizer


def refuse(lost: set[str], said: dict[str, Any]) -> None:
    if lost:
        found = ", ".join(f"{name}: {said.get(name, 'missing')}" for name in sorted(lost))
        raise ValueError(f"path must hold a Llama that our layers carry whole, got {found}; try transformers")
