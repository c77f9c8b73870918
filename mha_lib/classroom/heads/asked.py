"""Questions to the real model: answered by the model where it is, and else from answers that were kept."""

import json
import os
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from torch import Tensor

from mha_lib.classroom.lesson import CourseError
from mha_lib.classroom.lesson.language import words_here
from mha_lib.classroom.lesson.outputs import FOR_A_PAGE
from mha_lib.classroom.real_model import load_real_model

MEASURED = Path(__file__).with_name("real_heads.json")  # by evidence/real_model.py
ANSWERS = Path(__file__).with_name("real_answers.json")  # by evidence/real_model.py
DIGITS = 3


def real_heads(part: str) -> dict[str, Any]:
    """Return what was measured of the model's heads, such as of ``"drinks, held back"``, by measure."""
    return json.loads(MEASURED.read_text(encoding="utf-8"))[part]


class AskedModel:
    """The real model, and the answers that were kept of it.

    model, tokenizer  what ``load_real_model`` returns; None where the model is not
    found             by function and arguments, what has been asked of it so far
    """

    def __init__(self) -> None:
        self.found: dict[str, dict[str, Any]] = defaultdict(dict)
        self.model: Any
        self.tokenizer: Any
        try:
            self.model, self.tokenizer = load_real_model()
        except CourseError:
            self.model = self.tokenizer = None

    def answers(self, question: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a function that asks the model: without the model it returns what was kept of it.

        Its arguments are numbers and texts. It returns numbers, texts and tensors, in lists or dicts; of the
        numbers three decimals stay, and tensors become lists. Without the model, other arguments than those
        that were kept raise CourseError.
        """

        @wraps(question)
        def asked(*arguments: Any, **named: Any) -> Any:
            name, key = question.__name__, json.dumps([arguments, named], ensure_ascii=False)
            if self.model is not None:
                self.found[name][key] = plain(question(*arguments, **named))
                return self.found[name][key]
            try:
                return json.loads(ANSWERS.read_text(encoding="utf-8"))[name][key]
            except KeyError:
                raise CourseError("real_model_missing") from None

        return asked

    def tell(self, is_measured: bool = False) -> None:
        """Print whether a slide shows answers of now or kept ones, or what was measured on many texts."""
        is_live = self.model is not None and not os.environ.get(FOR_A_PAGE)
        told = "measured" if is_measured else "live" if is_live else "kept"
        print(words_here()["real_model"][told])


def plain(found: Any) -> Any:
    """The same as lists, dicts, texts and short numbers."""
    if isinstance(found, Tensor):
        found = found.tolist()
    if isinstance(found, dict):
        return {name: plain(each) for name, each in found.items()}
    if isinstance(found, list | tuple):
        return [plain(each) for each in found]
    return round(found, DIGITS) if isinstance(found, float) else found
