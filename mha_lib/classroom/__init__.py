"""What the class sees: pictures, the explorer, exercises, decks and handouts."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mha_lib.classroom.explore import explore as explore


class _Classroom(ModuleType):
    """Here ``explore`` is the function, imported when it is first asked for (widgets take their time).

    The module of the same name stays importable; that the import system hangs it on its package must
    not hide the function.
    """

    @property
    def explore(self) -> Any:
        return import_module("mha_lib.classroom.explore").explore

    @explore.setter
    def explore(self, module: ModuleType) -> None:
        pass


sys.modules[__name__].__class__ = _Classroom
