"""The grammar of a lesson, tested on a table of cases; the deck cuts some of them in tests/browser."""

import json
from pathlib import Path

import pytest

from mha_lib.classroom.lesson.slides import core_minutes, read_slides

CASES = json.loads(Path(__file__).with_name("slides.json").read_text(encoding="utf-8"))


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
