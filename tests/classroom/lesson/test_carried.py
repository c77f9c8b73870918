"""Copies carry all that the pages that show them ask for."""

import json
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from mha_lib.classroom.lesson import make_deck_copy, make_working_copy
from mha_lib.classroom.lesson.language import words_in

CELLS = [  # slide type, name, source
    ("slide", "title", "# A title"),
    ("notes", "title-notes", "2 min."),
    ("slide", "make", "x, (y, *z) = 1, (2, 3)"),
    ("skip", "more", "def f():\n    global w\n    w = x"),
    ("notes", "make-notes", "1.5 min."),
    ("subslide", "use", "f()"),
    ("notes", "use-notes", "Optional, 3 min."),
]


@pytest.fixture
def root(tmp_path):
    cells = [
        (new_markdown_cell if kind == "notes" or text[0] == "#" else new_code_cell)(
            text, id=name, metadata={"slideshow": {"slide_type": kind}}
        )
        for kind, name, text in CELLS
    ]
    identity = {"lesson": "03_three", "language": "en"}
    (tmp_path / "notebooks/en").mkdir(parents=True)
    lesson = new_notebook(cells=cells, metadata={"mha": identity})
    nbformat.write(lesson, tmp_path / "notebooks/en/03_three.ipynb")
    return tmp_path


@pytest.fixture(params=["student", "deck"])
def copy(root, request):
    made = {
        "student": lambda: make_working_copy(root, "en"),
        "deck": lambda: make_deck_copy(root, "en", "03_three.ipynb"),
    }
    return lambda: json.loads((made[request.param]()[0] / "03_three.ipynb").read_text(encoding="utf-8"))


def test_the_first_cell_of_each_step_says_what_the_step_is(copy):
    steps = {cell["id"]: cell["metadata"].get("mha_step") for cell in copy()["cells"]}
    common = {"is_optional": False, "needs": []}
    assert {name: step for name, step in steps.items() if step} == {
        "title": {"address": "3.1", "title": "A title", "minutes": 2} | common,
        "make": {"address": "3.2", "title": "`x, (y, *z) = 1, (2, 3)`", "minutes": 1.5} | common,
        "use": {
            "address": "3.2.1",
            "title": "`f()`",
            "minutes": 3,
            "is_optional": True,
            "needs": ["make", "more"],
        },
    }


def test_each_code_cell_says_which_names_it_binds(copy):
    assert {
        cell["id"]: cell["metadata"].get("mha_binds") for cell in copy()["cells"] if "notes" not in cell["id"]
    } == {
        "title": None,
        "make": ["x", "y", "z"],
        "more": ["f"],
        "use": [],
    }


def test_a_copy_carries_style_and_handouts_of_the_course_also_after_they_were_changed(root, copy):
    course = root / "notebooks/en"
    assert copy()["metadata"]["mha_page"] == {}
    (course / "course.css").write_text(":root { --date: 'today'; }")
    (course / "course.json").write_text('{"handouts": "https://example.org/attention"}')
    (course / "03_three.ipynb").write_text((course / "03_three.ipynb").read_text().replace("A title", "New"))
    page = copy()["metadata"]["mha_page"]
    assert page["style"] == ":root { --date: 'today'; }"
    assert page["handouts"]["address"] == "https://example.org/attention"
    assert page["handouts"]["code"].startswith("data:image/svg+xml")
    assert "%23fff" in page["handouts"]["code"], "a code on a dark slide is not read"


def test_a_deck_that_the_instructor_changed_gets_the_newest_style(root):
    deck = make_deck_copy(root, "en", "03_three.ipynb")[0] / "03_three.ipynb"
    deck.write_text(deck.read_text().replace("A title", "My title"))
    (root / "notebooks/en/course.css").write_text("a {}")
    assert len(make_deck_copy(root, "en", "03_three.ipynb")[1]) == 1, "it is kept"
    assert json.loads(deck.read_text())["metadata"]["mha_page"]["style"] == "a {}"


def test_a_copy_in_a_language_that_is_made_from_another_carries_the_words_that_its_page_says(root):
    shutil.copytree(root / "notebooks/en", root / "notebooks/zh")
    lesson = root / "notebooks/zh/03_three.ipynb"
    lesson.write_text(lesson.read_text().replace('"en"', '"zh"'))
    for language in ("zh", "zh-Hant"):
        work, _ = make_working_copy(root, language)
        page = json.loads((work / "03_three.ipynb").read_text(encoding="utf-8"))["metadata"]["mha_page"]
        said = {group: words_in(language)[group] for group in ("deck", "seat", "speaker", "withheld")}
        assert page.get("words") == (None if language == "zh" else said)
