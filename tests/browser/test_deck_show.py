"""Showing a deck: the foot, the slide sorter, the keys of Reveal's users, the pointer and the magnifier."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import FrameLocator, Page, expect

from tests.browser.lecture import expect_inside, foot_says, turn
from tests.browser.new_lesson import current, lay_lesson, open_deck, press
from tests.browser.waiting import act, answer_of, becomes, box_of, measure, until

SLIDES = [  # slide type, source
    ("slide", "# A title"),
    ("slide", "## The second\n\n<details><summary>Why?</summary>\n\nBecause.\n\n</details>"),
    ("subslide", "## Below it"),
    ("notes", "Optional, 2 min."),
    ("subslide", "## Below too"),
    ("notes", "Optional, 2 min."),
    ("slide", "## The third"),
    ("fragment", "A step."),
    ("subslide", "## On the core path, though below"),
    ("slide", "print(1)"),
    ("slide", "## The end"),
]
CELLS = [
    (new_code_cell if source.startswith("print") else new_markdown_cell)(
        source, metadata={"slideshow": {"slide_type": kind}}
    )
    for kind, source in SLIDES
]
WALK = [  # keys, the slide to which they lead, and its position at the foot
    ("Home", "slide-0-0", "1 / 6"),
    ("ArrowRight", "slide-1-0", "↓ optional 2 / 6"),
    ("ArrowDown", "slide-1-1", "optional 2.1 / 6"),
    ("ArrowDown", "slide-1-2", "optional 2.2 / 6"),
    ("ArrowRight", "slide-2-0", "↓ 3 / 6"),
    ("ArrowDown ArrowDown", "slide-2-1", "4 / 6"),  # past a step
    ("ArrowRight", "slide-3-0", "5 / 6"),
    ("ArrowRight", "slide-4-0", "6 / 6"),
]
FEET = [said for _, _, said in WALK]
IS_AROUND = """(part, [x, y]) => {
    const { left, top, width, height } = part.getBoundingClientRect();
    return Math.hypot(left + width / 2 - x, top + height / 2 - y) < 1.5;
}"""


def test_the_foot_counts_the_core_path_and_marks_what_is_optional(deck: Page) -> None:
    for keys, slide, said in WALK:
        turn(deck, keys, slide)
        expect(deck.locator("#deck-foot b").last).to_have_text(said)


def test_addresses_and_numbers_go_to_the_slide_that_the_foot_names(deck: Page) -> None:
    turn(deck, "2 . 1 Enter", "slide-1-1")  # the first optional one after slide 2
    act(deck, "() => { location.hash = '#/4'; }")
    expect(current(deck)).to_have_id("slide-2-1")
    act(
        deck,
        """() => {
            for (const key of ["2", "Enter"])
                document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            history.replaceState(null, "", "#/slide-2-1"); // as Reveal does, a moment after it has turned
        }""",
    )
    expect(current(deck)).to_have_id("slide-1-0")
    foot_says(deck, "g 2", "Go to slide 2: Enter")
    foot_says(deck, "Escape", "")
    turn(deck, "g 1 2 Backspace g", "slide-0-0")
    foot_says(deck, "9 9 Enter", "There is no slide 99; the last is 6")
    expect(current(deck)).to_have_id("slide-0-0")


def sorter_of(page: Page) -> FrameLocator:
    page.keyboard.press("o")
    sorter = page.frame_locator("#deck-sorter")
    expect(sorter.get_by_role("option", selected=True)).to_have_count(1)
    return sorter


def test_the_sorter_shows_all_slides_on_the_whole_screen(deck: Page) -> None:
    sorter = sorter_of(deck)
    slides = sorter.get_by_role("option")
    expect(slides).to_have_count(len(WALK))
    widths = "body => [...body.children].map((slide) => slide.getBoundingClientRect().width)"
    assert measure(sorter.locator("body"), widths) == pytest.approx([1280 / 3] * len(WALK), abs=1)
    first, last = box_of(slides.first), box_of(slides.last)
    assert (first["x"], first["y"]) == pytest.approx((0, 0), abs=1)
    assert first["height"] == pytest.approx(720 / 3, abs=1)
    assert (last["x"], last["y"]) == pytest.approx((1280 / 3, 480), abs=1)
    assert box_of(slides.nth(4).get_by_text("The third"))["width"] > 40
    expect(slides.nth(4).get_by_text("A step.")).to_be_visible()


def test_arrows_and_enter_or_a_click_choose_in_the_sorter_and_escape_goes_back(deck: Page) -> None:
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
    sorter_of(deck).get_by_role("option").nth(3).click()
    expect(current(deck)).to_have_id("slide-1-2")
    turn(deck, "ArrowUp", "slide-1-1")


def test_the_screen_turns_black_and_comes_back(deck: Page) -> None:
    black = deck.locator(".pause-overlay")
    for key in "b.":
        deck.keyboard.press(key)
        expect(black).to_be_visible()
        deck.keyboard.press(key)
        expect(black).to_be_hidden()
    deck.keyboard.press("b")
    expect(black).to_have_css("background-color", "rgb(0, 0, 0)")
    expect(black).to_have_text("", use_inner_text=True)  # without a button
    deck.keyboard.press("b")
    turn(deck, "ArrowRight", "slide-1-0")


def test_neither_a_double_click_nor_enter_turns_text_to_markdown(deck: Page) -> None:
    turn(deck, "ArrowRight", "slide-1-0")
    current(deck).get_by_role("heading").dblclick()
    turn(deck, "Enter ArrowDown", "slide-1-1")
    turn(deck, "ArrowUp", "slide-1-0")
    expect(current(deck).locator(".jp-MarkdownCell.jp-mod-rendered")).to_have_count(1)
    expect(current(deck).get_by_role("heading")).to_be_visible()


def test_folded_answers_open_by_a_key_and_by_tab_and_enter(deck: Page) -> None:
    turn(deck, "ArrowRight", "slide-1-0")
    answer = current(deck).locator("details")
    for key, is_open in (("a", True), ("a", False), ("Enter", True), ("Space", False)):
        if key == "Enter":
            current(deck).locator("summary").focus()
        turn(deck, key, "slide-1-0")
        expect(answer).to_have_js_property("open", is_open)


def test_the_pointer_and_the_magnifier_follow_the_mouse_until_escape(deck: Page) -> None:
    heading = current(deck).get_by_role("heading")
    before = box_of(heading)
    middle = [before["x"] + before["width"] / 2, before["y"] + before["height"] / 2]
    deck.mouse.move(0, 0)
    press(deck, "l m")
    expect(deck.locator(".jp-Notebook")).to_have_css("scale", "2")
    deck.mouse.move(*middle)
    for part in (deck.locator("#deck-laser"), heading):
        until(part, IS_AROUND, middle)
    assert box_of(heading)["width"] == pytest.approx(2 * before["width"], abs=1)
    deck.keyboard.press("Escape")
    expect(deck.locator("#deck-laser")).to_be_hidden()
    assert box_of(heading) == before


@pytest.mark.parametrize("size", [(1280, 720), (1024, 600), (1024, 768)], ids=str)
def test_the_help_lists_every_key_on_the_screen(deck: Page, size: tuple[int, int]) -> None:
    deck.set_viewport_size({"width": size[0], "height": size[1]})
    deck.keyboard.press("?")
    help_ = deck.locator("#deck-help")
    box = box_of(help_)
    edges = (box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"])
    expect_inside(deck, "#deck-help", (0, 0, *size))
    expect_inside(deck, "#deck-help > *", edges)
    for key in ("↓", "O", "B .", "L", "M", "A", "Home"):
        expect(help_.locator("kbd").get_by_text(key, exact=True)).to_be_visible()
    deck.keyboard.press("?")


@pytest.mark.ci
def test_the_title_has_the_address_of_the_handouts_and_on_paper_says_how_many_pages_are_optional(
    page, jupyter
):
    folder = jupyter.folder / "with_address"
    folder.mkdir()
    (folder / "course.json").write_text('{"handouts": "https://example.org/attention/"}')
    (folder / "course.css").write_text("#deck-handouts { color: rgb(1, 2, 3); }")
    address = lay_lesson(jupyter, "with_address/show.ipynb", CELLS)
    for file in folder.glob("course.*"):
        file.unlink()
    open_deck(page, address)
    handouts = current(page).locator("#deck-handouts")
    expect(handouts).to_have_text("example.org/attention")
    until(handouts.locator("img"), "image => image.naturalWidth > 0")
    expect(handouts).to_have_css("color", "rgb(1, 2, 3)")
    box, heading = box_of(handouts), box_of(current(page).get_by_role("heading"))
    assert heading["y"] + heading["height"] < box["y"], "beside the title, not upon it"
    assert box["x"] + box["width"] < 1280
    assert box["y"] + box["height"] < 720 - 40, "above the foot"
    page.keyboard.press("ArrowRight")
    expect(handouts).to_be_hidden()
    assert answer_of(page, "() => mhaDeck.layOut()") == len(FEET)
    sections = "[...document.querySelectorAll('.deck-picture section > section')]"
    becomes(page, f"{sections}.map((section) => section.dataset.foot.replaceAll(/ +/g, ' '))", FEET)
    expect(page.locator(".deck-pages")).to_have_count(1)
    said = "8 pages, 2 of them optional, as their foot says"
    expect(page.locator(".deck-picture").first.locator(".deck-pages")).to_have_text(said)
    expect(page.locator("details")).to_have_js_property("open", False)


@pytest.mark.parametrize(
    ("name", "feet"),
    [
        ("03_lesson", ["3.1 / 2", "↓ optional 3.2 / 2", "optional 3.2.1 / 2"]),
        ("route_mine", ["1 / 2", "↓ optional 2 / 2 lesson 4.6", "optional 2.1 / 2"]),
    ],
)
def test_the_foot_shows_the_address_of_a_slide(page, jupyter, name, feet):
    address = lay_lesson(jupyter, f"addresses/{name}.ipynb", CELLS[:4])
    file = jupyter.folder / "addresses" / f"{name}.ipynb"
    lesson = nbformat.read(file, as_version=4)
    lesson.metadata["mha"]["lesson"] = name
    if name.startswith("route"):
        lesson.cells[1].metadata["mha_step"] = {"address": "4.6"}
    nbformat.write(lesson, file)
    open_deck(page, address)
    for foot in feet:
        expect(page.locator("#deck-foot b").last).to_have_text(foot)
        page.keyboard.press("ArrowDown" if "↓" in foot else "ArrowRight")
