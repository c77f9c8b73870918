"""Makes the copies of the lessons in which students and instructors run them.

Running a lesson changes its file, so nobody runs ``notebooks/`` itself. Students work in
``work/<language>/``, which holds the lessons without the instructor's notes, and what students make there.
An instructor presents from ``work/deck-<language>/``, which holds them with the notes, without the outputs
of the last lecture, and with the settings of the deck. Both are made on first use, and nobody loses changes
there. An *edition* is a released state of a lesson's file.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from mha_lib.classroom.lesson.carried import STYLE, furnish_page, mark_steps
from mha_lib.classroom.lesson.figures import OWN, SHARED, figure_words, read_figure
from mha_lib.classroom.lesson.files import as_json, write_whole
from mha_lib.classroom.lesson.grammar import DECK, STUDENT, identified
from mha_lib.classroom.lesson.language import (
    COURSE,
    is_installed,
    lesson_folder,
    route_folder,
    source_root,
    words_in,
)
from mha_lib.classroom.lesson.lessons import RECORD, CourseError, hands_out_solutions, list_languages
from mha_lib.classroom.lesson.prepare import FOR_AUTHORS, prepare_lessons
from mha_lib.classroom.lesson.reading import as_file, lesson_of, read_lesson, require_entries
from mha_lib.classroom.lesson.slides import (
    is_for_instructors,
    is_notes,
    read_stacks,
    without_exercises,
)

GUESS = (
    "mha_guess"  # in a cell's metadata: what the student has guessed there, and whether the result is open
)
ORIGINAL = "mha_original"  # in a copy's metadata: its cells as they were when it was made
CHOICE = ".language"  # in work/: the language of the last session
FOLDED = "jp-MarkdownHeadingCollapsed"  # in a heading's metadata: JupyterLab folds what lies below it
CARRIED = (STYLE, COURSE)  # beside the lessons: the copies themselves carry what is read of these
NO_NOTEBOOK = (ValueError, KeyError, TypeError)  # reading a half-written file raises one of these


def make_working_copy(root: Path, language: str) -> tuple[Path, list[str]]:
    """Bring ``work/<language>/`` up to date; returns it and the messages for the user.

    A new edition replaces a file whose cells nobody changed, whether they ran or not. A changed file stays,
    and the new edition is laid beside it, once, as ``<name>.new.ipynb``. A lesson that can't be read as a
    notebook (half-copied, say) stays too, and the message comes each time until that file is gone.
    """
    work = root / "work" / language
    furnish = partial(furnish_page, lessons=lesson_folder(root, language))
    messages = []
    solutions = hands_out_solutions(root)
    with record_of(work) as record:
        for source_file, content in editions(root, language, work):
            name = source_file.name
            if name.endswith(".ipynb"):
                change = partial(prepare_for_students, solutions=solutions)
                try:
                    content = copy_of(source_file, content, STUDENT, change, furnish)
                except CourseError as error:
                    messages.append(error.said_in(language))  # its notes can't be told from the rest
                    continue
            if beside := bring_up_to_date(work / name, content, record):
                what = "kept" if is_readable(work / name) else "broken"
                messages.append(say(root, language, what, work / name, beside))
    return work, messages


def make_deck_copy(
    root: Path, language: str, lesson: str, begins_afresh: Callable[[Path], bool] = lambda file: False
) -> tuple[Path, list[str]]:
    """Make a lesson's deck in ``work/deck-<language>/`` as fresh as on the first day; returns as above.

    The outputs of the last lecture are removed. Where the instructor has changed the deck,
    ``begins_afresh(file)`` decides: keep the changes, or set them aside and begin afresh. A deck that can't
    be read as a notebook is always set aside. The decks of other lessons stay: one may be on show now.
    """
    work = root / "work" / f"deck-{language}"
    furnish = partial(furnish_page, lessons=lesson_folder(root, language))
    messages = []
    with record_of(work) as record:
        released = editions(root, language, work)
        files = {file.name: file for file, _ in released}
        read_lesson(files.get(lesson, Path(lesson)))  # a lesson that can't be read is no deck
        for source_file, content in released:
            name = source_file.name
            mine = work / name
            if mine.suffix == ".ipynb":
                if name != lesson and mine.exists():
                    continue
                try:
                    content = copy_of(source_file, content, DECK, prepare_for_deck, furnish)
                except CourseError:  # of another deck, which says so when it is asked for
                    continue
            has_changes = mine.exists() and deck_fingerprint(mine.read_bytes()) != record.get(name)
            if has_changes:
                if is_readable(mine) and not begins_afresh(mine):
                    write_whole(mine, changed(mine.read_bytes(), clear_outputs, furnish))
                    messages.append(say(root, language, "own_deck", mine, mine))
                    continue
                aside = mine.rename(next(free for free in names_beside(mine, "mine") if not free.exists()))
                messages.append(say(root, language, "set_aside", mine, aside))
            write_whole(mine, content)
            record[name] = deck_fingerprint(content)
    return work, messages


def remember_language(root: Path, language: str) -> None:
    """Keep the language, so that the next session opens it when none is asked for."""
    write_whole(root / "work" / CHOICE, f"{language}\n")


def remembered_language(root: Path) -> str | None:
    """The language of the last session, if the course still has it."""
    with suppress(OSError, ValueError):
        language = (root / "work" / CHOICE).read_text(encoding="utf-8").strip()
        return language if language in list_languages(root) else None
    return None


def editions(root: Path, language: str, work: Path) -> list[tuple[Path, bytes]]:
    """Each file that a copy needs, with its content there; writes the figures that the lessons show.

    They are the lessons, the files beside them, and the notebooks of routes that were made.

    A language with words for figures gets figures of its own, and so do copies of the installed package's
    lessons: there is no ``img/`` beside ``work/``.
    """
    prepare_lessons(root, language)
    files = sorted(file for file in lesson_folder(root, language).iterdir() if file.is_file())
    files += sorted(route_folder(root, language).glob("*.ipynb"))
    contents = {file: file.read_bytes() for file in files if file.name not in (*FOR_AUTHORS, *CARRIED)}
    images = source_root(root) / "img"
    if is_installed(root) or figure_words(images, language) is not None:
        for figure in filter(Path.is_file, images.iterdir()):
            write_whole(work / OWN / figure.name, read_figure(figure, language))
        shared, own = f"]({SHARED}".encode(), f"]({OWN}".encode()
        contents = {file: content.replace(shared, own) for file, content in contents.items()}
    return list(contents.items())


def copy_of(lesson: Path, content: bytes, kind: str, *changes: Callable[[Any], None]) -> bytes:
    """The copy of a lesson whose file holds this content, after these changes; the copy says what it is."""
    notebook = lesson_of(lesson, content).copy()
    for change in changes:
        change(notebook)
    identified(notebook, kind=kind, edition=fingerprint(content)[:12])
    return as_file(notebook).encode()


def changed(content: bytes, *changes: Callable[[Any], None]) -> bytes:
    """The content of a notebook's file after these changes of the notebook. Nothing catches what fails."""
    notebook = json.loads(content)
    for change in changes:
        change(notebook)
    return as_json(notebook).encode()


