"""RISE cuts slides as the grammar says, and each has the minutes and the title that the copy tells."""

import json
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell
from playwright.sync_api import Page

from tests.browser.conftest import ROOT, JupyterServer
from tests.browser.new_lesson import lay_lesson, open_deck
from tests.browser.waiting import becomes

Case = dict[str, Any]
TABLES = ROOT / "tests" / "classroom" / "lesson"
CASES: list[Case] = json.loads((TABLES / "slides.json").read_text(encoding="utf-8"))
HIGHLIGHTS: list[Case] = json.loads((TABLES / "highlights.json").read_text(encoding="utf-8"))
FIRST = [case for case in CASES if case["case"].startswith("what is shown first")]
CUT = """() => [...document.querySelectorAll(".slides > section > section")].map((section) => ({
    starts: section.previousElementSibling ? "subslide" : "slide",
    cells: section.querySelectorAll(".jp-Cell:not(.reveal-skip, aside *)").length,
    title: section.dataset.title,
    minutes: Number(section.dataset.minutes),
    is_optional: "optional" in section.dataset,
}))"""


def cells_of(case: Case) -> list[dict[str, Any]]:
    return [
        {
            "cell_type": kind,
            "metadata": {} if slide_type is None else {"slideshow": {"slide_type": slide_type}},
            "source": source,
        }
        for kind, slide_type, source in case["cells"]
    ]


@pytest.mark.ci
def test_the_deck_reads_highlighted_lines(page: Page, jupyter: JupyterServer) -> None:
    cells = [new_markdown_cell("# Lines", metadata={"slideshow": {"slide_type": "slide"}})]
    cells += [
        new_code_cell("\n".join(["1"] * case["lines"]), metadata={"highlight": case["highlight"]})
        for case in HIGHLIGHTS
    ]
    open_deck(page, lay_lesson(jupyter, "highlights.ipynb", cells))
    read = "[...document.querySelectorAll('.jp-CodeCell')].map((cell) => cell.dataset.highlight ?? '')"
    steps = ["|".join(" ".join(map(str, step)) for step in case["steps"] or []) for case in HIGHLIGHTS]
    becomes(page, read, steps)


@pytest.mark.parametrize("case", [CASES[0], *FIRST], ids=lambda case: case["case"])
def test_rise_cuts_slides_as_the_grammar_says(page: Page, jupyter: JupyterServer, case: Case) -> None:
    make = {"code": new_code_cell, "markdown": new_markdown_cell, "raw": new_raw_cell}
    cells = [make[cell["cell_type"]](cell["source"], metadata=cell["metadata"]) for cell in cells_of(case)]
    open_deck(page, lay_lesson(jupyter, "slides.ipynb", cells))
    becomes(page, CUT, case["slides"])
