"""A language for tests: every sentence is the English one between ⟦ and ⟧, so what is not stands out."""

import re
from typing import Any


def bracketed(words: Any) -> Any:
    """The words of that language, made from those of another."""
    if isinstance(words, dict):
        return {name: bracketed(said) for name, said in words.items()}
    return f"⟦{words}⟧"


def outside_brackets(text: str) -> str:
    """What is left of a text without its sentences, which may stand within one another."""
    before = None
    while before != text:
        before, text = text, re.sub("⟦[^⟦⟧]*⟧", "", text)
    return text
