"""Stepping through code: a key lights the next lines of a cell, and dims the others."""

from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Page, expect

from tests.browser.lecture import open_notes, turn
from tests.browser.new_lesson import cell, current, press
from tests.browser.waiting import becomes, measure, until

EXPLORER = """
import numpy as np
from mha_lib.classroom import explore

explore(lambda heads=2: np.full((heads, 3, 5), 0.2), heads=[1, 2])""".strip()
ARCS = EXPLORER.replace("heads=[1, 2]", "query_labels=list('abc'), key_labels=list('abcde'), arcs={}")
CODE = "a = 1  # {}\nb = 2\n\nc = a + b".format("a long line " * 20)
CLEAR_LINES = """(cell) => [...cell.querySelectorAll(".cm-line")].flatMap(
    (line, index) => getComputedStyle(line).opacity === "1" ? [index + 1] : []
)"""
LAST_QUERY = """(explorer) =>
    Math.max(...[...explorer.querySelectorAll("[data-query]")].map((arc) => arc.dataset.query))"""
LEAST_LETTERS = """(explorer) => Math.min(...[...explorer.querySelectorAll("svg text")].map(
    (text) => text.getScreenCTM().a * Number(text.getAttribute("font-size"))
))"""
LIT = "[data-lit]"
ALL = [1, 2, 3, 4]
STEPS = [  # whether the code is seen, its lines that are not dim, and whether the text after it is seen
    (False, ALL, False),
    (True, ALL, False),
    (True, [1], False),
    (True, [2, 4], False),
    (True, ALL, False),
    (True, ALL, True),
]


CELLS = [
    cell("slide", new_markdown_cell, "# Lines", "title"),
    cell("slide", new_markdown_cell, "## Code", "code"),
    cell("fragment", new_code_cell, CODE, "lit"),
    cell("fragment", new_markdown_cell, "After it.", "after"),
    cell("slide", new_code_cell, EXPLORER, "explorer"),
    cell("subslide", new_code_cell, ARCS, "arcs"),
    cell("slide", new_markdown_cell, "## The end", "end"),
]
CELLS[2].metadata["highlight"] = "1|2,4"
CELLS[5].metadata["tags"] = ["shows-explorer"]
CELLS[4].metadata |= {"highlight": "4", "tags": ["shows-explorer"]}
HINT = "cell => getComputedStyle(cell, '::after').content"


def expect_clear(page: Page, lines: list[int]) -> None:
    """See that these lines of the code on the slide are not dim, and all others are."""
    becomes(current(page).locator(".jp-CodeCell"), CLEAR_LINES, lines)


def expect_after(page: Page, is_seen: bool = True) -> None:
    expect(current(page).locator("p", has_text="After it.")).to_be_visible(visible=is_seen)


def light(page: Page, keys: str, lines: list[int]) -> None:
    """Press keys, and see the lines that are not dim then."""
    press(page, keys)
    expect_clear(page, lines)


def test_keys_walk_the_lines_after_the_cell_is_shown_and_then_show_all(deck):
    for key, steps in (("Space", STEPS), ("Shift+Space", STEPS[-2::-1])):
        for is_code_seen, lines, is_text_seen in steps:
            turn(deck, key, "slide-1-0")
            expect(current(deck).locator(".jp-CodeCell")).to_be_visible(visible=is_code_seen)
            expect_clear(deck, lines)
            expect_after(deck, is_text_seen)


def test_lines_stay_lit_until_one_edits_or_runs_the_code_or_leaves_the_slide(deck: Page) -> None:
    light(deck, "Space Space Space", [1])
    line = current(deck).locator(".jp-CodeCell .cm-line").first
    line.click()  # CodeMirror draws it anew
    expect_clear(deck, [1])
    light(deck, "End x", ALL)
    light(deck, "Backspace Escape Shift+Space", [2, 4])
    turn(deck, "End Home End", "slide-3-0")
    expect(deck.locator(LIT)).to_have_count(0)
    light(deck, "Home Space Space Space", [1])
    light(deck, "Shift+Enter", ALL)
    expect_after(deck)


def test_folded_code_is_shown_while_its_lines_are_lit(deck: Page) -> None:
    turn(deck, "3 Enter", "slide-2-0")
    hint = current(deck).locator(".jp-CodeCell")
    becomes(hint, HINT, '"Shift Enter shows it here"')
    deck.keyboard.press("Control+Enter")
    becomes(hint, HINT, "none")
    code, explorer = (current(deck).locator(part) for part in (".cm-content", ".mha-explorer"))
    expect(explorer.get_by_role("application").first).to_be_visible()
    expect(code).to_be_hidden()
    light(deck, "Space", [4])
    expect(code).to_be_visible()
    expect(explorer).to_be_visible()
    until(explorer, "explorer => explorer.getBoundingClientRect().bottom < 720")
    deck.keyboard.press("Space")
    expect(code).to_be_hidden()


def test_space_takes_the_words_of_arcs_before_it_turns_the_slide_and_v_shows_the_map(deck: Page) -> None:
    turn(deck, "4 Enter", "slide-2-1")
    explorer = current(deck).locator(".mha-explorer")
    deck.keyboard.press("Control+Enter")
    expect(explorer).to_have_attribute("data-taken", "0")
    for key, word in [("Space", 1), ("PageDown", 2), ("Shift+Space", 1), ("PageUp", 0), ("Space", 1)]:
        turn(deck, key, "slide-2-1")
        expect(explorer).to_have_attribute("data-taken", str(word))
        becomes(explorer, LAST_QUERY, word)
    assert measure(explorer, LEAST_LETTERS) >= 18
    for key, are_seen in (("v", False), ("v", True)):
        deck.keyboard.press(key)
        expect(explorer.locator(".arcs")).to_be_visible(visible=are_seen)
    turn(deck, "Space", "slide-2-1")
    turn(deck, "Space", "slide-3-0")


def test_the_speaker_counts_these_steps_and_sees_the_next_and_the_sorter_shows_plain_code(deck: Page) -> None:
    speaker = open_notes(deck)
    light(deck, "Space Space Space", [1])
    expect(speaker.locator("aside")).to_contain_text("Steps left on this slide: 3")
    now, coming = (speaker.frame_locator(f"figure >> nth={place} >> iframe").locator(LIT) for place in (0, 1))
    expect(now).to_have_attribute("data-lit", "1")
    expect(coming).to_have_attribute("data-lit", "2 4")
    becomes(coming, CLEAR_LINES, [2, 4])
    deck.keyboard.press("o")
    sorter = deck.frame_locator("#deck-sorter")
    expect(sorter.get_by_role("option", selected=True)).to_have_count(1)
    expect(sorter.locator(LIT)).to_have_count(0)
    light(deck, "Escape", [1])
    speaker.close()
