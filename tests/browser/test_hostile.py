"""Nothing runs because somebody looked at a folder of hostile files, wrote beside them, and came back."""

import json
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from mha_lib.classroom.pages.slides.server import wait_for
from tests import hostile
from tests.browser.conftest import ROOT, JupyterServer, end, start_server
from tests.browser.lecture import saves
from tests.browser.pages import new_page
from tests.browser.waiting import answer_of, count_of
from tests.waiting import eventually

INSTALLED = pytest.mark.skipif(find_spec("notebook") is None, reason="Notebook 7 is not installed")
VIEWS = ["lab", "rise", pytest.param("notebooks", marks=INSTALLED)]
CELL = ".jp-Notebook .jp-Cell"
# All that can be clicked in a notebook but links to elsewhere, which name where they lead.
SHOWN = f"{CELL} :is(.jp-MarkdownOutput, .jp-OutputArea-output)"
OFFERED = f"{SHOWN} :is(a:not([href^=http]), button, input, summary), .mha-progress button, .mha-guess button"
# The cell that a key would run, if its code is seen.
SEEN_CODE = ".jp-Notebook .jp-CodeCell.jp-mod-active:not(:has(.jp-InputPlaceholder)):visible"
# Everything before it in the page, such as an error of a picture, has asked the listener by then.
LAST = "async (address) => { await fetch(address, { mode: 'no-cors' }) }"


@pytest.fixture
def traps(tmp_path: Path) -> Iterator[hostile.Traps]:
    with hostile.set_traps(tmp_path / "marks") as traps:
        yield traps


@contextmanager
def served(folder: Path, home: Path, library: Path = ROOT) -> Iterator[JupyterServer]:
    """A server that starts in the hostile folder itself."""
    home.mkdir(exist_ok=True)
    with chdir(folder):
        process, server = start_server(folder, home, library=library)
    try:
        wait_for(server, process, home / "log")
        yield server
    finally:
        end(process)


@contextmanager
def visitor(browser: Browser, traps: hostile.Traps) -> Iterator[Page]:
    """A page on which nobody presses the button that trusts: its question is a trap that went off."""

    def refuse(dialog: Dialog) -> None:
        if dialog.type == "beforeunload":
            return dialog.accept()
        traps.asked.append("/trust")
        dialog.dismiss()

    with new_page(browser) as page:
        page.on("dialog", refuse)
        yield page


def open_file(page: Page, server: JupyterServer, name: str, view: str, traps: hostile.Traps) -> None:
    """Open a hostile file; return when it is drawn, and its kernel, which restores its widgets, rests."""
    page.goto(f"{server.address(view, name)}&reset&step=3.1")
    if not name.endswith(".ipynb"):
        expect(page.locator(".jp-Document, .jp-FileEditor, .jp-Dialog").first).to_be_visible()
        return
    expect(page.locator(CELL).get_by_role("heading").first).to_be_visible()
    eventually(lambda: rests(server) or traps.sprung(), "a kernel that rests")  # a trap may end it
    if view == "rise":
        expect(page.locator("body")).to_have_attribute("data-deck", "ready")


def rests(server: JupyterServer) -> bool:
    try:
        with urllib.request.urlopen(f"{server.url}/api/kernels?token={server.token}") as answer:
            return {kernel["execution_state"] for kernel in json.load(answer)} == {"idle"}
    except urllib.error.HTTPError:  # Jupyter cannot list a kernel that is just being made
        return False


def read(page: Page, view: str) -> None:
    """Do in a notebook what a curious reader does, who runs no code that is seen."""
    expect(page.locator(".mha-withheld, .mha-progress").first).to_be_visible()
    headings = page.locator(CELL).get_by_role("heading")
    for number in range(count_of(headings) if view != "rise" else 1):
        headings.nth(number).click(force=True)  # it hits whatever lies over it
        for _ in range(3):
            if not count_of(page.locator(SEEN_CODE)):
                page.keyboard.press("Shift+Enter")
    for number in range(count_of(page.locator(OFFERED))):
        page.locator(OFFERED).nth(number).dispatch_event("click")
    page.keyboard.press("Escape")  # JupyterLab asks whether a button may run its command


def write(page: Page, view: str) -> None:
    """Save the notebook; in the deck, which saves only what has changed, write something first."""
    if view == "rise":
        page.keyboard.press("End")
        page.locator(CELL).locator(".cm-content").last.focus()
        page.keyboard.type("x")
    with page.expect_response(lambda answer: saves(answer.request)) as answer:
        page.keyboard.press("Control+s")
    assert answer.value.ok


def become_quiet(page: Page, server: JupyterServer, traps: hostile.Traps) -> None:
    """Wait until the kernels rest and the page has asked for all that it was going to ask for."""
    eventually(lambda: rests(server), "kernels that rest")
    answer_of(page, LAST, traps.address("last"))


@pytest.mark.ci
@pytest.mark.parametrize("view", VIEWS)
def test_nothing_runs_because_somebody_looked(browser, traps, tmp_path, view):
    place = tmp_path / "handed-in"
    hostile.lay(place, traps)
    names = [f"{name}.ipynb" for name in hostile.HOSTILE]
    names += ["plot.vg", "plot.vl"] if view == "lab" else []
    for _ in ("as it was handed in", "as it was saved"):
        with served(place, tmp_path / "home") as server, visitor(browser, traps) as page:
            for name in names:
                open_file(page, server, name, view, traps)
                if name.endswith(".ipynb"):
                    read(page, view)
                    write(page, view)
                    become_quiet(page, server, traps)
                assert traps.sprung() == set(), name


@pytest.mark.whole
@pytest.mark.parametrize("defence", hostile.DEFENCES, ids=lambda defence: defence.name)
def test_without_this_defence_something_runs(browser, traps, tmp_path, defence):
    name, view = defence.lets_in
    hostile.lay(tmp_path / "handed-in", traps)
    for part in ("mha_lib", "offline_notebook", "torch_in_page"):
        shutil.copytree(ROOT / part, tmp_path / "library" / part)
    file = tmp_path / "library" / "mha_lib" / "classroom" / "jupyter" / defence.file
    before = file.read_text(encoding="utf-8")
    assert defence.piece in before
    file.write_text(before.replace(defence.piece, defence.replacement), encoding="utf-8")
    with (
        served(tmp_path / "handed-in", tmp_path / "home", tmp_path / "library") as server,
        visitor(browser, traps) as page,
    ):
        open_file(page, server, name, view, traps)
        if name.endswith(".ipynb") and not traps.sprung():
            read(page, view)
        eventually(traps.sprung, "a trap that goes off")
