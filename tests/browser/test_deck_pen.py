"""The pen: strokes that stay on their slide until Delete or a reload, and are in no file."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Locator, Page, expect

from tests.browser.decks import begin
from tests.browser.lecture import open_notes, outputs_of, reload, turn
from tests.browser.new_lesson import cell, current, press
from tests.browser.waiting import measure, saved_when

pytestmark = pytest.mark.ci

CELLS = [
    cell("slide", new_markdown_cell, "# Draw here", "title"),
    cell("slide", new_code_cell, "print('drawn', 6 * 7)", "code"),
    cell("slide", new_markdown_cell, "## The end of it", "end"),
]
Point = tuple[float, float]


@pytest.fixture
def deck(opened):
    """The deck of this file on its last slide, whose title stands at its top: no strokes, no pen."""
    begin(opened)
    press(opened, "Delete End Delete")
    expect(current(opened)).to_have_id("slide-2-0")
    return opened


def draw(page: Page, *points: Point) -> None:
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point)
    page.mouse.up()


def strokes(page: Page) -> Locator:
    """The strokes on the slide that is shown."""
    return current(page).locator(".deck-ink polyline")


def place_of(stroke: Locator) -> list[float]:
    """Left, top, right and bottom of the line itself, without its width."""
    place: list[float] = measure(
        stroke,
        """(line) => {
            const { x, y, width, height } = line.getBBox(), matrix = line.getScreenCTM();
            const corner = (x, y) => new DOMPoint(x, y).matrixTransform(matrix);
            const [first, last] = [corner(x, y), corner(x + width, y + height)];
            return [first.x, first.y, last.x, last.y];
        }""",
    )
    return place


def test_strokes_follow_the_mouse_and_stay_on_their_slide(deck):
    draw(deck, (300, 200), (500, 400))  # the pen is off
    deck.keyboard.press("p")
    draw(deck, (300, 200), (400, 350), (500, 400))
    draw(deck, (700, 100))  # a dot
    expect(strokes(deck)).to_have_count(2)
    assert place_of(strokes(deck).first) == pytest.approx([300, 200, 500, 400], abs=0.2)
    turn(deck, "Home", "slide-0-0")  # the keys of the deck go on working
    draw(deck, (100, 100), (200, 100))
    expect(strokes(deck)).to_have_count(1)
    turn(deck, "End", "slide-2-0")
    expect(strokes(deck)).to_have_count(2)
    press(deck, "Escape")  # puts the pen away
    draw(deck, (300, 200), (500, 400))
    expect(strokes(deck)).to_have_count(2)
    deck.keyboard.press("Delete")
    expect(strokes(deck)).to_have_count(0)
    turn(deck, "Home", "slide-0-0")
    expect(strokes(deck)).to_have_count(1)


def test_strokes_keep_their_places_in_a_larger_window_and_under_the_magnifier_and_no_file_has_them(
    deck, jupyter
):
    turn(deck, "PageUp", "slide-1-0")
    picture = open_notes(deck).frame_locator("iframe").first
    deck.keyboard.press("p")
    draw(deck, (128, 72), (640, 360))
    deck.set_viewport_size({"width": 1920, "height": 1080})
    assert place_of(strokes(deck)) == pytest.approx([192, 108, 960, 540], abs=1)
    deck.set_viewport_size({"width": 1280, "height": 720})
    deck.mouse.move(640, 360)
    deck.keyboard.press("m")
    expect(deck.locator(".jp-Notebook")).to_have_css("scale", "2")
    draw(deck, (640, 360), (840, 460))
    deck.keyboard.press("m")
    expect(deck.locator(".jp-Notebook")).to_have_css("scale", "none")
    left, _, right, _ = place_of(strokes(deck).last)
    assert right - left == pytest.approx(100, abs=1), "half as long as it was drawn at twice the size"
    expect(picture.locator("polyline")).to_have_count(2)
    deck.keyboard.press("Control+Enter")
    file = jupyter.folder / f"{__name__}.ipynb"
    saved_when(file, lambda lesson: lesson.cells[1].outputs, "the output of the code")
    assert "polyline" not in file.read_text(encoding="utf-8")
    reload(deck)
    expect(outputs_of(deck)).to_have_text("drawn 42\n")
    expect(deck.locator("polyline")).to_have_count(0)
    expect(deck.locator("#deck-pen")).to_be_hidden()
