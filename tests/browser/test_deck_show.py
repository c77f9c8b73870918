"""Showing a deck: the foot, the slide sorter, the keys of Reveal's users, the pointer and the magnifier."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from mha_lib.classroom.course.qr_code import write_qr_code
from tests.browser.new_lesson import current, new_lesson, open_deck

if TYPE_CHECKING:
    from tests.browser.conftest import JupyterServer

CELLS = [  # slide type, source
    ("slide", "# A title"),
    ("slide", "## The second\n\n<details><summary>Why?</summary>\n\nBecause.\n\n</details>"),
    ("subslide", "## Below it"),
    ("notes", "Optional, 2 min."),
    ("subslide", "## Below too"),
    ("notes", "Optional, 2 min."),
    ("slide", "## The third"),
    ("fragment", "A step."),
    ("subslide", "## On the core path, though below"),
    ("slide", "from ipywidgets import IntSlider\nIntSlider(3)"),
    ("slide", "## The end"),
]
FEET = {  # the position at the foot, by the id of the slide
    "slide-0-0": "1 / 6",
    "slide-1-0": "↓ optional 2 / 6",
    "slide-1-1": "optional 2.1 / 6",
    "slide-1-2": "optional 2.2 / 6",
    "slide-2-0": "↓ 3 / 6",
    "slide-2-1": "4 / 6",
    "slide-3-0": "5 / 6",
    "slide-4-0": "6 / 6",
}


def write_deck(file: Path) -> None:
    cells = []
    for kind, source in CELLS:
        make = new_code_cell if source.startswith("from ") else new_markdown_cell
        cells.append(make(source, metadata={"slideshow": {"slide_type": kind}}))
    file.parent.mkdir(exist_ok=True)
    nbformat.write(new_lesson(cells, title="A deck"), file)


@pytest.fixture(scope="module")
def opened(browser: Browser, jupyter: JupyterServer) -> Iterator[Page]:
    """A page with the deck, shared by all tests here."""
    write_deck(jupyter.folder / "show.ipynb")
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    with page.expect_websocket(lambda socket: "/api/kernels/" in socket.url):
        open_deck(page, jupyter.address("rise", "show.ipynb"))
    yield page
    page.close()


@pytest.fixture
def deck(opened: Page) -> Page:
    """The deck on its first slide."""
    opened.locator(".jp-Notebook").focus()
    opened.keyboard.press("Escape")  # closes what a failed test has left open
    press(opened, "Home", "slide-0-0")
    return opened


def foot(page: Page) -> Locator:
    return page.locator("#deck-foot b").last


def press(page: Page, key: str, slide: str) -> None:
    """Press a key, and see the deck turn to the slide."""
    page.keyboard.press(key)
    expect(current(page)).to_have_id(slide)


def test_the_foot_counts_the_core_path_and_marks_what_is_optional(deck: Page) -> None:
    for slide, said in FEET.items():
        expect(current(deck)).to_have_id(slide)
        expect(foot(deck)).to_have_text(said)
        if slide == "slide-2-0":
            deck.keyboard.press("ArrowDown")  # the step
        before = current(deck).get_attribute("id")
        deck.keyboard.press("ArrowDown")
        if current(deck).get_attribute("id") == before:  # the end of a column
            deck.keyboard.press("ArrowRight")


def test_arrows_move_among_the_slides_of_a_column_and_home_and_end_go_to_its_ends(deck: Page) -> None:
    press(deck, "ArrowRight", "slide-1-0")
    press(deck, "ArrowDown", "slide-1-1")
    press(deck, "ArrowDown", "slide-1-2")
    press(deck, "ArrowUp", "slide-1-1")
    press(deck, "ArrowUp", "slide-1-0")
    press(deck, "End", "slide-4-0")
    press(deck, "Home", "slide-0-0")


def test_arrows_stay_in_a_widget(deck: Page) -> None:
    press(deck, "End", "slide-4-0")
    press(deck, "ArrowLeft", "slide-3-0")
    expect(current(deck).locator(".jp-CodeCell.jp-mod-active")).to_be_visible()
    deck.keyboard.press("Control+Enter")
    current(deck).locator(".noUi-handle").focus()
    for key, value in (("ArrowUp", "4"), ("ArrowUp", "5"), ("ArrowDown", "4")):
        deck.keyboard.press(key)
        expect(current(deck).locator(".widget-readout")).to_have_text(value)
    expect(current(deck)).to_have_id("slide-3-0")


def sorter_of(page: Page) -> FrameLocator:
    page.keyboard.press("o")
    sorter = page.frame_locator("#deck-sorter")
    expect(sorter.get_by_role("option", selected=True)).to_have_count(1)
    return sorter


def test_the_sorter_shows_all_slides_on_the_whole_screen(deck: Page) -> None:
    sorter = sorter_of(deck)
    slides = sorter.get_by_role("option")
    expect(slides).to_have_count(len(FEET))
    for slide in slides.all():
        box = slide.bounding_box()
        assert box
        assert 0 <= box["x"] < box["x"] + box["width"] <= 1280.5
        assert box["width"] == pytest.approx(1280 / 3, abs=1)
        assert box["height"] == pytest.approx(720 / 3, abs=1)
    last = slides.last.bounding_box()
    assert last
    assert last["y"] + last["height"] == pytest.approx(720, abs=1)
    heading = slides.nth(4).get_by_text("The third").bounding_box()
    assert heading
    assert heading["width"] > 40
    expect(slides.nth(4).get_by_text("A step.")).to_be_visible()


def test_arrows_and_enter_choose_in_the_sorter_and_escape_goes_back(deck: Page) -> None:
    sorter = sorter_of(deck)
    chosen = sorter.get_by_role("option", selected=True)
    for key, name in {"ArrowDown": "Below too", "ArrowRight": "The third", "Home": "A title"}.items():
        deck.keyboard.press(key)
        expect(chosen).to_have_accessible_name(name)
    deck.keyboard.press("ArrowRight")
    deck.keyboard.press("Enter")
    expect(deck.locator("#deck-sorter")).to_have_count(0)
    expect(current(deck)).to_have_id("slide-1-0")
    sorter = sorter_of(deck)
    expect(sorter.get_by_role("option", selected=True)).to_have_accessible_name("The second")
    deck.keyboard.press("End")
    deck.keyboard.press("Escape")
    expect(deck.locator("#deck-sorter")).to_have_count(0)
    expect(current(deck)).to_have_id("slide-1-0")
    press(deck, "ArrowDown", "slide-1-1")


def test_a_click_in_the_sorter_goes_to_the_slide(deck: Page) -> None:
    sorter_of(deck).get_by_role("option").nth(3).click()
    expect(current(deck)).to_have_id("slide-1-2")
    press(deck, "ArrowUp", "slide-1-1")


@pytest.mark.parametrize("key", ["b", "."])
def test_the_screen_turns_black_and_comes_back(deck: Page, key: str) -> None:
    black = deck.locator(".pause-overlay")
    deck.keyboard.press(key)
    expect(black).to_be_visible()
    expect(black).to_have_css("background-color", "rgb(0, 0, 0)")
    assert black.inner_text().strip() == "", "black, without a button"
    deck.keyboard.press(key)
    expect(black).to_be_hidden()
    press(deck, "ArrowRight", "slide-1-0")


def test_neither_a_double_click_nor_enter_turns_text_to_markdown(deck: Page) -> None:
    press(deck, "ArrowRight", "slide-1-0")
    text = current(deck).get_by_role("heading")
    text.dblclick()
    expect(current(deck).locator(".jp-MarkdownCell.jp-mod-rendered")).to_have_count(1)
    expect(text).to_be_visible()
    deck.keyboard.press("Enter")
    expect(text).to_be_visible()
    press(deck, "ArrowDown", "slide-1-1")


def test_folded_answers_open_by_a_key_and_by_tab_and_enter(deck: Page) -> None:
    press(deck, "ArrowRight", "slide-1-0")
    answer = current(deck).locator("details")
    for state in ("", None):
        deck.keyboard.press("a")
        assert_open(answer, state)
    current(deck).locator("summary").focus()
    for key, state in (("Enter", ""), ("Space", None)):
        deck.keyboard.press(key)
        assert_open(answer, state)
    expect(current(deck)).to_have_id("slide-1-0")


def assert_open(answer: Locator, state: str | None) -> None:
    if state is None:
        expect(answer).not_to_have_attribute("open", "")
    else:
        expect(answer).to_have_attribute("open", state)


def test_the_pointer_and_the_magnifier_follow_the_mouse_until_escape(deck: Page) -> None:
    heading = current(deck).get_by_role("heading")
    before = heading.bounding_box()
    assert before
    middle = before["x"] + before["width"] / 2, before["y"] + before["height"] / 2
    deck.mouse.move(0, 0)
    deck.keyboard.press("l")
    deck.keyboard.press("m")
    deck.mouse.move(*middle)
    dot = deck.locator("#deck-laser").bounding_box()
    larger = heading.bounding_box()
    assert dot
    assert larger
    assert (dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2) == pytest.approx(middle, abs=1)
    assert larger["width"] == pytest.approx(2 * before["width"], abs=1)
    assert (larger["x"] + larger["width"] / 2, larger["y"] + larger["height"] / 2) == pytest.approx(
        middle, abs=2
    )
    deck.keyboard.press("Escape")
    expect(deck.locator("#deck-laser")).to_be_hidden()
    assert heading.bounding_box() == before


@pytest.mark.parametrize(
    ("edition", "feet", "title"),
    [
        ({}, list(FEET.values()), "8 pages, 2 of them optional, as their foot says"),
        (
            {"core": True, "answers": True},
            [f"{place} / 6" for place in range(1, 7)],
            "6 pages: the core path; optional slides left out: 2",
        ),
    ],
    ids=["all", "core"],
)
def test_on_paper_the_title_says_how_many_pages_are_optional(
    page: Page, jupyter: JupyterServer, edition: dict[str, bool], feet: list[str], title: str
) -> None:
    write_deck(jupyter.folder / "paper" / "show.ipynb")
    open_deck(page, jupyter.address("rise", "paper/show.ipynb"))
    assert page.evaluate("edition => mhaDeck.layOut(edition)", edition) == len(feet)
    shown = page.locator(".deck-picture section > section").evaluate_all(
        "sections => sections.map((section) => section.dataset.foot.replaceAll(/ +/g, ' '))"
    )
    assert shown == feet
    expect(page.locator(".deck-pages")).to_have_count(1)
    expect(page.locator(".deck-picture").first.locator(".deck-pages")).to_have_text(title)
    expect(page.locator("details")).to_have_js_property("open", bool(edition))


@pytest.mark.parametrize("size", [(1280, 720), (1024, 600), (1024, 768)], ids=str)
def test_the_help_lists_every_key_on_the_screen(deck: Page, size: tuple[int, int]) -> None:
    deck.set_viewport_size({"width": size[0], "height": size[1]})
    deck.keyboard.press("?")
    help_ = deck.locator("#deck-help")
    parts = [help_, *help_.locator("> *").all()]
    boxes = [part.bounding_box() for part in parts]
    frame = boxes[0]
    for box in boxes:
        assert box
        assert frame
        assert min(box["x"], box["y"]) >= 0
        assert box["x"] + box["width"] <= min(size[0], frame["x"] + frame["width"])
        assert box["y"] + box["height"] <= min(size[1], frame["y"] + frame["height"])
    for key in ("↓", "O", "B .", "L", "M", "A", "Home"):
        expect(deck.locator("#deck-help kbd").get_by_text(key, exact=True)).to_be_visible()
    deck.keyboard.press("?")
    deck.set_viewport_size({"width": 1280, "height": 720})


def test_the_title_slide_has_the_address_of_the_handouts_and_its_code(
    page: Page, jupyter: JupyterServer
) -> None:
    folder = jupyter.folder / "with_address"
    write_deck(folder / "show.ipynb")
    (folder / "course.json").write_text('{"handouts": "https://example.org/attention/"}')
    write_qr_code(folder, folder)
    open_deck(page, jupyter.address("rise", "with_address/show.ipynb"))
    handouts = current(page).locator("#deck-handouts")
    expect(handouts).to_have_text("example.org/attention")
    page.wait_for_function("document.querySelector('#deck-handouts img')?.naturalWidth > 0")
    box, heading = handouts.bounding_box(), current(page).get_by_role("heading").bounding_box()
    assert box
    assert heading
    assert heading["y"] + heading["height"] < box["y"], "beside the title, not upon it"
    assert box["x"] + box["width"] < 1280
    assert box["y"] + box["height"] < 720 - 40, "above the foot"
    page.keyboard.press("ArrowRight")
    expect(handouts).to_be_hidden()


def test_without_an_address_and_a_sheet_of_the_course_nothing_is_shown_and_nothing_missed(
    page: Page, jupyter: JupyterServer
) -> None:
    write_deck(jupyter.folder / "plain" / "show.ipynb")
    missing: list[str] = []
    page.on("response", lambda response: missing.append(response.url) if response.status == 404 else None)
    open_deck(page, jupyter.address("rise", "plain/show.ipynb"))
    expect(page.locator("#deck-handouts")).to_have_count(0)
    assert not missing
