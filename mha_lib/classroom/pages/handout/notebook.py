"""Chooses the cells of a notebook that a handout shows its readers, and describes the handout for a list."""

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from mha_lib.classroom.lesson import language_in
from mha_lib.classroom.lesson.grammar import has_role, tags
from mha_lib.classroom.lesson.outputs import says_not_yet
from mha_lib.classroom.lesson.reading import Lesson
from mha_lib.classroom.lesson.slides import (
    is_for_instructors,
    slide_type,
    title_of,
)
from offline_notebook import plain, to_html

STUDENT, INSTRUCTOR = AUDIENCES = ("student", "instructor")


def cells_for(audience: str, notebook: NotebookNode) -> list[NotebookNode]:
    """The cells that are run and shown for an audience: solutions and notes are for instructors alone."""
    return [cell for cell in notebook.cells if audience == INSTRUCTOR or not is_for_instructors(cell)]


def is_on_the_page(cell: NotebookNode) -> bool:
    """Whether a handout shows a cell: of the cells on no slide it shows these three kinds, and ticks."""
    if asks_to(cell, "remove-cell"):
        return False
    is_shown = slide_type(cell) != "skip" or has_role(cell, "solution", "why", "setup")
    return is_shown or only_ticks(cell)


def asks_to(cell: NotebookNode, what: str) -> bool:
    """Whether a tag of the cell asks to hide or remove a part of it, such as ``hide-input``."""
    return what in (tag.replace("_", "-") for tag in tags(cell))


def count_skipped(lesson: Lesson) -> int:
    """How many cells of a notebook that is no lesson are left out, for they are on no slide."""
    cells = [] if lesson.identity else lesson.cells
    return sum(slide_type(cell) == "skip" and not is_on_the_page(cell) for cell in cells)


def only_ticks(cell: NotebookNode) -> bool:
    """Whether a cell stands on no slide and checks what a slide has shown."""
    is_code = cell.cell_type == "code" and slide_type(cell) == "skip" and not has_role(cell, "setup")
    return is_code and bool(lines_of_ticks(cell.source))


def lines_of_ticks(code: str) -> set[int]:
    """The lines, counted from 1, of calls of ``tick``."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError):  # IPython's own commands
        return set()
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "tick"]
    return {line for call in calls for line in range(call.lineno, (call.end_lineno or call.lineno) + 1)}


def without_open_exercises(
    cells: list[NotebookNode], answered_here: Collection[str] = ()
) -> list[NotebookNode]:
    """The cells without those that say only that an exercise is not answered yet.

    Those that are ``answered_here``, by their ids, stay: there the page itself asks for the answer. The code
    of an exercise that is judged in its own cell stays, too.

    A cell that holds nothing but the heading above such a cell goes with it.
    """
    kept: list[NotebookNode] = []
    for cell in cells:
        outputs = cell.get("outputs")
        if cell.get("id") in answered_here or not outputs or not all(map(says_not_yet, outputs)):
            kept.append(cell)
        elif has_role(cell, "exercise"):
            kept.append(NotebookNode(cell | {"outputs": []}))
        elif kept and kept[-1].cell_type == "markdown" and re.fullmatch(r"#+ .*\s*", kept[-1].source):
            kept.pop()
    return kept


@dataclass
class Description:
    """A lesson as a list of lessons describes it."""

    title: str
    summary: str
    number: str  # "" where the name of the file begins with none


def describe(lesson: Lesson, audience: str) -> Description:
    """The title in the notebook's metadata, or else its first heading, and the summary there."""
    cells = [cell for cell in cells_for(audience, lesson.notebook) if is_on_the_page(cell)]
    title = title_of({"cells": cells, "metadata": lesson.notebook.metadata}, lesson.name)
    summary = str(lesson.notebook.metadata.get("summary") or "")
    number = re.match(r"0*(\d+)_", lesson.name)
    return Description(
        title=plain(to_html(title, escape=True)),
        summary=plain(to_html(summary, escape=True)),
        number=number[1] if number else "",
    )


def address_of_page(lesson: Path, folder: Path) -> Path:
    """Where a lesson's handout lies: ``folder/<language>/<lesson>.html``."""
    return folder / language_in(lesson) / f"{lesson.stem}.html"
