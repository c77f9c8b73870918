"""What copies carry for the pages that show them."""

import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from mha_lib.classroom.lesson import make_deck_copy, make_working_copy

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
