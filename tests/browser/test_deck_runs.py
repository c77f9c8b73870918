"""S, K and Shift+R tell how long they run and how far a training is; N runs what a cell needs."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Page, expect

from tests.browser.conftest import JupyterServer
from tests.browser.decks import go_to
from tests.browser.lecture import end_kernels, expect_done, foot_says, outputs_of, reload, turn
from tests.browser.new_lesson import cell, lay_lesson, open_deck, status_of
from tests.browser.waiting import saved_when

STEPS = 10**5
# Trains until the test says so, and each time anew: no two trainings begin at the same time.
TRAIN = f"""
import time
from pathlib import Path
from mha_lib.classroom.trainings import kept_steps
for step in kept_steps({STEPS}, [time.time()]):
    if not Path("go").exists():
        time.sleep(0.05)
"""
CELLS = [
    cell("slide", new_markdown_cell, "# A lesson that trains", "title"),
    cell("skip", new_code_cell, "prepared = True", "prepare", ("setup",)),
    cell("skip", new_code_cell, TRAIN, "train", ("setup",)),
]


@pytest.mark.ci
def test_s_counts_the_seconds_and_shows_the_training(page: Page, jupyter: JupyterServer) -> None:
    go = jupyter.folder / "runs" / "go"
    open_deck(page, lay_lesson(jupyter, "runs/trains.ipynb", CELLS))
    status = status_of(page)
    page.keyboard.press("s")
    for seconds in (r"\d+", r"([2-9]|\d\d+)"):  # it goes on counting
        line = rf"^Setup: cell 2 of 2, slide 1 · {seconds} s\nstep [1-9]\d* of {STEPS}, \d+ s left$"
        expect(status).to_have_text(re.compile(line))
    go.touch()
    expect(status).to_have_text(re.compile(r"Setup: 2 of 2 cells ran in \d+ s"))
    expect(page.locator(".jp-OutputArea-output")).to_have_count(0)  # nothing is left of the line
    foot_says(page, "Shift+R", re.compile(r"^All: 2 of 2 cells ran in \d+ s$"))
    go.unlink()
    foot_says(page, "s", re.compile(r"Setup: cell 2 of 2, .*\nstep \d+ of "))
    foot_says(page, "Escape", re.compile(r"Setup: stopped at slide 1"))


NAMES = [
    ("slide", "# the first slide", "title", ()),
    ("skip", "first = 1", "setup-0", ("setup",)),
    ("skip", "second = first + 1", "setup-1", ("setup",)),
    ("slide", "third = second + 1", "third", ()),
    ("slide", "fourth = third + 1", "fourth", ()),
    ("slide", "print('the sum:', fourth + first)", "sum", ()),
    ("slide", "nobody_defines_this", "nobody", ()),
]


@pytest.mark.ci
def test_n_runs_what_a_cell_needs_and_outputs_of_an_earlier_kernel_are_marked(page, jupyter):
    cells = [cell(kind, new_code_cell, text, name, tags) for kind, text, name, tags in NAMES]
    open_deck(page, lay_lesson(jupyter, "names.ipynb", cells))
    go_to(page, "slide-3-0")
    said = "The name comes from slide 3, which has not run in this kernel: N runs that, then this cell."
    foot_says(page, "Control+Enter", said)
    page.keyboard.press("n")
    expect(outputs_of(page)).to_have_text("the sum: 5")
    expect(status_of(page)).to_have_text("")
    turn(page, "PageDown Control+Enter", "slide-4-0")
    expect(outputs_of(page)).to_contain_text("nobody_defines_this")
    expect_done(page)
    expect(status_of(page)).to_have_text("")
    file = jupyter.folder / "names.ipynb"
    saved_when(file, lambda lesson: lesson.cells[5].outputs, "the sum")
    end_kernels(jupyter)
    reload(page)
    kept = page.locator("[data-kept]")
    expect(kept).to_have_count(2)
    expect(status_of(page)).to_contain_text("from an earlier kernel")
    page.keyboard.press("Control+Enter")
    expect(kept).to_have_count(1)
