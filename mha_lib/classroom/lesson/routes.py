"""Makes one notebook of a route through the course: some steps of some lessons, in an order of its own.

``course.json`` beside the lessons names each route::

    "routes": {
      "45": {
        "title": "Attention with several heads, in one lecture",
        "minutes": 45,
        "steps": ["01 which-words soft-dictionary flow", "03 four-reports bound"]
      }
    }

A step has the name of the cell with which its slide begins. Its cells come along, and so do the cells that
bind the names which they read (``needs.py``). A step that is optional in its lesson is on the core path of a
route that names it. ``"after": ["01", "02"]`` names lessons whose terms the class knows, and ``"learnt"``
has the lines of a last slide. The notebook lies in ``build/route-<language>/``, and every command takes it as
it takes a lesson. Each lesson's cells keep their names to themselves: ``begin_part``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mha_lib.classroom.lesson.files import write_changed
from mha_lib.classroom.lesson.glossary import definitions_in, used_before_defined
from mha_lib.classroom.lesson.grammar import Identity, has_role
from mha_lib.classroom.lesson.language import COURSE, route_folder, source_folder, words_in
from mha_lib.classroom.lesson.lessons import CourseError, find_lesson, read_course
from mha_lib.classroom.lesson.made import said_in
from mha_lib.classroom.lesson.names import names_in
from mha_lib.classroom.lesson.needs import needed_by
from mha_lib.classroom.lesson.prepare import FOR_AUTHORS, phrases_of, prepare_lessons
from mha_lib.classroom.lesson.reading import as_file, read_lesson
from mha_lib.classroom.lesson.slides import (
    IMPORTS,
    STEP,
    addresses_of,
    core_minutes,
    read_slides,
    slide_type,
    source,
    steps_of,
)

ROUTES = "routes"  # the name of their table in course.json
QUESTIONS = 1 / 9  # of a route's minutes, as of a lesson's: 5 of 45
KEPT = ("kernelspec", "language_info", "rise")  # of a lesson's metadata
PART = """
from mha_lib.classroom import begin_part

