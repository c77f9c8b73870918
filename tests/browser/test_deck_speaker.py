"""The speaker's window: the clock against the plan, the slide and what comes next, a reload of the deck."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.new_lesson import current, new_lesson, open_deck
from tests.browser.test_deck_keys import cell

if TYPE_CHECKING:
    from tests.browser.conftest import JupyterServer

CELLS = [  # slide type, source
    ("slide", "# A title"),
    ("notes", "3 min. Greet the class."),
    ("slide", "## The second"),
    ("fragment", "Step one."),
    ("fragment", "Step two."),
    ("notes", "2 min. Ask first."),
    ("subslide", "## Below it"),
    ("notes", "Optional, 2 min."),
    ("slide", "## The third"),
    ("notes", "5 min. Thank them."),
]


def write_deck(server: JupyterServer, name: str) -> str:
    cells = [
        cell(kind, new_markdown_cell, source, f"cell-{place}") for place, (kind, source) in enumerate(CELLS)
    ]
    nbformat.write(new_lesson(cells, title="A deck"), server.folder / name)
    return server.address("rise", name)


@pytest.fixture
def deck(browser: Browser, jupyter: JupyterServer) -> Iterator[Page]:
    """A deck whose clock stands still until the test moves it; the tab is new, and remembers no talk."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.clock.install()
    open_deck(page, write_deck(jupyter, "speaker.ipynb"))
    yield page
    context.close()


def open_notes(deck: Page) -> Page:
    with deck.expect_popup() as popup:
        deck.keyboard.press("t")
    speaker: Page = popup.value
    expect(speaker.locator("#plan")).not_to_be_empty()
    return speaker


def turn(deck: Page, key: str, slide: str) -> None:
    deck.keyboard.press(key)
    expect(current(deck)).to_have_id(slide)


def now(speaker: Page) -> Locator:
    return speaker.frame_locator("figure >> nth=0 >> iframe").locator(".deck-picture")


def coming(speaker: Page) -> Locator:
    return speaker.frame_locator("figure >> nth=1 >> iframe").locator(".deck-picture")


def assert_clock(speaker: Page, elapsed: str, plan: str) -> None:
    expect(speaker.locator("#elapsed")).to_have_text(re.compile(elapsed))
    expect(speaker.locator("#plan")).to_have_text(plan)


def test_the_clock_starts_with_the_first_turn_as_if_the_first_slide_had_kept_to_its_plan(deck: Page) -> None:
    speaker = open_notes(deck)
    deck.clock.fast_forward("10:00")  # the class comes in
    assert_clock(speaker, "^0:00$", "starts with the first turn")
    turn(deck, "Space", "slide-1-0")
    assert_clock(speaker, "^3:0", "on time")
    deck.clock.fast_forward("01:30")
    assert_clock(speaker, "^4:[34]", "on time")  # the slide is planned for minute 3 to 5
    deck.clock.fast_forward("02:30")
    assert_clock(speaker, "^7:0", "2 min behind")
    turn(deck, "ArrowRight", "slide-1-0")
    turn(deck, "ArrowRight", "slide-1-0")
    turn(deck, "ArrowDown", "slide-1-1")  # what is optional has no minutes in the plan
    assert_clock(speaker, "^7:0", "2 min behind")
    turn(deck, "PageDown", "slide-2-0")
    assert_clock(speaker, "^7:0", "on time")  # planned for minute 5 to 10
    turn(deck, "Home", "slide-0-0")
    assert_clock(speaker, "^7:0", "4 min behind")


def test_the_clock_says_how_far_ahead_the_talk_is_and_can_be_paused_and_set_back(deck: Page) -> None:
    speaker = open_notes(deck)
    expect(speaker.locator("time")).to_have_text(re.compile(r"\d\d:\d\d:\d\d"))
    speaker.get_by_role("button", name="start").click()
    turn(deck, "End", "slide-2-0")
    assert_clock(speaker, "^0:0", "5 min ahead")
    speaker.get_by_role("button", name="pause").click()
    deck.clock.fast_forward("04:00")
    assert_clock(speaker, "^0:0", "5 min ahead")
    speaker.get_by_role("button", name="go on").click()
    deck.clock.fast_forward("04:00")
    assert_clock(speaker, "^4:[01]", "1 min ahead")
    speaker.get_by_role("button", name="reset").click()
    assert_clock(speaker, "^0:00$", "starts with the first turn")
    turn(deck, "PageUp", "slide-1-0")
    assert_clock(speaker, "^3:0", "on time")


