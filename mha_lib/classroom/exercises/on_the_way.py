"""Watches how an answer comes to its result: whether it loops, calls the library, or makes large tensors."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

Answer = Callable[..., Any]
Arguments = tuple[Any, ...]
LIBRARY = str(Path(__file__).parents[2])
MANY, MORE = 20, 40  # entries; both are many, for an answer may treat a few in a branch of their own


def is_own(file: str) -> bool:
    """Whether code from this file is the student's: neither ours nor an installed package's."""
    return not file.startswith(LIBRARY) and "site-packages" not in file


def trace(given: Answer, call: Arguments, note: Callable[[str], None]) -> None:
    """Call the answer, and ``note`` with the file of each step that Python takes in it.

    A step is a call, a line or a return. A comprehension takes one for each entry, though it is one line.
    """

    def step(frame: FrameType, _: str, __: object) -> Any:
        note(frame.f_code.co_filename)
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        given(*call)
    finally:
        sys.settrace(before)


def count_steps(given: Answer, call: Arguments) -> int:
    files: list[str] = []
    trace(given, call, files.append)
    return sum(map(is_own, files))


def loops(given: Answer, call_of_size: Callable[[int], Arguments]) -> bool:
    """Whether the answer takes more steps of Python where its arguments are larger."""
    many, more = (count_steps(given, call_of_size(size)) for size in (MANY, MORE))
    return more - many >= MORE - MANY


def calls_library(given: Answer, call: Arguments) -> bool:
    files: set[str] = set()
    trace(given, call, files.add)
    return any(file.startswith(LIBRARY) for file in files)


class Axes(TorchFunctionMode):
    """Notes the lengths of the axes of each tensor that is made inside this block."""

    def __init__(self) -> None:
        super().__init__()
        self.made: set[tuple[int, ...]] = set()

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = function(*args, **(kwargs or {}))
        if isinstance(made, Tensor):
            self.made.add(tuple(made.shape))
        return made


def makes_axes(given: Answer, call: Arguments, *lengths: int) -> bool:
    """Whether the answer makes a tensor that has an axis of each of these lengths."""
    with Axes() as axes:
        given(*call)
    return any(set(lengths) <= set(shape) for shape in axes.made)
