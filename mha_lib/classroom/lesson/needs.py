"""Finds the cells that must run before a step of a lesson can: those that bind the names which it reads."""

import dis
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from types import CodeType

from mha_lib.classroom.lesson.grammar import Cell, has_role
from mha_lib.classroom.lesson.slides import is_for_instructors, source


@cache
def names_in(code: str) -> tuple[frozenset[str], frozenset[str]]:
    """The global names that code binds, and those that it reads before it has bound them itself.

    Both are read off the compiled code, whose order is the order of execution. Code that Python can't
    compile, such as a magic command, has neither.
    """
    try:
        module = compile(code, "cell", "exec")
    except (SyntaxError, ValueError):
        return frozenset(), frozenset()
    bound: set[str] = set()
    read: set[str] = set()
    later: set[str] = set()  # in functions: they run when the cell has bound all its names
    for instruction in dis.get_instructions(module):
        if instruction.opname == "STORE_NAME":
            bound.add(instruction.argval)
        elif instruction.opname == "LOAD_NAME" and instruction.argval not in bound:
            read.add(instruction.argval)
        elif isinstance(instruction.argval, CodeType):
            later |= names_in_function(instruction.argval)
    return frozenset(bound), frozenset(read | (later - bound))


def names_in_function(code: CodeType) -> set[str]:
    """The global names that a function or class reads, with those of the functions within it."""
    named = {
        each.argval for each in dis.get_instructions(code) if each.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    inner = (names_in_function(one) for one in code.co_consts if isinstance(one, CodeType))
    return named.union(*inner)


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
