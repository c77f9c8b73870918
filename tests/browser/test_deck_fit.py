"""Code, pictures and explorers fill a slide, and code stays in its place when its output comes."""

import re
from typing import Any

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Page, expect

from tests.browser.decks import begin, go_to, run_deck
from tests.browser.new_lesson import current, press
from tests.browser.waiting import attribute_of, becomes, box_of, each_of, measure, until

pytestmark = pytest.mark.ci

SETUP = """import torch
from mha_lib.classroom import begin_lesson, explore, show_heads, tick

begin_lesson("03", "en")
maps = torch.rand(4, 8, 8).softmax(-1)
"""
PRINTS = "for n in (4, 64, 1024):\n    print(f'n = {n:4}: {n**2:8} pairs')"
TICKS = "tick(maps.min() >= 0, 'weights are never negative')\ntick(maps.shape == (4, 8, 8), 'a map a head')"
EXPLORES = """explorer = explore(
    lambda length: torch.full((length, length), 1 / length),
    length=[14, 2],
)
explorer"""
QUESTION = """## An explorer

*Guess: whom does the pronoun mean once there are two whom it could mean, and which switch mends it then?*"""


def code(source: str, shows: str = "", room: str = "") -> NotebookNode:
    """A code cell whose metadata say what it shows, and in how many lines."""
    tags = {"tags": [f"shows-{shows}"]} if shows else {}
    return new_code_cell(source, metadata=tags | ({"room": room} if room else {}))


SLIDES = [  # the cells of each slide
    [new_markdown_cell("# Title"), code(SETUP)],
    [new_markdown_cell("## Printed"), code(PRINTS, "text", "3 x 23"), code(TICKS, "text", "2 x 30")],
    [new_markdown_cell("## A value"), code("maps.sum(-1).min().item()", "value")],
    [new_markdown_cell("## A picture"), code("show_heads(maps)", "picture"), code(TICKS, "text", "2 x 30")],
    [new_markdown_cell("## Defined"), code("def double(x):\n    return 2 * x", "nothing")],
    [new_markdown_cell("## Not tagged"), code(PRINTS), code("def half(x):\n    return x / 2")],
    [new_markdown_cell("## Chosen\n\nAn *even* map. *Guess: is it?*"), code("2 + 3", "value")],
    [new_markdown_cell("## Typed\n\n*Guess the sum.*"), code("3 + 5", "value")],
    [new_markdown_cell("## Your turn"), code("answer = ...", "nothing")],
    [new_markdown_cell(QUESTION), code(EXPLORES, "explorer")],
    [new_markdown_cell("## Your turn again"), code("other = ...", "nothing")],
]
PICTURE, CHOSEN, TYPED, TURN, EXPLORER, AGAIN = 3, *range(6, 11)
CELLS = [cell for cells in SLIDES for cell in cells]
for cell in CELLS:
    starts = cell.cell_type == "markdown"
    cell.metadata["slideshow"] = {"slide_type": "slide" if starts else "-"}
for slide in (CHOSEN, TYPED):
    asks, answers = SLIDES[slide]
    asks.metadata["tags"], answers.metadata["slideshow"] = ["guess"], {"slide_type": "fragment"}
SLIDES[CHOSEN][0].metadata["choices"] = ["yes", "no"]
for slide in (TURN, AGAIN):
    SLIDES[slide][1].metadata["tags"] += ["exercise"]
IS_DRAWN = """(canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.some(Boolean);
}"""
# The letters of each piece of code on the slide, and the top of each of its lines.
CODE_CELLS = ".present > .present .jp-CodeCell:not(.reveal-skip)"
CODE = f"""() => [...document.querySelectorAll("{CODE_CELLS} .cm-content")]
    .map((code) => {{
        const top = code.getBoundingClientRect().top;
        const lines = [...code.querySelectorAll(".cm-line")];
        const tops = lines.map((line) => Math.round(line.getBoundingClientRect().top - top));
        return {{ size: getComputedStyle(code).fontSize, tops }};
    }})"""


@pytest.fixture(scope="module", autouse=True)
def before(opened: Page) -> dict[str, Any]:
    """Run the deck of all tests here; returns its code as it was before."""
    code = code_of_slides(opened)
    run_deck(begin(opened))
    return code


def code_of_slides(page: Page) -> dict[str, Any]:
    ids = measure(page, "[...document.querySelectorAll('.slides > section > section')].map(({id}) => id)")
    found = {}
    for slide in ids:
        go_to(page, slide)
        found[slide] = measure(page, CODE)
    return found


def test_an_explorer_that_nobody_has_seen_is_drawn_for_the_sorter(deck: Page) -> None:
    page = deck
    run_deck(page)  # a new explorer: another test may have turned to the one before
    expect(page.locator(".mha-explorer")).to_have_count(1)
    expect(page.locator(".mha-explorer [role=application]")).to_have_count(0)
    page.keyboard.press("o")
    picture = page.frame_locator("#deck-sorter").get_by_role("option").nth(EXPLORER).locator("canvas")
    expect(picture).to_have_attribute("width", re.compile(r"\d+"))
    corner = "canvas => [...canvas.getContext('2d').getImageData(1, 1, 1, 1).data]"
    becomes(picture, corner, [255] * 4)  # its paper
    expect(page.locator(".slides .deck-unseen")).to_have_count(0)
    expect(page.locator("#slide-0-0")).to_be_visible()
    page.keyboard.press("Escape")


