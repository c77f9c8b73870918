"""S, K and Shift+R tell how long they run, how far a training is, and how long they took the last time."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Page, expect

from tests.browser.conftest import JupyterServer
from tests.browser.lecture import foot_says, held, reload
from tests.browser.new_lesson import cell, lay_lesson, open_deck, status_of
from tests.browser.waiting import text_of

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
def test_s_counts_the_seconds_shows_the_training_and_knows_the_last_time(
    page: Page, jupyter: JupyterServer
) -> None:
    go = jupyter.folder / "runs" / "go"
    open_deck(page, lay_lesson(jupyter, "runs/trains.ipynb", CELLS))
    status = status_of(page)
    page.keyboard.press("s")
    for seconds in (r"\d+", r"([2-9]|\d\d+)"):  # it goes on counting
        line = rf"^Setup: cell 2 of 2, slide 1 \(train\) · {seconds} s\nstep [1-9]\d* of {STEPS}, \d+ s left$"
        expect(status).to_have_text(re.compile(line))
    go.touch()
    ended = re.compile(r"Setup: 2 of 2 cells ran in (\d+) s")
    expect(status).to_have_text(ended)
    expect(page.locator(".jp-OutputArea-output")).to_have_count(0)  # nothing is left of the line
    took = ended.findall(text_of(status))[0]
    go.unlink()

    reload(page)
    page.keyboard.press("s")
    again = rf"^Setup: cell 2 of 2, slide 1 \(train\) · \d+ s, about {took} s last time\nstep \d+ of "
    expect(status).to_have_text(re.compile(again))
    foot_says(page, "Escape", re.compile(r"Setup: stopped at slide 1 \(train\)"))

    go.touch()
    with held(page, "**/api/sessions/*", "PATCH"):  # which changes the kernel
        foot_says(page, "Shift+R", re.compile(r"^Starting a fresh kernel · \d+ s$"))
    expect(status).to_have_text(re.compile(r"^All: 2 of 2 cells ran in \d+ s$"))
    go.unlink()
    foot_says(page, "s", re.compile(rf"· \d+ s, about {took} s last time\n"))
    foot_says(page, "i", re.compile("stopped"))
