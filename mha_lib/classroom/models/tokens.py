"""The labels of a model's tokens: words of a tokenizer, the caller's own, or the places of patches."""

from collections.abc import Mapping, Sequence
from typing import Any

from mha_lib.classroom.models.reading import ModelAttention, as_arguments

BLANK = "␣"
NO_LETTER = "\ufffd"  # stands for bytes that are no letter, or a part of one
MOST_PIECES = 8  # tokens that make one letter, or two that share a token


def sequences_of(attention: ModelAttention) -> dict[str, tuple[str, str]]:
    """The sequence of the queries and that of the keys, for each kind of attention: which of two, if several.

    Cross-attention beside "self" is that of a decoder alone, to which an encoder's output is given.
    """
    own = "decoder" if "cross" in attention.layers else "encoder"
    known = {
        "self": (own, own),
        "encoder": ("encoder", "encoder"),
        "decoder": ("decoder", "decoder"),
        "cross": ("decoder", "encoder"),
    }
    return {kind: known[kind] for kind in attention.layers}


def lengths_of(attention: ModelAttention) -> dict[str, int]:
    """How many tokens each sequence has."""
    found, sequences = {}, sequences_of(attention)
    for kind, layers in attention.layers.items():
        for sequence, count in zip(sequences[kind], layers[0].weights.shape[1:], strict=True):
            found[sequence] = count
    return found


def labels_of(attention: ModelAttention, inputs: Any, tokens: Any) -> dict[str, list[str]]:
    """The labels of each sequence; without ``tokens`` those of patches, or numbers."""
    lengths, arguments = lengths_of(attention), as_arguments(attention.model, inputs)
    if hasattr(tokens, "convert_ids_to_tokens"):
        names = {"encoder": "input_ids", "decoder": "decoder_input_ids"}
        if "self" in attention.layers:
            names = {sequences_of(attention)["self"][0]: "input_ids"}
        ids = {sequence: arguments.get(name) for sequence, name in names.items() if sequence in lengths}
        given = {
            sequence: read_by(tokens, there[0].tolist())
            for sequence, there in ids.items()
            if there is not None
        }
    elif isinstance(tokens, Mapping):
        given = {sequence: [*map(str, labels)] for sequence, labels in tokens.items()}
    elif isinstance(tokens, str):
        raise TypeError("tokens must be a list with a label for each token, or the tokenizer, got a str")
    elif tokens is not None:
        own = sequences_of(attention).get("self", ("encoder",))[0]
        given = {own: [*map(str, tokens)]}
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


def read_by(tokenizer: Any, numbers: list[int]) -> list[str]:
    """The text that each token adds to those before it, blanks as ␣: of "the cats" ``the``, ``␣cat``, ``s``.

    Several tokens may make one letter: ``猫 1/3`` is the first of three. A token without text, or with bytes
    that make no letter, keeps its raw form; one that the tokenizer lacks is named by its number.
    """
    labels: list[str] = []
    before: list[int] = []  # the tokens of the text just before: blanks depend on them
    while len(labels) < len(numbers):
        start = len(labels)
        for count in range(1, min(MOST_PIECES, len(numbers) - start) + 1):
            pieces = numbers[start : start + count]
            if text := added_text(tokenizer, before, pieces):
                break
        else:
            pieces, text = numbers[start : start + 1], ""
        if len(pieces) > 1:
            labels += [f"{text} {piece}/{len(pieces)}" for piece in range(1, len(pieces) + 1)]
        else:
            labels.append(text or str(tokenizer.convert_ids_to_tokens(pieces[0]) or pieces[0]))
        before = pieces
    return labels


def added_text(tokenizer: Any, before: list[int], pieces: list[int]) -> str:
    """The text that tokens add; "" if there is none, or if a letter is not complete yet."""
    known, whole = (
        tokenizer.decode(each, clean_up_tokenization_spaces=False) for each in (before, before + pieces)
    )
    if NO_LETTER in known or not whole.startswith(known):
        known, whole = "", tokenizer.decode(pieces, clean_up_tokenization_spaces=False)
    text = whole[len(known) :]
    return "" if NO_LETTER in text else "".join(map(visible, text))


def visible(letter: str) -> str:
    if letter == " ":
        return BLANK
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode()


def patch_labels(attention: ModelAttention, arguments: dict[str, Any], lengths: dict[str, int]) -> list[str]:
    """The row and the column of each patch of one picture, and CLS before them.

    Nothing for a model without patches, and where they and the tokens that are known to stand before them
    (CLS, that of a distilled model, registers) are not all there is.
    """
    model = attention.model
    pixels, config = arguments.get("pixel_values"), getattr(model, "config", None)
    size = getattr(config, "patch_size", None)
    if pixels is None or pixels.dim() != 4 or not size:
        return []
    high, wide = size if isinstance(size, Sequence) else (size, size)
    rows, columns = pixels.shape[-2] // high, pixels.shape[-1] // wide
    parameters = {name.split(".")[-1] for name, _ in model.named_parameters()}
    before = ["CLS"] * bool(parameters & {"cls_token", "class_embedding"})
    more = ("distillation_token" in parameters) + (getattr(config, "num_register_tokens", None) or 0)
    labels = before + [f"+{number}" for number in range(1, more + 1)]
    labels += [f"{row},{column}" for row in range(rows) for column in range(columns)]
    return labels if len(labels) == lengths["encoder"] else []
