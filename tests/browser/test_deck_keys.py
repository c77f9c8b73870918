"""Widgets live in a RISE deck, the keys pressed inside them stay there, and the deck's own keys work."""

import os
import re
import subprocess
import sys
import tomllib

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Page, expect

from mha_lib.classroom import look
from tests.browser.decks import expect_light
from tests.browser.lecture import turn
from tests.browser.new_lesson import cell, current, lay_lesson, open_deck, press, status_of
from tests.browser.waiting import attribute_of, count_of
from tests.colours import channels_of
from tests.lessons import ROOT

INTERACT = """
import matplotlib.pyplot as plt
from ipywidgets import interact

@interact(height=(1, 9))
def bar(height=3):
    plt.figure(figsize=(2, 1))
    plt.bar([0], [height])
    plt.ylim(0, 9)
    plt.show()
"""
CELLS = [
    cell("slide", new_markdown_cell, "# Widgets in a deck", "title"),
    cell("skip", new_code_cell, "prepared = 'set up'", "prepare", ("setup",)),
    cell("slide", new_code_cell, INTERACT, "interact"),
    cell("slide", new_code_cell, "print(1)", "print"),
    cell("slide", new_code_cell, "1 / 0", "broken"),
    cell("fragment", new_code_cell, "print('prepared:', prepared)", "past-it"),
    cell("slide", new_markdown_cell, r"## The end of $\color{#0067A5}{Q}$", "end"),
]


def test_s_runs_the_setup_alone_and_shift_r_everything_past_a_failing_cell(deck):
    page = deck
    press(page, "c c")  # what another test has run
    expect(status_of(page)).to_have_text("All outputs are cleared")  # said once the notebook is saved
    page.keyboard.press("s")
    expect(status_of(page)).to_contain_text("Setup: 1 of 1 cells ran")
    expect(page.locator(".jp-OutputArea-output")).to_have_count(0)
    turn(page, "ArrowRight", "slide-1-0")
    page.keyboard.press("Shift+R")
    failure = re.compile("All: 4 of 5 cells ran in \\d+ s\nslide 4 .broken.: ZeroDivisionError: ")
    expect(status_of(page)).to_have_text(failure)
    expect(current(page)).to_have_id("slide-0-0")
    expect(page.locator("#slide-3-0 .jp-OutputArea-output").last).to_contain_text("prepared: set up")


def test_no_stray_letter_changes_the_lesson(deck: Page) -> None:
    """In JupyterLab's command mode b adds a cell, x cuts it and m turns code into text."""
    page = deck
    turn(page, "ArrowRight ArrowRight", "slide-2-0")
    expect(current(page).locator(".jp-CodeCell.jp-mod-active")).to_be_visible()
    cells = count_of(page.locator(".jp-Cell"))
    press(page, "b a m x y c 1")
    expect(status_of(page)).to_contain_text("slide 1")  # the last key has come
    expect(page.locator(".jp-CodeCell")).to_have_count(5)
    expect(page.locator(".jp-Cell")).to_have_count(cells)
    press(page, "Escape b m")  # the screen and the magnifier


def test_d_turns_the_deck_and_its_formulas_dark_and_question_mark_lists_the_keys(deck: Page) -> None:
    page = deck
    letter = page.locator("#slide-4-0 mjx-container [style*=color]").first
    light, dark = (
        "rgb({}, {}, {})".format(*channels_of(colours["q"])) for colours in (look.LIGHT, look.DARK)
    )
    expect(letter).to_have_css("color", light)
    page.keyboard.press("d")
    expect_light(page, False)
    expect(letter).to_have_css("color", dark)
    page.keyboard.press("?")
    expect(page.locator("#deck-help")).to_contain_text("run the setup cells")
    page.keyboard.press("Shift+?")
    expect(page.locator("#deck-help")).to_be_hidden()
    expect(current(page)).to_have_id("slide-0-0")


@pytest.fixture(scope="module")
def fresh_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The Python of a new environment that has all requirements of a deck, but not yet this package."""
    environment = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    python = str(environment / ("Scripts" if os.name == "nt" else "bin") / "python")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    others = [each for each in extras["classroom"] if each != "mha-lib[lesson]"]  # that is this package
    # Not compiled: of PyTorch's files, few are imported here.
    pip(python, "install", "--no-compile", "-c", ROOT / "constraints.txt", *extras["lesson"], *others)
    return python


def pip(python: str, command: str, *arguments: object) -> None:
    quiet = ("--quiet", "--disable-pip-version-check")
    subprocess.run([python, "-m", "pip", command, *quiet, *map(str, arguments)], check=True)


@pytest.mark.ci
@pytest.mark.parametrize("way", ["from a wheel", "editable", "with the fallback"])
def test_widgets_live_in_a_fresh_environment(page, serve, fresh_python, tmp_path, way):
    if way == "from a wheel":
        pip(fresh_python, "wheel", "--no-deps", "-w", tmp_path, ROOT)
        pip(fresh_python, "install", "--no-deps", *tmp_path.glob("*.whl"))
    elif way == "editable":
        pip(fresh_python, "install", "--no-deps", "--force-reinstall", "-e", ROOT)
    elif way == "with the fallback":
        pip(fresh_python, "install", "-r", ROOT / "constraints-fallback.txt")
    open_deck(page, lay_lesson(serve(tmp_path, fresh_python), "widgets.ipynb", CELLS) + "#/2")
    page.keyboard.press("Control+Enter")
    figure, slider = (current(page).locator(part) for part in (".jp-OutputArea-output img", ".noUi-handle"))
    before = attribute_of(figure, "src") or ""
    slider.press("ArrowRight")
    expect(current(page).locator(".widget-readout")).to_have_text("4")
    expect(figure).not_to_have_attribute("src", before)
    expect(current(page)).to_have_id("slide-1-0")
