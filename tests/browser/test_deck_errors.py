"""An error says itself first, whole; its traceback is folded, and nothing leaves the slide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import PATIENCE
from tests.browser.new_lesson import current, new_lesson, open_deck, status_of
from tests.browser.test_deck import DRAWN
from tests.browser.test_deck_keys import cell

if TYPE_CHECKING:
    from tests.browser.conftest import JupyterServer

FILLED = "\n".join(f"def f{n}(x):\n    return x + {n}  # {'a long comment ' * 5}" for n in range(9))
DEEP = "def down(n):\n    return down(n - 1) if n else 1 / 0\ndown(9)"
INTERACT = "from ipywidgets import interact\n@interact(n=(0, 9))\ndef invert(n=0):\n    return 1 / n"
MANY = ", ".join(map(str, range(900)))
ASSERTS = "print('hello')\nassert 1 == 2, '<b>one</b> is\\nnot two'"
SLIDES = {  # the sources of each slide, and what its errors say
    "deep": ([DEEP], ["ZeroDivisionError: division by zero"]),
    "full": ([FILLED + "\n1 / 0"], ["ZeroDivisionError: division by zero"]),
    "syntax": (["num_heads = [3, 8\nprint(num_heads)"], ["SyntaxError: '[' was never closed"]),
    "several": (
        [ASSERTS, "nothing_there", "raise ValueError"],
        [
            "AssertionError: <b>one</b> is\nnot two",
            "NameError: name 'nothing_there' is not defined",
            "ValueError",
        ],
    ),
    "interact": ([INTERACT], ["ZeroDivisionError: division by zero"]),
    "coloured": (["raise ValueError('\\x1b[31mred\\x1b[0m')"], ["ValueError: red"]),
    "long": (["raise ValueError(', '.join(map(str, range(900))))"], [f"ValueError: {MANY}"]),
    "overfull": ([FILLED + "\n" + FILLED + "\n1 / 0"], ["ZeroDivisionError: division by zero"]),
}
SIZES = [(1280, 720), (1920, 1080), (1024, 768)]
SAID = ".deck-error > pre:first-child"


@pytest.fixture(scope="module")
def ran(browser: Browser, jupyter: JupyterServer) -> Iterator[Page]:
    """A deck whose cells have all run and failed, shared by all tests here."""
    cells = []
    for name, (sources, _) in SLIDES.items():
        cells.append(cell("slide", new_markdown_cell, f"## {name}\n\nA question.", name))
        for number, source in enumerate(sources):
            cells.append(cell("-", new_code_cell, source, f"{name}-{number}"))
    cells.append(cell("notes", new_markdown_cell, "1 min. The end.", "notes"))
    nbformat.write(new_lesson(cells, title="Errors"), jupyter.folder / "errors.ipynb")
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(PATIENCE)
    open_deck(page, jupyter.address("rise", "errors.ipynb"))
    page.keyboard.press("Shift+R")
    expect(status_of(page)).to_have_class("failed")
    said = status_of(page).inner_text()
    assert said.startswith("All: 1 of 10 cells ran in "), "interact fails inside its widget"
    assert said.splitlines()[-1] == "… and 6 more"
    assert max(map(len, said.splitlines())) < 200
    yield page
    page.close()


@pytest.fixture
def deck(ran: Page) -> Page:
    """The deck on its first slide, in its first size."""
    ran.set_viewport_size({"width": 1280, "height": 720})
    ran.locator(".jp-Notebook").focus()
    ran.keyboard.press("Escape")
    return ran


def show(page: Page, name: str) -> Locator:
    """Turn to a slide, and return what its errors say."""
    slide = f"slide-{list(SLIDES).index(name)}-0"
    page.evaluate("slide => { location.hash = `#/${slide}`; }", slide)
    expect(current(page)).to_have_id(slide)
    page.evaluate(DRAWN)
    return current(page).locator(SAID)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_an_error_is_first_and_on_the_slide(deck: Page, size: tuple[int, int]) -> None:
    deck.set_viewport_size({"width": size[0], "height": size[1]})
    unit = min(size[0] / 1280, size[1] / 720)
    is_above_foot = """box => {
        const { height, bottom } = box.getBoundingClientRect();
        return height > 20 && bottom <= document.querySelector("#deck-foot").getBoundingClientRect().top + 1;
    }"""
    for name, (_, said) in SLIDES.items():
        errors = show(deck, name)
        expect(errors).to_have_text(said)
        for error in errors.all():
            box = error.locator("..")
            deck.wait_for_function(is_above_foot, arg=box.element_handle())
            assert error.evaluate("node => parseFloat(getComputedStyle(node).fontSize)") >= 18 * unit - 0.1
            frame, line = box.bounding_box(), error.bounding_box()
            assert frame
            assert line
            assert frame["x"] + frame["width"] <= size[0]
            assert frame["y"] <= line["y"] <= frame["y"] + 12 * unit, "the first line is seen"
            hit = "([x, y]) => document.elementFromPoint(x, y).closest('.deck-error') !== null"
            assert deck.evaluate(hit, [line["x"] + 5, line["y"] + 5]), f"{name}: something lies over it"
            if name != "long":
                assert line["y"] + line["height"] <= frame["y"] + frame["height"], f"{name}: it is seen whole"


def test_a_syntax_error_points_at_the_code(deck: Page) -> None:
    show(deck, "syntax")
    error = current(deck).locator(".deck-error")
    expect(error).to_have_text(re.compile(r"closed\s+Cell In\[\d+\], line 1\s+num_heads = \[3, 8\n\s+\^$"))
    expect(error.locator("button")).to_have_count(0)


def test_a_key_shows_the_traceback_which_the_arrows_and_the_wheel_scroll(deck: Page) -> None:
    show(deck, "deep")
    page = deck.locator(".deck-traceback:popover-open")
    deck.keyboard.press("e")
    expect(page).to_be_focused()
    expect(page).to_contain_text("---> 2     return down(n - 1) if n else 1 / 0")
    box = page.bounding_box()
    assert box
    assert min(box["x"], box["y"]) >= 0
    assert box["x"] + box["width"] <= 1280
    assert box["y"] + box["height"] <= 720
    scrolled = "page => page.scrollTop"
    deck.keyboard.press("ArrowDown")
    deck.wait_for_function(f"({scrolled})(document.activeElement) > 10")
    before = page.evaluate(scrolled)
    deck.mouse.move(640, 360)
    deck.mouse.wheel(0, 60)
    deck.wait_for_function(f"before => ({scrolled})(document.activeElement) > before", arg=before)
    deck.keyboard.press("Escape")
    expect(page).to_have_count(0)
    deck.keyboard.press("e")
    deck.keyboard.press("PageDown")
    expect(current(deck)).to_have_id("slide-1-0")
    expect(page).to_have_count(0)


def test_further_presses_show_the_tracebacks_of_further_errors(deck: Page) -> None:
    show(deck, "several")
    page = deck.locator(".deck-traceback:popover-open")
    for said in ("not two", "nothing_there", "ValueError"):
        deck.keyboard.press("e")
        expect(page).to_have_count(1)
        expect(page.locator("pre").first).to_contain_text(said)
    deck.keyboard.press("e")
    expect(page).to_have_count(0)


def test_after_a_click_on_its_button_the_arrows_scroll_the_traceback(deck: Page) -> None:
    show(deck, "deep")
    current(deck).get_by_role("button", name="traceback").click()
    deck.keyboard.press("ArrowDown")
    deck.wait_for_function("document.activeElement.scrollTop > 10")
    expect(current(deck)).to_have_id("slide-0-0")
    deck.keyboard.press("Escape")


def test_the_speakers_window_shows_what_an_error_says(deck: Page) -> None:
    with deck.expect_popup() as popup:
        deck.keyboard.press("t")
    show(deck, "several")
    errors = popup.value.locator("article > pre")
    expect(errors).to_have_text(SLIDES["several"][1])
    deck.evaluate("window.said = document.querySelector('.present > .present .deck-error')")
    deck.keyboard.press("Control+Enter")  # it fails anew
    deck.wait_for_function("!said.isConnected")
    expect(errors).to_have_text(SLIDES["several"][1])
    show(deck, "interact")
    expect(errors).to_have_count(1)
    popup.value.close()
