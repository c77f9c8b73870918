"""The notes of a lesson: each slide once, with its minutes and the time at which it starts."""

import json
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


SHOWS = [
    {"date": "2026-11-20", "choices": ["yes", "no"], "counts": [3, 3]},
    {"date": "2027-11-19", "choices": ["<b>yes</b>", "no & never"], "counts": [12, 36]},
]


@pytest.fixture
def hands(tmp_path):
    """The file of the counts: two years of the slide that is the second row, and another lesson's."""
    file = tmp_path / "work" / "hands-en.json"
    file.parent.mkdir()
    kept = {"01_a_lesson": {"c3": SHOWS, "c8": []}, "02_another": {"c9": SHOWS}}
    file.write_text(json.dumps(kept), encoding="utf-8")
    return file


@pytest.mark.usefixtures("hands")
def test_the_newest_hands_stand_as_bars_beside_the_notes_of_their_slide(lesson, tmp_path):
    assert write_notes(tmp_path, [lesson]) == 0
    page = (tmp_path / "build" / "notes" / "en" / "01_a_lesson.html").read_text(encoding="utf-8")
    (figure,) = read(page).find_all("figure")
    assert figure.find_parent("tr").find_all("td")[0].get_text() == "2"
    assert [part.get_text() for part in figure.find_all(["figcaption", "span", "b"])] == [
        *("Hands on 2027-11-19: 48", "<b>yes</b>", "12 · 25 %", "no & never", "36 · 75 %")
    ]
    lengths = [float(bar["style"].removeprefix("--length: ")) for bar in figure.find_all("p")]
    assert lengths == [pytest.approx(1 / 3), 1]
    assert "--length" in page.split("</style>")[0], "the page brings the look of the bars"


def test_a_broken_file_of_counts_is_a_line_and_stays_as_it_is(lesson, tmp_path, hands, capsys):
    hands.write_text("{", encoding="utf-8")
    assert write_notes(tmp_path, [lesson]) == 1
    assert capsys.readouterr().err.startswith("hands-en.json: ")
    assert hands.read_text(encoding="utf-8") == "{"
    assert (tmp_path / "build" / "notes" / "en" / "01_a_lesson.html").exists()
