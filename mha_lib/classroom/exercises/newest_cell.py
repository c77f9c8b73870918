"""Finds out whether Python could not read the newest cell that defines a function.

A cell with a SyntaxError does not run. Python then still has the function's earlier definition, and a check
would judge that one without saying so.
"""

import ast
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from mha_lib.classroom.lesson.cells import shell_here


class Cell(NamedTuple):
    written: str  # as the student wrote it
    code: str  # as Python compiles it, without IPython's magics


def cells_so_far() -> list[Cell]:
    """All cells that were run in this session, the oldest first; none outside IPython."""
    shell = shell_here()
    if shell is None:
        return []
    history = shell.history_manager
    return list(map(Cell, history.input_hist_raw, history.input_hist_parsed))


def syntax_error_since(function: Callable[..., Any], cells: list[Cell]) -> SyntaxError | None:
    """The SyntaxError of the newest cell that holds a ``def`` of this function's name; None without one."""
    name = getattr(function, "__name__", "")
    definition = re.compile(rf"^\s*(async\s+)?def\s+{re.escape(name)}\b", re.MULTILINE)
    newest = next((cell.code for cell in reversed(cells) if definition.search(cell.written)), "")
    with warnings.catch_warnings(action="ignore"):  # they were shown when the cell was run
        try:  # to compile it as IPython does, without running it
            compile(newest, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except SyntaxError as error:
            return error
    return None
