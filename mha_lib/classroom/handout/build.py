"""All lessons, executed afresh and written as handouts, with a page that lists them."""

import asyncio
import html
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbconvert.utils.exceptions import ConversionException
from nbformat import NotebookNode

from mha_lib.classroom.browser import find_browser
from mha_lib.classroom.handout.exporter import HERE, HandoutExporter, is_for, read_notebook
from mha_lib.classroom.lessons import CourseError

LONGEST_CELL = 600  # seconds
LARGEST = 1_000_000  # bytes of a page that is still easily mailed
CORES = os.cpu_count() or 1


def write_handouts(lessons: list[Path], folder: Path, edition: str = "student", pdf: bool = False) -> int:
    """Execute the lessons and write ``folder/<language>/<lesson>.html`` and ``folder/index.html``.

    The instructor's edition goes to a folder of its own, ``<folder>-instructor``: whoever uploads the
    handouts uploads no solutions. The lessons themselves are only read. Returns the exit status: 0, or 1
    if a lesson failed; each failure is one line, and the other lessons are written all the same.
    """
    browser = find_browser() if pdf else None  # before the long part
    if pdf and browser is None:
        raise CourseError("no_browser")
    if edition == "instructor":
        folder = folder.with_name(f"{folder.name}-instructor")
    progress = Progress(len(lessons))
    results = asyncio.run(write_all(lessons, folder, edition, progress))
    progress.end()
    problems = []
    for result in results:
        if isinstance(result, str):
            problems.append(result)
            continue
        try:
            files = [result, *([write_pdf(browser, result)] if browser else [])]
        except CourseError as error:
            files = [result]
            problems.append(str(error))
        for file in files:
            size = file.stat().st_size
            print(f"{file}  {size / 1000:.0f} KB")
            if file.suffix == ".html" and size > LARGEST:
                progress.warnings.append(f"{file.name}: {size / 1e6:.1f} MB is much for a handout")
    write_index(folder)
    print(folder / "index.html")
    for problem in [*progress.warnings, *problems]:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


async def write_all(
    lessons: list[Path], folder: Path, edition: str, progress: "Progress"
) -> list[Path | str]:
    """The files written; for a lesson that failed, why."""
    at_once = asyncio.Semaphore(CORES)

    async def write(lesson: Path) -> Path | str:
        async with at_once:
            try:
                return await write_one(lesson, folder, edition, progress)
            except (ConversionException, CourseError) as error:
                return str(error)

    return await asyncio.gather(*map(write, lessons))


async def write_one(lesson: Path, folder: Path, edition: str, progress: "Progress") -> Path:
    notebook = read_notebook(lesson, str(lesson))
    # A solution that never runs can't show in the output of another cell.
    notebook.cells = [cell for cell in notebook.cells if is_for(edition, cell)]
    await execute(notebook, lesson, progress)
    exporter = HandoutExporter(edition=edition, log=progress.logger(lesson.stem))
    resources = {"metadata": {"name": lesson.stem, "path": str(lesson.parent)}}
    text, _ = exporter.from_notebook_node(notebook, resources)
    page = folder / lesson.parent.name / f"{lesson.stem}.html"
    write_whole(page, text)
    page.with_suffix(".pdf").unlink(missing_ok=True)  # of an earlier edition
    return page


async def execute(notebook: NotebookNode, lesson: Path, progress: "Progress") -> None:
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    progress.expect(len(code))

    def begun(cell: NotebookNode, cell_index: int) -> None:
        if cell.cell_type == "code":
            progress.show(f"{lesson.stem}: {cell.get('id', '')}")

    def done(cell: NotebookNode, cell_index: int, execute_reply: Any) -> None:
        progress.step()

    client = NotebookClient(
        notebook,
        resources={"metadata": {"path": str(lesson.parent)}},
        timeout=LONGEST_CELL,
        extra_arguments=["--log-level=40"],  # its remarks would tear the progress bar
        on_cell_start=begun,
        on_cell_executed=done,
    )
    try:
        await client.async_execute(env=considerate(progress.lessons))
    except CellExecutionError as error:
        failed = [cell.get("id", "?") for cell in code if any(o.output_type == "error" for o in cell.outputs)]
        reason = f"{error.ename}: {error.evalue}".splitlines()[0]
        raise CourseError("cell_failed", lesson=lesson, cell=failed[-1], reason=reason) from None
    except CellTimeoutError:
        raise CourseError("cell_too_long", lesson=lesson, seconds=LONGEST_CELL) from None
    except DeadKernelError:
        raise CourseError("kernel_died", lesson=lesson) from None


