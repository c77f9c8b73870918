"""The words of a drawing, as the files in ``img/words/`` have to list them."""

import re
import xml.etree.ElementTree as ET

from mha_lib.classroom.lesson.figures import pieces_of


def words_of_drawing(drawing: bytes) -> set[str]:
    """Every piece of text in a drawing that holds a word and so needs a translation; each on one line."""
    texts = (" ".join(text.split()) for _, _, text in pieces_of(ET.fromstring(drawing)))
    return {text for text in texts if re.search(r"[^\W\d_]{2}", text)}
