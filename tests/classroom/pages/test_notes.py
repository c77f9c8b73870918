"""The notes of a lesson: each slide once, with its minutes and the time at which it starts."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from mha_lib.classroom.pages.notes import write_notes
from tests.offline_notebook.pages import read

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
    make = {"markdown": new_markdown_cell, "code": new_code_cell}
    cells = [
        make[kind](source, id=f"c{n}", metadata={"slideshow": {"slide_type": place}})
        for n, (kind, place, source) in enumerate(CELLS)
    ]
    path = tmp_path / "en" / "01_a_lesson.ipynb"
    path.parent.mkdir()
    about = {"title": "A <lesson>", "mha": {"lesson": "01_a_lesson", "language": "en"}}
    nbformat.write(new_notebook(cells=cells, metadata=about), path)
    return path


def test_the_page_has_every_slide_with_its_minutes_and_its_start(lesson, tmp_path, capsys):
    assert write_notes(tmp_path, [lesson]) == 0
    page = (tmp_path / "build" / "notes" / "en" / "01_a_lesson.html").read_text(encoding="utf-8")
    titles = ["Attention & more", "A heading below them", "Beyond", "def f(x):", "The end"]
    rows = read(page).tbody.find_all("tr")
    assert [row.find_all("td")[1].get_text().strip() for row in rows] == titles
    assert [row.get("class") for row in rows] == [None, None, ["optional"], None, None]
    numbers = re.findall(r'<td class="number">(.*?)</td>', page)
    assert numbers == ["1", "2", "0", "2", "1.5", "2", "3", "4", "", "4", "?", "3.5", "5", "3", "3.5"]
    assert "6.5 min and 4 min optional" in page
    assert "6.5 min and 4 min optional" in capsys.readouterr().out
    assert "A &lt;lesson&gt;" in page
    assert "<math" in page, "formulas are set"
    assert "$" not in page
    assert "http" not in page.replace("http://www.w3.org", "").replace("http-equiv", "")
