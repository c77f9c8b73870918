"""Checks a student's machine the evening before: each line is a tick, or a cross with a way out.

A circle marks what is not there and need not be.
"""

import importlib.metadata
import platform
import shutil
import socket
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from mha_lib.classroom.lesson import CourseError
from mha_lib.classroom.lesson.files import require_writable
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.lesson.slides import IMPORTS
from mha_lib.classroom.pages.build import Progress
from mha_lib.classroom.pages.execution import execute, run_until_ctrl_c
from mha_lib.classroom.real_model import check_real_model, find_real_model

COURSE = "mha-lib"
EXTRA = "classroom"
SPACE = 1.0  # GB for what the lessons train and write
PATIENCE = 5.0  # seconds in which this machine has to answer itself
MODULES = {  # of a package whose module has another name
    "ipython": "IPython",
    "linkify-it-py": "linkify_it",
    "markdown-it-py": "markdown_it",
}


def examine(root: Path, lesson: Path, language: str) -> int:
    """Print what each check found; 1 where one failed."""
    words = words_in(language)["doctor"]
    failed = 0
    for name, check in CHECKS.items():
        try:
            found = check(root, lesson)
            mark, said = ("○", words[f"{name}_missing"]) if found is None else ("✓", found)
        except Exception as error:
            failed += 1
            if not isinstance(error, CourseError):
                reason = next(iter(str(error).splitlines()), "")
                error = CourseError("failed", subject=type(error).__name__, reason=reason)
            mark, said = "✗", f"{error.said_in(language)}\n  → {words[f'{name}_way_out']}"
        print(words["line"].format(mark=mark, name=words[name], said=said), flush=True)
    print(words["ill" if failed else "well"].format(count=failed, all=len(CHECKS)))
    return int(bool(failed))


def check_python(*_: Path) -> str:
    found, wanted = platform.python_version(), importlib.metadata.metadata(COURSE)["Requires-Python"]
    if found not in SpecifierSet(wanted):
        raise CourseError("other_version", name="Python", found=found, wanted=wanted)
    return found


def check_packages(*_: Path) -> str:
    """Import each package that the classroom asks for; returns PyTorch's version and JupyterLab's."""
    found = {}
    for wanted in requirements_of(EXTRA):
        try:
            version = importlib.metadata.version(wanted.name)
        except importlib.metadata.PackageNotFoundError:
            raise CourseError("not_installed", name=wanted.name) from None
        if not wanted.specifier.contains(version, prereleases=True):
            raise CourseError("other_version", name=wanted.name, found=version, wanted=wanted.specifier)
        importlib.import_module(MODULES.get(wanted.name, wanted.name.replace("-", "_")))
        found[wanted.name] = version
    return ", ".join(f"{name} {found[name]}" for name in ("torch", "jupyterlab"))


def requirements_of(*extras: str) -> Iterator[Requirement]:
    """Yield what the course asks for with an extra, and what its own extras among that ask for."""
    for wanted in map(Requirement, importlib.metadata.requires(COURSE) or ()):
        if wanted.marker and not any(wanted.marker.evaluate({"extra": extra}) for extra in extras):
            continue
        if wanted.name != COURSE:
            yield wanted
        else:
            yield from (inner for inner in requirements_of(*wanted.extras) if inner.marker)


def check_kernel(_: Path, lesson: Path) -> str:
    """Start the lesson's kernel, and let it run a line."""
    kernel = read_lesson(lesson).notebook.metadata.kernelspec.name
    run_cells(lesson, [nbformat.v4.new_code_cell("1 + 1")])
    return str(kernel)


def check_lesson(_: Path, lesson: Path) -> str:
    """Run the cell with which a lesson begins: it imports all that the lesson needs."""
    run_cells(lesson, [cell for cell in read_lesson(lesson).cells if cell.id == IMPORTS])
    return lesson.stem


def run_cells(lesson: Path, cells: list[nbformat.NotebookNode]) -> None:
    notebook = read_lesson(lesson).copy()
    notebook.cells = cells
    progress = Progress()
    progress.is_shown = False
    run_until_ctrl_c(execute(notebook, lesson, 1, progress))


def check_browser(*_: Path) -> str:
    try:
        return str(getattr(webbrowser.get(), "name", None) or "")
    except webbrowser.Error:
        raise CourseError("no_web_browser") from None


def check_folder(root: Path, _: Path) -> str:
    """Whether the course's folder can be written to, and has space."""
    require_writable(root)
    free = shutil.disk_usage(root).free / 1e9
    if free < SPACE:
        raise CourseError("no_space", folder=root, free=f"{free:.1f}", wanted=SPACE)
    return f"{root}, {free:.0f} GB"


def check_server(*_: Path) -> str:
    """Open a server as Jupyter does, and let this machine speak with it."""
    with (
        socket.create_server(("localhost", 0)) as server,
        socket.create_connection(server.getsockname(), PATIENCE) as client,
        server.accept()[0] as answer,
    ):
        client.settimeout(PATIENCE)
        answer.sendall(b"?")
        client.recv(1)
        return "localhost"


def check_model(root: Path, _: Path) -> str | None:
    """Read all of the published model, which only one lesson needs; None where it was not fetched."""
    file = find_real_model(root)
    if file is None:
        return None
    check_real_model(file)
    return str(file)


CHECKS: dict[str, Callable[[Path, Path], str | None]] = {
    "python": check_python,
    "packages": check_packages,
    "folder": check_folder,
    "browser": check_browser,
    "server": check_server,
    "kernel": check_kernel,
    "lesson": check_lesson,
    "model": check_model,
}
