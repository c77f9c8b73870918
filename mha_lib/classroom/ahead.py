"""Trains the models of all lessons beside the one that is read, so that setting up a later one takes seconds.

A server of the course begins it with ``trained_ahead``: a process of the lowest priority runs the set-up of
each lesson that trains, and ``kept_steps`` keeps what it trains as it does for a student.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mha_lib.classroom.lesson import CourseError, list_lessons
from mha_lib.classroom.lesson.files import digest, write_whole
from mha_lib.classroom.lesson.grammar import has_role
from mha_lib.classroom.lesson.reading import read_lesson

LOWEST = 19  # of all priorities that a process may give itself
DONE = "ahead"  # a file beside the trainings: for which lessons and which library all was trained


@contextmanager
def trained_ahead(root: Path, language: str) -> Iterator[None]:
    """While the block runs, train what the lessons in this language need, in a process beside it."""
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, str(root), language],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C in the terminal asks the server whether it should end
        creationflags=getattr(subprocess, "IDLE_PRIORITY_CLASS", 0),  # on Windows
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


async def train(root: Path, language: str) -> None:
    """Run the set-up of each lesson that trains; a lesson that fails stops no other."""
    # The server, which needs none of these, would open 2 seconds later.
    from mha_lib.classroom.pages.build import Progress
    from mha_lib.classroom.pages.execution import execute
    from mha_lib.classroom.trainings.fingerprint import edition
    from mha_lib.classroom.trainings.kept import FOLDER

    lessons = list_lessons(root, language)
    done, state = root / "work" / FOLDER / DONE, digest(lessons) + edition()
    if done.exists() and done.read_text() == state:
        return
    for lesson in lessons:
        with suppress(CourseError):
            notebook = read_lesson(lesson).copy()
            notebook.cells = [cell for cell in notebook.cells if has_role(cell, "setup")]
            if any(has_role(cell, "trains") for cell in notebook.cells):
                await execute(notebook, lesson, 1, Progress())
    with suppress(OSError):
        write_whole(done, state)


if __name__ == "__main__":
    from mha_lib.classroom.pages.execution import run_until_ctrl_c

    if hasattr(os, "nice"):
        os.nice(LOWEST)
    run_until_ctrl_c(train(Path(sys.argv[1]), sys.argv[2]))
