"""Several texts as one padded batch, from the left."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from mha_lib.classroom.heads.attention import as_arguments, misfit

Batch = dict[str, Any]


def padded_texts(model: nn.Module, texts: Any, tokenizer: Any) -> Batch:
    """Return texts as the model takes them, on its device, their padding moved to the right.

    texts  strings, which the tokenizer reads; or what the model is called with for all of them: a tensor, or
           a mapping with ``attention_mask``, 0 where there is padding on either side

    A text's first token is then in the first place, so that models with absolute positions count from there.
    """
    if isinstance(texts, str):
        raise TypeError(f"texts must be a list of texts, got one text; pass [{texts[:20]!r}]")
    if isinstance(texts, list | tuple):
        texts = read_texts(texts, tokenizer)
    arguments = as_arguments(model, texts, many=True)
    device = next(model.parameters()).device
    arguments = {name: x.to(device) if isinstance(x, Tensor) else x for name, x in arguments.items()}
    for prefix in ("", "decoder_"):
        tokens = arguments.get(f"{prefix}input_ids")
        if tokens is None:
            continue
        mask = arguments.setdefault(f"{prefix}attention_mask", torch.ones_like(tokens))
        order = (mask == 0).int().argsort(dim=1, stable=True)  # the real tokens first
        for name, x in arguments.items():
            if (
                isinstance(x, Tensor)
                and x.shape == tokens.shape
                and name.startswith("decoder_") == bool(prefix)
            ):
                arguments[name] = x.gather(1, order)
        fewest = int(mask.sum(1).min())
        if fewest < 2:
            raise ValueError(
                f"texts must hold at least two tokens each, got {fewest}; a measure counts the second on"
            )
    if reason := misfit(model, arguments):
        raise ValueError(reason)
    return arguments


def read_texts(texts: Any, tokenizer: Any) -> dict[str, Tensor]:
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise ValueError(f"texts must be strings that are not empty, at least one, got {texts!r}"[:200])
    if tokenizer is None:
        raise ValueError(
            "tokenizer must be given for texts that are strings: head_table(model, texts, tokenizer)"
        )
    numbers = [torch.tensor(tokenizer(text)["input_ids"]) for text in texts]
    pad = nn.utils.rnn.pad_sequence
    return {
        "input_ids": pad(numbers, batch_first=True),
        "attention_mask": pad([torch.ones_like(each) for each in numbers], batch_first=True),
    }


def batches(arguments: Batch, size: int) -> Iterator[Batch]:
    """Parts of so many texts, as long as the longest of each."""
    count = texts_in(arguments)
    for begin in range(0, count, size):
        part = {
            name: x[begin : begin + size] if isinstance(x, Tensor) and len(x) == count else x
            for name, x in arguments.items()
        }
        for prefix in ("", "decoder_"):
            if (mask := part.get(f"{prefix}attention_mask")) is not None:
                longest = int(mask.sum(1).max())
                for name, x in part.items():
                    if name.startswith("decoder_") == bool(prefix) and getattr(x, "shape", ()) == mask.shape:
                        part[name] = x[:, :longest]
        yield part


def texts_in(arguments: Batch) -> int:
    return max(len(x) for x in arguments.values() if isinstance(x, Tensor) and x.dim())


def real_tokens(arguments: Batch, kind: str) -> Tensor | None:
    """Where the queries of a kind of attention are not padding, (B, Q); None if the model reads no tokens."""
    mask = arguments.get("decoder_attention_mask" if kind in ("decoder", "cross") else "attention_mask")
    return None if mask is None else mask.bool()
