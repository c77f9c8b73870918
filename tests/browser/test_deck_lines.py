"""Stepping through code: a key lights the next lines of a cell, and dims the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Page, expect

from tests.browser.new_lesson import current, new_lesson, open_deck
from tests.browser.test_deck_keys import cell

if TYPE_CHECKING:
    from tests.browser.conftest import JupyterServer

EXPLORER = """
import numpy as np
from mha_lib.classroom import explore

explore(lambda heads=2: np.full((heads, 3, 5), 0.2), heads=[1, 2])""".strip()
CODE = "a = 1  # {}\nb = 2\n\nc = a + b".format("a long line " * 20)
OPACITY = """(cell) => [...cell.querySelectorAll(".cm-line")].flatMap(
    (line, index) => getComputedStyle(line).opacity === "1" ? [index + 1] : []
)"""
LIT = "[data-lit]"


@pytest.fixture
def deck(page: Page, jupyter: JupyterServer) -> Page:
    cells = [
        cell("slide", new_markdown_cell, "# Lines", "title"),
        cell("slide", new_markdown_cell, "## Code", "code"),
        cell("fragment", new_code_cell, CODE, "lit"),
        cell("fragment", new_markdown_cell, "After it.", "after"),
        cell("slide", new_code_cell, EXPLORER, "explorer"),
        cell("slide", new_markdown_cell, "## The end", "end"),
    ]
    cells[2].metadata["highlight"] = "1|2,4"
    cells[4].metadata["highlight"] = "4"
    nbformat.write(new_lesson(cells, title="Lines"), jupyter.folder / "lines.ipynb")
    open_deck(page, jupyter.address("rise", "lines.ipynb"))
    return page


def clear_lines(page: Page) -> list[int]:
    """The lines of the code on the slide that are not dim."""
    found: list[int] = current(page).locator(".jp-CodeCell").evaluate(OPACITY)
    return found


def press(page: Page, *keys: str) -> list[int]:
    for key in keys:
        page.keyboard.press(key)
    return clear_lines(page)


ALL = [1, 2, 3, 4]


@pytest.mark.parametrize(("on", "back"), [("Space", "Shift+Space"), ("ArrowRight", "ArrowLeft")])
def test_keys_walk_the_lines_after_the_cell_is_shown_and_then_show_all(
    deck: Page, on: str, back: str
) -> None:
    assert press(deck, on) == ALL
    code, after = current(deck).locator(".jp-CodeCell"), current(deck).locator("p", has_text="After it.")
    expect(code).to_be_hidden()
    assert press(deck, on) == ALL
    expect(code).to_be_visible()
    assert [press(deck, on) for _ in range(3)] == [[1], [2, 4], ALL]
    expect(after).to_be_hidden()
    assert press(deck, on) == ALL
    expect(after).to_be_visible()
    assert [press(deck, back) for _ in range(5)] == [ALL, [2, 4], [1], ALL, ALL]
    expect(code).to_be_hidden()
    expect(current(deck)).to_have_id("slide-1-0")


def test_codemirror_draws_anew_and_the_lines_stay_lit(deck: Page) -> None:
    assert press(deck, "Space", "Space", "Space") == [1]
    deck.set_viewport_size({"width": 1024, "height": 768})
    current(deck).locator(".jp-CodeCell .cm-line").nth(1).click()  # CodeMirror marks it
    assert clear_lines(deck) == [1]
    deck.keyboard.press("Escape")
    assert press(deck, "PageDown") == [2, 4]


def test_leaving_the_slide_or_running_the_code_shows_all_lines(deck: Page) -> None:
    assert press(deck, "Space", "Space", "Space") == [1]
    deck.keyboard.press("End")
    deck.keyboard.press("Home")
    deck.keyboard.press("End")
    expect(deck.locator(LIT)).to_have_count(0)
    assert press(deck, "Home", "Space", "Space", "Space") == [1]
    assert press(deck, "Shift+Enter") == ALL
    expect(current(deck).locator("p", has_text="After it.")).to_be_visible()


def test_editing_the_code_ends_its_steps_until_it_is_as_it_came(deck: Page) -> None:
    assert press(deck, "Space", "Space", "Space") == [1]
    current(deck).locator(".jp-CodeCell .cm-line").first.click()
    deck.keyboard.press("End")
    deck.keyboard.type("x")
    assert clear_lines(deck) == ALL
    deck.keyboard.press("Backspace")
    deck.keyboard.press("Escape")
    assert press(deck, "Shift+Space") == [2, 4]
    current(deck).locator(".jp-CodeCell .cm-line").first.click()
    deck.keyboard.press("End")
    deck.keyboard.type("x")
    deck.keyboard.press("Escape")
    deck.keyboard.press("Space")
    expect(current(deck).locator("p", has_text="After it.")).to_be_visible()
    assert clear_lines(deck) == ALL


def test_folded_code_is_shown_while_its_lines_are_lit(deck: Page) -> None:
    for _ in range(7):
        deck.keyboard.press("Space")
    expect(current(deck)).to_have_id("slide-2-0")
    deck.keyboard.press("Control+Enter")
    code = current(deck).locator(".cm-content")
    expect(current(deck).locator(".mha-explorer [role=application]").first).to_be_visible()
    expect(code).to_be_hidden()
    assert press(deck, "Space") == [4]
    expect(code).to_be_visible()
    explorer = current(deck).locator(".mha-explorer")
    deck.wait_for_function(
        "() => document.querySelector('.present .mha-explorer').getBoundingClientRect().bottom < 720"
    )
    expect(explorer).to_be_visible()
    deck.keyboard.press("Space")
    expect(code).to_be_hidden()


def test_the_speaker_counts_these_steps_and_sees_the_next_and_the_sorter_shows_plain_code(deck: Page) -> None:
    with deck.expect_popup() as popup:
        deck.keyboard.press("t")
    speaker = popup.value
    assert press(deck, "Space", "Space", "Space") == [1]
    expect(speaker.locator("aside")).to_contain_text("Steps left on this slide: 3")
    pictures = [speaker.frame_locator(f"figure >> nth={place} >> iframe") for place in (0, 1)]
    for picture, lines in zip(pictures, ("1", "2 4"), strict=True):
        expect(picture.locator(LIT)).to_have_attribute("data-lit", lines)
    assert pictures[1].locator(LIT).evaluate(OPACITY) == [2, 4]
    deck.keyboard.press("o")
    sorter = deck.frame_locator("#deck-sorter")
    expect(sorter.get_by_role("option", selected=True)).to_have_count(1)
    expect(sorter.locator(LIT)).to_have_count(0)
    deck.keyboard.press("Escape")
    assert clear_lines(deck) == [1]
    assert deck.evaluate("mhaDeck.layOut()") == 4
    expect(deck.locator(f".deck-paper {LIT}")).to_have_count(0)
