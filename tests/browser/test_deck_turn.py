"""The deck stands where its keys have led: a clicker's path, and random keys against a model of the deck."""

import random
from collections.abc import Iterator

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Page, expect

from tests.browser.new_lesson import POSITION, cell, current, press, status_of
from tests.browser.waiting import act, becomes

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


def made_cells() -> Iterator[NotebookNode]:
    for column, row, _, optional in SLIDES:
        kind = "subslide" if row else "slide"
        yield cell(kind, new_markdown_cell, f"## Slide {column}.{row}", f"slide-{column}-{row}")
        for step in range(COLUMNS[column][row][0]):
            make = new_code_cell if step % 2 else new_markdown_cell
            made = cell("fragment", make, f"'step {step}'\n\n'end'", f"step-{column}-{row}-{step}")
            made.metadata |= {"highlight": HIGHLIGHT} if step % 2 else {}
            yield made
        minutes = "Optional, 1 min." if optional else "1 min."
        yield cell("notes", new_markdown_cell, minutes, f"notes-{column}-{row}")
    for number in range(3):
        yield cell("skip", new_code_cell, "pass", f"setup-{number}", ("setup",))


CELLS = list(made_cells())


def goes(page: Page, column: int, row: int, shown: int, *keys: str) -> None:
    """Press the keys, and see where they have led."""
    for key in keys:
        page.keyboard.press(key)
    becomes(page, POSITION, [f"slide-{column}-{row}", shown])


@pytest.mark.parametrize(
    "rounds", [pytest.param(40, marks=pytest.mark.ci), pytest.param(300, marks=pytest.mark.whole)]
)
def test_random_keys_lead_where_a_model_of_the_deck_says(deck: Page, rounds: int) -> None:
    seed = random.randrange(10**9)
    chance = random.Random(seed)
    model = Model()
    for _ in range(rounds):
        keys = chance.choices(KEYS, k=chance.randrange(2, 12))
        print(f"seed {seed}: {keys}")
        for key in keys:
            model.press(key)
            deck.keyboard.press(key, delay=chance.uniform(5, 50))  # the lecturer's hand, in ms
        becomes(deck, POSITION, model.position)


def test_a_clicker_follows_the_core_path_from_optional_slides_too(deck: Page) -> None:
    core = [(slide[0], slide[1], shown) for slide in SLIDES if not slide[3] for shown in range(slide[2] + 1)]
    goes(deck, *core[0])
    for position in core[1:]:
        goes(deck, *position, "PageDown")
    deck.keyboard.press("PageDown")  # leads nowhere
    for position in core[-2::-1]:
        goes(deck, *position, "PageUp")
    goes(deck, 1, 1, 0, "ArrowRight", *["Space"] * 5, "ArrowDown")
    goes(deck, 1, 1, 1, "PageDown")
    goes(deck, 2, 0, 0, "PageDown")


def test_two_keys_in_one_moment_both_turn_the_deck(deck: Page) -> None:
    deck.keyboard.press("End")
    act(
        deck,
        """() => {
            for (const key of ["Home", "ArrowRight"])
                document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        }""",
    )
    goes(deck, 1, 0, 0)


def test_a_number_can_be_typed_while_the_setup_runs(deck: Page) -> None:
    press(deck, "s 2")
    question = "Go to slide 2: Enter"
    expect(status_of(deck)).to_have_text(question)
    expect(deck.locator(".jp-InputPrompt").last).to_have_text("[3]:")
    expect(status_of(deck)).to_have_text(question)
    deck.keyboard.press("Enter")
    expect(current(deck)).to_have_id("slide-1-0")


def test_the_sorter_takes_keys_before_it_is_drawn(deck: Page) -> None:
    goes(deck, 1, 0, 0, "o", "ArrowRight", "ArrowRight", "Enter")
    deck.keyboard.press("b")
    goes(deck, 1, 0, 1, "ArrowRight")
