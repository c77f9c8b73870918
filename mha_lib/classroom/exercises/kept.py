"""Keeps the newest state of each exercise beside a student's lessons, where a restarted kernel finds it."""

import json
from contextlib import suppress
from pathlib import Path

from mha_lib.classroom.exercises.reports import MARKS
from mha_lib.classroom.lesson.files import as_json, write_whole
from mha_lib.classroom.lesson.grammar import STUDENT
from mha_lib.classroom.lesson.language import identity_here

FILE = ".exercises.json"


def kept_states() -> dict[str, str]:
    """The state of each exercise that was checked in this folder; none outside of a student's lessons."""
    file = file_here()
    with suppress(OSError, ValueError, AttributeError, TypeError):  # there is none yet, or it is damaged
        tree = json.loads(file.read_text(encoding="utf-8")) if file else {}
        return {exercise: state for exercise, state in tree.items() if state in list(MARKS)}
    return {}


def keep_state(exercise: str, state: str) -> None:
    if file := file_here():
        with suppress(OSError):  # a full disk must not stop a check
            write_whole(file, as_json(kept_states() | {exercise: state}))


def file_here() -> Path | None:
    """The file beside a student's copy; None beside any other notebook, such as an instructor's deck."""
    identity = identity_here()
    return Path.cwd() / FILE if identity and identity.kind == STUDENT else None
