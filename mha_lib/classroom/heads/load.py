"""Loads a model by its name: the only place in this project that fetches a model."""

import inspect
from importlib import import_module
from typing import Any

from mha_lib.classroom.lesson.language import words_here

LONGEST_ANSWER = 64  # tokens that a model with a decoder writes, so that there is something to see


class CannotLoad(RuntimeError):
    """A model can't be loaded. Its message is the one line that a notebook shows."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def load(name: str, text: Any) -> tuple[Any, dict[str, Any], Any]:
    """The model of that name, its inputs for the text, and its tokenizer.

    ``transformers`` takes the model from its cache, or else from the network, with the output layer that it
    was saved with: GPT-2 predicts tokens, so a caller can measure its loss. A model with a decoder writes its
    answer, which becomes the decoder's text.
    """
    words = words_here()["models"]
    if not isinstance(text, str) or not text.strip():
        raise CannotLoad(words["no_text"].format(name=name, text=repr(text)))
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
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        model = kind.from_pretrained(name).eval()
    except (OSError, ValueError) as error:  # no such model, no network, or files of another kind
        reason = str(error).strip().splitlines()[0]
        raise CannotLoad(words["no_model"].format(name=name, reason=reason)) from error
    taken = inspect.signature(model.forward).parameters
    inputs = {key: value for key, value in tokenizer(text, return_tensors="pt").items() if key in taken}
    if config.is_encoder_decoder:
        room = getattr(config, "max_position_embeddings", None) or 2 * LONGEST_ANSWER
        most = min(LONGEST_ANSWER, room - 1)  # a model has as many positions, one of them for the first token
        inputs["decoder_input_ids"] = model.generate(**inputs, max_new_tokens=most, num_beams=1)
    return model, inputs, tokenizer
