"""A figure speaks the language of its lesson, from one drawing and a file of words."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from mha_lib.classroom.lesson.figures import read_figure, with_words
from tests.drawings import words_of_drawing

IMAGES = Path(__file__).parents[3] / "img"
DRAWING = b"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">
<title>Keys and
queries</title>
<style>text { fill: red } /* keys */</style>
<text class="keys"> keys <tspan>and</tspan> more</text><text>K</text>
</svg>"""
WORDS = {"Keys and queries": "键与查询", "keys": "键", "and": "与 <b>", "more": "更多"}


def test_every_piece_of_text_is_replaced_and_nothing_else(tmp_path):
    (tmp_path / "words").mkdir()
    (tmp_path / "a.svg").write_bytes(DRAWING)
    (tmp_path / "words" / "zh.json").write_text(json.dumps({"a.svg": WORDS}), encoding="utf-8")
    root = ET.fromstring(read_figure(tmp_path / "a.svg", "zh-CN"))
    title, style, text, letter = root
    assert title.text == "键与查询"
    assert style.text == "text { fill: red } /* keys */"
    assert text.get("class") == "keys"
    assert "".join(text.itertext()) == " 键 与 <b> 更多"
    assert letter.text == "K"
    assert re.match(rb"<svg [^>]*xmlns=", read_figure(tmp_path / "a.svg", "zh")), "no prefix before the names"


@pytest.mark.parametrize("figure", sorted(IMAGES.glob("*.svg")), ids=lambda path: path.stem)
def test_every_word_of_a_figure_can_be_replaced(figure):
    words = words_of_drawing(figure.read_bytes())
    assert words
    assert words_of_drawing(with_words(figure.read_bytes(), {word: "⟦⟧" for word in words})) == set()


def test_every_language_has_every_word_of_every_figure():
    languages = [*(IMAGES / "words").glob("*.json")]
    assert languages
    for file in languages:
        known = json.loads(file.read_text(encoding="utf-8"))
        for figure in IMAGES.glob("*.svg"):
            missing = words_of_drawing(figure.read_bytes()) - set(known.get(figure.name, {}))
            assert not missing, f"{file.name} lacks for {figure.name}: {missing}"
