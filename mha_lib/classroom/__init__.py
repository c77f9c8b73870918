"""What the class sees: pictures, the explorer, exercises, decks and handouts."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mha_lib.classroom.explorer import explore as explore


def __getattr__(name: str) -> Any:
    """``explore`` is imported when it is first asked for: widgets take their time."""
    if name == "explore":
        from mha_lib.classroom.explorer import explore

        return explore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
