"""All lessons, executed afresh and written as handouts, with a page that lists them."""

import asyncio
import logging
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mha_lib.classroom.course import CourseError, in_one_line
from mha_lib.classroom.course.files import require_writable, write_whole
from mha_lib.classroom.course.language import language_of, words_in
from mha_lib.classroom.publish.browser import require_browser
from mha_lib.classroom.publish.execution import CORES, execute, run_until_ctrl_c
from mha_lib.classroom.publish.handout.exporter import HandoutExporter
from mha_lib.classroom.publish.handout.index import write_index
from mha_lib.classroom.publish.handout.notebook import (
    INSTRUCTOR,
    STUDENT,
    address_of_page,
    cells_for,
    read_notebook,
)
from mha_lib.classroom.publish.handout.pdf import write_pdf
from mha_lib.classroom.publish.progress import Progress

LONGEST_PAGE = 60  # seconds; the lessons' own take one or two
LARGEST = 1_000_000  # bytes of a page that is still easily mailed
STOPPED = 130  # the exit status of what Ctrl-C has ended


def write_handouts(lessons: list[Path], folder: Path, audience: str = STUDENT, pdf: bool = False) -> int:
    """Execute the lessons and write ``folder/<language>/<lesson>.html`` and ``folder/index.html``.

    The instructor's handouts go to a folder of their own, ``<folder>-instructor``: whoever uploads the
    students' handouts uploads no solutions. The lessons themselves are only read. Returns the exit status:
    0, or 1 if a lesson failed; each failure is one line, and the other lessons are written all the same.
    After Ctrl-C what is written so far is listed too.
    """
    browser = require_browser() if pdf else None  # before the part that takes minutes
    if audience == INSTRUCTOR:
        folder = folder.with_name(f"{folder.name}-instructor")
    require_writable(folder)
    language = language_of(lessons[0].parent)
    words = words_in(language)["handout_build"]
    build = Build(folder, audience, len(lessons), Progress(len(lessons), words), Warnings())
    try:
        run_until_ctrl_c(build.write_pages(lessons))
        if browser:
            build.print_pages(browser)
    except KeyboardInterrupt:
        build.failures.append(CourseError("stopped"))
    build.progress.end()
    for file in sorted(build.files):
        print(f"{file}  {file.stat().st_size / 1000:.0f} KB")
        if file.suffix == ".html" and file.stat().st_size > LARGEST:
            megabytes = f"{file.stat().st_size / 1e6:.1f}"
            build.warnings.lines.append(words["large"].format(file=file.name, megabytes=megabytes))
    build.list_pages(lessons[0].parent.parent)
    for line in [*build.warnings.lines, *(failure.said_in(language) for failure in build.failures)]:
        print(line, file=sys.stderr)
    was_stopped = any(failure.name == "stopped" for failure in build.failures)
    return STOPPED if was_stopped else int(bool(build.failures))


@dataclass
class Build:
    """What all lessons of one run have in common, and what has come of them."""

    folder: Path
    audience: str
    kernels_at_once: int
    progress: Progress
    warnings: "Warnings"
    files: list[Path] = field(default_factory=list)  # those that were written
    failures: list[CourseError] = field(default_factory=list)
    handouts: set[str] = field(default_factory=set)  # to which a link to their notebook can lead

    async def write_pages(self, lessons: list[Path]) -> None:
        """Write the pages, as many at once as there are cores; a lesson that fails stops no other."""
        there = address_of_page(lessons[0], self.folder).parent.glob("*.html")
        self.handouts = {file.stem for file in (*lessons, *there)}
        free_cores = asyncio.Semaphore(CORES)

        async def write(lesson: Path) -> Path | CourseError:
            async with free_cores:
                try:
                    page = await self.write_page(lesson)
                except Exception as error:
                    return in_one_line(lesson, error)
                self.files.append(page)
                return page

        results = await asyncio.gather(*map(write, lessons))
        self.failures += [result for result in results if isinstance(result, CourseError)]

    async def write_page(self, lesson: Path) -> Path:
        notebook = read_notebook(lesson, lesson)
        # A solution that never runs cannot show in the output of another cell.
        notebook.cells = cells_for(self.audience, notebook)
        await execute(notebook, lesson, self.kernels_at_once, self.progress)
        exporter = HandoutExporter(audience=self.audience, log=self.warnings.logger_for(lesson))
        resources = {"metadata": {"name": lesson.stem, "path": str(lesson.parent)}, "handouts": self.handouts}
        with at_most(LONGEST_PAGE, lesson):
            text, _ = exporter.from_notebook_node(notebook, resources)
        page = address_of_page(lesson, self.folder)
        write_whole(page, text)
        page.with_suffix(".pdf").unlink(missing_ok=True)  # it was printed from the page before this one
        return page

    def print_pages(self, browser: str) -> None:
        """A PDF beside each page that was written."""
        for page in list(self.files):
            try:
                self.files.append(write_pdf(browser, page))
            except Exception as error:
                self.failures.append(in_one_line(page, error))

    def list_pages(self, notebooks: Path) -> None:
        try:
            print(write_index(notebooks, self.folder, self.audience))
        except Exception as error:
            self.failures.append(in_one_line(self.folder / "index.html", error))


@contextmanager
def at_most(seconds: float, lesson: Path) -> Iterator[None]:
    """Raise where a page takes longer: what a notebook holds may keep its readers busy for hours.

    Only where a process can be woken (not in Windows), and only in its main thread, where handouts are made.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise CourseError("page_too_long", lesson=lesson, seconds=seconds)

    former = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


class Warnings(logging.Handler):
    """Keeps what the exporter warns of until the end, so that it does not tear the progress bar."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.name}: {record.getMessage()}")

    def logger_for(self, lesson: Path) -> logging.Logger:
        logger = logging.Logger(lesson.stem, logging.WARNING)
        logger.addHandler(self)
        return logger
