"""The grammar of a lesson, tested on the table of cases that also tests the deck's reader."""

import json
import re
from pathlib import Path

import pytest

from mha_lib.classroom.lesson.slides import (
    core_minutes,
    highlighted_lines,
    optional_minutes,
    read_slides,
)

CASES = json.loads(Path(__file__).with_name("slides.json").read_text(encoding="utf-8"))

HIGHLIGHTS = json.loads(Path(__file__).with_name("highlights.json").read_text(encoding="utf-8"))


def cells_of(case):
    for number, (kind, slide_type, source) in enumerate(case["cells"]):
        metadata = {} if slide_type is None else {"slideshow": {"slide_type": slide_type}}
        yield {"id": f"cell-{number}", "cell_type": kind, "metadata": metadata, "source": source}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_cells_make_slides(case):
    slides = read_slides(list(cells_of(case)))
    said = ("starts", "title", "minutes", "is_optional")
    read = [{name: getattr(slide, name) for name in said} | {"cells": len(slide.cells)} for slide in slides]
    assert read == case["slides"]
    assert core_minutes(slides) == case["core"]
    assert optional_minutes(slides) == case["optional"]


def test_source_may_be_a_list_of_lines():
    cell = {"cell_type": "markdown", "metadata": {}, "source": ["# One\n", "two"]}
    assert read_slides([cell])[0].title == "One"


def highlighted(case, kind="code"):
    source = "\n".join(["x"] * case["lines"])
    metadata = {"highlight": case["highlight"]}
    return {"id": "the-cell", "cell_type": kind, "metadata": metadata, "source": source}


@pytest.mark.parametrize("case", HIGHLIGHTS, ids=lambda case: case["case"])
def test_a_cell_names_the_lines_that_are_lit(case):
    if case["steps"] is None:
        highlight, lines = case["highlight"], case["lines"]
        wanted = f"highlight={highlight!r} of the cell the-cell wants lines from 1 to {lines}, such as"
        with pytest.raises(ValueError, match="^" + re.escape(wanted)):
            highlighted_lines(highlighted(case))
    else:
        assert highlighted_lines(highlighted(case)) == case["steps"]


def test_only_code_has_lines():
    with pytest.raises(ValueError, match="of the cell the-cell wants a cell of code"):
        highlighted_lines(highlighted(HIGHLIGHTS[0], "markdown"))