def prepare_for_students(notebook: Any, solutions: bool) -> None:
    """Make a lesson what a student gets: without notes, and with the optional parts that have code folded.

    ``solutions``: whether they stay in it, each in a folded cell.

    The exercises, and what lies among them, are optional too; they stay open, for students look for them.
    The copy carries the cells of the lesson as they were.
    """
    for slide in without_exercises(read_stacks(notebook["cells"])):
        if slide.is_optional and any(cell["cell_type"] == "code" for cell in slide.cells):
            slide.cells[0]["metadata"][FOLDED] = True
    mark_steps(notebook)
    left_out = is_notes if solutions else is_for_instructors
    notebook["cells"] = [cell for cell in notebook["cells"] if not left_out(cell)]
    notebook["metadata"][ORIGINAL] = {"cells": deepcopy(notebook["cells"])}


def take_guesses(notebook: Any, former: bytes) -> None:
    """Bring what the student has guessed in the former edition into the copy of a new one."""
    cells = json.loads(former)["cells"]
    guesses = {cell.get("id"): cell["metadata"][GUESS] for cell in cells if GUESS in cell["metadata"]}
    for cell in notebook["cells"]:
        if cell["id"] in guesses:
            cell["metadata"][GUESS] = guesses[cell["id"]]


def prepare_for_deck(notebook: Any) -> None:
    """Make a lesson what an instructor presents: without outputs, of which an author may have left some."""
    clear_outputs(notebook)
    mark_steps(notebook)


