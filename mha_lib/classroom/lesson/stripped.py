"""Writes the lessons without solutions and notes, for a server whose students can read its files."""

from pathlib import Path
from typing import Any

from mha_lib.classroom.lesson.files import write_whole
from mha_lib.classroom.lesson.language import source_folder
from mha_lib.classroom.lesson.lessons import list_languages, written_languages
from mha_lib.classroom.lesson.prepare import prepare_lessons
from mha_lib.classroom.lesson.reading import as_file, read_lesson
from mha_lib.classroom.lesson.slides import MINUTES, is_for_instructors, is_notes, source


def write_stripped(root: Path, into: Path) -> None:
    """Write the lessons of the course in ``root`` to ``into``, in all languages, without solutions and notes.

    Raises a ``CourseError`` for a lesson that can't be read: its notes can't be told from the rest.
    """
    for language in written_languages(root):
        for file in filter(Path.is_file, source_folder(root, language).iterdir()):
            content = stripped(file) if file.suffix == ".ipynb" else file.read_bytes()
            write_whole(into / file.relative_to(root), content)
    for language in list_languages(into):
        prepare_lessons(into, language)


def stripped(lesson: Path) -> bytes:
    """A lesson without solutions, and of its notes with the minutes alone.

    From the minutes, JupyterLab's line above the lesson reckons how long the rest takes, and a copy knows
    which slides are optional.
    """
    notebook = read_lesson(lesson).copy()
    cells = (minutes_alone(cell) if is_notes(cell) else cell for cell in notebook["cells"])
    notebook["cells"] = [cell for cell in cells if is_notes(cell) or not is_for_instructors(cell)]
    return as_file(notebook).encode()


def minutes_alone(notes: dict[str, Any]) -> dict[str, Any]:
    """The notes without what follows their minutes."""
    found = MINUTES.match(source(notes))
    return {
        "id": notes["id"],
        "cell_type": "markdown",  # also where the notes were code, with outputs
        "metadata": {"slideshow": {"slide_type": "notes"}},
        "source": found[0].strip() if found else "",
    }
