"""A widget that is closed when its cell is run again. ipywidgets alone keeps every widget for ever."""

from typing import Any, ClassVar

import anywidget
from IPython import get_ipython


def running_cell() -> tuple[str, str]:
    """The id of the cell that is being run, and the id of this run; empty outside of JupyterLab."""
    parent: dict = getattr(get_ipython(), "get_parent", dict)()
    return parent.get("metadata", {}).get("cellId", ""), parent.get("header", {}).get("msg_id", "")


class CellWidget(anywidget.AnyWidget):
    """A widget that knows the cell that made it and the cells that show it."""

    _alive: ClassVar[list["CellWidget"]] = []

    def __init__(self) -> None:
        super().__init__()
        self._made = running_cell()
        self._shown: dict[str, str] = {}  # by which cells, each with the run that showed it
        CellWidget._alive.append(self)
        self._close_former()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """What Jupyter asks for when a cell shows the widget."""
        cell, run = running_cell()
        for other in CellWidget._alive:
            if other._shown.get(cell) != run:  # an earlier run showed it: that output is gone now
                other._shown.pop(cell, None)
        self._shown[cell] = run
        self._close_former()
        return super()._repr_mimebundle_(**kwargs)

    @staticmethod
    def _close_former() -> None:
        """Close what earlier runs of a cell made and no other cell shows."""
        newest = {widget._made[0]: widget._made[1] for widget in CellWidget._alive}
        for widget in list(CellWidget._alive):
            cell, run = widget._made
            if cell and run != newest[cell] and not widget._shown.keys() - {cell}:
                widget.close()

    def close(self) -> None:
        self.layout.close()  # a widget of its own, which holds the views in the browser
        super().close()
        if self in CellWidget._alive:
            CellWidget._alive.remove(self)
