"""The copies of the lessons in which a class and its instructor run them.

Running a lesson changes its file, so nobody runs ``notebooks/`` itself. Students work in
``work/<language>/``, which holds the lessons without the instructor's notes; an instructor presents from
``work/deck-<language>/``, which holds them with the notes and without the outputs of the last time. Both
are made on first use, and what somebody has changed is never lost.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from mha_lib.classroom.course.figures import OWN, SHARED, figure_words, read_figure
from mha_lib.classroom.course.files import as_json, write_whole
from mha_lib.classroom.course.language import words_in
from mha_lib.classroom.course.lessons import list_languages, list_lessons
from mha_lib.classroom.course.qr_code import write_qr_code
from mha_lib.classroom.course.slides import slide_type

RECORD = ".editions.json"  # in the working copy: which edition each file was made from
CHOICE = ".language"  # in work/: the language that was last worked in


def make_working_copy(root: Path, language: str) -> tuple[Path, list[str]]:
    """Bring ``work/<language>/`` up to date; returns it and what the user should be told.

    A file that is as it was handed out (run or not) follows the new edition. One that was changed stays
    as it is, and the new edition is laid beside it, once, as ``<name>.new.ipynb``. So does a lesson of which
    no notebook can be read, one that was half copied, say; that is said until it is gone.
    """
    work = root / "work" / language
    messages = []
    with record_of(work) as record:
        for name, content in editions(root, language, work):
            content = without_notes(content) if name.endswith(".ipynb") else content
            if beside := bring_up_to_date(work / name, content, record):
                what = "kept" if is_readable(work / name) else "broken"
                messages.append(say(root, language, what, work / name, beside))
    return work, messages


def make_deck_copy(
    root: Path, language: str, lesson: str, begins_afresh: Callable[[Path], bool] = lambda file: False
) -> tuple[Path, list[str]]:
    """Make a lesson's deck in ``work/deck-<language>/`` as fresh as on the first day.

    What the last lecture left in the lesson, its outputs, goes. Where the instructor has changed it,
    ``begins_afresh(file)`` decides: to keep the changes, or to set them aside and begin afresh, as is done
    with a deck of which no notebook can be read. The decks of
    other lessons stay as they are, for one of them may be on show. Returns the folder and what to tell.
    """
    work = root / "work" / f"deck-{language}"
    messages = []
    with record_of(work) as record:
        write_qr_code(root / "notebooks" / language, work)
        for name, content in editions(root, language, work):
            content = without_outputs(content)  # which a lesson has that its author has run
            mine = work / name
            if mine.exists() and mine.suffix == ".ipynb" and name != lesson:
                continue
            if not mine.exists() or authored(mine.read_bytes(), mine.suffix) == record.get(name):
                write_whole(mine, content)
            elif not is_readable(mine) or begins_afresh(mine):
                free = (name for name in names_beside(mine, "mine") if not name.exists())
                aside = mine.rename(next(free))
                write_whole(mine, content)
                messages.append(say(root, language, "set_aside", mine, aside))
            else:
                write_whole(mine, without_outputs(mine.read_bytes()))
                messages.append(say(root, language, "own_deck", mine, mine))
                continue
            record[name] = authored(content, mine.suffix)
    return work, messages


def remember_language(root: Path, language: str) -> None:
    """What is opened next time, where no language is asked for."""
    write_whole(root / "work" / CHOICE, f"{language}\n")


def remembered_language(root: Path) -> str | None:
    """The language that was last worked in, where the course still has it."""
    with suppress(OSError, ValueError):
        language = (root / "work" / CHOICE).read_text(encoding="utf-8").strip()
        return language if language in list_languages(root) else None
    return None


def editions(root: Path, language: str, work: Path) -> list[tuple[str, bytes]]:
    """Name and content of each file of the lessons, and their figures written where they need their own."""
    list_lessons(root, language)  # raises where there are none
    has_own_figures = write_figures(root / "img", language, work / OWN)
    files = sorted(file for file in (root / "notebooks" / language).iterdir() if file.is_file())
    contents = [(file.name, file.read_bytes()) for file in files]
    if not has_own_figures:
        return contents
    shared, own = f"]({SHARED}".encode(), f"]({OWN}".encode()
    return [(name, content.replace(shared, own)) for name, content in contents]


def without_notes(content: bytes) -> bytes:
    """A lesson as a student gets it; a file that is no notebook (half-written, say) stays as it is."""
    try:
        notebook = json.loads(content)
        notebook["cells"] = [cell for cell in notebook["cells"] if slide_type(cell) != "notes"]
    except (ValueError, KeyError, TypeError):
        return content
    return as_json(notebook).encode()


def without_outputs(content: bytes) -> bytes:
    """A lesson as it is before it runs; a file that is no notebook stays as it is."""
    try:
        notebook = json.loads(content)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell |= {"outputs": [], "execution_count": None}
        notebook["metadata"].pop("widgets", None)
    except (ValueError, KeyError, TypeError):
        return content
    return as_json(notebook).encode()


def say(root: Path, language: str, what: str, mine: Path, new: Path) -> str:
    sentence = words_in(language)["working_copy"][what]
    return str(sentence.format(mine=mine.relative_to(root).as_posix(), new=new.name))


def write_figures(images: Path, language: str, folder: Path) -> bool:
    """The figures in the language's own words, where it has such; whether it has."""
    if figure_words(images, language) is None:
        return False
    for figure in images.iterdir():
        if figure.is_file():
            write_whole(folder / figure.name, read_figure(figure, language))
    return True


