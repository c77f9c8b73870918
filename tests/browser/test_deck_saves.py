"""Nothing interrupts a lecture: saves wait for one another, and no dialog and no note comes on the stage."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from nbformat.reader import NotJSONError
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Locator, Page, Request, Route, expect

from tests.browser.new_lesson import current, new_lesson, open_deck, status_of
from tests.browser.test_deck_keys import cell

if TYPE_CHECKING:
    from tests.browser.conftest import JupyterServer

COUNT = 5  # slides with code
COUNT_DIALOGS = """
window.dialogs = [];
new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
        for (const node of addedNodes) if (node.matches?.(".jp-Dialog")) window.dialogs.push(node.innerText);
}).observe(document, { childList: true, subtree: true });
"""


@pytest.fixture
def file(jupyter: JupyterServer, tmp_path: Path) -> Path:
    """The deck's own copy of a lesson, with a name of its own, so it has a kernel of its own."""
    cells = [cell("slide", new_markdown_cell, "# Saves", "title")]
    for number in range(COUNT):
        cells.append(cell("slide", new_code_cell, f"print('output', {number})", f"code-{number}"))
        cells.append(cell("notes", new_markdown_cell, f"1 min. A note {number}.", f"notes-{number}"))
    cells.append(cell("slide", new_code_cell, "import os\nos._exit(1)", "death"))
    file = jupyter.folder / "work" / "deck-en" / f"{tmp_path.name}.ipynb"
    file.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_lesson(cells, title="Saves"), file)
    return file


@pytest.fixture
def deck(page: Page, jupyter: JupyterServer, file: Path) -> Iterator[Page]:
    """The deck of that copy; at the end, no dialog has come and no note was shown."""
    page.add_init_script(COUNT_DIALOGS)
    open_deck(page, jupyter.address("rise", file.relative_to(jupyter.folder).as_posix()))
    yield page
    assert page.evaluate("dialogs") == []
    notes = notes_of(page)
    expect(notes).to_have_count(COUNT)
    for note in notes.all():
        expect(note).to_be_hidden()


def notes_of(page: Page) -> Locator:
    return page.locator(".jp-RenderedMarkdown", has_text="A note")


def writes(request: Request) -> bool:
    return request.method == "PUT" and "/api/contents/" in request.url


def outputs_in(file: Path) -> list[str]:
    """The printed outputs in the file; none while the server is writing it."""
    try:
        cells = nbformat.read(file, as_version=4).cells
    except NotJSONError:
        return []
    return [output.text.strip() for one in cells for output in one.get("outputs", [])]


@contextmanager
def saved(page: Page) -> Iterator[None]:
    with page.expect_response(lambda response: writes(response.request) and response.ok):
        yield


def slow_down(page: Page, latency: int) -> None:
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    limits = {"offline": False, "latency": latency, "downloadThroughput": -1, "uploadThroughput": -1}
    session.send("Network.emulateNetworkConditions", limits)


@pytest.mark.parametrize(
    "latency", [200, *(pytest.param(each, marks=pytest.mark.ci) for each in (0, 80, 500))]
)
def test_no_two_saves_are_on_their_way_at_once(deck: Page, file: Path, latency: int) -> None:
    """Each save is asked for while the one before it is running."""
    slow_down(deck, latency)
    deck.keyboard.press("Shift+Enter")
    for number in range(COUNT):
        with deck.expect_request(writes):
            deck.keyboard.press("Control+Enter")
            expect(current(deck).locator(".jp-OutputArea-output")).to_have_text(f"output {number}")
        deck.keyboard.press("Shift+Enter")  # runs again, while the save is on its way
        deck.keyboard.press("Control+s")
        deck.keyboard.press("Shift+Enter")
        deck.keyboard.press("ArrowRight")
        deck.keyboard.press("Control+s")
    expect(deck.locator(".jp-OutputArea-output")).to_have_count(COUNT)
    deck.wait_for_function("!document.querySelector('[data-busy]')")
    deck.keyboard.press("Control+s")
    while len(outputs_in(file)) < COUNT:
        deck.wait_for_timeout(100)
    expect(status_of(deck)).not_to_have_class("failed")


def change_elsewhere(file: Path) -> None:
    lesson = nbformat.read(file, as_version=4)
    lesson.cells[0].source = "# Changed elsewhere"
    nbformat.write(lesson, file)


def test_a_file_that_was_changed_elsewhere_is_saved_over_in_the_decks_own_copy(
    deck: Page, file: Path
) -> None:
    change_elsewhere(file)
    deck.keyboard.press("ArrowRight")
    with saved(deck):
        deck.keyboard.press("Control+Enter")
    expect(status_of(deck)).to_have_text(re.compile("changed elsewhere. The deck has saved its own over it"))
    expect(current(deck)).to_have_id("slide-1-0")
    assert "# Saves" in file.read_text(encoding="utf-8")
    assert outputs_in(file) == ["output 0"]


def test_any_other_file_that_was_changed_elsewhere_stays_as_it_is(
    page: Page, jupyter: JupyterServer, file: Path
) -> None:
    authors = file.rename(jupyter.folder / file.name)
    page.add_init_script(COUNT_DIALOGS)
    open_deck(page, jupyter.address("rise", authors.name))
    change_elsewhere(authors)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Control+Enter")
    expect(status_of(page)).to_have_text(re.compile("Not saved: .* changed elsewhere, and stays as it is"))
    assert "# Changed elsewhere" in authors.read_text(encoding="utf-8")
    page.keyboard.press("ArrowRight")
    expect(current(page)).to_have_id("slide-2-0")
    assert page.evaluate("dialogs") == []


@pytest.mark.parametrize(("status", "said"), [(403, "the login is over"), (500, "the disk is full")])
def test_a_save_that_fails_says_so_at_the_foot_and_what_was_typed_is_saved_later(
    deck: Page, file: Path, status: int, said: str
) -> None:
    def fail(route: Route) -> None:
        if writes(route.request):
            route.fulfill(status=status, body=json.dumps({"message": "the disk is full"}))
        else:
            route.fallback()

    deck.route("**/api/contents/**", fail)
    deck.keyboard.press("ArrowRight")
    current(deck).locator(".jp-CodeCell .cm-content").click()
    deck.keyboard.press("Control+End")
    deck.keyboard.type("  # typed")
    deck.keyboard.press("Control+s")
    expect(status_of(deck)).to_have_text(re.compile(f"Not saved: {said}"))
    deck.keyboard.press("Escape")
    deck.keyboard.press("ArrowRight")
    expect(current(deck)).to_have_id("slide-2-0")
    deck.unroute("**/api/contents/**")
    with saved(deck):
        deck.keyboard.press("Control+s")
    expect(status_of(deck)).to_have_text("Saved")
    assert "# typed" in file.read_text(encoding="utf-8")


def test_no_dialog_comes_when_the_kernel_dies(deck: Page) -> None:
    deck.keyboard.press("End")
    deck.keyboard.press("Control+Enter")
    expect(status_of(deck)).to_have_text("The kernel has died. K brings the deck back.")
    deck.keyboard.press("ArrowLeft")
    expect(current(deck)).to_have_id(f"slide-{COUNT}-0")


def test_no_note_is_shown_even_if_jupyterlab_lays_the_notebook_out_anew(deck: Page) -> None:
    deck.evaluate("""() => {
        const panel = document.querySelector(".reveal");
        for (const note of document.querySelectorAll("aside.notes .jp-Cell")) panel.prepend(note);
        panel.classList.remove("reveal");
    }""")
    expect(notes_of(deck).first).to_be_attached()  # the fixture sees that none is visible
