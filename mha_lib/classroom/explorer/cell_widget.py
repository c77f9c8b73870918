"""A widget that is closed when its cell is run again: ipywidgets alone would keep every widget."""

from typing import Any, ClassVar

import anywidget
from IPython import get_ipython


def running_cell() -> tuple[str, str]:
    """The ids of the running cell and of this run; empty outside JupyterLab."""
    parent: dict = getattr(get_ipython(), "get_parent", dict)()
    return parent.get("metadata", {}).get("cellId", ""), parent.get("header", {}).get("msg_id", "")


class CellWidget(anywidget.AnyWidget):
    """A widget that knows which cell made it and which cells show it."""

    _alive: ClassVar[list["CellWidget"]] = []

    def __init__(self) -> None:
        super().__init__()
        self._made = running_cell()
        self._shown: dict[str, str] = {}  # the cells that show it, each with the run that did
        CellWidget._alive.append(self)
        self._close_former()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget's view, which Jupyter asks for when a cell shows the widget."""
        cell, run = running_cell()
        for other in CellWidget._alive:
            if other._shown.get(cell) != run:  # an earlier run showed it, and its output is gone now
                other._shown.pop(cell, None)
        self._shown[cell] = run
        self._close_former()
        return super()._repr_mimebundle_(**kwargs)

    @staticmethod
    def _close_former() -> None:
        """Close the widgets that an earlier run of a cell made and no other cell shows."""
        newest = {widget._made[0]: widget._made[1] for widget in CellWidget._alive}
        for widget in list(CellWidget._alive):
            cell, run = widget._made
            if cell and run != newest[cell] and not widget._shown.keys() - {cell}:
                widget.close()

    def close(self) -> None:
        self.layout.close()  # it is a separate widget, and keeps the views in the browser alive
        super().close()
        if self in CellWidget._alive:
            CellWidget._alive.remove(self)
