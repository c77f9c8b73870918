"""What the class sees: pictures, the explorer, exercises, decks and handouts.

A lesson imports all that it needs in one line::

    from mha_lib.classroom import check, explore, show_heads
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from mha_lib.classroom.course.chinese import SIMPLIFIED
from mha_lib.classroom.course.language import language_here

if TYPE_CHECKING:
    from mha_lib.classroom.live.exercises import check as check
    from mha_lib.classroom.live.explorer import explore as explore
    from mha_lib.classroom.live.plots import show_heads as show_heads
    from mha_lib.classroom.live.plots import show_heatmaps as show_heatmaps

ROOMS = {
    "check": "live.exercises",
    "explore": "live.explorer",
    "show_heads": "live.plots",
    "show_heatmaps": "live.plots",
}
__all__ = ["check", "explore", "show_heads", "show_heatmaps"]


def __getattr__(name: str) -> Any:
    """Each room is imported when it is first asked for: widgets and plots take their time."""
    if name not in ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{ROOMS[name]}"), name)


if "IPython" in sys.modules and (shell := sys.modules["IPython"].get_ipython()):
    importlib.import_module(f"{__name__}.live.cells").dress(shell)
    if language_here().split("-")[0] == SIMPLIFIED:
        importlib.import_module(f"{__name__}.live.plots").write_chinese()