def test_code_neither_moves_nor_shrinks_when_its_output_comes(deck: Page, before: dict[str, Any]) -> None:
    after = code_of_slides(deck)
    folded = {f"slide-{PICTURE}-0", f"slide-{EXPLORER}-0"}  # their code folds behind what it shows
    shown = [slide for slide in before if slide not in folded]
    assert {slide: after[slide] for slide in shown} == {slide: before[slide] for slide in shown}
    sizes = {float(code["size"].removesuffix("px")) for slide in shown for code in after[slide]}
    assert min(sizes) >= 24, "there is room"


def test_the_choices_of_a_guess_stand_large_and_the_one_that_is_chosen_stays_by_the_result(deck: Page):
    go_to(deck, f"slide-{CHOSEN}-0")
    choices = current(deck).locator(".deck-guess > *")
    expect(choices).to_have_text(["yes", "no"])
    expect(choices.first).to_have_css("font-size", "38px")
    colours = [measure(em, "em => getComputedStyle(em).color") for em in each_of(current(deck).locator("em"))]
    assert colours[0] != colours[1], "not all that is italic is a guess"
    press(deck, "w w Space")
    expect(choices.filter(visible=True)).to_have_text(["no"])
    deck.keyboard.press("w")  # after the last one, none
    expect(choices.filter(visible=True)).to_have_count(0)


def test_what_a_class_says_is_typed_below_the_question_and_stays_by_the_result(deck: Page) -> None:
    go_to(deck, f"slide-{TYPED}-0")
    press(deck, "w 7 x 8 Enter Space")
    expect(current(deck).locator(".fragment.visible")).to_have_count(1)
    field = current(deck).get_by_label("What the class says")
    expect(field).to_have_value("7x8")
    expect(field).to_be_visible()
    expect(field).not_to_be_focused()


def test_the_last_picture_stands_beside_an_exercise(deck: Page) -> None:
    go_to(deck, f"slide-{TURN}-0")
    picture, code = current(deck).locator(".deck-earlier img"), current(deck).locator(".jp-CodeCell")
    seen = attribute_of(deck.locator(f"#slide-{PICTURE}-0 .jp-OutputArea-output img"), "src")
    expect(picture).to_have_attribute("src", seen or "no picture")
    assert box_of(picture)["width"] > 400
    assert box_of(code)["x"] + box_of(code)["width"] < box_of(picture)["x"]


def test_the_last_picture_may_be_that_of_an_explorer(deck: Page) -> None:
    go_to(deck, f"slide-{EXPLORER}-0")
    expect(current(deck).locator(".mha-explorer canvas")).to_be_visible()
    go_to(deck, f"slide-{AGAIN}-0")
    until(current(deck).locator(".deck-earlier canvas"), IS_DRAWN)


def test_the_code_of_a_picture_folds_behind_it_and_lies_over_the_slide_by_a_key(deck):
    page = deck
    go_to(page, f"slide-{PICTURE}-0")
    code = page.locator(CODE_CELLS).first.locator(".cm-content")
    picture = page.locator(f"{CODE_CELLS} img")
    expect(code).to_be_hidden()
    size = box_of(picture)
    page.keyboard.press("x")
    expect(code).to_be_visible()
    over = box_of(page.locator(f"{CODE_CELLS}[data-over] > .jp-Cell-inputWrapper"))
    assert over["width"] > 1000
    assert over["height"] > 500
    assert box_of(picture) == size, "the slide below stays as it is"
    page.keyboard.press("Escape")
    expect(code).to_be_hidden()


def test_the_code_of_an_explorer_folds_away_and_the_explorer_has_its_room(deck: Page) -> None:
    page = deck
    go_to(page, f"slide-{EXPLORER}-0")
    code = page.locator(CODE_CELLS).locator(".cm-content")
    cell = f"document.querySelector('{CODE_CELLS}')"
    room = f"Number.parseFloat({cell}.style.getPropertyValue('--explorer-room'))"
    top = f"{cell}.querySelector('.mha-explorer').getBoundingClientRect().top"
    foot = "document.querySelector('#deck-foot').getBoundingClientRect().top"
    button = page.get_by_role("button", name="code", exact=True)
    for is_open in (False, True):
        expect(code).to_be_visible() if is_open else expect(code).to_be_hidden()
        expect(button).to_have_attribute("aria-expanded", str(is_open).lower())
        until(page, f"Math.abs({room} - ({foot} - {top})) < 20")
        button.click()
    expect(code).to_be_hidden()
    page.set_viewport_size({"width": 1024, "height": 768})
    until(page, f"Math.abs({room} - ({foot} - {top})) < 20")
