"""A show of hands: typed counts, bars below the result, and those of last year among the notes."""

import json
import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Locator, Page, expect

from tests.browser.decks import LOOK, go_to
from tests.browser.lecture import expect_done, expect_inside, foot_says, open_notes, outputs_of, reload, turn
from tests.browser.new_lesson import cell, current, lay_lesson, open_deck, press, status_of
from tests.browser.pages import expect_accessible, new_page
from tests.browser.waiting import box_of, each_of, measure
from tests.waiting import eventually

NOON = 1_800_014_400  # 2027-01-15, in seconds since 1970
CHOICES = ["twice as much work", "four times", "eight times"]
DRAWS = "import matplotlib.pyplot as plt\nplt.figure(figsize=(8.94, 2.8))\nplt.plot([1, 2])\nplt.show()"
TICKS = "print('✓ the first\\n✓ the second\\n✓ the third')"
CELLS = [
    cell("slide", new_markdown_cell, "# Hands", "title"),
    cell("slide", new_markdown_cell, "## What does it cost?\n\n*Guess: how many times?*", "cost", ("guess",)),
    cell("fragment", new_code_cell, DRAWS, "cost-drawn", ("shows-picture",)),
    cell("fragment", new_code_cell, TICKS, "cost-asserted", ("shows-text",)),
    cell("notes", new_markdown_cell, "2 min. Hands first.", "cost-notes"),
    cell("slide", new_markdown_cell, "## Is it R?\n\n*Guess.*", "riddle", ("guess",)),
    cell("slide", new_markdown_cell, "## Guess anything\n\n*Guess.*", "open", ("guess",)),
]
CELLS[1].metadata["choices"] = CHOICES
CELLS[2].metadata["picture"] = "894 x 280"
CELLS[5].metadata["choices"] = ["yes", "no"]


@pytest.fixture
def file(jupyter, tmp_path):
    """The deck's own copy of a lesson; the counts are removed, lest the next test reads them."""
    name = f"work/deck-en/{tmp_path.name}.ipynb"
    lay_lesson(jupyter, name, CELLS, kind="deck")
    yield jupyter.folder / name
    (jupyter.folder / "work" / "hands-en.json").unlink(missing_ok=True)


@pytest.fixture
def deck(browser, jupyter, file):
    """The deck of that copy, at noon of a fixed day, on the slide that asks."""
    with new_page(browser, timezone_id="UTC") as page:
        page.clock.set_fixed_time(NOON)
        open_deck(page, jupyter.address("rise", file.relative_to(jupyter.folder).as_posix()))
        turn(page, "ArrowRight", "slide-1-0")
        yield page


def bars_of(page: Page) -> Locator:
    return current(page).locator("> .hands")


def expect_kept(file, cell, *shows):
    """Wait until the instructor's own file has these shows of a cell: their dates and counts."""

    def is_kept():
        try:
            kept = json.loads((file.parents[1] / "hands-en.json").read_text())["lesson"]
        except (FileNotFoundError, ValueError):
            return False  # the server may be writing it
        return [(show["date"], show["counts"]) for show in kept.get(cell, [])] == [*shows]

    eventually(is_kept, f"the counts of {cell}")


@pytest.mark.ci
def test_counts_are_asked_for_until_they_are_right_and_without_a_result_bars_come_at_once(deck, file):
    asks = "twice as much work · four times · eight times: how many hands? "
    wrong = "3 counts are wanted, one for each choice: numbers with a space between.\n"
    foot_says(deck, "h 1 2 Space 5 Enter", f"{wrong}{asks}12 5▏")
    foot_says(deck, "Space x Enter", f"{wrong}{asks}12 5 x▏")
    foot_says(deck, "Backspace 3 1", f"{asks}12 5 31▏")
    turn(deck, "PageUp", "slide-0-0")  # a clicker goes on turning the deck
    expect(status_of(deck)).to_have_text("")
    turn(deck, "ArrowRight h", "slide-1-0")
    foot_says(deck, "1 , 2 , 3 Enter", "Counted. The bars come with the result.")
    turn(deck, "End", "slide-3-0")
    foot_says(deck, "h", "The question of this slide has no choices to count.")
    turn(deck, "ArrowLeft", "slide-2-0")
    press(deck, "h 1 Space 2 Enter")
    expect(bars_of(deck)).to_contain_text("yes1 · 33 %no2 · 67 %")
    press(deck, "h 0 Space 4 Enter")
    expect(bars_of(deck)).to_contain_text("yes0 · 0 %no4 · 100 %")
    expect_kept(file, "riddle", ("2027-01-15", [0, 4]))