def clear_outputs(notebook: Any) -> None:
    """Make a lesson as it is before it runs."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
    notebook["metadata"].pop("widgets", None)


def say(root: Path, language: str, what: str, mine: Path, new: Path) -> str:
    sentence = words_in(language)["working_copy"][what]
    return str(sentence.format(mine=mine.relative_to(root).as_posix(), new=new.name))


@contextmanager
def record_of(work: Path) -> Iterator[dict[str, str]]:
    """The fingerprint of the edition that each file was made from; without it, a file counts as changed."""
    work.parent.mkdir(mode=0o700, exist_ok=True)  # others who use the machine need not read answers
    work.mkdir(exist_ok=True)
    record: dict[str, str] = {}
    with suppress(OSError, ValueError, TypeError):
        record = dict(json.loads((work / RECORD).read_text(encoding="utf-8")))
    yield record
    write_whole(work / RECORD, json.dumps(record, indent=1))


def bring_up_to_date(mine: Path, content: bytes, record: dict[str, str]) -> Path | None:
    """Write a new edition over a file that nobody changed, or else once beside it; returns that one."""
    new, former = fingerprint(content), record.get(mine.name)
    current = fingerprint(mine.read_bytes()) if mine.exists() else None
    record[mine.name] = new
    is_new_edition, has_changes = former != new, current != former
    if current is None:
        write_whole(mine, content)
    elif current == new:
        return None
    elif not has_changes:
        if mine.suffix == ".ipynb" and is_readable(mine):
            content = changed(content, partial(take_guesses, former=mine.read_bytes()))
        write_whole(mine, content)
    elif is_new_edition or not is_readable(mine):
        names = names_beside(mine, "new")
        beside = next(name for name in names if not name.exists() or record.get(name.name) == new)
        if not beside.exists():
            write_whole(beside, content)
        record[beside.name] = new
        return beside
    return None


def names_beside(file: Path, state: str) -> Iterator[Path]:
    """``<name>.new.ipynb`` beside the file, ``new2``, ``new3`` …"""
    return (file.with_suffix(f".{state}{number if number > 1 else ''}{file.suffix}") for number in count(1))


def is_readable(file: Path) -> bool:
    """Whether a file can be read as its name says: a damaged notebook can't."""
    if file.suffix != ".ipynb":
        return True
    with suppress(CourseError, ValueError, RecursionError):
        require_entries(json.loads(file.read_bytes()), file)
        return True
    return False


def fingerprint(content: bytes) -> str:
    """A hash that is equal for two states of a lesson that differ only in what running left in them."""
    cells = cells_of(content)  # of other files, and of damaged notebooks, the bytes count
    return hashlib.sha256(content if cells is None else json.dumps(cells).encode()).hexdigest()


def deck_fingerprint(content: bytes) -> str:
    """A hash that is equal for two states of a deck that differ only in what a lecture left in them.

    An instructor may change the sources, the slide types and tags of cells, and the look of the deck.
    """
    try:
        notebook = json.loads(content)
        made = [[cell["metadata"].get(name) for name in ("slideshow", "tags")] for cell in notebook["cells"]]
        made.append([notebook["metadata"].get(name) for name in ("title", "rise")])
    except NO_NOTEBOOK:
        made = []
    return fingerprint(fingerprint(content).encode() + json.dumps(made).encode())


def cells_of(content: bytes) -> list[list[str]] | None:
    """Kind and source of each cell; None where the content is no notebook."""
    try:
        return [[cell["cell_type"], "".join(cell["source"])] for cell in json.loads(content)["cells"]]
    except NO_NOTEBOOK:
        return None
