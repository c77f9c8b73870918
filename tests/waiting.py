"""The one place where a test waits outside a browser: for a process, a file, an answer.

A test says what it waits for, never for how long: a busy machine takes its time. ``test_waits.py`` reads the
tests and refuses clocks and pauses anywhere else.
"""

import time
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")

PATIENCE = 120.0  # seconds; a test that passes never waits so long
PAUSE = 0.05


def eventually(
    condition: Callable[[], Answer | None], what: str | Callable[[], str], patience: float = PATIENCE
) -> Answer:
    """Ask until the answer is true, and return it; ``what`` says in the error what never came."""
    end = time.monotonic() + patience
    while True:
        if answer := condition():
            return answer
        if time.monotonic() > end:
            said = what if isinstance(what, str) else what()
            raise TimeoutError(f"did not come in {patience:.0f} s: {said}")
        time.sleep(PAUSE)
