"""A hash of all that a training is made from: two trainings with the same one end in the same model.

It is the same in every process, since it holds values and code, and no addresses. Code of the lesson, and of
modules beside it, is followed from function to function; code of a library counts by the library's version,
and that of ``mha_lib`` by its files.
"""

import hashlib
import io
import pickle
import sys
import types
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mha_lib.classroom.lesson.files import digest
from mha_lib.classroom.lesson.names import uses_in

LIBRARY = Path(__file__).parents[2]
TRAINING_CODE = ("*.py", "classroom/trainings/*.py", "classroom/translator/*.py", "classroom/stories/*.py")
# Names in a class or a module that say nothing of what it computes, or differ from process to process.
LEFT_OUT = {"__annotations__", "__builtins__", "__cached__", "__dict__", "__doc__", "__file__", "__loader__"}
LEFT_OUT |= {"__firstlineno__", "__module__", "__path__", "__spec__", "__static_attributes__", "__weakref__"}
LEFT_OUT |= {"_abc_impl"}
# The parts of code but for the file and the lines where it stands.
OF_CODE = ["code", "consts", "exceptiontable", "names", "varnames", "cellvars", "freevars", "flags"]
OF_CODE += ["argcount", "posonlyargcount", "kwonlyargcount"]


class NotComparable(TypeError):
    """The training uses an object of which nobody can say whether it is the same another time."""


def fingerprint(caller: types.FrameType, *values: Any) -> str:
    """Hash the values, and the function or cell that runs in ``caller`` with all that it uses."""
    code, variables = caller.f_code, caller.f_globals
    parts = [sys.version_info[:2], torch.__version__, edition(), values, code]
    if not is_of_library(variables.get("__name__")):
        parts.append(read_by(code, variables, caller.f_lasti))
        parts += [] if caller.f_locals is variables else sorted(caller.f_locals.items())
    return hash_of(parts)


@cache
def edition() -> str:
    """Hash the files of the library with which lessons train."""
    return digest(file for place in TRAINING_CODE for file in LIBRARY.glob(place))


def is_of_library(module: str | None) -> bool:
    """Whether a module is Python's, of ``mha_lib`` or of a library that says which version it is."""
    top = (module or "").partition(".")[0]
    if top in ("", "__main__"):
        return False
    return top in {*sys.stdlib_module_names, "mha_lib"} or hasattr(sys.modules.get(top), "__version__")


def read_by(code: types.CodeType, variables: dict[str, Any], start: int = 0) -> dict[str, Any]:
    """Return the global names that some code reads from an instruction on, with their values.

    Those that it sets before it reads them are left out: a cell that runs again finds those of its last run.
    """
    is_read: dict[str, bool] = {}
    for use in uses_in(code, start):
        is_read.setdefault(use.name, use.later or not use.sets)
    return {name: variables[name] for name in is_read if is_read[name] and name in variables}


def hash_of(value: Any) -> str:
    written = io.BytesIO()
    try:
        Contents(written, protocol=4).dump(value)
    except Exception as error:  # of any object's own way to be pickled
        raise NotComparable(str(error)) from None
    return hashlib.sha256(written.getbuffer()).hexdigest()


class Contents(pickle.Pickler):
    """Writes values as ``pickle`` does, but sets in the same order everywhere, and code too."""

    def __init__(self, *arguments: Any, **named: Any):
        super().__init__(*arguments, **named)
        self.seen: dict[int, tuple[int, Any]] = {}  # holds the objects too, so that no address is used twice

    def persistent_id(self, value: Any) -> Any:
        """Return what is written in the place of a value, or None if pickle writes it."""
        match value:
            case set() | frozenset():
                return ["set", sorted(map(hash_of, value))]
            case torch.dtype() | torch.layout() | torch.memory_format():
                return ["of torch", str(value)]
            case types.CodeType():
                # Each by itself: how a cell was compiled decides which constants it shares with other code.
                return ["code", *(hash_of(getattr(value, f"co_{name}")) for name in OF_CODE)]
            case property() | staticmethod() | classmethod():
                functions = [getattr(value, name, None) for name in ("fget", "fset", "__func__")]
                return [type(value).__name__, *functions]
            case Tensor() | torch.Generator() | types.ModuleType() | types.FunctionType() | type():
                if id(value) in self.seen:
                    return ["seen", self.seen[id(value)][0]]
                self.seen[id(value)] = len(self.seen), value
                return [type(value).__name__, *contents_of(value)]
        return None


def contents_of(value: Any) -> list[Any]:
    """Return what decides what a tensor, a generator, a module, a function or a class does."""
    if isinstance(value, Tensor):
        data = value.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes()
        return [value.dtype, tuple(value.shape), value.device.type, value.requires_grad, data]
    if isinstance(value, torch.Generator):
        return [value.get_state()]
    is_module, is_function = isinstance(value, types.ModuleType), isinstance(value, types.FunctionType)
    module = value.__name__ if is_module else value.__module__
    if is_of_library(module) and (is_module or can_be_imported(value)):
        version = getattr(sys.modules.get(module.partition(".")[0]), "__version__", None)
        return [module, getattr(value, "__qualname__", None), version]
    if is_function:
        variables = value.__globals__
        reads = {} if is_of_library(variables.get("__name__")) else read_by(value.__code__, variables)
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return [value.__code__, value.__defaults__, value.__kwdefaults__, cells, reads]
    bases = () if is_module else value.__bases__
    return [value.__name__, bases, {name: its for name, its in vars(value).items() if name not in LEFT_OUT}]


def can_be_imported(value: Any) -> bool:
    """Whether a function or class is found by its name: then the version of its library says what it does."""
    found: Any = sys.modules.get(value.__module__ or "")
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is value
