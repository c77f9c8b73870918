"""Where the lessons are, and the working copy in which a class runs them.

Running a lesson changes its file, so nobody runs ``notebooks/`` itself: ``work/<language>/`` is made
from it on first use. A lesson that a student has changed is never overwritten.
"""

import hashlib
import json
import shutil
from pathlib import Path

RECORD = ".editions.json"  # in the working copy: which edition each file was made from


class CourseError(Exception):
    """What went wrong, in one line for the person at the terminal."""


def find_root(start: Path | None = None) -> Path:
    """The folder of the course: the nearest one, here or above, that holds ``notebooks/``."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[2]):
        if list((folder / "notebooks").glob("*/*.ipynb")):
            return folder
    raise CourseError(
        f"no lessons found: {here} is not in the course's folder (the one with notebooks/); cd there"
    )


def languages(root: Path) -> list[str]:
    return sorted({lesson.parent.name for lesson in (root / "notebooks").glob("*/*.ipynb")})


def list_lessons(root: Path, language: str) -> list[Path]:
    if language not in languages(root):
        raise CourseError(f"no lessons in language {language!r}; there are: {', '.join(languages(root))}")
    return sorted((root / "notebooks" / language).glob("*.ipynb"))


def find_lesson(name: str, lessons: list[Path]) -> Path:
    """A lesson by its number (3 or 03), its name or its path."""
    for lesson in lessons:
        number = lesson.stem.split("_")[0]
        if name in (lesson.stem, lesson.name) or (
            name.isdigit() and number.isdigit() and int(name) == int(number)
        ):
            return lesson
        if Path(name).suffix == ".ipynb" and Path(name).name == lesson.name and Path(name).exists():
            return lesson
    raise CourseError(f"no lesson {name!r}; there are: {', '.join(lesson.stem for lesson in lessons)}")


def fingerprint(file: Path) -> str:
    """Equal for two editions of a lesson that differ only in what running them leaves behind."""
    content = file.read_bytes()
    if file.suffix == ".ipynb":
        try:
            cells = json.loads(content)["cells"]
            content = json.dumps([[cell["cell_type"], "".join(cell["source"])] for cell in cells]).encode()
        except (ValueError, KeyError, TypeError):
            pass  # not a notebook (half-written, say): its bytes decide
    return hashlib.sha256(content).hexdigest()


def free_name(file: Path) -> Path:
    """``<name>.new.ipynb`` beside the file, or ``new2``, ``new3`` … where that is taken."""
    number = 1
    while (beside := file.with_suffix(f".new{number if number > 1 else ''}{file.suffix}")).exists():
        number += 1
    return beside


def make_working_copy(root: Path, language: str) -> tuple[Path, list[str]]:
    """Bring ``work/<language>/`` up to date; returns it and what the user should be told.

    A file that is as it was handed out (run or not) follows the new edition. One that was changed stays
    as it is, and the new edition is laid beside it, once, as ``<name>.new.ipynb``.
    """
    source, work = root / "notebooks" / language, root / "work" / language
    list_lessons(root, language)
    work.mkdir(parents=True, exist_ok=True)
    record_file = work / RECORD
    try:
        record = dict(json.loads(record_file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        record = {}  # without it every lesson counts as changed: the safe side
    messages = []
    for new in sorted(file for file in source.iterdir() if file.is_file()):
        mine, edition, former = work / new.name, fingerprint(new), record.get(new.name)
        current = fingerprint(mine) if mine.exists() else None
        if current is None or current == former != edition:
            shutil.copyfile(new, mine)
        elif former != edition and current != edition:
            beside = free_name(mine)
            shutil.copyfile(new, beside)
            messages.append(
                f"{mine.relative_to(root)} has your changes and stays; the new edition is {beside.name}"
            )
        record[new.name] = edition
    record_file.write_text(json.dumps(record, indent=1), encoding="utf-8")
    return work, messages
