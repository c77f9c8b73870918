"""Measures work by counting calls: a clock would measure the other programs of the machine too."""

import sys
from collections.abc import Callable
from types import FrameType


def growth_of_work(function: Callable[[int], object], size: int) -> float:
    """How many times as many calls ``function(2 * size)`` makes as ``function(size)`` does."""
    function(size)  # what is loaded once is no work
    return calls_in(lambda: function(2 * size)) / calls_in(lambda: function(size))


def calls_in(function: Callable[[], object]) -> int:
    """How many functions are called, those written in C included, until this one returns."""
    count = 0

    def see(frame: FrameType, event: str, about: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count
