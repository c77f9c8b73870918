"""The working copy in which a class runs the lessons.

Running a lesson changes its file, so nobody runs ``notebooks/`` itself: ``work/<language>/`` is made
from it on first use. A lesson that a student has changed is never overwritten.
"""

import hashlib
import json
from pathlib import Path

from mha_lib.classroom.language import words_in
from mha_lib.classroom.lessons.course import list_lessons
from mha_lib.classroom.lessons.figures import OWN, SHARED, figure_words, read_figure

RECORD = ".editions.json"  # in the working copy: which edition each file was made from


def make_working_copy(root: Path, language: str) -> tuple[Path, list[str]]:
    """Bring ``work/<language>/`` up to date; returns it and what the user should be told.

    A file that is as it was handed out (run or not) follows the new edition. One that was changed stays
    as it is, and the new edition is laid beside it, once, as ``<name>.new.ipynb``.
    """
    list_lessons(root, language)  # raises where there are none
    source, work = root / "notebooks" / language, root / "work" / language
    work.mkdir(parents=True, exist_ok=True)
    has_own_figures = write_figures(root / "img", language, work / OWN)
    record = read_record(work)
    messages = []
    for file in sorted(file for file in source.iterdir() if file.is_file()):
        content = file.read_bytes()
        if has_own_figures and file.suffix == ".ipynb":
            content = content.replace(f"]({SHARED}".encode(), f"]({OWN}".encode())
        beside = bring_up_to_date(work / file.name, content, record)
        if beside:
            mine = (work / file.name).relative_to(root)
            messages.append(words_in(language)["working_copy"]["kept"].format(mine=mine, new=beside.name))
    (work / RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")
    return work, messages


def write_figures(images: Path, language: str, folder: Path) -> bool:
    """The figures in the language's own words, where it has such; whether it has."""
    if figure_words(images, language) is None:
        return False
    folder.mkdir(exist_ok=True)
    for figure in images.iterdir():
        if figure.is_file():
            (folder / figure.name).write_bytes(read_figure(figure, language))
    return True


def read_record(work: Path) -> dict[str, str]:
    """The edition that each file was made from; without a record every file counts as changed."""
    try:
        return dict(json.loads((work / RECORD).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def bring_up_to_date(mine: Path, content: bytes, record: dict[str, str]) -> Path | None:
    """Write a new edition over a file that nobody changed, or else beside it; returns the file beside."""
    edition, former = fingerprint(content, mine.suffix), record.get(mine.name)
    current = fingerprint(mine.read_bytes(), mine.suffix) if mine.exists() else None
    record[mine.name] = edition
    if current is None or current == former != edition:
        mine.write_bytes(content)
    elif former != edition and current != edition:
        beside = free_name(mine)
        beside.write_bytes(content)
        return beside
    return None


def fingerprint(content: bytes, suffix: str) -> str:
    """Equal for two editions of a lesson that differ only in what running them leaves behind."""
    if suffix == ".ipynb":
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
