"""The running order: each slide once, with its minutes and the time at which it starts."""

import json
import re

import pytest

from mha_lib.classroom.running_order import read_slides, write_running_orders

CELLS = [
    ("markdown", "slide", "# Attention & more"),
    ("markdown", "notes", "2 min. Greet: $x^2$."),
    ("code", "skip", "import torch"),
    ("markdown", "slide", "Some words\n\n## A heading below them"),
    ("code", "fragment", "1 + 1"),
    ("markdown", "notes", "1.5 min. Guess first."),
    ("markdown", "subslide", "## Beyond"),
    ("markdown", "notes", "Optional, 4 min. Only if they ask."),
    ("code", "slide", "def f(x):\n    return x"),
    ("markdown", "notes", "There are 64 words here and no minutes."),
    ("markdown", "slide", "## The end"),
    ("markdown", "notes", "3 min"),
]


@pytest.fixture
def lesson(tmp_path):
    cells = [
        {"cell_type": kind, "metadata": {"slideshow": {"slide_type": place}}, "source": source}
        for kind, place, source in CELLS
    ]
    path = tmp_path / "en" / "01_a_lesson.ipynb"
    path.parent.mkdir()
    path.write_text(json.dumps({"metadata": {"title": "A <lesson>"}, "cells": cells}), encoding="utf-8")
    return path


def test_slides_are_cut_as_rise_cuts_them(lesson):
    slides = read_slides(lesson)
    titles = ["Attention & more", "A heading below them", "Beyond", "`def f(x):`", "The end"]
    assert [slide.title for slide in slides] == titles
    assert [slide.minutes for slide in slides] == [2, 1.5, 4, 0, 3]
    assert [slide.optional for slide in slides] == [False, False, True, False, False]


def test_the_page_has_every_slide_with_its_minutes_and_its_start(lesson, tmp_path, capsys):
    assert write_running_orders([lesson], tmp_path / "build") == 0
    page = (tmp_path / "build" / "en" / "01_a_lesson.html").read_text(encoding="utf-8")
    rows = re.findall(r'<td class="number">(.*?)</td>', page)
    assert rows == ["1", "2", "0", "2", "1.5", "2", "3", "4", "", "4", "?", "3.5", "5", "3", "3.5"]
    assert "6.5 min and 4 min optional" in page
    assert "6.5 min and 4 min optional" in capsys.readouterr().out
    assert "A &lt;lesson&gt;" in page
    assert "<svg" in page, "formulas are drawn"
    assert "$" not in page
    assert "http" not in page.replace("http://www.w3.org", "")
