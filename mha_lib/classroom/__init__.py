"""Everything that the class sees: pictures, the explorer, exercises, decks and handouts.

A lesson imports all that it needs in one line, and begins::

    from mha_lib.classroom import begin_lesson, check, explore, show_heads

    begin_lesson("03", "en")
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mha_lib.classroom.begin import begin_lesson, begin_part
    from mha_lib.classroom.exercises import check
    from mha_lib.classroom.exercises.ticks import tick
    from mha_lib.classroom.explorer import explore
    from mha_lib.classroom.lesson.language import speak
    from mha_lib.classroom.models.explore import explore_model
    from mha_lib.classroom.pictures.numbers import show_bars, show_cells, show_dots, show_lines
    from mha_lib.classroom.pictures.plots import show_heads
    from mha_lib.classroom.pictures.tables import show_table

ROOMS = {
    "begin_lesson": "begin",
    "begin_part": "begin",
    "check": "exercises",
    "explore": "explorer",
    "explore_model": "models.explore",
    "show_bars": "pictures.numbers",
    "show_cells": "pictures.numbers",
    "show_dots": "pictures.numbers",
    "show_heads": "pictures.plots",
    "show_lines": "pictures.numbers",
    "show_table": "pictures.tables",
    "speak": "lesson.language",
    "tick": "exercises.ticks",
}
__all__ = [
    "begin_lesson",
    "begin_part",
    "check",
    "explore",
    "explore_model",
    "show_bars",
    "show_cells",
    "show_dots",
    "show_heads",
    "show_lines",
    "show_table",
    "speak",
    "tick",
]


def __getattr__(name: str) -> Any:
    """Import a room when one of its names is first used, since widgets and plots take their time."""
    if name not in ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{ROOMS[name]}"), name)
