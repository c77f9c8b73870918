"""Watches how an answer comes to its result: whether it loops, calls the library, or makes large tensors."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
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


def trace(given: Answer, call: Arguments, note: Callable[[CodeType], None]) -> None:
    """Call the answer, and ``note`` with the code of each step that Python takes in it.

    A step is a call, a line or a return. A comprehension takes one for each entry, though it is one line.
    """

    def step(frame: FrameType, _: str, __: object) -> Any:
        note(frame.f_code)
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        given(*call)
    finally:
        sys.settrace(before)


def count_steps(given: Answer, call: Arguments) -> int:
    steps: list[CodeType] = []
    trace(given, call, steps.append)
    return sum(is_own(step.co_filename) for step in steps)


def loops(given: Answer, call_of_size: Callable[[int], Arguments]) -> bool:
    """Whether the answer takes more steps of Python where its arguments are larger."""
    many, more = (count_steps(given, call_of_size(size)) for size in (MANY, MORE))
    return more - many >= MORE - MANY


def library_calls(given: Answer, call: Arguments) -> set[str]:
    """The names of the library's functions that the answer calls."""
    steps: set[CodeType] = set()
    trace(given, call, steps.add)
    return {step.co_name for step in steps if step.co_filename.startswith(LIBRARY)}


def not_by(*finished: str) -> dict[str, Callable[[Answer, Arguments], bool]]:
    """The rule against calls of these functions, the library's or PyTorch's, or with a keyword of theirs."""

    def calls(given: Answer, call: Arguments) -> bool:
        with Watch() as watch:
            given(*call)
        return not library_calls(given, call).union(watch.called).isdisjoint(finished)

    return {"finished_function": calls}


NO_ATTENTION = not_by("dot_product_attention", "scaled_dot_product_attention", "multi_head_attention_forward")
TORCH_ALONE = {"library_called": lambda *called: bool(library_calls(*called))} | NO_ATTENTION


class Watch(TorchFunctionMode):
    """Notes the functions of PyTorch called in this block, their keywords, and the axes of their results."""

    def __init__(self) -> None:
        super().__init__()
        self.called: set[str] = set()
        self.made: set[tuple[int, ...]] = set()

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.called |= {getattr(function, "__name__", ""), *(kwargs or {})}
        made = function(*args, **(kwargs or {}))
        if isinstance(made, Tensor):
            self.made.add(tuple(made.shape))
        return made


def makes_axes(given: Answer, call: Arguments, *lengths: int) -> bool:
    """Whether the answer makes a tensor that has an axis of each of these lengths."""
    with Watch() as watch:
        given(*call)
    return any(set(lengths) <= set(shape) for shape in watch.made)
