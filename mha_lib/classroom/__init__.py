"""Everything that the class sees: pictures, the explorer, exercises, decks and handouts.

A lesson imports all that it needs in one line, and begins::

    from mha_lib.classroom import begin_lesson, check, explore, show_heads

    begin_lesson()
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mha_lib.classroom.live.begin import begin_lesson
    from mha_lib.classroom.live.exercises import check
    from mha_lib.classroom.live.explorer import explore
    from mha_lib.classroom.live.plots import show_heads, show_heatmaps
    from mha_lib.classroom.models.explore import explore_model

ROOMS = {
    "begin_lesson": "live.begin",
    "check": "live.exercises",
    "explore": "live.explorer",
    "explore_model": "models.explore",
    "show_heads": "live.plots",
    "show_heatmaps": "live.plots",
}
__all__ = ["begin_lesson", "check", "explore", "explore_model", "show_heads", "show_heatmaps"]


def __getattr__(name: str) -> Any:
    """Import a room when one of its names is first used, since widgets and plots take their time."""
    if name not in ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{ROOMS[name]}"), name)
