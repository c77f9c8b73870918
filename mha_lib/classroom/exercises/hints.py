"""Hints to exercises, in the words of the slides that they come from: a hint quotes a cell of the lesson."""

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mha_lib.classroom.exercises.judge import Judged, say
from mha_lib.classroom.exercises.progress import Noted
from mha_lib.classroom.lesson.grammar import Cell, has_role, identity_of
from mha_lib.classroom.lesson.language import files_here
from mha_lib.classroom.lesson.outputs import hint_metadata
from mha_lib.classroom.lesson.shell import show_folded
from mha_lib.classroom.lesson.slides import HEADING, addresses_of, read_slides, source, steps_of

MISSES = 2  # so many wrong answers come before the hint
FRAME = re.compile(r"</?details>|<summary>.*?</summary>")
PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
GUESS = re.compile(r"(?<!\*)\*(?!\*)[^*]+[.?。？]\*(?!\*)")


@dataclass(frozen=True)
class Hint:
    """The address of a step, such as ``1.7``, and what one of its cells says, as Markdown."""

    address: str
    text: str


def hint_in(notebook: Any, exercise: Judged) -> Hint | None:
    """The hint to an exercise, from its lesson or from a route; None where these lack the cell."""
    cells, identity = notebook["cells"], identity_of(notebook)
    is_lesson = identity is not None and identity.lesson == exercise.lesson
    name = exercise.hint if is_lesson else f"{exercise.lesson.split('_')[0]}-{exercise.hint}"
    addresses = addresses_of(read_slides(cells), identity)
    for step, its in steps_of(cells).items():
        for cell in its:
            if cell["id"] == name:
                return Hint(addresses[step], words_of(cell))
    return None


def words_of(cell: Cell) -> str:
    """The text of a cell without its heading, its pictures and the guess that it asks for."""
    text = PICTURE.sub("", FRAME.sub("", HEADING.sub("", source(cell))))
    if has_role(cell, "guess"):
        text = GUESS.sub("", text)
    return text.replace("**", "").strip()


def show_hint(exercise: Judged, verdicts: Iterable[Noted]) -> None:
    """Show the hint, folded, if these verdicts hold enough wrong answers to the exercise."""
    misses = sum(noted.exercise == exercise.name and noted.state == "wrong" for noted in verdicts)
    if misses < MISSES:
        return
    for file in files_here():
        with suppress(OSError, ValueError, TypeError, LookupError):  # it is no notebook
            if hint := hint_in(json.loads(file.read_bytes()), exercise):
                label = say("hint", address=hint.address)
                return show_folded(label, hint.text, hint_metadata(exercise.name))
