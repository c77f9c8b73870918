"""A widget that goes when its cell is run again: ipywidgets alone keeps every one for ever."""

from typing import Any, ClassVar

import anywidget
from IPython import get_ipython


def running_cell() -> tuple[str, str]:
    """The id of the cell that is being run and of the run; empty outside of JupyterLab."""
    parent: dict = getattr(get_ipython(), "get_parent", dict)()
    return parent.get("metadata", {}).get("cellId", ""), parent.get("header", {}).get("msg_id", "")


class CellWidget(anywidget.AnyWidget):
    _alive: ClassVar[list["CellWidget"]] = []

    def __init__(self) -> None:
        super().__init__()
        self._made, self._shown = running_cell(), dict[str, str]()  # cell and run
        CellWidget._alive.append(self)
        self._retire()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        cell, run = running_cell()
        for other in CellWidget._alive:
            if other._shown.get(cell) != run:  # the cell's former output is gone
                other._shown.pop(cell, None)
        self._shown[cell] = run
        self._retire()
        return super()._repr_mimebundle_(**kwargs)

    def _retire(self) -> None:
        """Close what earlier runs of a cell made and no other cell shows."""
        newest = {widget._made[0]: widget._made[1] for widget in CellWidget._alive}
        for widget in list(CellWidget._alive):
            cell, run = widget._made
            if cell and run != newest[cell] and not widget._shown.keys() - {cell}:
                widget.close()

    def close(self) -> None:
        super().close()
        if self in CellWidget._alive:
            CellWidget._alive.remove(self)
