"""A lecturer changes and runs cells: nothing typed is lost, and a forgotten setup is named."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.new_lesson import current, new_lesson, open_deck, status_of
from tests.browser.test_deck_keys import cell

if TYPE_CHECKING:
    from tests.browser.conftest import JupyterServer

SETUP = """import math as maths
%matplotlib inline
prepared, (other, *rest) = 1, (2, 3)
def helper():
    inner = 1
class Model: pass"""
LOCAL = "exec(compile('def f(): prepared; prepared = 1', '', 'exec')); f()"  # an UnboundLocalError
HINT = re.compile("The setup has not run in this kernel")


@pytest.fixture
def lesson(jupyter: JupyterServer, tmp_path: Path) -> str:
    """The address of a deck that nobody has run. Its file name is new, so it has a kernel of its own."""
    cells = [
        cell("slide", new_code_cell, "number = 1\nprint('one', number)", "first"),
        cell("slide", new_code_cell, "maths.pi, prepared, rest, helper, Model", "needs-setup"),
        cell("slide", new_code_cell, "inner", "needs-more"),
        cell("slide", new_markdown_cell, "## No code", "no-code"),
        cell("slide", new_code_cell, "import time\ntime.sleep(900)  # " + "a long line " * 6, "slow"),
        cell("-", new_code_cell, "print('next')", "next"),
        cell("skip", new_code_cell, SETUP, "prepare", ("setup",)),
    ]
    nbformat.write(new_lesson(cells), jupyter.folder / f"{tmp_path.name}.ipynb")
    return jupyter.address("rise", f"{tmp_path.name}.ipynb")


def code(page: Page) -> Locator:
    return current(page).locator(".cm-content").first


def output(page: Page) -> Locator:
    return current(page).locator(".jp-OutputArea-output")


def type_over(page: Page, text: str) -> None:
    """Type in the place of the code that is seen, and run it."""
    code(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.type(text)
    page.keyboard.press("Control+Enter")


def expect_done(page: Page) -> None:
    """No cell of the slide runs; the kernel says so after the outputs."""
    expect(current(page).locator("[data-busy]")).to_have_count(0)


@pytest.mark.ci
def test_z_waits_for_a_cell_that_runs(page: Page, lesson: str) -> None:
    open_deck(page, lesson)
    type_over(page, "print('two'); import time; time.sleep(900)")
    expect(output(page)).to_have_text("two")
    page.keyboard.press("z")
    expect(status_of(page)).to_have_text("The cell still runs. Z once it is done; I interrupts it.")
    expect(code(page)).to_contain_text("sleep(900)")
    page.keyboard.press("i")
    expect_done(page)
    page.keyboard.press("z")
    expect(code(page)).to_have_text("number = 1print('one', number)")
    expect(output(page)).to_have_count(0)


def test_z_gives_back_the_cell_as_the_deck_came_and_then_what_was_typed(page: Page, lesson: str) -> None:
    open_deck(page, lesson)
    page.keyboard.press("z")
    expect(status_of(page)).to_have_text("This cell is as the deck came.")
    page.keyboard.press("Control+Enter")
    expect(output(page)).to_have_text("one 1")
    expect_done(page)
    code(page).click()
    page.keyboard.press("Control+End")
    page.keyboard.type("  # oops")
    page.keyboard.press("Escape")
    page.keyboard.press("z")  # nothing of it has run, so the output fits
    expect(code(page)).not_to_contain_text("oops")
    expect(output(page)).to_have_text("one 1")

    type_over(page, "print('two')")
    expect(output(page)).to_have_text("two")
    expect_done(page)
    page.keyboard.press("z")
    expect(status_of(page)).to_have_text(re.compile("as the deck came. Z again"))
    expect(code(page)).to_have_text("number = 1print('one', number)")
    expect(output(page)).to_have_count(0)
    page.keyboard.press("z")
    expect(status_of(page)).to_have_text(re.compile("What was typed is back"))
    expect(code(page)).to_have_text("print('two')")
    expect(output(page)).to_have_text("two")
    for key in ("PageDown", "PageDown", "PageDown", "z", "Home"):  # where Z is pressed there is no code
        page.keyboard.press(key)
    expect(code(page)).to_have_text("print('two')")


@pytest.mark.ci
def test_z_brings_back_all_that_was_typed_the_newest_first(page: Page, lesson: str) -> None:
    open_deck(page, lesson)
    for text in ("'first try'", "'second try'"):
        type_over(page, text)
        expect(output(page)).to_have_text(text)
        expect_done(page)
        page.keyboard.press("z")
        expect(code(page)).to_contain_text("print('one', number)")
    for text in ("'second try'", "'first try'", "number = 1print('one', number)", "'second try'"):
        page.keyboard.press("z")
        expect(code(page)).to_have_text(text)


@pytest.mark.ci
def test_a_reload_does_not_forget_how_the_deck_came(page: Page, lesson: str) -> None:
    open_deck(page, lesson)
    with page.expect_response(lambda response: response.request.method == "PUT"):
        type_over(page, "print('two')")
        expect(output(page)).to_have_text("two")
    page.reload()
    expect(page.locator("body")).to_have_attribute("data-deck", "ready")
    expect(code(page)).to_have_text("print('two')")
    page.keyboard.press("z")
    expect(code(page)).to_contain_text("print('one', number)")
    page.goto("about:blank")
    open_deck(page, lesson)  # the next lecture
    before = code(page).inner_text()
    page.keyboard.press("z")
    expect(status_of(page)).to_have_text("This cell is as the deck came.")
    assert code(page).inner_text() == before


def test_a_name_that_the_setup_would_define_says_so_only_until_the_setup_ran(page: Page, lesson: str) -> None:
    open_deck(page, lesson)
    page.keyboard.press("PageDown")
    for name in ("maths", "prepared", "rest", "helper", "Model"):
        type_over(page, name)
        expect(status_of(page), name).to_have_text(HINT)
        page.keyboard.press("Escape")
        expect(status_of(page)).to_have_text("")
    page.keyboard.press("PageDown")
    for source in ("inner", "unknown", "'prepared' / 0", "import prepared", LOCAL, "(prepared"):
        assert_no_hint(page, source)
    page.keyboard.press("s")
    expect(status_of(page)).to_contain_text("Setup: 1 of 1 cells ran")
    assert_no_hint(page, "del prepared; prepared")


def assert_no_hint(page: Page, source: str) -> None:
    type_over(page, source)
    expect(output(page)).to_contain_text("Error")
    type_over(page, "print('settled')")  # the kernel has answered before whatever else it was asked
    expect(output(page)).to_have_text("settled")
    expect(status_of(page), source).not_to_have_text(HINT)


def test_one_may_type_on_while_the_kernel_starts_and_while_the_cell_runs(page: Page, lesson: str) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == "POST":
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/sessions?*", hold)
    open_deck(page, lesson)
    page.keyboard.press("Control+Enter")
    expect(current(page).locator(".jp-CodeCell")).to_have_attribute("data-busy", "waits")
    expect(status_of(page)).to_have_text("The kernel is starting; the cell waits for it.")
    code(page).click()
    page.keyboard.press("Control+End")
    page.keyboard.type("  # I type")
    for route in held:
        route.continue_()
    expect(output(page)).to_have_text("one 1")
    page.keyboard.type(" on")
    expect(code(page)).to_contain_text("# I type on")
    expect(code(page)).to_be_focused()


def test_the_sign_of_a_cell_that_runs_or_waits_covers_nothing(page: Page, lesson: str) -> None:
    open_deck(page, f"{lesson}#/5")
    expect(current(page)).to_have_id("slide-4-0")
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Control+Enter")
    cells = current(page).locator(".jp-CodeCell:not(.reveal-skip)")
    expect(cells.first).to_have_attribute("data-busy", "runs")
    expect(cells.last).to_have_attribute("data-busy", "waits")
    expect(status_of(page)).to_have_text(re.compile(r"^runs, [1-9]\d* s · I interrupts$"))
    for width, height in ((1280, 720), (1920, 1080), (1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        for busy in cells.all():
            sign = busy.evaluate("""cell => {
                const { left, width, content } = getComputedStyle(cell, "::after");
                return { right: parseFloat(left) + parseFloat(width), content };
            }""")
            assert sign["right"] < 0, "in the margin of the slide"
            assert sign["content"] == '""'
            box = busy.bounding_box()
            assert box
            assert box["x"] + sign["right"] - 20 > 0, "on the screen"
    page.keyboard.press("i")
    expect(page.locator("[data-busy]")).to_have_count(0)
