"""The words of a drawing, as the files in ``img/words/`` have to list them."""

import re
import xml.etree.ElementTree as ET

from mha_lib.classroom.lesson.figures import pieces_of


def folded(text: str) -> str:
    """A piece of text on one line: under this name the files of words list it."""
    return " ".join(text.split())


def words_of_drawing(drawing: bytes) -> set[str]:
    """Every piece of text in a drawing that holds a word, so that a translation needs it."""
    texts = (text for _, _, text in pieces_of(ET.fromstring(drawing)))
    return {folded(text) for text in texts if re.search(r"[^\W\d_]{2}", text)}
