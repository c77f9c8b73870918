"""Runs lessons afresh and writes their handouts, with a page that lists them."""

import asyncio
from collections.abc import Callable, Set
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from mha_lib.classroom.lesson import language_in
from mha_lib.classroom.lesson.files import write_whole
from mha_lib.classroom.lesson.reading import Lesson, as_it_is, read_lesson
from mha_lib.classroom.pages.build import Build
from mha_lib.classroom.pages.execution import CORES, execute, run_until_ctrl_c
from mha_lib.classroom.pages.handout.exporter import is_signed
from mha_lib.classroom.pages.handout.handout_page import HandoutPage
from mha_lib.classroom.pages.handout.index import write_index
from mha_lib.classroom.pages.handout.notebook import (
    STUDENT,
    address_of_page,
    cells_for,
)
from mha_lib.classroom.pages.sources import is_current, sources_of, write_made
from offline_notebook import among


def write_handouts(
    root: Path, lessons: list[Path], audience: str = STUDENT, folder: Path | None = None
) -> int:
    """Run the lessons and write ``build/handouts/<language>/<lesson>.html`` and ``index.html`` beside them.

    The instructor's handouts go to a folder of their own, ``build/handouts-instructor``: whoever uploads the
    students' handouts uploads no solutions. The lessons themselves are only read. Returns the exit status; a
    lesson that fails stops no other, and after Ctrl-C what has been written is listed too.
    """
    folder = folder or root / "build" / ("handouts" if audience == STUDENT else f"handouts-{audience}")
    build = Build(folder, language_in(lessons[0]))
    there = address_of_page(lessons[0], folder).parent.glob("*.html")
    handouts = {file.stem for file in (*lessons, *there)}

    def write(lesson: Lesson, ran: NotebookNode) -> None:
        handout = page_of(lesson, ran, handouts, build, audience)
        file = address_of_page(lesson.file, folder)
        write_whole(file, handout.render())
        build.wrote(file)

    with build.until_ctrl_c():
        run_lessons(root, lessons, build, write, audience)
    with build.attempt(folder / "index.html"):
        build.wrote(write_index(root, folder, audience), about="")
    return build.end()


def write_handout_of(file: Path, language: str, audience: str = STUDENT, folder: Path | None = None) -> int:
    """Write the page of any notebook, with the outputs that it holds, beside it; return the exit status."""
    build = Build(folder or file.parent, language)
    with build.attempt(file):
        notebook = read_lesson(file).copy()
        if not is_signed(as_it_is(file.read_bytes())):
            notebook.metadata.pop("widgets", None)  # programs, of whomever
        beside = {page.stem for page in build.folder.glob("*.html")} | {file.stem}
        page = HandoutPage(Lesson(file, notebook), audience, build.warn_of(file.stem), among(beside))
        target = build.folder / f"{file.stem}.html"
        write_whole(target, page.render())
        build.wrote(target)
    return build.end()


def run_lessons(
    root: Path,
    lessons: list[Path],
    build: Build,
    use: Callable[[Lesson, NotebookNode], None] | None = None,
    audience: str = STUDENT,
) -> None:
    """Run the lessons, as many at once as there are cores, and hand over each that has run, or name its file.

    The students' notebook is kept with its outputs (``address_of_run``): the site is made from it.
    """
    free_cores = asyncio.Semaphore(CORES)

    async def run(lesson: Path) -> None:
        async with free_cores:
            with build.attempt(lesson):
                sources = sources_of(lesson)
                read = read_lesson(lesson)
                notebook = read.copy()
                notebook.metadata.pop("widgets", None)  # programs: those live that this execution makes
                # A solution that never runs cannot show in the output of another cell.
                notebook.cells = cells_for(audience, notebook)
                await execute(notebook, lesson, len(lessons), build.progress)
                nbformat.validate(notebook, relax_add_props=True)
                if use:
                    use(read, notebook)
                if audience == STUDENT:
                    write_made(address_of_run(root, lesson), nbformat.writes(notebook), sources)
                if not use:
                    build.wrote(address_of_run(root, lesson))

    async def run_all() -> None:
        # The last lessons train longest: they begin, so that no core waits for one of them at the end.
        await asyncio.gather(*map(run, reversed(lessons)))

    run_until_ctrl_c(run_all())


def run_changed(root: Path, lessons: list[Path], build: Build) -> list[Path]:
    """Run those of the lessons that have changed since they ran; return all that have run as they are."""

    def has_run(lesson: Path) -> bool:
        return is_current(address_of_run(root, lesson), lesson)

    if changed := [lesson for lesson in lessons if not has_run(lesson)]:
        run_lessons(root, changed, build)
    return [lesson for lesson in lessons if has_run(lesson)]


def address_of_run(root: Path, lesson: Path) -> Path:
    """Where a lesson lies as it ran for students, with its outputs and the state of its widgets."""
    return root / "build" / "executed" / language_in(lesson) / lesson.name


def page_of(
    lesson: Lesson, ran: NotebookNode, handouts: Set[str], build: Build, audience: str = STUDENT
) -> HandoutPage:
    """The handout of a lesson that has run; its links to other lessons lead to their ``handouts``."""
    return HandoutPage(lesson, audience, build.warn_of(lesson.name), among(handouts), ran)
