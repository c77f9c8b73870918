"""All lessons, executed afresh and written as handouts, with a list of them."""

import asyncio
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from mha_lib.classroom.handout.exporter import HandoutExporter, is_for, read_notebook
from mha_lib.classroom.lessons import CourseError

HERE = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)


def write_handouts(lessons: list[Path], folder: Path, edition: str = "student", pdf: bool = False) -> int:
    """Execute the lessons and write ``folder/<language>/<lesson>.html`` and ``folder/index.html``.

    The lessons themselves are only read. One that fails is said in a line when the others are written.
    Returns the exit status: 0, or 1 if a lesson failed.
    """
    if pdf:
        find_browser()  # before the long part
    with Progress() as progress:
        results = asyncio.run(_all(lessons, folder, edition, progress))
    if pdf:
        for page in results:
            if isinstance(page, Path):
                write_pdf(page, page.with_suffix(".pdf"))
    write_index(folder)
    problems = [str(result) for result in results if isinstance(result, CourseError)]
    print(*problems, sep="\n", end="\n" * bool(problems), file=sys.stderr)
    print(folder / "index.html")
    return 1 if problems else 0


async def _all(
    lessons: list[Path], folder: Path, edition: str, progress: "Progress"
) -> list[Path | CourseError]:
    at_once = asyncio.Semaphore(os.cpu_count() or 1)

    async def one(lesson: Path) -> Path | CourseError:
        async with at_once:
            try:
                notebook = read_notebook(lesson, str(lesson))
                # A solution that is never run can't show in the output of another cell.
                notebook.cells = [cell for cell in notebook.cells if is_for(edition, cell)]
                await execute(notebook, lesson, progress)
                exporter = HandoutExporter(edition=edition)
                resources = {"metadata": {"name": lesson.stem, "path": str(lesson.parent)}}
                text, _ = exporter.from_notebook_node(notebook, resources)
                page = folder / lesson.parent.name / f"{lesson.stem}.html"
                write_whole(page, text)
                return page
            except CourseError as error:
                return error

    return await asyncio.gather(*map(one, lessons))


async def execute(notebook: NotebookNode, lesson: Path, progress: "Progress") -> None:
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    progress.expect(lesson.stem, len(code))
    client = NotebookClient(
        notebook,
        resources={"metadata": {"path": str(lesson.parent)}},
        timeout=600,
        on_cell_executed=lambda cell, cell_index, execute_reply: progress.step(lesson.stem),
    )
    try:
        await client.async_execute()
    except CellExecutionError as error:
        cell = next((cell for cell in code if any(o.output_type == "error" for o in cell.outputs)), None)
        where = f", cell {cell.get('id')}" if cell else ""
        raise CourseError(f"{lesson}{where}: {error.ename}: {error.evalue}") from None


def write_whole(path: Path, text: str) -> None:
    """Write beside and rename: a reader finds the old file or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def write_index(folder: Path) -> None:
    """A list of all handouts in the folder, each with its title and summary as its own page gives them."""
    lessons = []
    for page in sorted(folder.glob("*/*.html")):
        head = page.read_text(encoding="utf-8")[:20000]
        title = re.search(r"<title>(.*?)</title>", head, re.DOTALL)
        summary = re.search(r'<meta name="description" content="(.*?)">', head, re.DOTALL)
        lessons.append(
            {
                "address": page.relative_to(folder).as_posix(),
                "title": html.unescape(title[1]) if title else page.stem,
                "summary": html.unescape(summary[1]) if summary else "",
                "pdf": page.with_suffix(".pdf").exists(),
            }
        )
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True)
    write_whole(folder / "index.html", environment.get_template("index.html").render(lessons=lessons))


def find_browser() -> str:
    candidates = [os.environ.get("CHROMIUM"), *map(shutil.which, BROWSERS), *PLACES]
    for path in candidates:
        if path and Path(path).exists():
            return path
    raise CourseError("a PDF needs Chromium or Chrome: install one, or set CHROMIUM=/path/to/it")


def write_pdf(page: Path, target: Path) -> None:
    with tempfile.TemporaryDirectory() as home:
        draft = Path(home) / "page.pdf"
        command = [find_browser(), "--headless", "--disable-gpu", f"--user-data-dir={home}/profile"]
        command += ["--no-pdf-header-footer", "--generate-pdf-document-outline", f"--print-to-pdf={draft}"]
        command += ["--virtual-time-budget=10000"]
        command += ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        done = subprocess.run(
            [*command, page.resolve().as_uri()], capture_output=True, text=True, timeout=120
        )
        if not draft.exists():
            raise CourseError(f"{target.name}: the browser wrote no PDF: {done.stderr.strip()[-300:]}")
        target.write_bytes(draft.read_bytes())


class Progress:
    """A bar of plain text on stderr; where that is no terminal, one line for each lesson."""

    def __init__(self, write: Callable[[str], object] | None = None):
        self.write = write or sys.stderr.write
        self.live = write is None and sys.stderr.isatty()
        self.expected: dict[str, int] = {}
        self.done: dict[str, int] = {}

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self.live:
            self.write("\n")

    def expect(self, lesson: str, cells: int) -> None:
        self.expected[lesson], self.done[lesson] = cells, 0

    def step(self, lesson: str) -> None:
        self.done[lesson] += 1
        total, done = sum(self.expected.values()), sum(self.done.values())
        if self.live:
            bar = "#" * (30 * done // max(total, 1))
            self.write(f"\r[{bar:.<30}] {done} of {total} cells, {len(self.expected)} lessons ")
        elif self.done[lesson] == self.expected[lesson]:
            self.write(f"{lesson}: {self.done[lesson]} cells executed\n")
