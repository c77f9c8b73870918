"""Where slides can't be written, the command says why in one line, before anything takes time."""

import sys
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from mha_lib.classroom import __main__ as command_line
from mha_lib.classroom.lesson import CourseError
from mha_lib.classroom.pages import browser, slides
from mha_lib.classroom.pages.build import Progress
from mha_lib.classroom.pages.slides.build import LONGEST_RUN, address_of_slides, run_deck, start_browser
from tests.printed import last_line

LESSON = Path("notebooks/en/03_multi_head_attention.ipynb")


@pytest.mark.parametrize(
    ("browser_found", "missing", "said"),
    [
        (None, "no_such_module", "a PDF needs Chromium or Chrome: install one, or set CHROMIUM=/path/to/it"),
        (sys.executable, "playwright.sync_api", "slides need Playwright: pip install -e '.[slides]'"),
    ],
)
def test_without_a_browser_or_playwright_the_command_says_how_to_get_it(
    monkeypatch, capsys, browser_found, missing, said
):
    server = "mha_lib.classroom.pages.slides.build.serve_copy"
    monkeypatch.setattr(server, lambda *_: pytest.fail("nothing is started"))
    monkeypatch.setattr(browser, "find_browser", lambda: browser_found)
    monkeypatch.setitem(sys.modules, missing, None)
    assert command_line.main(["--language", "en", "slides", "03"]) == 2
    assert last_line(capsys) == f"slides: {said}"


def test_the_command_writes_the_slides_of_the_lessons_that_were_named(monkeypatch):
    written = []
    monkeypatch.setattr(slides, "write_slides", lambda *arguments: written.append(arguments) or 0)
    root = command_line.course.find_root()
    assert command_line.main(["--language", "en", "slides", "3"]) == 0
    assert (
        command_line.main(
            ["--language", "en", "slides", "3", "--core", "--answers", "--output", "/elsewhere"]
        )
        == 0
    )
    whole, core = slides.Edition(), slides.Edition(core=True, answers=True)
    assert written == [
        (root, [root / LESSON], whole, None),
        (root, [root / LESSON], core, Path("/elsewhere")),
    ]
    names = [address_of_slides(root, LESSON, edition).name for edition in (whole, core)]
    assert names == ["03_multi_head_attention.pdf", "03_multi_head_attention-core-answers.pdf"]


def test_a_run_without_an_end_is_ended_and_says_what_the_deck_does(monkeypatch):
    page = SimpleNamespace(
        evaluate=lambda script: {"state": "running", "text": "2 of 9: slide 3\nepoch 1"},
        wait_for_timeout=lambda milliseconds: None,
    )
    clock = SimpleNamespace(monotonic=count(step=LONGEST_RUN).__next__)
    monkeypatch.setattr("mha_lib.classroom.pages.slides.build.time", clock)
    reason = r"after 20 minutes the deck still runs \(2 of 9: slide 3\)"
    with pytest.raises(CourseError, match=reason):
        list(run_deck(page, LESSON, Progress({})))


def test_a_browser_that_does_not_start_is_one_line():
    class Playwright:
        class chromium:  # as Playwright names it
            @staticmethod
            def launch(**options):
                raise RuntimeError(f"{options['executable_path']} is gone\nand twenty lines more")

    with pytest.raises(CourseError, match=r"^/bin/x: RuntimeError: /bin/x is gone$"):
        start_browser(Playwright, "/bin/x")
