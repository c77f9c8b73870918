"""The deck's own keys work, and no other changes the lesson."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Page, expect

from mha_lib.classroom import look
from tests.browser.conftest import JupyterServer
from tests.browser.decks import expect_light
from tests.browser.lecture import foot_says, turn
from tests.browser.new_lesson import cell, current, lay_lesson, open_deck, press, status_of
from tests.browser.waiting import act, count_of, measure
from tests.colours import channels_of, contrast

NOTHING = [
    ("a", "No answer is folded on this slide."),
    ("x", "No code is folded on this slide."),
    ("w", "Nothing is asked on this slide."),
    ("n", "No cell misses a name."),
    ("e", "No cell on this slide has failed."),
]
TYPE = """(node, [key, code]) => {
    const keyCode = { KeyB: 66, KeyT: 84, KeyX: 88, KeyD: 68, Comma: 188 }[code];
    node.dispatchEvent(new KeyboardEvent("keydown", { key, code, keyCode, bubbles: true, cancelable: true }));
}"""
# Of the code on the slide: the text of each token, its colour and its ground.
TOKENS = """() => [...document.querySelectorAll(".present > .present .cm-line span")].map((token) => [
    token.textContent, getComputedStyle(token).color,
    getComputedStyle(token.closest(".jp-InputArea-editor")).backgroundColor])"""
# Keys at each frame until the deck is ready: B would add a cell, and T open a window.
PRESS_EARLY = f"""
    window.opened = 0;
    window.open = () => {{ window.opened += 1; }};
    const type = {TYPE};
    const press = () => {{
        if (document.body?.dataset.deck === "ready") return;
        const notebook = document.querySelector(".jp-Notebook");
        for (const letter of notebook ? "bt" : "") type(notebook, [letter, `Key${{letter.toUpperCase()}}`]);
        requestAnimationFrame(press);
    }};
    press();
"""
CELLS = [
    cell("slide", new_markdown_cell, "# Widgets in a deck", "title"),
    cell("skip", new_code_cell, "prepared = 'set up'", "prepare", ("setup",)),
    cell("slide", new_code_cell, "later = ...  # a comment\nprint(None, True, 'text')", "first"),
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
    failure = re.compile("All: 4 of 5 cells ran in \\d+ s\nslide 4: ZeroDivisionError: ")
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


@pytest.mark.parametrize(
    "typed", [("ч", "KeyX"), ("χ", "KeyX"), ("в", "KeyD"), ("б", "Comma"), ("Dead", "KeyX")]
)
def test_a_key_of_another_script_counts_by_its_place_and_changes_no_cell(deck: Page, typed: tuple[str, str]):
    """JupyterLab takes it for x, which cuts the cell, or for d, which deletes it when it comes twice."""
    turn(deck, "ArrowRight ArrowRight", "slide-2-0")
    for _ in range(2):
        act(deck.locator(".jp-Notebook"), TYPE, typed)
    if typed[1] == "KeyX":
        expect(status_of(deck)).to_have_text("No code is folded on this slide.")
    expect(deck.locator(".jp-CodeCell")).to_have_count(5)


def test_keys_that_come_before_the_deck_is_ready_do_nothing(page: Page, jupyter: JupyterServer) -> None:
    page.add_init_script(PRESS_EARLY)
    open_deck(page, lay_lesson(jupyter, "early.ipynb", CELLS))
    expect(page.locator(".jp-Cell")).to_have_count(len(CELLS))
    assert measure(page, "window.opened") == 0


@pytest.mark.parametrize(("key", "said"), NOTHING)
def test_a_key_that_finds_nothing_says_so(deck: Page, key: str, said: str) -> None:
    foot_says(deck, key, said)


def hex_of(colour: str) -> str:
    """The colour ``rgb(0, 103, 165)`` as ``#0067a5``."""
    return "#" + "".join(f"{int(channel):02x}" for channel in re.findall(r"\d+", colour))


def test_code_is_read_at_wcag_aa_in_the_light_and_in_the_dark(deck: Page) -> None:
    turn(deck, "ArrowRight", "slide-1-0")
    expect(current(deck).locator(".cm-line span", has_text="# a comment")).to_be_visible()
    for is_light in (True, False):
        expect_light(deck, is_light)
        tokens = measure(deck, TOKENS)
        assert {"...", "True", "None", "# a comment", "'text'"} <= {text for text, _, _ in tokens}
        for text, colour, ground in tokens:
            assert contrast(hex_of(colour), hex_of(ground)) >= 4.5, (text, colour, ground)
        deck.keyboard.press("d")


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
