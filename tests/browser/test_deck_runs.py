"""S, K and Shift+R tell how long they run, what their cell prints, and how long they took the last time."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Page, expect

from tests.browser.new_lesson import new_lesson, open_deck, status_of

if TYPE_CHECKING:
    from tests.browser.conftest import JupyterServer

# Prints as a training does, and ends when the test says so.
TRAIN = """
import time
from pathlib import Path
for step in range(10**6):
    print(f"\\r██░░ step {step}", end="", flush=True)
    if Path("go").exists():
        break
    time.sleep(0.05)
print("\\r" + " " * 20 + "\\r", end="")
"""


GOES_ON = """
before => Number(/ (\\d+) s/.exec(document.querySelector("#deck-foot output").textContent)[1]) > before
"""


def write_lesson(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    setup = {"slideshow": {"slide_type": "skip"}, "tags": ["setup"]}
    cells = [
        new_markdown_cell(
            "# A lesson that trains", metadata={"slideshow": {"slide_type": "slide"}}, id="title"
        ),
        new_code_cell("prepared = True", metadata=setup, id="prepare"),
        new_code_cell(TRAIN, metadata=setup, id="train"),
    ]
    nbformat.write(new_lesson(cells), folder / "trains.ipynb")


def test_s_counts_the_seconds_shows_the_training_and_knows_the_last_time(
    page: Page, jupyter: JupyterServer
) -> None:
    folder = jupyter.folder / "runs"
    write_lesson(folder)
    open_deck(page, jupyter.address("rise", "runs/trains.ipynb"))
    page.keyboard.press("s")
    line = re.compile(r"^Setup: cell 2 of 2, slide 1 \(train\) · (\d+) s\nstep [1-9]\d*$")
    expect(status_of(page)).to_have_text(line)
    seconds = int(line.findall(status_of(page).inner_text())[0])
    page.wait_for_function(GOES_ON, arg=seconds)
    expect(status_of(page)).to_have_text(line)
    (folder / "go").touch()
    ended = re.compile(r"Setup: 2 of 2 cells ran in (\d+) s")
    expect(status_of(page)).to_have_text(ended)
    expect(page.locator(".jp-OutputArea-output")).to_have_count(0)  # nothing is left of the line
    took = ended.findall(status_of(page).inner_text())[0]
    (folder / "go").unlink()

    page.reload()
    expect(page.locator("body")).to_have_attribute("data-deck", "ready")
    page.keyboard.press("s")
    again = rf"^Setup: cell 2 of 2, slide 1 \(train\) · \d+ s, about {took} s last time\nstep \d+$"
    expect(status_of(page)).to_have_text(re.compile(again))
    page.keyboard.press("Escape")
    expect(status_of(page)).to_contain_text("Setup: stopped at slide 1 (train)")

    (folder / "go").touch()
    page.keyboard.press("Shift+R")
    expect(status_of(page)).to_have_text(re.compile(r"^Starting a fresh kernel · \d+ s$"))
    expect(status_of(page)).to_have_text(re.compile(r"^All: 2 of 2 cells ran in \d+ s$"))
    (folder / "go").unlink()
    page.keyboard.press("s")
    expect(status_of(page)).to_have_text(re.compile(rf"· \d+ s, about {took} s last time\n"))
    page.keyboard.press("i")
    expect(status_of(page)).to_contain_text("stopped")
