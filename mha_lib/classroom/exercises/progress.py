"""A student's progress: each verdict on an answer is a line in one file beside the lesson.

A check adds its line at the end and leaves what stands there as it is, so kernels that run at once lose none
of each other's lines, and nothing is ever written over. Lessons that are renamed, copied or reset in the
folder, and routes beside them, share the file: the name of an exercise is unique over all lessons. The page
of JupyterLab reads the same file (``jupyter/seat/progress.js``).
"""

import json
import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from mha_lib.classroom.lesson.grammar import STUDENT
from mha_lib.classroom.lesson.language import identity_here, words_here

FILE, FORMAT = "progress.jsonl", 1
MARKS = {"solved": "✓", "wrong": "✗", "not yet": "○"}  # the states of an exercise, and their marks
MOST = 1000  # the highest count


class Noted(NamedTuple):
    """The verdict on one answer, with the entries that its line has."""

    exercise: str
    state: str
    mistakes: Sequence[str]
    kernel: str  # a random token of the kernel in which the answer was judged
    mha_progress: int = FORMAT


@dataclass
class Progress:
    """How far a student is with an exercise. One that was solved stays so, whatever the newest answer is."""

    state: str = "not yet"
    newest: str = "not yet"  # the state of the newest answer
    checks: int = 0
    mistakes: dict[str, int] = field(default_factory=dict)  # how often each was made

    @property
    def is_started(self) -> bool:
        return self.state != "not yet" or bool(self.mistakes)

    @property
    def is_wrong_again(self) -> bool:
        return self.state == "solved" and self.newest == "wrong"


class Record:
    """The verdicts in the file beside the lesson, and those of this kernel that no file holds."""

    def __init__(self) -> None:
        self.kernel = secrets.token_hex(8)
        self.waiting: list[Noted] = []

    def add(self, exercise: str, state: str, mistakes: Sequence[str]) -> None:
        """Note a verdict. Where the file can't be written this says so, and the next check tries again."""
        self.waiting.append(Noted(exercise, state, mistakes, self.kernel))
        file = file_here()
        try:
            while file and self.waiting:
                # The line break goes first, so that a line that was cut off stays the only damaged one.
                line = b"\n" + json.dumps(self.waiting[0]._asdict()).encode()
                with file.open("ab") as opened:
                    opened.write(line)
                self.waiting.pop(0)
        except OSError as error:
            print(words_here()["checks"]["not_kept"].format(file=FILE, reason=error.strerror))

    def verdicts(self) -> list[Noted]:
        """All verdicts, the oldest first. Where the file holds anything else this says so."""
        lines: list[bytes] = []
        with suppress(OSError):  # there is none yet
            lines = file.read_bytes().split(b"\n") if (file := file_here()) else []
        found = [verdict_in(line) for line in lines if line.strip()]
        if None in found:
            print(words_here()["checks"]["not_read"].format(file=FILE))
        return [*filter(None, found), *self.waiting]


def file_here() -> Path | None:
    """The file beside a student's copy; None beside any other notebook, such as an instructor's deck.

    A copy that was renamed while it ran is unknown to a restarted kernel, but its file is there.
    """
    file, identity = Path.cwd() / FILE, identity_here()
    return file if file.exists() or (identity and identity.kind == STUDENT) else None


def verdict_in(line: bytes) -> Noted | None:
    """The verdict in a line of the file; None where the line is damaged or of another format."""
    with suppress(ValueError, TypeError, RecursionError):
        noted = Noted(**json.loads(line))
        texts = (noted.exercise, noted.kernel, *noted.mistakes)
        is_whole = noted.mha_progress == FORMAT and all(isinstance(text, str) for text in texts)
        return noted if is_whole and noted.state in MARKS else None
    return None


def progress_in(verdicts: Iterable[Noted]) -> defaultdict[str, Progress]:
    """The progress in each exercise; in one that was never checked it is "not yet"."""
    exercises: defaultdict[str, Progress] = defaultdict(Progress)
    for noted in verdicts:
        progress = exercises[noted.exercise]
        progress.newest = noted.state
        progress.state = "solved" if progress.state == "solved" else noted.state
        progress.checks = min(progress.checks + 1, MOST)
        for mistake in noted.mistakes:
            progress.mistakes[mistake] = min(progress.mistakes.get(mistake, 0) + 1, MOST)
    return exercises
