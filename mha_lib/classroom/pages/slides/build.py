"""Runs each lesson's deck afresh in a real browser and prints it: a page a slide, with text as text."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from mha_lib.classroom.lesson import CourseError, language_in
from mha_lib.classroom.pages.browser import is_administrator, require_browser
from mha_lib.classroom.pages.build import Build, Progress
from mha_lib.classroom.pages.execution import CORES
from mha_lib.classroom.pages.slides.server import serve_copy
from mha_lib.classroom.pages.sources import sources_of, write_made

WIDTH, HEIGHT = 1280, 720  # of a page, in CSS pixels
LONGEST_RUN = 1200  # seconds of a lesson
PRINTED = object()  # a deck that is printed, or has failed
READY = "window.mhaDeck"  # what the deck offers to other programs: jupyter/deck/static/deck.js


def write_slides(root: Path, lessons: list[Path], folder: Path | None = None) -> int:
    """Run the lessons and write ``build/slides/<language>/<lesson>.pdf``; returns the exit status."""
    require_browser(), require_playwright()
    build = Build(folder or root / "build" / "slides", language_in(lessons[0]))
    with build.until_ctrl_c():
        print_decks(root, lessons, build, build.folder)
    return build.end()


def print_decks(root: Path, lessons: list[Path], build: Build, folder: Path | None = None) -> None:
    """Print the deck of each lesson, as many at once as there are cores; one that fails stops no other."""
    browser, sync_playwright = require_browser(), require_playwright()
    with serve_copy(root, len(lessons)) as server, sync_playwright() as playwright:
        sandbox = ["--no-sandbox"] if is_administrator() else []
        chromium = playwright.chromium.launch(executable_path=browser, args=sandbox)

        def print_deck(lesson: Path) -> Iterator[None]:
            with build.attempt(lesson):
                sources = sources_of(lesson)
                page = open_page(chromium, server.deck_of(lesson))
                yield from run_deck(page, lesson, build.progress)
                target = address_of_slides(root, lesson, folder)
                write_made(target, printed(page), sources)
                build.wrote(target)

        to_come = map(print_deck, lessons)
        decks = list(islice(to_come, CORES))
        while decks:
            for deck in decks.copy():
                if next(deck, PRINTED) is PRINTED:
                    decks.remove(deck)
                    decks += islice(to_come, 1)
        chromium.close()


def address_of_slides(root: Path, lesson: Path, folder: Path | None = None) -> Path:
    return (folder or root / "build" / "slides") / language_in(lesson) / f"{lesson.stem}.pdf"


def require_playwright() -> Callable[[], Any]:
    """The function that starts Playwright; a class does not need it, so it may not be installed."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise CourseError("no_playwright") from None
    return sync_playwright


def open_page(chromium: Any, address: str) -> Any:
    """The page of a deck, when it is ready."""
    # Twice as many pixels, so that a canvas is sharp on paper.
    page = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=2)
    page.set_default_timeout(LONGEST_RUN * 1000)
    page.emulate_media(media="screen", color_scheme="light")
    page.goto(address)
    page.wait_for_function(READY)
    return page


def printed(page: Any) -> bytes:
    """Lay the slides of a deck out one below the other, print them, and end the deck and its kernel."""
    page.evaluate("mhaDeck.layOut()")
    options = {"width": f"{WIDTH}px", "height": f"{HEIGHT}px", "print_background": True}
    pdf: bytes = page.pdf(**options, tagged=True, outline=True)
    page.evaluate("mhaDeck.shutDown()")
    page.close()
    return pdf


def run_deck(page: Any, lesson: Path, progress: Progress) -> Iterator[None]:
    """Run all cells, and give way to other decks while they run; raise where a cell fails."""
    page.evaluate("void mhaDeck.runAll()")
    deck = {"state": "running", "text": ""}
    while deck["state"] not in ("done", "failed"):
        page.wait_for_timeout(200)
        yield
        deck = page.evaluate("mhaDeck.progress()")
        doing = "".join(deck["text"].splitlines()[:1])
        progress.show(f"{lesson.stem}: {doing}")
    progress.show("")
    if deck["state"] == "failed":
        raise CourseError("deck_failed", lesson=lesson, reason=deck["text"].splitlines()[-1])
