"""Prints the deck of each lesson, as it ran for its handout: a page a slide, with text as text."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from mha_lib.classroom.lesson import CourseError, language_in
from mha_lib.classroom.lesson.files import write_whole
from mha_lib.classroom.lesson.reading import as_file, as_it_is, read_lesson
from mha_lib.classroom.pages.browser import is_administrator, require_browser
from mha_lib.classroom.pages.build import Build
from mha_lib.classroom.pages.execution import CORES
from mha_lib.classroom.pages.handout.exporter import is_signed
from mha_lib.classroom.pages.handout.handouts import address_of_run, run_changed
from mha_lib.classroom.pages.slides.server import (
    LONGEST_START,
    Server,
    copy_course,
    copy_notebook,
    serve_copy,
)
from mha_lib.classroom.pages.sources import made_from, write_made

WIDTH, HEIGHT = 1280, 720  # of a page, in CSS pixels
READY = "window.mhaDeck"  # what the deck offers to other programs: jupyter/deck/deck.js


def write_slides(root: Path, lessons: list[Path], folder: Path | None = None) -> int:
    """Run the lessons that have changed and write ``build/slides/<language>/<lesson>.pdf`` of each.

    Returns the exit status; a lesson that fails stops no other.
    """
    require_browser(), require_playwright()
    build = Build(folder or root / "build" / "slides", language_in(lessons[0]))
    with build.until_ctrl_c():
        print_decks(root, run_changed(root, lessons, build), build, build.folder)
    return build.end()


def write_slides_of(file: Path, language: str, folder: Path | None = None) -> int:
    """Print the slides of any notebook, with the outputs that it holds, beside it; return the exit status."""
    require_browser(), require_playwright()
    build = Build(folder or file.parent, language)

    async def print_it(server: Server) -> None:
        with build.attempt(file):
            read_lesson(file)  # says why it can't be read
            async with open_browser() as context:
                deck = server.course / file.name
                if is_signed(as_it_is(file.read_bytes())):
                    server.trust(deck)
                target = build.folder / f"{file.stem}.pdf"
                write_whole(target, await printed(context, server.address_for_paper(deck)))
                build.wrote(target)

    with build.until_ctrl_c(), serve_copy(partial(copy_notebook, file)) as server:
        asyncio.run(print_it(server))
    return build.end()


def print_decks(root: Path, lessons: list[Path], build: Build, folder: Path | None = None) -> None:
    """Print the decks of lessons that have run, as many at once as there are cores."""
    if lessons:
        with serve_copy(partial(copy_course, root)) as server:
            asyncio.run(print_all(server, root, lessons, build, folder))


async def print_all(
    server: Server, root: Path, lessons: list[Path], build: Build, folder: Path | None
) -> None:
    free_cores = asyncio.Semaphore(CORES)

    async def print_deck(lesson: Path) -> None:
        async with free_cores:
            with build.attempt(lesson):
                deck, run = server.deck_of(lesson), address_of_run(root, lesson)
                give_outputs(deck, run)
                target = address_of_slides(root, lesson, folder)
                server.trust(deck)
                # The sources of the run: where the lesson has changed since, the slides are old, too.
                write_made(target, await printed(context, server.address_for_paper(deck)), made_from(run))
                build.wrote(target)

    async with open_browser() as context:
        await asyncio.gather(*map(print_deck, lessons))


@asynccontextmanager
async def open_browser() -> AsyncIterator[Any]:
    async with require_playwright()() as playwright:
        sandbox = ["--no-sandbox"] if is_administrator() else []
        chromium = await playwright.chromium.launch(executable_path=require_browser(), args=sandbox)
        # Twice as many pixels, so that a canvas is sharp on paper.
        size = {"viewport": {"width": WIDTH, "height": HEIGHT}, "device_scale_factor": 2}
        yield await chromium.new_context(**size, color_scheme="light")
        await chromium.close()


def address_of_slides(root: Path, lesson: Path, folder: Path | None = None) -> Path:
    return (folder or root / "build" / "slides") / language_in(lesson) / f"{lesson.stem}.pdf"


def require_playwright() -> Callable[[], Any]:
    """The function that starts Playwright; a class does not need it, so it may not be installed."""
    try:
        from playwright.async_api import async_playwright
    except ImportError:
        raise CourseError("no_playwright") from None
    return async_playwright


def give_outputs(deck: Path, run: Path) -> None:
    """Give a deck what the lesson's cells put out when it ran, and the state of its widgets."""
    notebook, ran = read_lesson(deck).copy(), read_lesson(run).copy()
    cells = {cell["id"]: cell for cell in ran["cells"] if cell["cell_type"] == "code"}
    for cell in notebook["cells"]:
        if its := cells.get(cell["id"]):  # not for a solution
            cell.update(outputs=its["outputs"], execution_count=its["execution_count"])
    notebook["metadata"]["widgets"] = ran["metadata"].get("widgets", {})
    write_whole(deck, as_file(notebook))


async def printed(context: Any, address: str) -> bytes:
    """Open a deck, lay its slides out one below the other, print them, and end the deck and its kernel."""
    page = await context.new_page()
    await page.emulate_media(media="screen")
    await page.goto(address, timeout=1000 * LONGEST_START)
    await page.wait_for_function(READY, timeout=1000 * LONGEST_START)
    await page.evaluate("mhaDeck.layOut()")
    options = {"width": f"{WIDTH}px", "height": f"{HEIGHT}px", "print_background": True}
    pdf: bytes = await page.pdf(**options, tagged=True, outline=True)
    await page.evaluate("mhaDeck.shutDown()")
    await page.close()
    return pdf
