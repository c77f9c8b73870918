"""The speaker's window: the clock against the plan, the slide and what comes next, a reload of the deck."""

import re
from collections.abc import Iterator

import pytest
from nbformat.v4 import new_markdown_cell
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import JupyterServer
from tests.browser.decks import begin
from tests.browser.lecture import expect_inside, open_notes, reload, turn
from tests.browser.new_lesson import cell, current, lay_lesson, open_deck, press
from tests.browser.pages import new_page
from tests.browser.waiting import answer_of, box_of, each_of, measure, until

CELLS = [  # slide type, source
    ("slide", "# A title"),
    ("notes", "3 min. Greet the class. $x^2$"),
    ("slide", "## The second"),
    ("fragment", "Step one."),
    ("fragment", "Step two."),
    ("notes", "2 min. Ask first."),
    ("subslide", "Below it"),
    ("notes", "Optional, 2 min."),
    ("slide", "## The third & $x^2$"),
    ("notes", "5 min. Thank them."),
    ("subslide", "Sources"),
    ("notes", "Optional, 1 min."),
]
POST = """(data) => new Promise((resolve) => {
    postMessage(JSON.stringify(data), "*");
    addEventListener("message", ({ data }) => data === "after it" && resolve());
    postMessage("after it", "*");
})"""
NOON = 1_800_014_400  # seconds since 1970


@pytest.fixture(scope="module")
def opened(browser: Browser, jupyter: JupyterServer) -> Iterator[Page]:
    # A zone of whole hours: the minutes on the clock are those of the test.
    with new_page(browser, timezone_id="UTC") as page:
        set_clock(page, 0)
        cells = [cell(kind, new_markdown_cell, text, f"cell-{n}") for n, (kind, text) in enumerate(CELLS)]
        open_deck(page, lay_lesson(jupyter, "speaker.ipynb", cells))
        yield page


@pytest.fixture
def deck(opened: Page) -> Iterator[Page]:
    """A deck that all tests here share, on its first slide; its clock stands still until a test sets it."""
    set_clock(opened, 0)
    yield begin(opened)
    for other in opened.context.pages:
        if other is not opened:
            other.close()


def open_speaker(deck: Page) -> Page:
    """The speaker's window, without the talk of an earlier test."""
    speaker = open_notes(deck)
    speaker.get_by_role("button", name="reset").click()
    expect_clock(speaker, "0:00", "starts with the first turn")
    return speaker


def set_clock(page: Page, minutes: float) -> None:
    """Let it be so many minutes past noon."""
    page.clock.set_fixed_time(NOON + 60 * minutes)


def now(speaker: Page) -> Locator:
    return speaker.frame_locator("figure >> nth=0 >> iframe").locator(".deck-picture")


def coming(speaker: Page) -> Locator:
    return speaker.frame_locator("figure >> nth=1 >> iframe").locator(".deck-picture")


def expect_clock(speaker: Page, elapsed: str, plan: str) -> None:
    expect(speaker.locator("#elapsed")).to_have_text(elapsed)
    expect(speaker.locator("#plan")).to_have_text(plan)


def test_the_clock_starts_with_the_first_turn_as_if_the_first_slide_had_kept_to_its_plan(deck: Page) -> None:
    speaker = open_speaker(deck)
    set_clock(deck, 10)  # the class comes in
    expect(speaker.locator("time")).to_have_text(re.compile(r"\d\d:10:00"))
    expect_clock(speaker, "0:00", "starts with the first turn")
    turn(deck, "Space", "slide-1-0")
    expect_clock(speaker, "3:00", "on time")
    set_clock(deck, 11.5)
    expect_clock(speaker, "4:30", "on time")  # the slide is planned for minute 3 to 5
    set_clock(deck, 14)
    expect_clock(speaker, "7:00", "2 min behind")
    turn(deck, "ArrowRight ArrowRight ArrowDown", "slide-1-1")  # what is optional has no minutes in the plan
    expect(speaker.locator("h1")).to_have_text("Below it")  # its first line, for it has no heading
    expect(speaker.locator("header")).to_contain_text("slide 2.1 of 3, planned for minute 5 to 5")
    expect_clock(speaker, "7:00", "2 min behind")
    turn(deck, "PageDown", "slide-2-0")
    expect_clock(speaker, "7:00", "on time")  # planned for minute 5 to 10