begin_part("{lesson}")"""


@dataclass(frozen=True)
class Route:
    name: str  # such as "45"
    title: str
    minutes: float  # of the lecture, with its questions
    steps: list[tuple[Path, list[str]]]  # lessons, each with the names of its steps
    after: list[Path]  # lessons whose terms the class knows
    learnt: list[str]  # the lines of its last slide
    lessons: list[Path]  # all of the course


def list_routes(root: Path, language: str) -> dict[str, Any]:
    """The routes that ``course.json`` names, as it names them."""
    folder = source_folder(root, language)
    routes = read_course(folder).get(ROUTES, {})
    if not isinstance(routes, dict):
        raise CourseError("bad_route", file=folder / COURSE, entry=ROUTES)
    return routes


def find_route(root: Path, language: str, name: str) -> Route:
    """The route of that name; a ``CourseError`` names the entry that is wrong, and what is wanted."""
    routes, file = list_routes(root, language), source_folder(root, language) / COURSE
    if name not in routes:
        raise CourseError("no_route", name=repr(name), file=file, known=", ".join(routes) or "–")
    route = routes[name] if isinstance(routes[name], dict) else {}

    def require(is_right: object, entry: str) -> None:
        if not is_right:
            raise CourseError("bad_route", file=file, entry=f"{ROUTES}: {name}: {entry}")

    title, minutes, entries = (route.get(each, "") for each in ("title", "minutes", "steps"))
    after, learnt = (route.get(each, []) for each in ("after", "learnt"))
    require(re.fullmatch(r"[\w-]+", name), repr(name))
    require(isinstance(title, str) and title.strip(), f"title: {title!r}")
    require(type(minutes) in (int, float) and minutes > 0, f"minutes: {minutes!r}")
    require(isinstance(entries, list) and entries, f"steps: {entries!r}")
    for entry, lines in {"after": after, "learnt": learnt}.items():
        are_texts = isinstance(lines, list) and all(isinstance(line, str) for line in lines)
        require(are_texts, f"{entry}: {lines!r}")
    lessons, chosen = prepare_lessons(root, language), []
    named: set[tuple[Path, str]] = set()
    for entry in entries:
        require(isinstance(entry, str) and len(entry.split()) > 1, f"steps: {entry!r}")
        number, *steps = entry.split()
        lesson = find_lesson(number, lessons)
        known = steps_of(read_lesson(lesson).cells)
        for step in steps:
            if step not in known:
                about = {"route": name, "lesson": number, "step": step, "known": " ".join(known)}
                raise CourseError("no_step", file=file, **about)
            require((lesson, step) not in named, f"steps: {entry!r}: {step}")
            named.add((lesson, step))
        chosen.append((lesson, steps))
    title, learnt = said_in(language, [title, learnt], phrases_of(source_folder(root, language)))
    had = [find_lesson(each, lessons) for each in after]
    return Route(name, title, minutes, chosen, had, learnt, lessons)


def make_route(root: Path, language: str, name: str) -> tuple[Path, list[str]]:
    """Write the notebook of a route to ``build/route-<language>/route_<name>.ipynb``.

    Returns the file, and the doubts about it as messages for the user.
    """
    route, folder = find_route(root, language, name), route_folder(root, language)
    notebook = notebook_of(route, language)
    made = {folder / f"route_{name}.ipynb": as_file(notebook).encode()}
    for beside in route.lessons[0].parent.iterdir():
        if beside.suffix in (".css", ".json") and beside.name not in FOR_AUTHORS:
            made[folder / beside.name] = beside.read_bytes()
    write_changed(made)
    return next(iter(made)), list(doubts_about(route, notebook["cells"], language))


def notebook_of(route: Route, language: str) -> dict[str, Any]:
    words = words_in(language)["route"]
    title = new_cell("markdown", f"# {route.title}", "title", "slide")
    cells = [title, new_cell("markdown", words["notes"], "title-notes", "notes")]
    taken: set[str] = set()  # the names of the cells so far: a helper comes once
    for lesson, steps in route.steps:
        number = lesson.stem.split("_")[0]
        begin = words["part"].format(lesson=number) + PART.format(lesson=number)
        begin_id = f"{number}-part-{len(taken)}"
        hidden = {"tags": ["setup", "remove-cell"], "jupyter": {"source_hidden": True}}
        cells.append(new_cell("code", begin, begin_id, "skip", **hidden))
        cells += cells_of(lesson, steps, number, taken)
    if route.learnt:
        lines = "\n".join(f"- {line}" for line in route.learnt)
        cells.append(new_cell("markdown", f"## {words['learnt']}\n\n{lines}", "learnt", "slide"))
        cells.append(new_cell("markdown", words["learnt_notes"], "learnt-notes", "notes"))
    its = read_lesson(lesson).notebook["metadata"]
    metadata = {name: its[name] for name in KEPT if name in its}
    identity = Identity(f"route_{route.name}", language)
    metadata |= {"title": route.title, "mha": identity.block()}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def cells_of(lesson: Path, steps: list[str], number: str, taken: set[str]) -> Iterator[dict[str, Any]]:
    """The cells of these steps, before each those that it needs; none that is ``taken``.

    A ``CourseError`` names a step that comes too late: an earlier one has needed what it shows.
    """
    read = read_lesson(lesson)
    cells, addresses = read.cells, addresses_of(read.slides, read.identity)
    by_step, slides = steps_of(cells), {slide.cells[0]["id"]: slide for slide in read.slides if slide.cells}
    for step in steps:
        its, begin = by_step[step], cells.index(by_step[step][0])
        word = next((time["optional"] for time in slides[step].times if time["optional"]), "")
        needed = [cell for cell in cells[:begin] if is_quiet(cell)] + needed_by(its, cells[:begin])
        for cell in sorted(needed, key=cells.index) + its:
            name = f"{number}-{cell['id']}"
            if name in taken:
                if cell in its and slide_type(cell) != "skip":
                    raise CourseError("step_too_late", lesson=number, step=step)
                continue
            taken.add(name)
            metadata = dict(cell["metadata"])
            if cell["id"] == step:
                metadata[STEP] = {"address": addresses[step]}
            if cell in needed:
                metadata |= {"slideshow": {"slide_type": "skip"}, "jupyter": {"source_hidden": True}}
            shown = cell | {"id": name, "metadata": metadata}
            yield in_core(shown, word) if word else shown


def in_core(cell: dict[str, Any], word: str) -> dict[str, Any]:
    """A cell of an optional step as one of the core path, without the ``word`` that says it is optional."""
    if slide_type(cell) == "subslide":
        cell["metadata"]["slideshow"] = {"slide_type": "slide"}
    begins = rf"^(#+ +)?{word}[\s,:，：]*(\w)"
    return cell | {"source": re.sub(begins, lambda found: (found[1] or "") + found[2].upper(), source(cell))}


def is_quiet(cell: Any) -> bool:
    """Whether every step needs a setup cell: it begins the lesson, or it sets something and binds no name."""
    return has_role(cell, "setup") and (cell["id"] == IMPORTS or not names_in(source(cell))[0])


def new_cell(kind: str, text: str, name: str, slide: str, **metadata: Any) -> dict[str, Any]:
    about = metadata | {"slideshow": {"slide_type": slide}}
    cell = {"cell_type": kind, "id": name, "metadata": about, "source": text}
    return cell | {"outputs": [], "execution_count": None} if kind == "code" else cell


def doubts_about(route: Route, cells: list[Any], language: str) -> Iterator[str]:
    """Sentences on what a class would stumble over: a term before its definition, too many minutes."""
    words = words_in(language)["route"]
    defined_in: dict[str, list[str]] = {}
    for lesson in route.lessons:
        if lesson in route.after:
            continue
        for one in definitions_in(read_lesson(lesson)):
            defined_in.setdefault(one.term, []).append(f"{lesson.stem.split('_')[0]}-{one.cell}")
    first_uses: dict[str, str] = {}
    for cell, term in used_before_defined(cells, defined_in, language):
        first_uses.setdefault(term, cell)
    for term, cell in first_uses.items():
        yield words["undefined"].format(cell=cell, term=term, where=", ".join(defined_in[term]))
    minutes, most = core_minutes(read_slides(cells)), route.minutes * (1 - QUESTIONS)
    if minutes > most:
        yield words["too_long"].format(minutes=f"{minutes:g}", most=f"{most:g}", of=f"{route.minutes:g}")