def considerate(lessons: int) -> dict[str, str]:
    """The environment of a kernel among others: torch's threads share the cores, and wait without spinning.

    On a machine that is busy with something else, lesson 03 takes 1 minute so, and 7 without.
    """
    threads = str(max(1, CORES // min(CORES, lessons)))
    return {"OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": threads} | os.environ


def write_whole(path: Path, text: str) -> None:
    """Write beside and rename: a reader finds the old file or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.part")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)


def write_index(folder: Path) -> None:
    """A list of all handouts in the folder, each with its title and summary as its own page gives them."""
    languages: dict[str, list[dict[str, Any]]] = {}
    for page in sorted(folder.glob("*/*.html")):
        with page.open(encoding="utf-8") as file:
            head = file.read(4000)
        title, summary = (
            re.search(pattern, head, re.DOTALL)
            for pattern in (r"<title>(.*?)</title>", r'<meta name="description" content="(.*?)">')
        )
        lesson = {
            "address": page.relative_to(folder).as_posix(),
            "number": number[0].lstrip("0") if (number := re.match(r"\d+(?=_)", page.stem)) else "",
            "title": html.unescape(title[1]) if title else page.stem,
            "summary": html.unescape(summary[1]) if summary else "",
            "pdf": page.relative_to(folder).with_suffix(".pdf").as_posix()
            if page.with_suffix(".pdf").exists()
            else "",
        }
        languages.setdefault(page.parent.name, []).append(lesson)
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True)
    style = (HERE / "page.css").read_text(encoding="utf-8")
    write_whole(
        folder / "index.html",
        environment.get_template("index.html").render(languages=languages, style=style),
    )


def write_pdf(browser: str, page: Path) -> Path:
    """The page on A4, as the browser prints it, with the headings as its outline."""
    target, beside = page.with_suffix(".pdf"), page.with_suffix(".pdf.part")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [browser, "--headless", "--disable-gpu", f"--user-data-dir={profile}"]
        command += ["--no-pdf-header-footer", "--generate-pdf-document-outline"]
        command += ["--virtual-time-budget=10000"]  # the widgets draw before it prints
        command += ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
        command += [f"--print-to-pdf={beside.resolve()}", page.resolve().as_uri()]
        try:
            said = subprocess.run(command, capture_output=True, text=True, timeout=120).stderr
        except subprocess.TimeoutExpired:
            said = "it took longer than 120 s"
    if not beside.exists():
        raise CourseError(
            "no_pdf", file=target, browser=browser, reason=" ".join(said.strip().splitlines()[-1:])
        )
    os.replace(beside, target)
    return target


class Progress(logging.Handler):
    """A bar of plain text on stderr where that is a terminal; the exporter's warnings, kept for the end."""

    def __init__(self, lessons: int):
        super().__init__()
        self.lessons = self.waiting = lessons
        self.cells = self.done = 0
        self.live = sys.stderr.isatty()
        self.warnings: list[str] = []

    def expect(self, cells: int) -> None:
        self.waiting -= 1
        self.cells += cells

    def step(self) -> None:
        self.done += 1

    def show(self, what: str) -> None:
        if self.live:
            share = self.done / max(self.cells, 1)
            more = "+" if self.waiting else ""
            line = f"[{'#' * round(30 * share):.<30}] {self.done}/{self.cells}{more} cells  {what}"
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r{line[:width]:<{width}}")
            sys.stderr.flush()

    def end(self) -> None:
        if self.live:
            self.show("done")
            sys.stderr.write("\n")

    def logger(self, lesson: str) -> logging.Logger:
        logger = logging.Logger(lesson, logging.WARNING)
        logger.addHandler(self)
        return logger

    def emit(self, record: logging.LogRecord) -> None:
        self.warnings.append(f"{record.name}: {record.getMessage()}")
