"""A lecturer changes and runs cells: nothing typed is lost, and a forgotten setup is named."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Locator, Page, expect

from tests.browser.lecture import expect_done, foot_says, outputs_of, reload, turn
from tests.browser.new_lesson import cell, current, lay_lesson, open_deck, press
from tests.browser.waiting import saved_when

AS_IT_CAME = "number = 1print('one', number)"  # its lines, as the editor shows them


@pytest.fixture
def lesson(jupyter, tmp_path):
    """The address of a deck that nobody has run. Its file name is new, so it has a kernel of its own."""
    cells = [
        cell("slide", new_code_cell, "number = 1\nprint('one', number)", "first"),
        cell("slide", new_markdown_cell, "## No code", "no-code"),
    ]
    return lay_lesson(jupyter, f"{tmp_path.name}.ipynb", cells)


def code(page: Page) -> Locator:
    return current(page).locator(".cm-content").first


def type_over(page: Page, text: str, output: str) -> None:
    """Type in the place of the code that is seen, run it, and see its output."""
    code(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.type(text)
    page.keyboard.press("Control+Enter")
    expect(outputs_of(page)).to_contain_text(output)


def run(page: Page, text: str, output: str) -> None:
    """Type and run as `type_over` does, and wait until the kernel has replied."""
    type_over(page, text, output)
    expect_done(page)


def test_z_gives_back_the_cell_as_the_deck_came_and_then_what_was_typed(page, jupyter, lesson, tmp_path):
    open_deck(page, lesson)
    foot_says(page, "z", "This cell is as the deck came.")
    page.keyboard.press("Control+Enter")
    expect(outputs_of(page)).to_have_text("one 1")
    expect_done(page)
    code(page).click()
    press(page, "Control+End #")
    expect(code(page)).to_have_text(f"{AS_IT_CAME}#")
    press(page, "Escape z")  # nothing of it has run, so the output fits
    expect(code(page)).to_have_text(AS_IT_CAME)
    expect(outputs_of(page)).to_have_text("one 1")

    run(page, "print('two')", "two")
    foot_says(page, "z", re.compile("as the deck came. Z again"))
    expect(code(page)).to_have_text(AS_IT_CAME)
    expect(outputs_of(page)).to_have_count(0)
    foot_says(page, "z", re.compile("What was typed is back"))
    expect(code(page)).to_have_text("print('two')")
    expect(outputs_of(page)).to_have_text("two")
    turn(page, "PageDown z Home", "slide-0-0")  # where Z is pressed there is no code
    expect(code(page)).to_have_text("print('two')")

    file = jupyter.folder / f"{tmp_path.name}.ipynb"
    press(page, "Control+s")
    saved_when(file, lambda saved: saved.cells[0].outputs, "what the code has printed")
    reload(page)
    expect(code(page)).to_have_text("print('two')")
    page.keyboard.press("z")
    expect(code(page)).to_have_text(AS_IT_CAME)

    type_over(page, "print('three'); import time; time.sleep(900)", "three")
    foot_says(page, "z", "The cell still runs. Z once it is done; I interrupts it.")
    expect(code(page)).to_contain_text("sleep(900)")
    page.keyboard.press("i")
    expect_done(page)
    page.keyboard.press("z")
    expect(code(page)).to_have_text(AS_IT_CAME)
    expect(outputs_of(page)).to_have_count(0)