def test_it_shows_the_slide_as_the_class_sees_it_and_the_next_step_or_core_slide(deck: Page) -> None:
    speaker = open_notes(deck)
    aside = speaker.locator("aside")
    expect(now(speaker).get_by_text("A title")).to_be_visible()
    expect(coming(speaker).get_by_text("The second")).to_be_visible()
    expect(aside).to_contain_text("Next: The second")
    expect(aside).not_to_contain_text("Steps left")
    turn(deck, "Space", "slide-1-0")
    for step, (before, after) in enumerate([("one", "two"), ("two", "")]):
        expect(aside).to_contain_text(f"Steps left on this slide: {2 - step}")
        expect(aside).to_contain_text("Next: a step of this slide")
        expect(now(speaker).get_by_text(f"Step {before}.")).to_be_hidden()
        expect(coming(speaker).get_by_text(f"Step {before}.")).to_be_visible()
        if after:
            expect(coming(speaker).get_by_text(f"Step {after}.")).to_be_hidden()
        deck.keyboard.press("Space")
        expect(now(speaker).get_by_text(f"Step {before}.")).to_be_visible()
    expect(coming(speaker).get_by_text("The third")).to_be_visible()  # past what is optional
    picture, room = coming(speaker).bounding_box(), speaker.locator("figure").last.bounding_box()
    assert picture
    assert room
    assert picture["width"] == pytest.approx(room["width"], abs=1)
    assert room["width"] / room["height"] == pytest.approx(16 / 9, rel=0.01)
    turn(deck, "End", "slide-2-0")
    expect(coming(speaker)).to_have_count(0)


def test_it_says_that_the_deck_is_away_and_goes_on_with_the_deck_that_comes_back(
    deck: Page, jupyter: JupyterServer
) -> None:
    speaker = open_notes(deck)
    turn(deck, "Space", "slide-1-0")
    deck.clock.fast_forward("05:00")
    assert_clock(speaker, "^8:0", "3 min behind")
    address = deck.url
    expect(speaker.locator("#alone")).to_be_hidden()
    deck.goto(f"{jupyter.url}/api")
    expect(speaker.locator("#alone")).to_be_visible()
    open_deck(deck, address)
    expect(speaker.locator("#alone")).to_be_hidden()
    expect(current(deck)).to_have_id("slide-1-0")
    assert_clock(speaker, "^8:0", "3 min behind")
    expect(now(speaker).get_by_text("The second")).to_be_visible()
    speaker.keyboard.press("End")
    expect(current(deck)).to_have_id("slide-2-0")
    expect(speaker.locator("main")).to_contain_text("Thank them.")
    deck.keyboard.press("t")  # brings the window to the front
    expect(speaker.locator("#alone")).to_be_hidden()
    assert len(deck.context.pages) == 2


def test_two_decks_have_a_window_each_and_leave_the_other_alone(deck: Page) -> None:
    speaker = open_notes(deck)
    with deck.expect_popup() as popup:
        deck.evaluate("window.open(location.href)")  # a tab that could take the other's window by its name
    other: Page = popup.value
    expect(other.locator("body")).to_have_attribute("data-deck", "ready")
    others = open_notes(other)
    turn(other, "End", "slide-2-0")
    expect(others.locator("main")).to_contain_text("Thank them.")
    expect(speaker.locator("main")).to_contain_text("Greet the class.")
    deck.reload()
    expect(deck.locator("body")).to_have_attribute("data-deck", "ready")
    turn(deck, "Space", "slide-1-0")
    expect(speaker.locator("main")).to_contain_text("Ask first.")
    expect(others.locator("main")).to_contain_text("Thank them.")


@pytest.mark.parametrize("size", [(1200, 740), (1000, 600), (1920, 1040)], ids=str)
def test_clock_and_plan_can_be_read_from_two_metres_and_nothing_is_cut_off(
    deck: Page, size: tuple[int, int]
) -> None:
    speaker = open_notes(deck)
    turn(deck, "Space", "slide-1-0")
    speaker.set_viewport_size({"width": size[0], "height": size[1]})
    for name in ("#elapsed", "#plan"):
        pixels = speaker.locator(name).evaluate("node => parseFloat(getComputedStyle(node).fontSize)")
        assert pixels >= 55  # capitals of 10 mm at 96 pixels an inch
    for part in speaker.locator("output, time, button, figure, aside p").all():
        box = part.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= size[0]
        assert box["y"] + box["height"] <= size[1]