@pytest.mark.ci
def test_the_clock_says_how_far_ahead_the_talk_is_can_be_paused_and_outlives_the_window(deck: Page) -> None:
    speaker = open_speaker(deck)
    speaker.get_by_role("button", name="start").click()
    turn(deck, "End", "slide-2-0")
    speaker.get_by_role("button", name="pause").click()
    set_clock(deck, 4)
    expect(speaker.locator("time")).to_have_text(re.compile(r"\d\d:04:00"))
    expect_clock(speaker, "0:00", "5 min ahead")
    speaker.get_by_role("button", name="go on").click()
    set_clock(deck, 8)
    expect_clock(speaker, "4:00", "1 min ahead")
    with speaker.expect_event("close"):
        reload(deck)
    expect_clock(open_notes(deck), "4:00", "1 min ahead")


def test_it_shows_the_slide_as_the_class_sees_it_and_the_next_step_or_core_slide(deck: Page) -> None:
    speaker = open_speaker(deck)
    aside = speaker.locator("aside")
    expect(now(speaker).get_by_text("A title")).to_be_visible()
    expect(coming(speaker).get_by_text("The second")).to_be_visible()
    expect(aside).to_contain_text("Next: The second")
    expect(aside).not_to_contain_text("Steps left")
    expect(speaker.locator("header")).to_contain_text("slide 1 of 3, planned for minute 0 to 3")
    expect(speaker.locator("article")).to_contain_text("Greet the class")
    until(speaker, "document.querySelector('article mjx-c')?.getBoundingClientRect().width > 3")
    turn(speaker, "PageDown", "slide-1-0", of=deck)
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
    picture, room = box_of(coming(speaker)), box_of(speaker.locator("figure").last)
    assert picture["width"] == pytest.approx(room["width"], abs=1)
    assert room["width"] / room["height"] == pytest.approx(16 / 9, rel=0.01)
    expect(aside).to_contain_text("Next: The third &")
    turn(deck, "End", "slide-2-0")
    expect(speaker.locator("h1")).to_contain_text("The third &")
    expect(aside.locator("p").last).to_have_text("Next: ")
    expect(coming(speaker)).to_have_count(0)


def test_t_opens_no_window_but_ours_and_nobody_else_turns_the_deck(deck: Page) -> None:
    """RISE's own speaker window, by T or S, posts the state that it had when it opened."""
    speaker = open_speaker(deck)
    turn(deck, "End", "slide-2-0")
    for page in (deck, speaker):
        press(page, "s t [ ] = - q , w")
    answer_of(deck, POST, {"method": "setState", "args": [{"indexh": 0, "indexv": 0}]})
    answer_of(deck, POST, {"namespace": "reveal-notes", "type": "heartbeat"})
    expect(current(deck)).to_have_id("slide-2-0")
    assert deck.context.pages == [deck, speaker]


def test_clock_and_plan_can_be_read_from_two_metres_and_nothing_is_cut_off(deck: Page) -> None:
    speaker = open_speaker(deck)
    turn(deck, "Space", "slide-1-0")
    expect(speaker.locator("h1")).to_have_text("The second")
    speaker.set_viewport_size({"width": 1000, "height": 600})
    for name, least in (
        ("#elapsed", 55),
        ("#plan", 55),
        ("article", 28),
    ):  # capitals of 10 mm
        assert measure(speaker.locator(name), "node => parseFloat(getComputedStyle(node).fontSize)") >= least
    shown, next_one = (box_of(figure) for figure in each_of(speaker.locator("figure")))
    assert shown["width"] > 1.5 * next_one["width"], "the slide itself is the larger picture"
    expect_inside(speaker, "output, time, button, figure, aside p", (0, 0, 1000, 600))
