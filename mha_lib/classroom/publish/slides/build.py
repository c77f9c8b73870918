"""Each lesson's deck, run afresh in a real browser and printed: one page a slide, its text still text."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mha_lib.classroom.course import CourseError, in_one_line
from mha_lib.classroom.course.files import require_writable, write_whole
from mha_lib.classroom.publish.browser import is_administrator, require_browser
from mha_lib.classroom.publish.slides.server import serve_copy

WIDTH, HEIGHT = 1280, 720  # of a page, in CSS pixels
LONGEST_RUN = 1200  # seconds of a lesson
READY = "window.mhaDeck"  # what the deck offers to other programs: mha_lib/classroom/deck/static/deck.js


def write_slides(root: Path, lessons: list[Path], folder: Path) -> int:
    """Run the lessons and write ``folder/<language>/<lesson>.pdf``; returns the exit status.

    Each failure is one line, and the slides of the other lessons are written all the same.
    """
    browser, sync_playwright = require_browser(), require_playwright()
    require_writable(folder)
    failures = 0
    with serve_copy(root) as server, sync_playwright() as playwright:
        chromium = start_browser(playwright, browser)
        for lesson in lessons:
            target = folder / lesson.parent.name / f"{lesson.stem}.pdf"
            try:
                print_deck(chromium, server.deck_of(lesson), lesson, target)
            except Exception as error:  # of one lesson; the others have their slides all the same
                failures += 1
                line = in_one_line(lesson, error).said_in(lesson.parent.name)
                print(line, file=sys.stderr)
            else:
                print(f"{target}  {target.stat().st_size / 1000:.0f} KB")
        chromium.close()
    return 1 if failures else 0


def start_browser(playwright: Any, browser: str) -> Any:
    sandbox = ["--no-sandbox"] if is_administrator() else []
    try:
        return playwright.chromium.launch(executable_path=browser, args=sandbox)
    except Exception as error:
        raise in_one_line(browser, error) from None


def require_playwright() -> Callable[[], Any]:
    """Playwright's entrance; it is no part of what a class needs, so it may not be installed."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise CourseError("no_playwright") from None
    return sync_playwright


def print_deck(chromium: Any, address: str, lesson: Path, target: Path) -> None:
    """Run a deck, lay its slides out one below the other, and print them."""
    # Twice as many pixels, so that a canvas is sharp on paper.
    page = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=2)
    page.set_default_timeout(LONGEST_RUN * 1000)
    page.emulate_media(media="screen", color_scheme="light")
    page.goto(address)
    page.wait_for_function(READY)
    run_deck(page, lesson)
    page.evaluate("mhaDeck.layOut()")
    options = {"width": f"{WIDTH}px", "height": f"{HEIGHT}px", "print_background": True}
    write_whole(target, page.pdf(**options, tagged=True, outline=True))
    page.close()


def run_deck(page: Any, lesson: Path) -> None:
    """Run all cells and show how far the deck is; raise where a cell fails."""
    page.evaluate("void mhaDeck.runAll()")
    progress = {"state": "running", "text": ""}
    while progress["state"] not in ("done", "failed"):
        page.wait_for_timeout(200)
        progress = page.evaluate("mhaDeck.progress()")
        show_progress(f"{lesson.stem}: {''.join(progress['text'].splitlines()[:1])}")
    show_progress("")
    if progress["state"] == "failed":
        raise CourseError("deck_failed", lesson=lesson, reason=progress["text"].splitlines()[-1])


def show_progress(line: str) -> None:
    """One line that is written over, in a terminal; where the output goes elsewhere, nothing."""
    if sys.stderr.isatty():
        columns = shutil.get_terminal_size().columns - 1
        sys.stderr.write("\r" + line[:columns].ljust(columns) + ("" if line else "\r"))
        sys.stderr.flush()
