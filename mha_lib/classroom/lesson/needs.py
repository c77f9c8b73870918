"""Finds the cells that must run before a step of a lesson can: those that bind the names which it reads."""

from collections.abc import Collection, Iterable, Sequence

from mha_lib.classroom.lesson.grammar import Cell, has_role
from mha_lib.classroom.lesson.names import names_in
from mha_lib.classroom.lesson.slides import is_for_instructors, source


def needed_by(step: Collection[Cell], before: Sequence[Cell]) -> list[Cell]:
    """The cells ``before`` a step that bind names which the step reads, and what these need, in their order.

    Of several cells that bind a name, the last one counts. Answers to exercises, their checks and solutions
    are never needed: a step must not touch what a student wrote. In a route through several lessons, cells of
    other lessons have other names.
    """
    found: list[Cell] = []
    wanted = names_read(step)
    lessons = {lesson_in_route(cell.get("id")) for cell in step}
    for cell in reversed(before):
        if can_help(cell) and lesson_in_route(cell.get("id")) in lessons:
            bound, read = names_in(source(cell))
            if bound & wanted:
                found.append(cell)
                wanted = (wanted - bound) | read
    return found[::-1]


def names_read(cells: Iterable[Cell]) -> set[str]:
    """The names that cells read, run one after the other, before they bind them."""
    bound: set[str] = set()
    wanted: set[str] = set()
    for cell in cells:
        if cell["cell_type"] == "code" and not is_for_instructors(cell):
            binds, reads = names_in(source(cell))
            wanted |= reads - bound
            bound |= binds
    return wanted


def can_help(cell: Cell) -> bool:
    """Whether a cell can be run for a later step."""
    return (
        cell["cell_type"] == "code"
        and not is_for_instructors(cell)
        and not has_role(cell, "exercise", "check")
    )


def lesson_in_route(name: str | None) -> str:
    """The number of the lesson with which the id of a cell in a route begins; "" in a lesson itself."""
    number, dash, _ = (name or "").partition("-")
    return number if dash and number.isdecimal() else ""
