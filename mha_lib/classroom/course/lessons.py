"""Where the course and its lessons are, and what ``course.json`` beside the lessons sets."""

import json
from pathlib import Path
from typing import Any

from mha_lib.classroom.course.chinese import SIMPLIFIED, TRADITIONAL
from mha_lib.classroom.course.language import ENGLISH, words_in

COURSE = "course.json"


class CourseError(Exception):
    """What went wrong, in one line for the person at the terminal.

    ``name`` is that of a sentence under "errors" in the files of ``words/``, ``details`` fill its gaps.
    """

    def __init__(self, name: str, /, **details: Any):
        super().__init__(name, details)
        self.name, self.details = name, details

    def said_in(self, language: str) -> str:
        return str(words_in(language)["errors"][self.name].format(**self.details))

    def __str__(self) -> str:
        return self.said_in(ENGLISH)


def in_one_line(subject: object, error: Exception) -> CourseError:
    """Whatever stopped the work on a subject, a lesson say, as one line: of one lesson, not of all."""
    if isinstance(error, CourseError):
        return error
    if isinstance(error, OSError) and error.strerror:
        named = error.filename or subject
        return CourseError("file_unusable", file=named, reason=error.strerror)
    said = next(iter(str(error).splitlines()), "")
    reason = f"{type(error).__name__}: {said}"[:200] if said else type(error).__name__
    return CourseError("failed", subject=subject, reason=reason)


def find_root(start: Path | None = None) -> Path:
    """The folder of the course: the nearest one, here or above, that holds ``notebooks/``."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[3]):
        if list((folder / "notebooks").glob("*/*.ipynb")):
            return folder
    raise CourseError("no_course", folder=here)


def list_languages(root: Path) -> list[str]:
    """Those in which there are lessons; traditional Chinese is made from simplified."""
    languages = {lesson.parent.name for lesson in (root / "notebooks").glob("*/*.ipynb")}
    return sorted(languages | {TRADITIONAL} if SIMPLIFIED in languages else languages - {TRADITIONAL})


def list_lessons(root: Path, language: str) -> list[Path]:
    known = list_languages(root)
    if language not in known:
        raise CourseError("no_language", language=repr(language), known=", ".join(known))
    if language == TRADITIONAL:
        from mha_lib.classroom.course.traditional import write_traditional_lessons

        write_traditional_lessons(root)
    return sorted((root / "notebooks" / language).glob("*.ipynb"))


def find_lesson(name: str, lessons: list[Path]) -> Path:
    """A lesson by its number (3 or 03), its name or its path."""
    for lesson in lessons:
        number = lesson.stem.split("_")[0]
        is_its_number = name.isdecimal() and number.isdecimal() and int(name) == int(number)
        if name in (lesson.stem, lesson.name) or is_its_number:
            return lesson
        if Path(name).suffix == ".ipynb" and Path(name).name == lesson.name and Path(name).exists():
            return lesson
    known = ", ".join(lesson.stem for lesson in lessons)
    raise CourseError("no_lesson", name=repr(name), known=known)


def setting(lessons: Path, name: str) -> str:
    """An address that ``course.json`` in the folder of the lessons names; "" where it names none."""
    return str(read_course(lessons).get(name) or "")


def read_course(lessons: Path) -> dict[str, Any]:
    file = lessons / COURSE
    if not file.is_file():
        return {}
    try:
        return {**json.loads(file.read_text(encoding="utf-8"))}
    except (ValueError, TypeError) as error:
        raise CourseError("bad_course", file=file, reason=error) from None
