"""A deck in a lecture: the cell that is seen is the one that runs, the slide says so, and nothing is lost."""

import os
import re
import shutil
import signal
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Locator, Page, expect

from mha_lib.classroom.lesson import make_deck_copy
from tests.browser.conftest import JupyterServer
from tests.browser.lecture import (
    end_kernels,
    expect_done,
    foot_says,
    outputs_in,
    outputs_of,
    reload,
    saves,
    turn,
)
from tests.browser.new_lesson import ANYWIDGET, cell, current, lay_lesson, open_deck, status_of
from tests.browser.waiting import saved_when, text_of


@pytest.fixture
def lecture(jupyter: JupyterServer, tmp_path: Path) -> str:
    """The address of a deck that nobody has run. Its file name is new, so it has a kernel of its own."""
    cells = [
        cell("slide", new_markdown_cell, "# A lecture", "title"),
        cell("slide", new_markdown_cell, "## Guess", "guess"),
        cell("-", new_code_cell, "print('question')", "question"),
        cell("-", new_markdown_cell, "Show of hands.", "hands"),
        cell("fragment", new_markdown_cell, "Sure?", "sure"),
        cell("fragment", new_code_cell, "print('answer')", "answer"),
        cell("notes", new_markdown_cell, "1 min.", "notes"),
        cell("slide", new_code_cell, "import time\nprint('begun')\ntime.sleep(900)", "slow"),
        cell("slide", new_code_cell, f"import os\nos.mkdir({str(tmp_path / 'ran')!r})\nos.getpid()", "once"),
        cell("slide", new_code_cell, "print(prepared)", "after"),
        cell("slide", new_code_cell, ANYWIDGET, "widget"),
        cell("notes", new_markdown_cell, "Optional, 5 min.", "widget-notes"),
        cell("slide", new_markdown_cell, "## The end", "end"),
        cell("skip", new_code_cell, "prepared = 'set up'", "prepare", ("setup",)),
    ]
    return lay_lesson(jupyter, f"{tmp_path.name}.ipynb", cells)


def output_of(page: Page, text: str) -> Locator:
    return outputs_of(page).filter(has_text=text)


@pytest.mark.ci
def test_the_cell_that_runs_is_the_one_that_is_seen(page: Page, lecture: str) -> None:
    open_deck(page, lecture)
    turn(page, "Control+Enter Space", "slide-1-0")  # on the first slide there is no code
    page.keyboard.down("Control")
    for _ in range(3):
        page.keyboard.down("Enter")  # held down, it runs the cell once
    page.keyboard.up("Enter")
    page.keyboard.up("Control")
    expect(output_of(page, "question")).to_be_visible()
    current(page).locator("p", has_text="Show of hands").click()  # another cell is active now
    page.keyboard.press("Shift+Enter")
    expect(current(page).locator(".fragment.visible")).to_have_count(1)
    page.keyboard.press("Shift+Enter")
    expect(current(page).locator(".fragment.visible")).to_have_count(2)
    question = page.locator("#slide-1-0 > .jp-CodeCell .jp-InputPrompt")
    expect(question).to_have_text("[3]:")
    expect(output_of(page, "answer")).to_have_count(0)
    page.keyboard.press("Shift+Enter")
    expect(output_of(page, "answer")).to_be_visible()
    expect(current(page)).to_have_id("slide-1-0")
    page.keyboard.press("Alt+Enter")  # in JupyterLab it adds a cell
    expect(page.locator("#slide-1-0 .fragment .jp-InputPrompt").last).to_have_text("[5]:")
    expect(question).to_have_text("[3]:")
    expect(page.locator(".jp-CodeCell")).to_have_count(7)


def test_a_cell_that_runs_says_so_until_i_interrupts_it(page: Page, lecture: str) -> None:
    open_deck(page, f"{lecture}#/3")
    expect(current(page)).to_have_id("slide-2-0")
    page.keyboard.press("Control+Enter")
    expect(current(page).locator(".jp-CodeCell")).to_have_attribute("data-busy", "runs")
    expect(outputs_of(page)).to_have_text("begun")  # before that a kernel ignores an interrupt
    expect(status_of(page)).to_have_text(re.compile(r"^runs, [1-9]\d* s · I interrupts"))
    page.keyboard.press("Escape")
    turn(page, "2 Enter", "slide-1-0")  # the instructor goes on while the cell runs
    page.keyboard.press("Control+Enter")
    waiting = page.locator("#slide-1-0 .fragment .jp-CodeCell")  # a slide that was passed shows all its steps
    expect(waiting).to_have_attribute("data-busy", "waits")
    expect(status_of(page)).to_have_text(re.compile(r"slide 3 runs, \d+ s · I interrupts"))
    page.keyboard.press("i")
    expect(page.locator("#slide-2-0 .jp-OutputArea-output").last).to_contain_text("KeyboardInterrupt")
    expect_done(page)
    expect(status_of(page)).to_have_text("")


