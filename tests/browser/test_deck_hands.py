"""A show of hands: typed counts, bars beside the result, and those of last year among the notes."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import JupyterServer
from tests.browser.decks import FAULTS_OF_SLIDE, expect_light, go_to
from tests.browser.lecture import expect_done, foot_says, open_notes, reload, turn
from tests.browser.new_lesson import cell, current, lay_lesson, open_deck, press, status_of
from tests.browser.pages import expect_accessible, new_page
from tests.browser.waiting import act, measure, saved_when
from tests.waiting import eventually

NOON = 1_800_014_400  # 2027-01-15, in seconds since 1970
YEAR = 365 * 86_400
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
FAULTS = f"() => {{ {FAULTS_OF_SLIDE}; return faultsOfSlide(); }}"
# How many cells the bars cover, how many of their parts leave the slide, and their smallest letters.
PLACE = """(bars) => {
    const box = (node) => node.getBoundingClientRect();
    const cells = [...bars.parentElement.querySelectorAll(".jp-Cell")].map(box).filter((cell) => cell.height);
    const meets = (a, b) =>
        a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    const parts = [...bars.querySelectorAll("*")];
    const foot = document.querySelector("#deck-foot").getBoundingClientRect();
    return {
        covered: cells.filter((cell) => parts.some((part) => meets(box(part), cell))).length,
        outside: parts.filter((part) => box(part).right > innerWidth || box(part).bottom > foot.top).length,
        letters: Math.min(...parts.map((part) => Number.parseFloat(getComputedStyle(part).fontSize))),
    };
}"""


LENGTHS = "(bars, side) => [...bars.querySelectorAll('i')].map((bar) => bar.getBoundingClientRect()[side])"


@pytest.fixture
def file(jupyter: JupyterServer, tmp_path: Path) -> Path:
    """The deck's own copy of a lesson; nobody has counted hands yet."""
    name = f"work/deck-en/{tmp_path.name}.ipynb"
    lay_lesson(jupyter, name, CELLS, kind="deck")
    for old in (jupyter.folder / "work").glob("hands*"):
        old.unlink()
    return jupyter.folder / name


@pytest.fixture
def deck(browser: Browser, jupyter: JupyterServer, file: Path) -> Iterator[Page]:
    """The deck of that copy, at noon of a fixed day, on the slide that asks."""
    with new_page(browser, timezone_id="UTC") as page:
        page.clock.set_fixed_time(NOON)
        open_deck(page, jupyter.address("rise", file.relative_to(jupyter.folder).as_posix()))
        turn(page, "ArrowRight", "slide-1-0")
        yield page


def bars_of(page: Page) -> Locator:
    return current(page).locator("> .hands")


def keeps(file: Path, cell: str, *shows: tuple[str, list[int]]) -> Any:
    """Wait until the instructor's own file has these shows of a cell, and return them."""

    def read() -> Any:
        try:
            kept = json.loads((file.parents[1] / "hands-en.json").read_text())["lesson"]
        except (FileNotFoundError, ValueError):
            return None  # the server may be writing it
        its = kept.get(cell, [])
        return [(show["date"], show["counts"]) for show in its] == [*shows] and [its]

    return eventually(read, f"the counts of {cell}")[0]


def run_all(page: Page) -> None:
    """Run the code of the slide, and see its outputs."""
    for _ in range(2):
        press(page, "Space Control+Enter")
        expect_done(page)
    expect(current(page).locator(".jp-OutputArea-output")).to_have_count(2)


def test_the_counts_are_asked_for_in_the_foot_until_they_are_right(deck: Page) -> None:
    asks = "twice as much work · four times · eight times: how many hands? "
    foot_says(deck, "h", f"{asks}▏")
    foot_says(deck, "1 2 Space 5 Enter", f"3 counts are wanted, one for each choice; 2 came.\n{asks}12 5▏")
    foot_says(deck, "Space x Enter", f"“x” is no count: type numbers, with a space between.\n{asks}12 5 x▏")
    foot_says(deck, "Escape", "")
    foot_says(deck, "h", f"{asks}12 5 x▏")  # what was typed is not lost
    turn(deck, "PageDown PageUp PageUp", "slide-0-0")  # a clicker goes on turning the deck
    expect(status_of(deck)).to_have_text("")
    turn(deck, "ArrowRight", "slide-1-0")
    foot_says(deck, "h Backspace 3 1", f"{asks}12 5 31▏")
    foot_says(deck, "Enter", "Counted. The bars come with the result.")
    turn(deck, "End", "slide-3-0")
    foot_says(deck, "h", "The question of this slide has no choices to count.")


