"""Reads off compiled code which global names it sets and which it reads, in the order of execution."""

import dis
from collections.abc import Iterator
from functools import cache
from types import CodeType
from typing import NamedTuple


class Use(NamedTuple):
    """A use of a global name; ``later``: in a function or class, so that code after it may come first."""

    name: str
    sets: bool  # or else it reads
    later: bool


def uses_in(code: CodeType, start: int = 0, later: bool = False) -> Iterator[Use]:
    """Each use of a global name in some code, from the instruction at the offset ``start`` on."""
    for step in dis.get_instructions(code):
        if step.offset < start or step.opname == "IMPORT_NAME":  # which names a module
            continue
        if isinstance(step.argval, CodeType):
            yield from uses_in(step.argval, later=True)
        elif step.opname.endswith(("_NAME", "_GLOBAL", "_GLOBALS")):
            yield Use(step.argval, step.opname.startswith("STORE_"), later)


@cache
def names_in(code: str) -> tuple[frozenset[str], frozenset[str]]:
    """The global names that the code of a cell binds, and those that it reads before it has bound them.

    Functions run when the cell has bound all its names. Code that Python can't compile, such as a magic
    command, has neither.
    """
    try:
        module = compile(code, "cell", "exec")
    except (SyntaxError, ValueError):
        return frozenset(), frozenset()
    bound: set[str] = set()
    read: set[str] = set()
    later: set[str] = set()
    for use in uses_in(module):
        if use.later:
            later |= set() if use.sets else {use.name}
        elif use.sets:
            bound.add(use.name)
        elif use.name not in bound:
            read.add(use.name)
    return frozenset(bound), frozenset(read | (later - bound))