@contextmanager
def record_of(work: Path) -> Iterator[dict[str, str]]:
    """The edition that each file was made from; without a record every file counts as changed."""
    work.mkdir(parents=True, exist_ok=True)
    record: dict[str, str] = {}
    with suppress(OSError, ValueError, TypeError):
        record = dict(json.loads((work / RECORD).read_text(encoding="utf-8")))
    yield record
    write_whole(work / RECORD, json.dumps(record, indent=1))


def bring_up_to_date(mine: Path, content: bytes, record: dict[str, str]) -> Path | None:
    """Write a new edition over a file that nobody changed, or else beside it; returns the file beside."""
    edition, former = fingerprint(content, mine.suffix), record.get(mine.name)
    current = fingerprint(mine.read_bytes(), mine.suffix) if mine.exists() else None
    record[mine.name] = edition
    if current is None or current == former != edition:
        write_whole(mine, content)
    elif current != edition and (former != edition or not is_readable(mine)):
        return lay_beside(mine, content, record)
    return None


def lay_beside(mine: Path, content: bytes, record: dict[str, str]) -> Path:
    """Write a new edition beside the file; one that was laid there before is not laid again."""
    edition = fingerprint(content, mine.suffix)
    free = (
        name for name in names_beside(mine, "new") if not name.exists() or record.get(name.name) == edition
    )
    beside = next(free)
    if not beside.exists():
        write_whole(beside, content)
    record[beside.name] = edition
    return beside


def is_readable(file: Path) -> bool:
    """Whether a file that is named a notebook is one."""
    return file.suffix != ".ipynb" or cells_of(file.read_bytes()) is not None


def fingerprint(content: bytes, suffix: str) -> str:
    """Equal for two editions of a lesson that differ only in what running them leaves behind."""
    cells = cells_of(content) if suffix == ".ipynb" else None
    if cells is not None:  # or else, of a half-written notebook say, its bytes decide
        content = json.dumps(cells).encode()
    return hashlib.sha256(content).hexdigest()


def cells_of(content: bytes) -> list[list[str]] | None:
    """Kind and source of each cell; None where the content is no notebook."""
    try:
        cells = json.loads(content)["cells"]
        return [[cell["cell_type"], "".join(cell["source"])] for cell in cells]
    except (ValueError, KeyError, TypeError):
        return None


def authored(content: bytes, suffix: str) -> str:
    """Equal for two states of a deck that differ only in what showing it leaves behind.

    Beyond the sources, an instructor may change which cells are slides, and how the deck looks.
    """
    try:
        notebook = json.loads(content)
        made = [[cell["metadata"].get(name) for name in ("slideshow", "tags")] for cell in notebook["cells"]]
        made.append([notebook["metadata"].get(name) for name in ("title", "rise")])
    except (ValueError, KeyError, TypeError):
        made = []  # not a notebook (half-written, say)
    return fingerprint(fingerprint(content, suffix).encode() + json.dumps(made).encode(), "")


def names_beside(file: Path, state: str) -> Iterator[Path]:
    """``<name>.new.ipynb`` beside the file, ``new2``, ``new3`` …"""
    return (file.with_suffix(f".{state}{number if number > 1 else ''}{file.suffix}") for number in count(1))
