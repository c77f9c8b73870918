"""The command names what slides need, and makes them of a copy of the course."""

import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from mha_lib.classroom import __main__ as command_line
from mha_lib.classroom.pages import browser, slides
from mha_lib.classroom.pages.slides import server
from tests.printed import last_line

LESSON = Path("notebooks/en/03_multi_head_attention.ipynb")


@pytest.mark.parametrize(
    ("browser_found", "missing", "said"),
    [
        (None, "no_such_module", "a PDF needs Chromium or Chrome: install one, or set CHROMIUM=/path/to/it"),
        (sys.executable, "playwright.async_api", "slides need Playwright: pip install -e '.[slides]'"),
    ],
)
def test_without_a_browser_or_playwright_the_command_says_how_to_get_it(
    monkeypatch, capsys, browser_found, missing, said
):
    monkeypatch.setattr(slides.pdf_decks, "serve_copy", lambda *_: pytest.fail("nothing is started"))
    monkeypatch.setattr(browser, "find_browser", lambda: browser_found)
    monkeypatch.setitem(sys.modules, missing, None)
    assert command_line.main(["--language", "en", "slides", "03"]) == 2
    assert last_line(capsys) == f"slides: {said}"


def test_the_command_writes_the_slides_of_the_lessons_that_were_named(monkeypatch):
    written = []
    monkeypatch.setattr(slides, "write_slides", lambda *arguments: written.append(arguments) or 0)
    root = command_line.course.find_root()
    assert command_line.main(["--language", "en", "slides", "3"]) == 0
    assert written == [(root, [root / LESSON], None)]


def test_the_copy_has_nothing_of_the_working_copies(tmp_path, monkeypatch):
    process = SimpleNamespace(terminate=lambda: None, wait=lambda: None)
    monkeypatch.setattr(server, "start", lambda *_, **__: process)
    monkeypatch.setattr(server, "wait_for", lambda *_: None)
    for name in ("notebooks/en/01.ipynb", "work/en/01.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    with server.serve_copy(partial(server.copy_course, tmp_path)) as served:
        files = {file.relative_to(served.course).as_posix() for file in served.course.rglob("*.*")}
    assert files == {"notebooks/en/01.ipynb"}
