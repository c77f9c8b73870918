"""Languages that nobody writes: their words and lessons are made from those of another language.

There is one, traditional Chinese, made from simplified. Whoever reads words or finds lessons asks here.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mha_lib.classroom.lesson.chinese import SIMPLIFIED, TRADITIONAL, Phrases, to_traditional

CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)


@dataclass(frozen=True)
class MadeLanguage:
    code: str
    made_from: str
    convert: Callable[[str, Phrases], str]  # a text, with the phrases of its own

    def convert_markdown(self, text: str, phrases: Phrases = ()) -> str:
        """The Markdown text converted, except for its code, which is data."""
        pieces = CODE.split(text)
        return "".join(
            piece if number % 2 else self.convert(piece, phrases) for number, piece in enumerate(pieces)
        )


MADE = [MadeLanguage(TRADITIONAL, SIMPLIFIED, to_traditional)]


def made_language(language: str) -> MadeLanguage | None:
    """How a language, or a region's kind of it such as zh-Hant-HK, is made; None for one that is written."""
    return next((one for one in MADE if f"{language}-".startswith(f"{one.code}-")), None)


def written_language(language: str) -> str:
    """The language in which authors write what is read in this one."""
    made = made_language(language)
    return made.made_from if made else language


def said_in(language: str, words: Any, phrases: Phrases = ()) -> Any:
    """A tree of words that the language was found to have, converted where it is made from another's."""
    made = made_language(language)
    if made is None:
        return words
    if isinstance(words, dict):
        return {name: said_in(language, said, phrases) for name, said in words.items()}
    if isinstance(words, list):
        return [said_in(language, said, phrases) for said in words]
    return made.convert(words, phrases) if isinstance(words, str) else words
