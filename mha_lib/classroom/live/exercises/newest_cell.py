"""Finds out whether a function is older than the newest cell that was to define it.

A cell with a SyntaxError does not run. Python then still knows the function from before, and a check would
judge that one without a word.
"""

import ast
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple


class Cell(NamedTuple):
    written: str  # as the student wrote it
    code: str  # as Python gets it, without IPython's magics


def cells_so_far() -> list[Cell]:
    """All cells that were run in this session, the oldest first; none outside IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None:
        return []
    history = shell.history_manager
    cells = zip(history.input_hist_raw, history.input_hist_parsed, strict=False)
    return [Cell(written, code) for written, code in cells]


def syntax_error_since(function: Callable[..., Any], cells: list[Cell]) -> SyntaxError | None:
    """The SyntaxError of the newest cell with a ``def`` of this function's name, if there is one."""
    name = getattr(function, "__name__", "")
    definition = re.compile(rf"^\s*(async\s+)?def\s+{re.escape(name)}\b", re.MULTILINE)
    newest = next((cell for cell in reversed(cells) if definition.search(cell.written)), None)
    return syntax_error_of(newest.code) if newest else None


def syntax_error_of(code: str) -> SyntaxError | None:
    """Compiles the cell as IPython does, and runs nothing of it."""
    with warnings.catch_warnings(action="ignore"):  # they were shown when the cell was run
        try:
            compile(code, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except SyntaxError as error:
            return error
    return None
