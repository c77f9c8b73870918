"""All that the site holds, written where it is older than what it is made from, and laid in one folder."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mha_lib.classroom.course import CourseError
from mha_lib.classroom.course.files import require_writable, write_whole
from mha_lib.classroom.course.language import words_in
from mha_lib.classroom.publish import handout, slides
from mha_lib.classroom.publish.browser import require_browser
from mha_lib.classroom.publish.handout.notebook import address_of_page
from mha_lib.classroom.publish.site.notebook import students_notebook
from mha_lib.classroom.publish.site.pages import (
    Edition,
    Lesson,
    framed_handout,
    front_page,
    read_edition,
    root_page,
)
from mha_lib.classroom.publish.site.search import require_pagefind, write_search_index
from mha_lib.classroom.publish.slides.build import require_playwright

LIBRARY = Path(__file__).parents[3]
STOPPED = 130  # the exit status of what Ctrl-C has ended
WriteAll = Callable[[list[Path]], int]  # handouts, or slides; returns the exit status


def write_site(root: Path, editions: list[list[Path]], language: str) -> int:
    """Write ``build/site/`` with these lessons, a list for each language; returns the exit status.

    Handouts and slides in ``build/`` are taken as they are where they are newer than their lesson, the
    library and the figures; the others are written first. A lesson that fails is not on the site, slides that
    fail are not either, and each failure is one line in ``language``.
    """
    words = words_in(language)["site_build"]
    folder = root / "build" / "site"
    require_pagefind()  # before the part that takes minutes
    require_writable(folder)
    status = 0
    for lessons in editions:
        status = max(status, write_those_that_are_old(lessons, pages_of(root), handouts_of(root), words))
        if status == STOPPED:
            return status
    slides, slides_status = slides_for(root, editions, language, words)
    read = [read_edition(lessons, pages_of(root), slides) for lessons in editions]
    read = [edition for edition in read if edition.lessons]
    if not read:
        return max(status, 1)
    lay_out(folder, read)
    print(words["written"].format(file=folder / "index.html", megabytes=f"{size_of(folder) / 1e6:.1f}"))
    return max(status, slides_status)


def pages_of(root: Path) -> Callable[[Path], Path]:
    return lambda lesson: address_of_page(lesson, root / "build" / "handouts")


def handouts_of(root: Path) -> WriteAll:
    return lambda lessons: handout.write_handouts(lessons, root / "build" / "handouts")


def slides_for(
    root: Path, editions: list[list[Path]], language: str, words: dict[str, str]
) -> tuple[Callable[[Path], Path | None], int]:
    """Where the slides of a lesson lie, and the exit status of writing them; nowhere without a browser."""

    def place(lesson: Path) -> Path:
        return root / "build" / "slides" / lesson.parent.name / f"{lesson.stem}.pdf"

    def write(lessons: list[Path]) -> int:
        return slides.write_slides(root, lessons, root / "build" / "slides")

    try:
        require_browser()
        require_playwright()
    except CourseError as error:
        reason = error.said_in(language)
        print(words["no_slides"].format(reason=reason), file=sys.stderr)
        return lambda lesson: None, 0
    status = max(write_those_that_are_old(lessons, place, write, words) for lessons in editions)
    return lambda lesson: place(lesson) if is_new(place(lesson), lesson) else None, status


def write_those_that_are_old(
    lessons: list[Path], place: Callable[[Path], Path], write: WriteAll, words: dict[str, Any]
) -> int:
    old = []
    for lesson in lessons:
        if is_new(place(lesson), lesson):
            print(words["as_it_is"].format(file=place(lesson)))
        else:
            old.append(lesson)
    return write(old) if old else 0


def is_new(file: Path, lesson: Path) -> bool:
    """Whether a file was written after the last change of all that it is made from."""
    return file.exists() and file.stat().st_mtime > last_change(lesson)


def last_change(lesson: Path) -> float:
    """When the lesson, what lies beside it, the figures or the library were changed last."""
    beside = [file for file in lesson.parent.iterdir() if file.suffix != ".ipynb"]
    figures = (lesson.parents[2] / "img").rglob("*.*")
    library = (file for file in LIBRARY.rglob("*.*") if "__pycache__" not in file.parts)
    ours = Path(__file__).parent  # what frames a handout is no part of it
    sources = [lesson, *beside, *figures, *(file for file in library if ours not in file.parents)]
    return max(file.stat().st_mtime for file in sources)


def lay_out(folder: Path, editions: list[Edition]) -> None:
    """Write the site beside the folder and put it in its place: a reader never finds half of it."""
    beside = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    write_whole(beside / "index.html", root_page(editions))
    for edition in editions:
        place = beside / edition.language
        write_whole(place / "index.html", front_page(edition, editions))
        for lesson in edition.lessons:
            lay_lesson(place, lesson, edition, editions)
    write_search_index(beside)
    shutil.rmtree(folder, ignore_errors=True)
    beside.rename(folder)


def lay_lesson(place: Path, lesson: Lesson, edition: Edition, editions: list[Edition]) -> None:
    write_whole(place / lesson.page, framed_handout(lesson, edition, editions))
    write_whole(place / lesson.notebook, students_notebook(lesson.source))
    if lesson.slides:
        shutil.copyfile(lesson.slides, place / lesson.slides_name)


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
