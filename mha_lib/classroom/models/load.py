"""Loads a model by its name: the only place in this project that fetches a model."""

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

from mha_lib.classroom.lesson.language import words_here
from mha_lib.classroom.models.reading import check_model, most_tokens, unwrapped

LONGEST_ANSWER = 64  # tokens that a model with a decoder writes, so that there is something to see


class CannotLoad(RuntimeError):
    """A model can't be loaded. Its message is the one line that a notebook shows."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def load(name: str, text: Any, tokenizer: Any = None) -> tuple[Any, dict[str, Any], Any]:
    """The model of that name, its inputs for the text, and its tokenizer, unless one is given.

    ``transformers`` takes the model from its cache, or else from the network, with the output layer that it
    was saved with: GPT-2 predicts tokens, so a caller can measure its loss.
    """
    words = words_here()["models"]
    if not isinstance(text, str) or not text.strip():
        raise CannotLoad(words["no_text"].format(name=name, text=repr(text)))
    is_folder = Path(name).is_absolute() or name.startswith((".", "~")) or len(Path(name).parts) > 2
    if is_folder and not Path(name).is_dir():
        raise CannotLoad(words["no_folder"].format(name=name))
    try:
        transformers = import_module("transformers")
    except ImportError as error:
        raise CannotLoad(words["no_transformers"].format(name=name)) from error
    try:
        config = transformers.AutoConfig.from_pretrained(name)
        if getattr(config, "vocab_size", None) is None:
            raise CannotLoad(words["no_reader"].format(name=name))
        kind = getattr(transformers, (config.architectures or ["AutoModel"])[0], transformers.AutoModel)
        if config.is_encoder_decoder:
            kind = transformers.AutoModelForSeq2SeqLM
        if tokenizer is None:
            tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        model = kind.from_pretrained(name).eval()
    except (OSError, ValueError) as error:  # no such model, no network, or files of another kind
        reason = str(error).strip().splitlines()[0]
        raise CannotLoad(words["no_model"].format(name=name, reason=reason)) from error
    return model, tokenized(model, text, tokenizer), tokenizer


def tokenized(model: Any, text: str, tokenizer: Any) -> dict[str, Any]:
    """The inputs of a model for a text. A model with a decoder writes its answer, the decoder's text."""
    if not callable(tokenizer) or not hasattr(tokenizer, "decode"):
        raise TypeError(
            "tokens must be the tokenizer if inputs is a text, as in explore_model(model, text, tokenizer), "
            f"got {type(tokenizer).__name__}"
        )
    if not text.strip():
        raise ValueError(f"inputs must be a text of at least one token, got {text!r}")
    model = unwrapped(model)
    check_model(model)
    config, taken = getattr(model, "config", None), inspect.signature(model.forward).parameters
    place = next((each.device for each in model.parameters()), "cpu")
    found = tokenizer(text, return_tensors="pt").to(place)
    inputs = {key: value for key, value in found.items() if key in taken}
    if getattr(config, "is_encoder_decoder", False) and hasattr(model, "generate"):
        room = most_tokens(model) or 2 * LONGEST_ANSWER
        most = min(LONGEST_ANSWER, room - 1)  # a model has as many positions, one of them for the first token
        inputs["decoder_input_ids"] = model.generate(**inputs, max_new_tokens=most, num_beams=1)
    return inputs
