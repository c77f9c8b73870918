"""An error says itself first, whole; its traceback is folded, and nothing leaves the slide."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Locator, Page, expect

from tests.browser.decks import go_to
from tests.browser.lecture import open_notes
from tests.browser.new_lesson import cell, current, press, status_of
from tests.browser.waiting import act, box_of, each_of, measure, text_of, until

pytestmark = pytest.mark.ci

FILLED = "\n".join(f"def f{n}(x):\n    return x + {n}  # {'a long comment ' * 5}" for n in range(9))
DEEP = "def down(n):\n    return down(n - 1) if n else 1 / 0\ndown(9)"
INTERACT = "from ipywidgets import interact\n@interact(n=(0, 9))\ndef invert(n=0):\n    return 1 / n"
MANY = ", ".join(map(str, range(900)))
PRINTS = f"for n in range(40):\n    print('row', n, {'of a long table ' * 5!r})"
ASSERTS = "print('hello')\nassert 1 == 2, '<b>one</b> is\\nnot two'"
SLIDES = {  # the sources of each slide, and what its errors say
    "deep": ([DEEP], ["ZeroDivisionError: division by zero"]),
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
    "overfull": ([f"{FILLED}\n{FILLED}\n{PRINTS}\n1 / 0"], ["ZeroDivisionError: division by zero"]),
}
CELLS = []
for name, (sources, _) in SLIDES.items():
    CELLS.append(cell("slide", new_markdown_cell, f"## {name}\n\nA question.", name))
    for number, source in enumerate(sources):
        CELLS.append(cell("-", new_code_cell, source, f"{name}-{number}"))
CELLS.append(cell("notes", new_markdown_cell, "1 min. The end.", "notes"))
SAID = ".deck-error > pre:first-child"


@pytest.fixture(scope="module", autouse=True)
def ran(opened: Page) -> None:
    """Let all cells run and fail, once for all tests here."""
    opened.keyboard.press("Shift+R")
    expect(status_of(opened)).to_have_class("failed")
    said = text_of(status_of(opened))
    assert said.startswith("All: 1 of 9 cells ran in "), "interact fails inside its widget"
    assert said.splitlines()[-1] == "… and 5 more"
    assert max(map(len, said.splitlines())) < 200


def show(page: Page, name: str) -> Locator:
    """Turn to a slide, and return what its errors say."""
    go_to(page, f"slide-{list(SLIDES).index(name)}-0")
    return current(page).locator(SAID)


def test_an_error_is_first_and_on_the_slide(deck: Page) -> None:
    deck.set_viewport_size({"width": 1024, "height": 768})
    is_above_foot = """box => {
        const { height, bottom } = box.getBoundingClientRect();
        return height > 20 && bottom <= document.querySelector("#deck-foot").getBoundingClientRect().top + 1;
    }"""
    for name, (_, said) in SLIDES.items():
        errors = show(deck, name)
        expect(errors).to_have_text(said)
        for error in each_of(errors):
            until(error.locator(".."), is_above_foot)
            assert measure(error, "node => parseFloat(getComputedStyle(node).fontSize)") >= 17.9
            frame, line = box_of(error.locator("..")), box_of(error)
            assert frame["x"] + frame["width"] <= 1024
            assert frame["y"] <= line["y"] <= frame["y"] + 12, "the first line is seen"
            hit = "([x, y]) => document.elementFromPoint(x, y).closest('.deck-error') !== null"
            assert measure(deck, hit, [line["x"] + 5, line["y"] + 5]), f"{name}: something lies over it"
            if name != "long":
                assert line["y"] + line["height"] <= frame["y"] + frame["height"], f"{name}: it is seen whole"
    show(deck, "syntax")  # its short traceback points at the code
    pointing = re.compile(r"closed\s+Cell In\[\d+\], line 1\s+num_heads = \[3, 8\n\s+\^$")
    expect(current(deck).locator(".deck-error")).to_have_text(pointing)


def test_an_error_stands_after_its_code_and_what_was_printed_and_the_line_that_failed_is_seen(deck):
    error = show(deck, "overfull").locator("..")
    printed = current(deck).locator(".jp-OutputArea-output:not(.deck-error)")
    above = ".jp-CodeCell .jp-InputArea-editor, .jp-OutputArea-output:not(.deck-error)"
    for part in each_of(current(deck).locator(above)):
        box = box_of(part)
        until(error, "(node, end) => node.getBoundingClientRect().top >= end - 1", box["y"] + box["height"])
    code = current(deck).locator(".jp-CodeCell .jp-InputArea-editor")
    inside = """([code, line]) => line.top >= code.top && line.bottom <= code.bottom"""
    boxes = "node => (({top, bottom}) => ({top, bottom}))(node.getBoundingClientRect())"
    until(deck, inside, [measure(code, boxes), measure(code.locator(".cm-line", has_text="1 / 0"), boxes)])
    until(printed, "node => node.scrollTop + node.clientHeight >= node.scrollHeight - 1")  # its last rows


def test_a_key_and_a_button_show_the_traceback_which_the_arrows_and_the_wheel_scroll(deck: Page) -> None:
    show(deck, "deep")
    page = deck.locator(".deck-traceback:popover-open")
    deck.keyboard.press("e")
    expect(page).to_be_focused()
    expect(page).to_contain_text("---> 2     return down(n - 1) if n else 1 / 0")
    box = box_of(page)
    assert min(box["x"], box["y"]) >= 0
    assert box["x"] + box["width"] <= 1280
    assert box["y"] + box["height"] <= 720
    deck.keyboard.press("ArrowDown")
    until(page, "page => page.scrollTop > 10")
    before = measure(page, "page => page.scrollTop")
    deck.mouse.move(640, 360)
    deck.mouse.wheel(0, 60)
    until(page, "(page, before) => page.scrollTop > before", before)
    deck.keyboard.press("Escape")
    expect(page).to_have_count(0)
    current(deck).get_by_role("button", name="traceback").click()
    deck.keyboard.press("ArrowDown")
    until(page, "page => page.scrollTop > 10")
    expect(current(deck)).to_have_id("slide-0-0")
    press(deck, "Escape e PageDown")
    expect(current(deck)).to_have_id("slide-1-0")
    expect(page).to_have_count(0)
    show(deck, "several")
    for said in ("not two", "nothing_there", "ValueError"):  # one after the other
        deck.keyboard.press("e")
        expect(page).to_have_count(1)
        expect(page.locator("pre").first).to_contain_text(said)
    deck.keyboard.press("e")
    expect(page).to_have_count(0)


def test_the_speakers_window_shows_what_an_error_says(deck: Page) -> None:
    speaker = open_notes(deck)
    show(deck, "several")
    errors = speaker.locator("article > pre")
    expect(errors).to_have_text(SLIDES["several"][1])
    act(deck, "window.said = document.querySelector('.present > .present .deck-error')")
    deck.keyboard.press("Control+Enter")  # it fails anew
    until(deck, "!said.isConnected")
    expect(errors).to_have_text(SLIDES["several"][1])
    show(deck, "interact")
    expect(errors).to_have_count(1)
    speaker.close()
