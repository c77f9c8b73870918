"""The deck stands where its keys have led: a clicker's path, and random keys against a model of the deck."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Page, expect

from tests.browser.new_lesson import POSITION, current, new_lesson, open_deck, status_of
from tests.browser.test_deck_keys import cell

if TYPE_CHECKING:
    from tests.browser.conftest import JupyterServer

COLUMNS = [  # of each slide: its fragments, the second of which is code, and whether it is optional
    [(0, False), (0, True)],
    [(2, False), (1, True), (0, True)],
    [(0, False)],
    [(1, True), (2, True)],
    [(0, False), (1, False), (0, True)],
    [(3, False)],
    [(0, True)],
]
HIGHLIGHT = "2|1,3"  # of each fragment of code
LINES = 3  # steps: two through the lines, and one that shows all of them again
SLIDES = [
    (column, row, steps + LINES * (steps // 2), optional)
    for column, slides in enumerate(COLUMNS)
    for row, (steps, optional) in enumerate(slides)
]


class Model:
    """Where a deck of these slides stands after each key."""

    def __init__(self) -> None:
        self.index = self.shown = 0

    @property
    def position(self) -> list[object]:
        column, row, *_ = SLIDES[self.index]
        return [f"slide-{column}-{row}", self.shown]

    def press(self, key: str) -> None:
        column, row, steps, _ = SLIDES[self.index]
        if key in ("Home", "End"):
            self.go_to(SLIDES[0 if key == "Home" else -1][:2])
        elif key in ("PageDown", "Space", "ArrowRight", "ArrowDown") and self.shown < steps:
            self.shown += 1
        elif key in ("PageUp", "Shift+Space", "ArrowLeft", "ArrowUp") and self.shown:
            self.shown -= 1
        elif key in ("PageDown", "Space"):
            self.go_to(next((slide[:2] for slide in SLIDES[self.index + 1 :] if not slide[3]), None))
        elif key in ("PageUp", "Shift+Space"):
            self.go_to(next((slide[:2] for slide in reversed(SLIDES[: self.index]) if not slide[3]), None))
        else:
            places = {"ArrowRight": (column + 1, 0), "ArrowLeft": (column - 1, 0)}
            places |= {"ArrowDown": (column, row + 1), "ArrowUp": (column, row - 1)}
            self.go_to(places[key])

    def go_to(self, place: tuple[int, int] | None) -> None:
        """Turn to a slide, if there is one: it shows all its steps where the deck comes back to it."""
        index = next((number for number, slide in enumerate(SLIDES) if slide[:2] == place), self.index)
        if index != self.index:
            self.shown = SLIDES[index][2] if index < self.index else 0
        self.index = index


CORE = ("PageDown", "PageUp", "Space", "Shift+Space")
KEYS = (*CORE, "PageDown", "Space", "ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "Home", "End")


@pytest.fixture
def deck(page: Page, jupyter: JupyterServer) -> Page:
    cells = []
    for column, row, steps, optional in [
        (column, row, *slide) for column, slides in enumerate(COLUMNS) for row, slide in enumerate(slides)
    ]:
        kind = "subslide" if row else "slide"
        cells.append(cell(kind, new_markdown_cell, f"## Slide {column}.{row}", f"slide-{column}-{row}"))
        for step in range(steps):
            make = new_code_cell if step % 2 else new_markdown_cell
            cells.append(cell("fragment", make, f"'step {step}'\n\n'end'", f"step-{column}-{row}-{step}"))
            if make is new_code_cell:
                cells[-1].metadata["highlight"] = HIGHLIGHT
        minutes = "Optional, 1 min." if optional else "1 min."
        cells.append(cell("notes", new_markdown_cell, minutes, f"notes-{column}-{row}"))
    cells += [cell("skip", new_code_cell, "pass", f"setup-{number}", ("setup",)) for number in range(3)]
    nbformat.write(new_lesson(cells, title="Turn"), jupyter.folder / "turn.ipynb")
    open_deck(page, jupyter.address("rise", "turn.ipynb"))
    return page


@pytest.mark.parametrize("seconds", [8, pytest.param(60, marks=pytest.mark.whole)])
def test_random_keys_lead_where_a_model_of_the_deck_says(deck: Page, seconds: int) -> None:
    seed = random.randrange(10**9)
    chance = random.Random(seed)
    model = Model()
    pressed: list[str] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(chance.randrange(2, 12)):
            pressed.append(chance.choice(KEYS))
            model.press(pressed[-1])
            deck.keyboard.press(pressed[-1])
            time.sleep(chance.uniform(0.005, 0.05))  # the lecturer's hand
        said = f"seed {seed}, after {len(pressed)} keys, the last of them {pressed[-12:]}"
        assert deck.evaluate(POSITION) == model.position, said


def press(page: Page, *keys: str) -> object:
    for key in keys:
        page.keyboard.press(key)
    return page.evaluate(POSITION)


def test_a_clicker_follows_the_core_path_from_optional_slides_too(deck: Page) -> None:
    core = [(slide[0], slide[1], shown) for slide in SLIDES if not slide[3] for shown in range(slide[2] + 1)]
    path = [[f"slide-{column}-{row}", shown] for column, row, shown in core]
    assert [press(deck), *(press(deck, "PageDown") for _ in path[1:])] == path
    assert press(deck, "PageDown") == path[-1]
    assert [press(deck, "PageUp") for _ in path[1:]] == path[-2::-1]
    assert press(deck, "ArrowRight", *["Space"] * 5, "ArrowDown") == ["slide-1-1", 0]
    assert press(deck, "PageDown") == ["slide-1-1", 1]
    assert press(deck, "PageDown") == ["slide-2-0", 0]


def test_two_keys_in_one_moment_both_turn_the_deck(deck: Page) -> None:
    deck.keyboard.press("End")
    deck.evaluate("""() => {
        for (const key of ["Home", "ArrowRight"])
            document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    }""")
    assert deck.evaluate(POSITION) == ["slide-1-0", 0]


def test_a_number_can_be_typed_while_the_setup_runs(deck: Page) -> None:
    deck.keyboard.press("s")
    deck.keyboard.press("2")
    question = "Go to slide 2: Enter"
    expect(status_of(deck)).to_have_text(question)
    expect(deck.locator(".jp-InputPrompt").last).to_have_text("[3]:")
    expect(status_of(deck)).to_have_text(question)
    deck.keyboard.press("Enter")
    expect(current(deck)).to_have_id("slide-1-0")


def test_the_sorter_takes_keys_before_it_is_drawn(deck: Page) -> None:
    assert press(deck, "o", "ArrowRight", "ArrowRight", "Enter") == ["slide-1-0", 0]
    deck.keyboard.press("b")
    assert press(deck, "ArrowRight") == ["slide-1-0", 1]
