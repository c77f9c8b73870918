"""The pen: strokes that stay on their slide, can be taken back, and are in no file and on no paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Locator, Page, expect

from tests.browser.new_lesson import current, new_lesson, open_deck
from tests.browser.test_deck_keys import cell

if TYPE_CHECKING:
    from tests.browser.conftest import JupyterServer

Point = tuple[float, float]


@pytest.fixture
def deck(page: Page, jupyter: JupyterServer) -> Page:
    cells = [
        cell("slide", new_markdown_cell, "# Draw here", "title"),
        cell("slide", new_code_cell, "print('drawn', 6 * 7)", "code"),
        cell("slide", new_markdown_cell, "## The end", "end"),
    ]
    nbformat.write(new_lesson(cells, title="Pen"), jupyter.folder / "pen.ipynb")
    open_deck(page, jupyter.address("rise", "pen.ipynb"))
    return page


def draw(page: Page, *points: Point) -> None:
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point)
    page.mouse.up()


def strokes(page: Page) -> Locator:
    """The strokes on the slide that is shown."""
    return current(page).locator(".deck-ink polyline")


def box_of(stroke: Locator) -> list[float]:
    """Left, top, right and bottom of the line itself, without its width."""
    found: list[float] = stroke.evaluate("""(line) => {
        const { x, y, width, height } = line.getBBox(), matrix = line.getScreenCTM();
        const corner = (x, y) => new DOMPoint(x, y).matrixTransform(matrix);
        const [first, last] = [corner(x, y), corner(x + width, y + height)];
        return [first.x, first.y, last.x, last.y];
    }""")
    return found


def test_strokes_follow_the_mouse_and_stay_on_their_slide(deck: Page) -> None:
    draw(deck, (300, 200), (500, 400))
    expect(deck.locator(".deck-ink")).to_have_count(0)
    deck.keyboard.press("p")
    draw(deck, (300, 200), (400, 350), (500, 400))
    draw(deck, (700, 100))  # a dot
    expect(strokes(deck)).to_have_count(2)
    assert box_of(strokes(deck).first) == pytest.approx([300, 200, 500, 400], abs=0.2)
    deck.keyboard.press("Space")  # the keys of the deck go on working
    expect(current(deck)).to_have_id("slide-1-0")
    expect(strokes(deck)).to_have_count(0)
    draw(deck, (100, 100), (200, 100))
    deck.keyboard.press("Control+Enter")
    expect(current(deck).locator(".jp-OutputArea-output")).to_have_text("drawn 42\n")
    deck.keyboard.press("1")
    deck.keyboard.press("Enter")
    expect(current(deck)).to_have_id("slide-0-0")
    expect(strokes(deck)).to_have_count(2)
    deck.keyboard.press("p")
    draw(deck, (300, 200), (500, 400))
    expect(strokes(deck)).to_have_count(2)
    deck.keyboard.press("p")
    deck.keyboard.press("Escape")
    draw(deck, (300, 200), (500, 400))
    expect(strokes(deck)).to_have_count(2)


def test_strokes_keep_their_places_on_the_slide_in_a_larger_window_and_under_the_magnifier(
    deck: Page,
) -> None:
    deck.keyboard.press("End")  # for the title stands in the middle of its slide
    expect(current(deck)).to_have_id("slide-2-0")
    deck.keyboard.press("p")
    heading = current(deck).get_by_role("heading")
    before = heading.bounding_box()
    assert before
    x, y, right, bottom = before["x"], before["y"], before["x"] + before["width"], before["y"] + 60
    draw(deck, (x, y), (right, bottom))
    deck.set_viewport_size({"width": 1920, "height": 1080})
    after = heading.bounding_box()
    assert after
    left, top, *_ = box_of(strokes(deck).first)
    assert (left, top) == pytest.approx((after["x"], after["y"]), abs=1)
    deck.set_viewport_size({"width": 1280, "height": 720})
    deck.mouse.move(640, 360)
    deck.keyboard.press("m")
    draw(deck, (640, 360), (840, 460))
    deck.keyboard.press("m")
    ends = box_of(strokes(deck).last)
    assert ends[2] - ends[0] == pytest.approx(100, abs=1), "half as long as it was drawn at twice the size"


def test_undo_clear_and_colours(deck: Page) -> None:
    deck.keyboard.press("p")
    colours = []
    for place in range(4):
        draw(deck, (100, 100 + 50 * place), (400, 100 + 50 * place))
        colours.append(strokes(deck).last.evaluate("line => getComputedStyle(line).stroke"))
        deck.keyboard.press("x")
    assert len(set(colours)) == 3
    assert colours[3] == colours[0]
    deck.keyboard.press("d")
    dark = strokes(deck).first.evaluate("line => getComputedStyle(line).stroke")
    assert dark not in colours
    deck.keyboard.press("Control+z")
    expect(strokes(deck)).to_have_count(3)
    deck.keyboard.press("Delete")
    expect(strokes(deck)).to_have_count(0)
    deck.keyboard.press("Control+z")
    expect(strokes(deck)).to_have_count(3)
    for _ in range(4):
        deck.keyboard.press("Control+z")
    expect(strokes(deck)).to_have_count(0)


def test_a_finger_and_a_pen_draw_and_pressure_makes_the_stroke_wider(deck: Page) -> None:
    deck.keyboard.press("p")
    for kind, pressure, y in (("touch", 0.5, 100), ("pen", 0.9, 200)):
        deck.evaluate(
            """([pointerType, pressure, y]) => {
                const sheet = document.getElementById("deck-pen");
                sheet.setPointerCapture = () => {}; // there is no such pointer
                for (const [type, clientX] of [["down", 100], ["move", 300]])
                    sheet.dispatchEvent(new PointerEvent(`pointer${type}`, {
                        pointerType, pressure, clientX, clientY: y, pointerId: 7, bubbles: true, button: 0,
                    }));
                sheet.dispatchEvent(new PointerEvent("lostpointercapture", { pointerId: 7 }));
            }""",
            [kind, pressure, y],
        )
    widths = [float(line.get_attribute("stroke-width") or 0) for line in strokes(deck).all()]
    assert len(widths) == 2
    assert widths[0] < widths[1]


def test_strokes_outlive_a_reload_and_are_in_pictures_but_in_no_file_and_on_no_paper(
    deck: Page, jupyter: JupyterServer
) -> None:
    deck.keyboard.press("p")
    draw(deck, (300, 200), (500, 400))
    place = box_of(strokes(deck).first)
    deck.keyboard.press("Control+s")
    deck.reload()
    expect(deck.locator("body")).to_have_attribute("data-deck", "ready")
    expect(strokes(deck)).to_have_count(1)
    assert box_of(strokes(deck).first) == pytest.approx(place, abs=0.2)
    expect(deck.locator("#deck-pen")).to_be_hidden()
    assert "polyline" not in (jupyter.folder / "pen.ipynb").read_text()
    with deck.expect_popup() as popup:
        deck.keyboard.press("t")
    speaker = popup.value
    expect(speaker.frame_locator("iframe").first.locator("polyline")).to_have_count(1)
    deck.keyboard.press("p")
    draw(deck, (100, 200), (100, 400))
    expect(speaker.frame_locator("iframe").first.locator("polyline")).to_have_count(2)
    assert deck.evaluate("mhaDeck.layOut()") == 3
    expect(deck.locator(".deck-paper polyline")).to_have_count(0)