def test_the_bars_stand_below_the_result_today_and_among_the_notes_a_year_later(deck, file):
    press(deck, "h 1 2 , 5 Space 3 1 Enter")
    expect_kept(file, "cost", ("2027-01-15", [12, 5, 31]))
    expect(bars_of(deck)).to_be_hidden()  # they would tell what the others think
    for _ in range(2):
        press(deck, "Space Control+Enter")
        expect_done(deck)
    expect(outputs_of(deck)).to_have_count(2)
    said = "Hands: 48twice as much work12 · 25 %four times5 · 10 %eight times31 · 65 %"
    expect(bars_of(deck)).to_have_text(said)
    expect(bars_of(deck)).to_be_visible()
    deck.set_viewport_size({"width": 1024, "height": 768})
    assert measure(deck, LOOK)["faults"] == []
    outputs = [box_of(output) for output in each_of(outputs_of(deck))]
    bottom = max(box["y"] + box["height"] for box in outputs)
    expect_inside(deck, ".present > .present > .hands *", (0, bottom, 1024, 727))  # above the foot
    expect_accessible(deck, "section.present > section.present > .hands")
    lengths = measure(bars_of(deck), "bars => [...bars.querySelectorAll('i')].map((bar) => bar.clientHeight)")
    assert [length / lengths[2] for length in lengths] == pytest.approx([12 / 31, 5 / 31, 1], abs=0.03)
    deck.clock.set_fixed_time(NOON + 365 * 86_400)
    reload(deck)
    go_to(deck, "slide-1-0")
    expect(bars_of(deck)).to_have_count(0)
    notes = open_notes(deck).locator("article")
    expect(notes.get_by_role("figure")).to_have_text(said.replace("Hands", "Hands on 2027-01-15"))
    expect(notes).to_contain_text("Hands first.")
    press(deck, "h 7 Space 0 Space 7 Enter Space")
    expect(bars_of(deck)).to_contain_text("Hands: 14")
    expect_kept(file, "cost", ("2027-01-15", [12, 5, 31]), ("2028-01-15", [7, 0, 7]))


@pytest.mark.ci
def test_counts_that_are_typed_before_the_file_is_read_come_after_it(deck, file):
    """The answer of the server would replace them; it is held back until they are typed."""
    held = []
    deck.route(re.compile(r"/api/contents/work\?"), lambda route: held.append(route), times=1)
    reload(deck)
    go_to(deck, "slide-2-0")
    press(deck, "h 1 Space 2 Enter")
    expect(bars_of(deck)).to_have_count(0)
    (reading,) = held
    reading.continue_()
    expect(bars_of(deck)).to_contain_text("yes1 · 33 %no2 · 67 %")
    expect_kept(file, "riddle", ("2027-01-15", [1, 2]))


@pytest.mark.ci
def test_a_broken_file_is_told_and_never_written_over(deck, file):
    kept = file.parents[1] / "hands-en.json"
    kept.write_text('{"lesson": {"cost')
    reload(deck)
    expect(status_of(deck)).to_have_text(re.compile("^The counts of earlier years can't be read now: "))
    go_to(deck, "slide-2-0")
    foot_says(deck, "h 1 Space 2 Enter", re.compile("^Not kept for next year: "))
    expect(bars_of(deck)).to_be_visible()
    assert kept.read_text() == '{"lesson": {"cost'
