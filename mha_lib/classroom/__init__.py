"""What the class sees: pictures, the explorer, exercises, decks and handouts."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mha_lib.classroom.explorer import explore
    from mha_lib.classroom.plots import show_heads, show_heatmaps

__all__ = ["explore", "show_heads", "show_heatmaps"]

_HOMES = {"explore": "explorer", "show_heads": "plots", "show_heatmaps": "plots"}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: widgets and matplotlib take their time."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
