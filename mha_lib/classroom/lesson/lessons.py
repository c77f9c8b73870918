"""Finds the course and its lessons, and reads the settings in ``course.json`` beside the lessons."""

import importlib.metadata
import json
from pathlib import Path
from typing import Any

from mha_lib.classroom.lesson.grammar import identity_in
from mha_lib.classroom.lesson.language import (
    COURSE,
    ENGLISH,
    brings_lessons,
    course_of,
    is_installed,
    lesson_folder,
    source_folder,
    source_root,
    words_in,
)
from mha_lib.classroom.lesson.made import MADE

RECORD = ".editions.json"  # in a working copy: the fingerprint of the edition that each file was made from
SOLUTIONS = ("folded", "none")  # what course.json may say of the solutions in students' copies


class CourseError(Exception):
    """Says in one line to the person at the terminal what went wrong.

    ``name`` names a sentence under "errors" in ``words/``; ``details`` fill the gaps of that sentence.
    """

    def __init__(self, name: str, /, **details: Any):
        super().__init__(name, details)
        self.name, self.details = name, details

    def said_in(self, language: str) -> str:
        pip = "pip install 'mha-lib" if brings_lessons() else "pip install -e '."
        return str(words_in(language)["errors"][self.name].format(pip=pip, **self.details))

    def __str__(self) -> str:
        return self.said_in(ENGLISH)


def in_one_line(subject: object, error: Exception) -> CourseError:
    """Any error that stopped the work on one subject, such as a lesson, as a sentence of one line."""
    if isinstance(error, CourseError):
        return error
    if isinstance(error, OSError) and error.strerror:
        named = error.filename or subject
        return CourseError("file_unusable", file=named, reason=error.strerror)
    said = next(iter(str(error).splitlines()), "")
    reason = f"{type(error).__name__}: {said}"[:200] if said else type(error).__name__
    return CourseError("failed", subject=subject, reason=reason)


def version() -> str:
    """The version of the course that is installed; "" where it is on Python's path alone."""
    try:
        return importlib.metadata.version("mha-lib")
    except importlib.metadata.PackageNotFoundError:
        return ""


def find_root(start: Path | None = None) -> Path:
    """The folder of the course: the nearest one, here or above, that holds ``notebooks/``.

    Where the installed package has lessons, a folder with working copies counts too, and without one it is
    the current folder.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[3]):
        lessons = "work/*/" + RECORD if is_installed(folder) else "notebooks/*/*.ipynb"
        if any(folder.glob(lessons)):
            return folder
    if brings_lessons():
        return course_of(here) or here
    raise CourseError("no_course", folder=here)


def written_languages(root: Path) -> list[str]:
    """The languages in which lessons are written: each has a folder in ``notebooks/``."""
    lessons = (source_root(root) / "notebooks").glob("*/*.ipynb")
    return sorted({lesson.parent.name for lesson in lessons})


def list_languages(root: Path) -> list[str]:
    """The languages in which lessons can be read: those written, and those made from them."""
    written = written_languages(root)
    return sorted([*written, *(one.code for one in MADE if one.made_from in written)])


def list_lessons(root: Path, language: str) -> list[Path]:
    """The lessons of a language; ``prepare_lessons`` first makes those that nobody writes."""
    known = list_languages(root)
    if language not in known:
        raise CourseError("no_language", language=repr(language), known=", ".join(known))
    written = sorted(source_folder(root, language).glob("*.ipynb"))
    return [lesson_folder(root, language) / lesson.name for lesson in written]


def language_in(lesson: Path) -> str:
    """The language in which a lesson is written."""
    identity = identity_in(lesson)
    return identity.language if identity else ENGLISH


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


def find_notebook(name: str, lessons: list[Path]) -> Path:
    """A lesson, or any other notebook by its path."""
    file = Path(name)
    is_lesson = file.stem in (lesson.stem for lesson in lessons)
    return (
        file.resolve()
        if file.suffix == ".ipynb" and file.is_file() and not is_lesson
        else find_lesson(name, lessons)
    )


def hands_out_solutions(root: Path) -> bool:
    """Whether students' copies hold the solutions: in no language if one ``course.json`` says "none"."""
    folders = [source_folder(root, language) for language in written_languages(root)]
    chosen = {folder / COURSE: read_course(folder).get("solutions", SOLUTIONS[0]) for folder in folders}
    for file, choice in chosen.items():
        if choice not in SOLUTIONS:
            raise CourseError("bad_solutions", file=file, choice=repr(choice))
    return "none" not in chosen.values()


def read_course(lessons: Path) -> dict[str, Any]:
    file = lessons / COURSE
    if not file.is_file():
        return {}
    try:
        return {**json.loads(file.read_bytes())}
    except (ValueError, TypeError) as error:
        raise CourseError("bad_course", file=file, reason=error) from None
