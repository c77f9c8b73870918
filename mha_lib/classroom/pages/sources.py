"""Notes beside a lesson's run or print the content of its sources, and tells whether they have changed."""

from functools import cache
from pathlib import Path

from mha_lib.classroom.lesson.files import digest, write_whole
from mha_lib.classroom.pages.page import CLASSROOM

# These rooms change neither what a lesson puts out nor its slides.
WITHOUT_EFFECT = tuple(CLASSROOM / room for room in ("pages", "students"))


def sources_of(lesson: Path) -> str:
    """A hash of the lesson, the files beside it, the figures and the library."""
    beside = [file for file in lesson.parent.iterdir() if file.is_file() and file.suffix != ".ipynb"]
    return f"{digest([lesson, *beside])} {shared_sources(lesson.parents[2])}"


@cache
def shared_sources(root: Path) -> str:
    """Read once by a command, at its start: what changes while it runs makes its results old."""
    library = (file for file in CLASSROOM.parent.rglob("*.*") if "__pycache__" not in file.parts)
    used = (file for file in library if not any(room in file.parents for room in WITHOUT_EFFECT))
    return digest(file for file in (*(root / "img").rglob("*.*"), *used) if file.is_file())


def note_of(made: Path) -> Path:
    return made.with_name(f".{made.name}.made-from")


def write_made(made: Path, content: str | bytes, sources: str) -> None:
    """Write what was made, and a note of its sources as they were before that began."""
    note_of(made).unlink(missing_ok=True)
    write_whole(made, content)
    write_whole(note_of(made), sources)


def made_from(made: Path) -> str:
    """The sources that were noted beside it; none where there is no note."""
    note = note_of(made)
    return note.read_text(encoding="utf-8") if note.exists() else ""


def is_current(made: Path, lesson: Path) -> bool:
    return made.exists() and made_from(made) == sources_of(lesson)
