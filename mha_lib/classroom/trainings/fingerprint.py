"""A hash of all that decides what a training learns: two trainings with the same one end in the same model.

It is the same in every process, since it holds values and code, and no addresses. Code of the lesson is
followed from function to function; code of a library counts by the library's version, and that of ``mha_lib``
by its files.
"""

import dis
import hashlib
import sys
import types
from collections.abc import Iterator, Set
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

LIBRARY = Path(__file__).parents[2]
TRAINING_CODE = ("*.py", "classroom/trainings/*.py", "classroom/translator/*.py")
PLAIN = (int, float, complex, str, bytes, type(None), type(...), range, slice, torch.dtype, torch.device)
DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)
# Names in a class that say nothing of what it computes, or change with the place of its code.
LEFT_OUT = {"__annotations__", "__dict__", "__doc__", "__firstlineno__", "__module__", "__weakref__"}
LEFT_OUT |= {"__static_attributes__", "_abc_impl"}


class NotComparable(TypeError):
    """The training uses an object of which nobody can say whether it is the same another time."""


def fingerprint(caller: types.FrameType, *values: Any) -> str:
    """Hash the values, and the function or cell that runs in ``caller`` with all that it uses."""
    found = Fingerprint()
    found.add([*sys.version_info[:2], edition(), *values])
    stored = set(names(caller.f_code, "STORE_"))  # a cell that runs again finds those of its last run
    found.add_code(caller.f_code, caller.f_globals, without=stored)
    if is_of_lesson(caller.f_globals) and caller.f_locals is not caller.f_globals:
        found.add(dict(sorted(caller.f_locals.items())))
    return found.digest.hexdigest()


@cache
def edition() -> str:
    """Hash the files of the library with which lessons train."""
    files = [file for place in TRAINING_CODE for file in sorted(LIBRARY.glob(place))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def names(code: types.CodeType, kind: str) -> Iterator[str]:
    """The global names that the code, with the functions in it, loads (LOAD_) or stores (STORE_)."""
    for step in dis.get_instructions(code):
        if step.opname.startswith(kind) and step.opname.endswith(("NAME", "GLOBAL", "GLOBALS")):
            yield step.argval
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from names(inner, kind)


def is_of_lesson(variables: dict[str, Any]) -> bool:
    """Whether these are the global names of a lesson, and not those of a module that can be imported."""
    return variables.get("__name__") == "__main__" or variables.get("__name__") not in sys.modules


def can_be_imported(value: Any) -> bool:
    """Whether a function or class is found by its name: then the version of its library says what it does."""
    found: Any = None if value.__module__ == "__main__" else sys.modules.get(value.__module__ or "")
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is value


class Fingerprint:
    """Takes values one after the other; equal values in an equal order give an equal ``digest``."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.seen: dict[int, tuple[int, Any]] = {}  # holds the objects too, so that no address is used twice

    def write(self, *words: object) -> None:
        self.digest.update(repr(words).encode())

    def add(self, value: Any) -> None:
        if isinstance(value, bool) or type(value) in PLAIN:
            return self.write(type(value).__name__, value)
        if isinstance(value, tuple):
            return self.add_all(value)
        if id(value) in self.seen:
            return self.write("seen", self.seen[id(value)][0])
        self.seen[id(value)] = len(self.seen), value
        match value:
            case list():
                self.add_all(value)
            case dict() | types.MappingProxyType():
                self.add_all([*value, *value.values()])
            case set() | frozenset():
                self.write("set", sorted(alone(each) for each in value))
            case Tensor():
                self.write("tensor", value.dtype, tuple(value.shape), value.device.type, value.requires_grad)
                data = value.detach().cpu().contiguous().view(-1).view(torch.uint8)
                self.digest.update(data.numpy().tobytes())
            case torch.Generator():
                self.add(value.get_state())
            case types.ModuleType():
                self.add_module(value.__name__)
            case type():
                self.add_class(value)
            case types.FunctionType():
                self.add_function(value)
            case types.MethodType() | staticmethod() | classmethod():
                self.add_all([getattr(value, "__self__", None), value.__func__])
            case property():
                self.add_all([value.fget, value.fset])
            case partial():
                self.add_all([value.func, value.args, value.keywords])
            case types.CellType():
                self.add(value.cell_contents)
            case _ if isinstance(value, DESCRIPTORS):
                self.write(value.__name__)
            case _:
                self.add_object(value)

    def add_all(self, values: Any) -> None:
        self.write(type(values).__name__, len(values))
        for value in values:
            self.add(value)

    def add_module(self, name: str) -> None:
        """Add a library by its version, a file of the lesson's own by what it holds."""
        top = name.partition(".")[0]
        version = getattr(sys.modules.get(top), "__version__", None)
        file = getattr(sys.modules.get(name), "__file__", None)
        is_known = version is not None or top in {*sys.stdlib_module_names, "mha_lib"}
        self.write("module", name, version, None if is_known or file is None else Path(file).read_bytes())

    def add_class(self, value: type) -> None:
        self.write("class", value.__qualname__)
        if can_be_imported(value):
            return self.add_module(value.__module__)
        self.add(value.__bases__)
        self.add({name: its for name, its in vars(value).items() if name not in LEFT_OUT})

    def add_function(self, value: types.FunctionType) -> None:
        self.write("function", value.__qualname__)
        if can_be_imported(value):
            return self.add_module(value.__module__)
        self.add([value.__defaults__, value.__kwdefaults__, value.__closure__])
        self.add_code(value.__code__, value.__globals__)

    def add_code(
        self, code: types.CodeType, variables: dict[str, Any], without: Set[str] = frozenset()
    ) -> None:
        """Add what the code does, and the values of the names that it finds among those of the lesson."""
        self.write("code", code.co_code, code.co_exceptiontable, code.co_names)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self.add_code(constant, {})
            else:
                self.add(constant)
        if not is_of_lesson(variables):
            return
        for name in sorted({*names(code, "LOAD_")} & variables.keys() - without):
            if not name.startswith("__"):
                self.write("name", name)
                self.add(variables[name])

    def add_object(self, value: Any) -> None:
        """Add what ``copy`` and ``pickle`` would take of an object."""
        try:
            made = value.__reduce_ex__(4)
        except TypeError as error:
            raise NotComparable(str(error)) from None
        if isinstance(made, str):
            return self.write("object", made)
        make, arguments, *contents = made
        state, *items = [*contents, None, None, None][:3]
        self.add_all([make, arguments, state, *(list(each or ()) for each in items)])


def alone(value: Any) -> str:
    found = Fingerprint()
    found.add(value)
    return found.digest.hexdigest()
