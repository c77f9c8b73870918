"""Acts on a deck as a lecturer does, and waits until the deck shows that it is done."""

import json
import re
import urllib.request

from nbformat import NotebookNode
from playwright.sync_api import Locator, Page, Request, expect

from tests.browser.conftest import JupyterServer
from tests.browser.new_lesson import current, press, status_of
from tests.browser.waiting import measure

BOXES = """(selector) => [...document.querySelectorAll(selector)].map((part) => {
    const { left, top, right, bottom } = part.getBoundingClientRect();
    return [part.outerHTML.slice(0, 99), left, top, right, bottom];
})"""


def turn(page: Page, keys: str, slide: str, of: Page | None = None) -> None:
    """Press keys in a page, and see it, or the deck of which it is a window, turn to a slide."""
    press(page, keys)
    expect(current(of or page)).to_have_id(slide)


def reload(page: Page) -> None:
    page.reload()
    expect(page.locator("body")).to_have_attribute("data-deck", "ready")


def foot_says(page: Page, keys: str, said: str | re.Pattern[str]) -> None:
    """Press keys, and see the line at the foot say something."""
    press(page, keys)
    expect(status_of(page)).to_have_text(said)


def outputs_of(page: Page) -> Locator:
    """The outputs on the slide that is shown."""
    return current(page).locator(".jp-OutputArea-output")


def outputs_in(lesson: NotebookNode) -> list[NotebookNode]:
    """The outputs in a file."""
    return [output for each in lesson.cells for output in each.get("outputs", [])]


def saves(request: Request) -> bool:
    return request.method == "PUT" and "/api/contents/" in request.url


def expect_done(page: Page) -> None:
    """Wait until no cell of the deck runs or waits: the kernel replies after the outputs."""
    expect(page.locator("[data-busy]")).to_have_count(0)


def open_notes(page: Page) -> Page:
    """Open the speaker's window, and return it once it is drawn."""
    with page.expect_popup() as popup:
        page.keyboard.press("t")
    speaker: Page = popup.value
    expect(speaker.locator("aside p").last).to_contain_text("Next: ")
    return speaker


def expect_inside(page: Page, selector: str, room: tuple[float, float, float, float]) -> None:
    """See that nothing of these parts of a page lies outside a room: its left, top, right and bottom."""
    boxes = measure(page, BOXES, selector)
    assert boxes, f"there is no {selector}"
    for part, left, top, right, bottom in boxes:
        assert room[0] <= left <= right <= room[2], part
        assert room[1] <= top <= bottom <= room[3], part


def end_kernels(server: JupyterServer) -> None:
    """End the kernels of all decks, as after a night."""
    address = f"{server.url}/api/kernels"
    with urllib.request.urlopen(f"{address}?token={server.token}") as answer:
        kernels = json.load(answer)
    for kernel in kernels:
        request = f"{address}/{kernel['id']}?token={server.token}"
        urllib.request.urlopen(urllib.request.Request(request, method="DELETE")).close()
