"""The labels of a model's tokens: words of a tokenizer, the caller's own, or the places of patches."""

from collections.abc import Mapping, Sequence
from typing import Any

from mha_lib.classroom.heads.attention import ModelAttention, as_arguments

# Of which sequence the queries and keys of each kind of attention are: of the only one, or of which of two.
SEQUENCES = {
    "self": ("encoder", "encoder"),
    "encoder": ("encoder", "encoder"),
    "decoder": ("decoder", "decoder"),
    "cross": ("decoder", "encoder"),
}


def lengths_of(attention: ModelAttention) -> dict[str, int]:
    """How many tokens each sequence has."""
    found = {}
    for kind, layers in attention.layers.items():
        for sequence, count in zip(SEQUENCES[kind], layers[0].weights.shape[1:], strict=True):
            found[sequence] = count
    return found


def labels_of(attention: ModelAttention, inputs: Any, tokens: Any) -> dict[str, list[str]]:
    """The labels of each sequence; without ``tokens`` those of patches, or numbers."""
    lengths, arguments = lengths_of(attention), as_arguments(attention.model, inputs)
    if hasattr(tokens, "convert_ids_to_tokens"):
        names = {"encoder": "input_ids", "decoder": "decoder_input_ids"}
        ids = {sequence: arguments.get(names[sequence]) for sequence in lengths}
        given = {
            sequence: [readable(tokens, int(number)) for number in there[0]]
            for sequence, there in ids.items()
            if there is not None
        }
    elif isinstance(tokens, Mapping):
        given = {sequence: [*map(str, labels)] for sequence, labels in tokens.items()}
    elif isinstance(tokens, str):
        raise TypeError("tokens must be a list with a label for each token, or the tokenizer, got a str")
    elif tokens is not None:
        given = {"encoder": [*map(str, tokens)]}
    else:
        given = {"encoder": patches} if (patches := patch_labels(attention, arguments, lengths)) else {}
    if unknown := given.keys() - lengths.keys():
        raise ValueError(f"tokens must be labels of {', '.join(lengths)}, got {', '.join(sorted(unknown))}")
    for sequence, labels in given.items():
        if len(labels) != lengths[sequence]:
            raise ValueError(
                f"tokens must hold a label for each of the {lengths[sequence]} tokens of the {sequence}, "
                f"got {len(labels)}"
            )
    return {name: given.get(name) or [*map(str, range(count))] for name, count in lengths.items()}


def readable(tokenizer: Any, number: int) -> str:
    """The token as text; its raw form where the text is empty, or a part of a letter."""
    text = tokenizer.decode([number]).strip()
    return text if text and "\ufffd" not in text else str(tokenizer.convert_ids_to_tokens(number))


def patch_labels(attention: ModelAttention, arguments: dict[str, Any], lengths: dict[str, int]) -> list[str]:
    """The row and the column of each patch, and CLS before them; nothing for a model without patches."""
    pixels = arguments.get("pixel_values")
    size = getattr(getattr(attention.model, "config", None), "patch_size", None)
    if pixels is None or not size:
        return []
    high, wide = size if isinstance(size, Sequence) else (size, size)
    rows, columns = pixels.shape[-2] // high, pixels.shape[-1] // wide
    labels = [f"{row},{column}" for row in range(rows) for column in range(columns)]
    before = lengths["encoder"] - len(labels)
    return [*["CLS", *(f"+{number}" for number in range(1, before))][:before], *labels] if before >= 0 else []
