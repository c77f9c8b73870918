"""Small models of ``transformers``, made from configurations with random parameters: no download."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import nn
from transformers import PreTrainedTokenizerFast

from mha_lib.classroom.models.reading import ModelAttention, read_attention

QUERIES, SOURCE, TARGET = 11, 13, 7
SIZES: dict[str, Any] = {"hidden_size": 24, "num_hidden_layers": 2, "intermediate_size": 17}
GPT2: dict[str, Any] = {"vocab_size": 61, "n_embd": 24, "n_layer": 2, "n_head": 3, "n_positions": 64}
T5: dict[str, Any] = {"vocab_size": 61, "d_model": 24, "d_kv": 5, "d_ff": 17, "num_layers": 2, "num_heads": 3}
BART: dict[str, Any] = {"vocab_size": 61, "d_model": 24, "max_position_embeddings": 64}
BART |= {"encoder_layers": 2, "encoder_attention_heads": 3, "encoder_ffn_dim": 17}
BART |= {"decoder_layers": 3, "decoder_attention_heads": 4, "decoder_ffn_dim": 17}


class Case(NamedTuple):
    """A model and its inputs; ``kinds`` are the kinds of its attention, each with (layers, H, Q, K)."""

    make: Callable[[], Any]
    inputs: Callable[[], dict[str, torch.Tensor]]
    kinds: dict[str, tuple[int, int, int, int]]

    def read(self) -> ModelAttention:
        """The weights of a new model, with the model."""
        return read_attention(self.make(), self.inputs())


def ids(count: int, seed: int) -> torch.Tensor:
    return torch.randint(3, 61, (1, count), generator=torch.Generator().manual_seed(seed))


def made(kind: str, model: str = "Model", /, **settings: Any) -> Callable[[], Any]:
    """A model whose heads differ: with the first parameters of transformers all weights are nearly even."""

    def make() -> Any:
        torch.manual_seed(0)
        config = getattr(transformers, f"{kind}Config")(**settings)
        found = getattr(transformers, f"{kind}{model}")(config).eval()
        with torch.no_grad():
            for parameter in found.parameters():
                if parameter.dim() > 1:
                    parameter.copy_(torch.randn(parameter.shape) * parameter.shape[-1] ** -0.5)
        return found

    return make


class Fixed(nn.Module):
    """A model of another kind, which answers with the attentions that it was made with."""

    def __init__(self, attentions: Any):
        super().__init__()
        self.attentions = attentions
        self.eval()

    def forward(self, input_ids: torch.Tensor, output_attentions: bool = False) -> Any:
        return self


def with_attentions(*attentions: Any) -> Fixed:
    """A model whose layers have these weights (1, H, Q, K), scaled so that rows sum to 1."""
    return Fixed(tuple(weights / weights.sum(-1, keepdim=True) for weights in attentions))


def text() -> dict[str, torch.Tensor]:
    return {"input_ids": ids(QUERIES, 0)}


def two_texts() -> dict[str, torch.Tensor]:
    return {"input_ids": ids(SOURCE, 0), "decoder_input_ids": ids(TARGET, 1)}


def picture() -> dict[str, torch.Tensor]:
    return {"pixel_values": torch.rand(1, 3, 8, 12, generator=torch.Generator().manual_seed(0))}


def of_one_text(heads: int) -> dict[str, tuple[int, int, int, int]]:
    return {"self": (2, heads, QUERIES, QUERIES)}


def of_two_texts(heads: int) -> dict[str, tuple[int, int, int, int]]:
    """With so many heads in a layer of the decoder."""
    decoder, cross = (3, heads, TARGET, TARGET), (3, heads, TARGET, SOURCE)
    return {"encoder": (2, 3, SOURCE, SOURCE), "decoder": decoder, "cross": cross}


BERT = made("Bert", vocab_size=61, max_position_embeddings=64, num_attention_heads=3, **SIZES)
GROUPED = {"head_dim": 4, "num_attention_heads": 6, "num_key_value_heads": 2}
VIT = made("ViT", image_size=(8, 12), patch_size=4, num_attention_heads=3, **SIZES)
CASES = {
    "gpt2": Case(made("GPT2", "LMHeadModel", **GPT2), text, of_one_text(3)),
    "bert": Case(BERT, text, of_one_text(3)),
    "llama": Case(made("Llama", "ForCausalLM", vocab_size=61, **GROUPED, **SIZES), text, of_one_text(6)),
    "t5": Case(made("T5", **T5, num_decoder_layers=3), two_texts, of_two_texts(3)),
    "bart": Case(made("Bart", **BART), two_texts, of_two_texts(4)),
    "vit": Case(VIT, picture, {"self": (2, 3, 7, 7)}),
}


LETTERS = ["<pad>", "</s>", "<unk>", "the", "cat", "sat"]


def saved(folder, name):
    """A small model with a tokenizer of three words, as ``from_pretrained`` finds them."""
    words = Tokenizer(models.WordLevel({word: at for at, word in enumerate(LETTERS)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>", pad_token="<pad>")
    for part in (CASES[name].make(), tokenizer):
        part.save_pretrained(folder)
    return str(folder)