@pytest.mark.ci
def test_k_runs_the_setup_and_what_had_run_up_to_the_first_error(page: Page, lecture: str) -> None:
    open_deck(page, f"{lecture}#/5")
    expect(current(page)).to_have_id("slide-4-0")
    page.keyboard.press("Control+Enter")  # before the setup: it fails, so it counts as not run
    expect(outputs_of(page)).to_contain_text("NameError")
    turn(page, "2 Enter", "slide-1-0")
    page.keyboard.press("Control+Enter")
    turn(page, "5 . 1 Enter", "slide-5-0")
    page.keyboard.press("Control+Enter")
    turn(page, "4 Enter", "slide-3-0")
    page.keyboard.press("Control+Enter")
    expect_done(page)  # a cell counts as run once the kernel has replied
    os.kill(int(text_of(outputs_of(page))), signal.SIGKILL)
    expect(status_of(page)).to_have_text("The kernel has died. K brings the deck back.")
    page.keyboard.press("k")
    failure = r"^Revival: 2 of 4 cells ran in \d+ s\nslide 4: FileExistsError: .*$"
    expect(status_of(page)).to_have_text(re.compile(failure))  # and nothing of slide 5
    expect(current(page)).to_have_id("slide-3-0")


@pytest.mark.ci
def test_shift_r_leaves_the_instructor_where_he_went_and_c_clears_outputs(page, jupyter, lecture, tmp_path):
    open_deck(page, lecture)
    page.keyboard.press("Shift+R")
    turn(page, "6 Enter", "slide-6-0")
    expect(page.locator("#slide-2-0 .jp-CodeCell")).to_have_attribute("data-busy", "runs")
    expect(page.locator("#slide-2-0 .jp-OutputArea-output")).to_have_text("begun")
    foot_says(page, "i", "All: stopped at slide 3")
    expect(current(page)).to_have_id("slide-6-0")
    turn(page, "2 Enter", "slide-1-0")
    prompt = page.locator("#slide-1-0 .fragment .jp-CodeCell .jp-InputPrompt")
    has_run = text_of(prompt)
    foot_says(page, "Control+Enter", "")
    expect(prompt).not_to_have_text(has_run)
    expect(prompt).to_have_text(re.compile(r"\d"))  # again: no output of it comes after they are cleared
    file = jupyter.folder / f"{tmp_path.name}.ipynb"
    saved_when(file, outputs_in, "what the cells have printed")
    outputs = page.locator(".jp-OutputArea-output")
    for _ in range(2):
        page.keyboard.down("c")  # held down, it asks once
    page.keyboard.up("c")
    expect(status_of(page)).to_have_text("Clear all outputs? C again")
    expect(outputs).not_to_have_count(0)
    foot_says(page, "c", "All outputs are cleared")
    reload(page)
    expect(page.locator("#slide-2-0 .jp-InputPrompt")).to_have_text("[ ]:")
    expect(outputs).to_have_count(0)


@pytest.mark.ci
def test_a_reload_stays_on_the_slide_and_its_widgets_live_or_name_a_key(
    page, watch, lecture, jupyter, tmp_path
):
    open_deck(page, f"{lecture}#/5.1")
    expect(current(page)).to_have_id("slide-5-0")
    page.keyboard.press("Control+Enter")
    file = jupyter.folder / f"{tmp_path.name}.ipynb"
    saved_when(file, outputs_in, "the widget")
    reload(page)
    expect(current(page)).to_have_id("slide-5-0")
    move_slider(page)
    end_kernels(jupyter)
    reload(page)
    widget = current(page).locator(".jp-CodeCell")
    expect(widget).to_have_attribute("data-kept", "The kernel of this widget is gone. K brings it back.")
    foot_says(page, "k", re.compile("Revival: 2 of 2 cells ran"))
    expect(page.locator("[data-kept]")).to_have_count(0)
    move_slider(page)
    errors = [error for error in watch.errors if "RangeError" in error or "deck" in error]
    assert not errors, "a page that opens at another slide than the first complains"


def move_slider(page: Page) -> None:
    current(page).locator(".noUi-handle").focus()
    for key, size in {"ArrowUp": "22", "ArrowDown": "20"}.items():  # JupyterLab and the deck have these, too
        page.keyboard.press(key)
        expect(current(page).locator("canvas")).to_have_attribute("data-size", size)


def teach(page: Page, jupyter: JupyterServer, lesson: Path) -> None:
    """Begin a lecture: open a fresh deck and press S."""
    folder, told = make_deck_copy(jupyter.folder, lesson.parent.name, lesson.name)
    assert told == []
    jupyter.trust(folder / lesson.name)
    open_deck(page, jupyter.address("rise", (folder / lesson.name).relative_to(jupyter.folder).as_posix()))
    expect(page.locator(".jp-OutputArea-output")).to_have_count(0)
    with page.expect_response(lambda answer: saves(answer.request)):
        foot_says(page, "s", re.compile("Setup: 1 of 1 cells ran in "))


@pytest.mark.ci
def test_a_lecture_can_be_given_twice(page, jupyter, lecture, tmp_path):
    """JupyterLab saves the lesson while a deck is shown, which is no change by the instructor."""
    lesson = jupyter.folder / "notebooks" / "en" / f"{tmp_path.name}.ipynb"
    shutil.copy(jupyter.folder / lesson.name, lesson)
    teach(page, jupyter, lesson)
    end_kernels(jupyter)
    teach(page, jupyter, lesson)
