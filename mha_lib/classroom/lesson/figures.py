"""Draws the figures of a lesson in its language: one drawing serves all languages.

The drawings lie in ``img/``, with English words. ``img/words/<language>.json`` holds the words of another
language: ``{"masks.svg": {"keys": "键"}}``. Lessons in every language name a figure ``../../img/masks.svg``.
A handout shows it with the words of its language. A working copy in a language with figure words has an
``img/`` of its own with these figures, and its lessons name that folder.
"""

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from mha_lib.classroom.lesson.language import find_for_language
from mha_lib.classroom.lesson.lessons import CourseError
from mha_lib.classroom.lesson.made import said_in

SVG = "http://www.w3.org/2000/svg"
SHARED = "../../img/"  # how lessons name the folder of the figures
OWN = "img/"  # how they name it in a working copy with figures of its own


def figure_words(images: Path, language: str) -> dict[str, dict[str, str]] | None:
    """The words of all figures, by the name of the figure; None where the language has none."""
    file = find_for_language(images / "words", language, ".json")
    try:
        words = None if file is None else json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CourseError("file_unusable", file=file, reason=error) from None
    return said_in(language, words)


def read_figure(figure: Path, language: str) -> bytes:
    """The picture with its words in the language; with its own words where the language has none."""
    drawing = figure.read_bytes()
    words = (figure_words(figure.parent, language) or {}).get(figure.name)
    return with_words(drawing, words) if words and figure.suffix == ".svg" else drawing


def with_words(drawing: bytes, words: dict[str, str]) -> bytes:
    """The drawing with each piece of text replaced; spaces around a piece stay."""
    ET.register_namespace("", SVG)
    root = ET.fromstring(drawing)
    for element, place, text in pieces_of(root):
        if word := words.get(" ".join(text.split())):  # the files of words list it on one line
            setattr(element, place, text.replace(text.strip(), word))
    return ET.tostring(root, encoding="utf-8")


def pieces_of(root: ET.Element) -> Iterator[tuple[ET.Element, str, str]]:
    """Each piece of text in a drawing: the element with it, the attribute that holds it, and the text."""
    for element in root.iter():
        for place in ("text", "tail") if element.tag != f"{{{SVG}}}style" else ("tail",):
            if text := getattr(element, place):
                yield element, place, text
