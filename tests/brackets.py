"""A language for tests: every sentence is the English one between ⟦ and ⟧, so other text stands out."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mha_lib.classroom.lesson import language


def bracketed(words: Any) -> Any:
    """The words of that language, made from those of another."""
    if isinstance(words, dict):
        return {name: bracketed(said) for name, said in words.items()}
    return f"⟦{words}⟧"


def outside_brackets(text: str) -> str:
    """The part of a text outside of its sentences, which may stand within one another."""
    before = None
    while before != text:
        before, text = text, re.sub("⟦[^⟦⟧]*⟧", "", text)
    return text


def write_words(folder: Path, words: Any) -> None:
    """Write the words of one language into its folder."""
    folder.mkdir(parents=True)
    (folder / "interface.json").write_text(json.dumps(words), encoding="utf-8")


def speak_in_brackets(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the software speak the language "xx" of this file; ``words_in.cache_clear()`` ends it."""
    english = language.read_words(language.WORDS / "en")
    write_words(folder / "en", english)
    write_words(folder / "xx", bracketed(english))
    monkeypatch.setattr(language, "WORDS", folder)
    language.words_in.cache_clear()