def test_the_bars_stand_beside_the_result_in_any_window_and_last_until_they_are_taken_away(
    deck: Page, file: Path
) -> None:
    press(deck, "h 1 2 , 5 Space 3 1 Enter")
    (show,) = keeps(file, "cost", ("2027-01-15", [12, 5, 31]))
    assert show["choices"] == CHOICES
    expect(bars_of(deck)).to_be_hidden()  # they would tell what the others think
    run_all(deck)
    said = "Hands: 48 twice as much work 12 · 25 % four times 5 · 10 % eight times 31 · 65 %"
    expect(deck.get_by_role("img", name=said)).to_be_visible()
    for light in (True, False):
        for width, height in ((1024, 768), (1280, 720), (1920, 1080)):
            deck.set_viewport_size({"width": width, "height": height})
            place = measure(bars_of(deck), PLACE)
            assert (place["covered"], place["outside"]) == (0, 0), (width, height)
            assert place["letters"] >= 18
            assert measure(deck, FAULTS) == []
        expect_accessible(deck, "section.present > section.present > .hands")
        deck.keyboard.press("d")
        expect_light(deck, not light)
    for side, height in (("width", 720), ("height", 1024)):  # of a column, and of a strip in a narrow window
        deck.set_viewport_size({"width": 1280, "height": height})
        lengths = measure(bars_of(deck), LENGTHS, side)
        shares = [length / lengths[2] for length in lengths]
        assert shares == pytest.approx([12 / 31, 5 / 31, 1], abs=0.02), side
    press(deck, "Control+s")
    saved_when(file, lambda lesson: lesson.cells[3].outputs, "its outputs")
    reload(deck)
    go_to(deck, "slide-1-0")
    expect(bars_of(deck)).to_be_hidden()
    press(deck, "Space")
    expect(bars_of(deck)).to_be_visible()
    foot_says(deck, "h", re.compile("Enter alone takes the bars away"))
    foot_says(deck, "Enter", "The bars of today are gone.")
    expect(bars_of(deck)).to_have_count(0)
    keeps(file, "cost")


def test_a_question_without_a_result_has_its_bars_at_once_and_other_counts_take_their_place(
    deck: Page, file: Path
) -> None:
    turn(deck, "ArrowRight ArrowRight ArrowRight", "slide-2-0")
    press(deck, "h 1 Space")
    act(deck, "() => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '２', bubbles: true }))")
    press(deck, "Enter")
    expect(bars_of(deck)).to_contain_text("yes1 · 33 %no2 · 67 %")
    press(deck, "h 0 Space 4 Enter")
    expect(bars_of(deck)).to_contain_text("yes0 · 0 %no4 · 100 %")
    keeps(file, "riddle", ("2027-01-15", [0, 4]))


def test_a_year_later_the_notes_alone_show_the_bars(deck: Page, file: Path) -> None:
    press(deck, "h 1 2 Space 5 Space 3 1 Enter")
    keeps(file, "cost", ("2027-01-15", [12, 5, 31]))
    deck.clock.set_fixed_time(NOON + YEAR)
    reload(deck)
    go_to(deck, "slide-1-0")
    run_all(deck)
    expect(bars_of(deck)).to_have_count(0)
    notes = open_notes(deck).locator("article")
    expect(
        notes.get_by_role("img", name="Hands on 2027-01-15: 48 twice as much work 12 · 25 %")
    ).to_be_visible()
    expect(notes).to_contain_text("Hands first.")
    press(deck, "h 7 Space 0 Space 7 Enter")
    expect(bars_of(deck)).to_contain_text("Hands: 14")
    keeps(file, "cost", ("2027-01-15", [12, 5, 31]), ("2028-01-15", [7, 0, 7]))


@pytest.mark.parametrize(
    "text", ['{"lesson": {"cost', '{"lesson": {"cost": [{"date": "2027-01-14"}]}}', "[]"]
)
def test_a_broken_file_is_set_aside_with_a_word_and_never_lost(deck: Page, file: Path, text: str) -> None:
    work = file.parents[1]
    (work / "hands-en.broken.json").write_text("an earlier one")
    (work / "hands-en.json").write_text(text)
    reload(deck)
    expect(status_of(deck)).to_have_text(
        "The file of the counts could not be read, and is now hands-en.broken2.json."
    )
    go_to(deck, "slide-1-0")
    press(deck, "h 1 Space 2 Space 3 Enter")
    keeps(file, "cost", ("2027-01-15", [1, 2, 3]))
    assert (work / "hands-en.broken2.json").read_text() == text
    assert (work / "hands-en.broken.json").read_text() == "an earlier one"


def test_another_file_than_the_decks_own_copy_draws_bars_and_keeps_none(
    page: Page, jupyter: JupyterServer, file: Path
) -> None:
    open_deck(page, lay_lesson(jupyter, "notebooks/en/hands.ipynb", CELLS, kind="source"))
    turn(page, "ArrowRight", "slide-1-0")
    foot_says(
        page, "h 1 Space 2 Space 3 Enter", re.compile("^Not kept: only the deck that make present opens")
    )
    run_all(page)
    expect(bars_of(page)).to_be_visible()
    assert [*jupyter.folder.glob("*/hands-*")] == []
