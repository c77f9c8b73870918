"""Nothing interrupts a lecture: saves wait for one another, and no dialog and no note comes on the stage."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import JupyterServer
from tests.browser.decks import slow_down
from tests.browser.lecture import outputs_in, saves
from tests.browser.new_lesson import cell, current, lay_lesson, open_deck, press, status_of
from tests.browser.waiting import each_of, measure, saved_when, until

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
    name = f"work/deck-en/{tmp_path.name}.ipynb"
    lay_lesson(jupyter, name, cells, kind="deck")
    return jupyter.folder / name


@pytest.fixture
def deck(page: Page, jupyter: JupyterServer, file: Path) -> Iterator[Page]:
    """The deck of that copy; at the end, no dialog has come and no note was shown."""
    page.add_init_script(COUNT_DIALOGS)
    open_deck(page, jupyter.address("rise", file.relative_to(jupyter.folder).as_posix()))
    yield page
    assert measure(page, "dialogs") == []
    expect(notes_of(page)).to_have_count(COUNT)
    for note in each_of(notes_of(page)):
        expect(note).to_be_hidden()


def notes_of(page: Page) -> Locator:
    return page.locator(".jp-RenderedMarkdown", has_text="A note")


@pytest.mark.ci
def test_no_two_saves_are_on_their_way_at_once(deck, file):
    """Each save is asked for while the one before it is running."""
    slow_down(deck, latency=200)
    deck.keyboard.press("Shift+Enter")
    for number in range(COUNT):
        with deck.expect_request(saves):
            deck.keyboard.press("Control+Enter")
            expect(current(deck).locator(".jp-OutputArea-output")).to_have_text(f"output {number}")
        # runs again, while the save is on its way
        press(deck, "Shift+Enter Control+s Shift+Enter ArrowRight Control+s")
    expect(deck.locator(".jp-OutputArea-output")).to_have_count(COUNT)
    until(deck, "!document.querySelector('[data-busy]')")
    deck.keyboard.press("Control+s")
    saved_when(file, lambda lesson: len(outputs_in(lesson)) == COUNT, "all outputs")
    expect(status_of(deck)).not_to_have_class("failed")


def change_elsewhere(file: Path) -> None:
    lesson = nbformat.read(file, as_version=4)
    lesson.cells[0].source = "# Changed elsewhere"
    nbformat.write(lesson, file)


def test_a_file_that_was_changed_elsewhere_is_saved_over_in_the_decks_own_copy(deck, file):
    change_elsewhere(file)
    press(deck, "ArrowRight Control+Enter")
    expect(status_of(deck)).to_have_text(re.compile("changed elsewhere. The deck has saved its own over it"))
    expect(current(deck)).to_have_id("slide-1-0")
    lesson = saved_when(
        file, lambda lesson: [one.text for one in outputs_in(lesson)] == ["output 0\n"], "its output"
    )
    assert lesson.cells[0].source == "# Saves"


@pytest.mark.ci
def test_any_other_file_that_was_changed_elsewhere_stays_as_it_is(page, jupyter, file):
    lay_lesson(jupyter, file.name, nbformat.read(file, as_version=4).cells, kind="source")
    authors = jupyter.folder / file.name
    page.add_init_script(COUNT_DIALOGS)
    open_deck(page, jupyter.address("rise", authors.name))
    change_elsewhere(authors)
    press(page, "ArrowRight Control+Enter")
    expect(status_of(page)).to_have_text(re.compile("Not saved: .* changed elsewhere, and stays as it is"))
    assert "# Changed elsewhere" in authors.read_text(encoding="utf-8")
    assert measure(page, "dialogs") == []


def lay_foreign(jupyter: JupyterServer, file: str, **kernelspec: str) -> str:
    """Write a notebook that is no lesson, with a kernel if one is given, and return its deck's address."""
    cells = [new_markdown_cell("# Another's"), new_code_cell("print(6 * 7)")]
    metadata = {"kernelspec": kernelspec} if kernelspec else {}
    nbformat.write(new_notebook(cells=cells, metadata=metadata), jupyter.folder / file)
    return jupyter.address("rise", file)


def test_a_notebook_that_names_no_kernel_runs(page, jupyter, tmp_path):
    page.add_init_script(COUNT_DIALOGS)
    open_deck(page, lay_foreign(jupyter, f"{tmp_path.name}.ipynb"))
    current(page).locator(".jp-CodeCell .cm-content").click()
    press(page, "Control+Enter")
    expect(current(page).locator(".jp-OutputArea-output")).to_have_text("42")
    assert measure(page, "dialogs") == []


def test_the_foot_says_which_question_of_jupyterlab_the_deck_has_answered(page, jupyter, tmp_path):
    page.add_init_script(COUNT_DIALOGS)
    missing = {"name": "missing", "display_name": "Missing", "language": "fortran"}
    open_deck(page, lay_foreign(jupyter, f"{tmp_path.name}.ipynb", **missing))
    current(page).locator(".jp-CodeCell .cm-content").click()
    press(page, "Control+Enter")
    expect(status_of(page)).to_have_text(re.compile("JupyterLab says: Select Kernel."))
    assert measure(page, "dialogs") == []


def test_a_save_that_fails_says_so_at_the_foot_and_what_was_typed_is_saved_later(deck, file):
    body = json.dumps({"message": "the disk is full"})

    def fail(route: Route) -> None:
        route.fulfill(status=500, body=body) if saves(route.request) else route.fallback()

    deck.route("**/api/contents/**", fail)
    deck.keyboard.press("ArrowRight")
    current(deck).locator(".jp-CodeCell .cm-content").click()
    deck.keyboard.press("Control+End")
    deck.keyboard.type("  # typed")
    deck.keyboard.press("Control+s")
    expect(status_of(deck)).to_have_text(re.compile("Not saved: the disk is full"))
    press(deck, "Escape")
    deck.unroute("**/api/contents/**")
    deck.keyboard.press("Control+s")
    expect(status_of(deck)).to_have_text("Saved")
    saved_when(file, lambda lesson: "# typed" in lesson.cells[1].source, "what was typed")
