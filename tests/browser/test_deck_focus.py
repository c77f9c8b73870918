"""Each kind of key with each kind of focus: who gets the key, and how the deck gets the keys back."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Locator, Page, expect

from tests.browser.decks import expect_light, go_to, is_light
from tests.browser.new_lesson import cell, current, press, status_of
from tests.browser.waiting import act, box_of, until

CONTROLS = """
from IPython.display import HTML, display
from ipywidgets import IntSlider
display(IntSlider(3, 0, 9))
HTML("<button>press</button><select><option>d<option>e</select><input type=text>")
"""
EXPLORER = """
import torch
from mha_lib.classroom import explore
explore(lambda num_heads: torch.full((1, num_heads, 2, 3), 1 / 3), num_heads=[1, 2, 3, 4])
"""
ANSWER = "## Controls\n\n<details><summary>The answer</summary>is folded.</details>"
CELLS = [
    cell("slide", new_markdown_cell, "# Before", "before"),
    cell("slide", new_markdown_cell, ANSWER, "answer"),
    cell("-", new_code_cell, CONTROLS, "controls"),
    cell("-", new_code_cell, EXPLORER, "explorer"),
    cell("slide", new_markdown_cell, "# After", "after"),
]
FOCUS = {  # the selector of each control
    "nothing": None,
    "a code cell's editor": ".jp-CodeCell .cm-content",
    "the explorer's slider": ".mha-explorer input[type=range]",
    "another widget's slider": ".noUi-handle",
    "a button": ".jp-OutputArea-output button:text('press')",
    "a list": ".jp-OutputArea-output select >> nth=0",
    "a text box": ".jp-OutputArea-output input[type=text]",
    "a folded answer": "summary",
}
UNFOCUSED = "!document.activeElement.matches('.cm-content, input, select, button, summary, .noUi-handle')"
TYPED_IN = ("a code cell's editor", "a list", "a text box")
KEEP_ARROWS = (*TYPED_IN, "the explorer's slider", "another widget's slider", "a button")


@pytest.fixture(scope="module")
def ran(opened: Page) -> Page:
    """A deck with every kind of control on its second slide."""
    go_to(opened, "slide-1-0")
    press(opened, "Shift+Enter Control+Enter")  # the explorer's cell is the second
    expect(control(opened, "the explorer's slider")).to_be_visible()
    return opened


@pytest.fixture
def controls(ran: Page) -> Page:
    go_to(ran, "slide-1-0")
    control(ran, "a list").select_option("d")
    control(ran, "a text box").fill("")
    return ran


def control(page: Page, kind: str) -> Locator:
    return current(page).locator(FOCUS[kind] or "").first


def focus(page: Page, kind: str) -> None:
    go_to(page, "slide-1-0")
    act(page, "document.activeElement.blur()")
    if FOCUS[kind]:
        control(page, kind).focus()


@pytest.mark.ci
def test_keys_on_each_kind_of_focus(controls: Page) -> None:
    page = controls
    shown = current(page)
    light = is_light(page)
    for kind in FOCUS:
        focus(page, kind)
        page.keyboard.press("PageDown")  # a presenter's remote control
        expect(shown, f"PageDown on {kind}").to_have_id("slide-2-0")

        focus(page, "nothing")
        page.keyboard.press("l")
        focus(page, kind)
        page.keyboard.press("Escape")
        until(page, UNFOCUSED)
        expect(page.locator("#deck-laser"), kind).to_be_hidden()
        page.keyboard.press("Space")
        expect(shown, f"Escape and Space on {kind}").to_have_id("slide-2-0")

        focus(page, kind)
        page.keyboard.press("d")
        light = light == (kind in TYPED_IN)
        press(page, "g c 1")
        asked = "" if kind in TYPED_IN else "Go to slide 1: Enter"
        expect(status_of(page), f"G and digits on {kind}").to_have_text(asked)
        expect_light(page, light)
        page.keyboard.press("Escape")
        expect(status_of(page)).to_have_text("")

        focus(page, kind)
        page.keyboard.press("ArrowRight")
        stays = "slide-1-0" if kind in KEEP_ARROWS else "slide-2-0"
        expect(shown, f"→ on {kind}").to_have_id(stays)


def test_after_the_mouse_the_keys_are_the_decks_again_except_where_one_types(controls: Page) -> None:
    page, light = controls, is_light(controls)
    for kind in ("the explorer's slider", "another widget's slider", "a button", "a folded answer"):
        go_to(page, "slide-1-0")
        drag(page, control(page, kind))
        page.keyboard.press("ArrowRight")
        expect(current(page), f"→ after the mouse on {kind}").to_have_id("slide-2-0")
    for kind in ("a code cell's editor", "a text box"):
        go_to(page, "slide-1-0")
        control(page, kind).click()
        page.keyboard.press("Home")
        page.keyboard.type("d c1")
        expect(current(page), f"typing into {kind}").to_have_id("slide-1-0")
    expect(control(page, "a text box")).to_have_value("d c1")
    assert is_light(page) == light  # “d” was typed, and turned no theme
    choices = control(page, "a list")
    choices.focus()
    page.keyboard.press("ArrowDown")  # chosen with the keyboard, the list keeps the keys
    expect(choices).to_have_value("e")
    expect(choices).to_be_focused()
    choices.dispatch_event("pointerdown")
    choices.select_option("d")
    expect(choices).not_to_be_focused()


def drag(page: Page, control: Locator) -> None:
    box = box_of(control)
    page.mouse.move(box["x"] + 3, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
    page.mouse.up()
