"""The glossary of the lessons: a term is defined by the sentence in which a slide first has it in bold.

Bold text counts in Markdown cells that a slide shows, but not in whys, folded answers, headings and tables.
In a translation it counts where the English cell has a term too: other bold text there stresses a word.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mha_lib.classroom.lesson.grammar import Cell, has_role
from mha_lib.classroom.lesson.language import ENGLISH, course_of, source_folder
from mha_lib.classroom.lesson.lessons import CourseError
from mha_lib.classroom.lesson.reading import Lesson, read_lesson
from mha_lib.classroom.lesson.slides import (
    STARTS,
    Slide,
    is_for_instructors,
    slide_type,
    source,
)
from mha_lib.classroom.lesson.terms import UNREAD, bold_terms, uses_of
from offline_notebook import plain, to_html

NAMES_WHAT_COMES = re.compile(r"(\d+-)?(title|objectives)")  # ids of cells, also in a route
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)


@dataclass(frozen=True)
class Definition:
    """A term, and the sentence that defines it, as Markdown, with the place of both."""

    term: str
    sentence: str
    lesson: str
    cell: str  # its id
    place: int  # among the bold terms of the cell

    @property
    def where(self) -> tuple[str, str, int]:
        """A term and its translation have the same."""
        return self.lesson, self.cell, self.place

    @property
    def anchor(self) -> str:
        return "term-" + re.sub(r"\W+", "-", self.term.lower()).strip("-")

    @property
    def text(self) -> str:
        """The sentence without markup; of a formula, its TeX."""
        return plain(to_html(self.sentence, escape=True))


def bold_in(slides: Iterable[Slide], lesson: str) -> Iterator[Definition]:
    """All bold uses of terms on the slides."""
    for cell in (cell for slide in slides for cell in slide.cells):
        if cell["cell_type"] == "markdown" and not has_role(cell, "why", "solution"):
            found = enumerate(bold_terms(FOLDED.sub("", source(cell))))
            yield from (Definition(*one, lesson, str(cell.get("id")), place) for place, one in found)


def definitions_in(lesson: Lesson) -> list[Definition]:
    """The terms that a lesson defines; none where the notebook does not say that it is one."""
    identity, course = lesson.identity, course_of(lesson.folder)
    if identity is None:
        return []
    found = list(bold_in(lesson.slides, identity.lesson))
    english = course and source_folder(course, ENGLISH) / f"{identity.lesson}.ipynb"
    if english and english.exists() and identity.language != ENGLISH:
        theirs = {one.where for one in bold_in(read_lesson(english).slides, identity.lesson)}
        found = [one for one in found if one.where in theirs]
    return first_of_each(found)


def glossary(lessons: Iterable[Path]) -> list[Definition]:
    """The terms of these lessons of one language, in their order; the first definition of each wins."""
    found: list[Definition] = []
    for lesson in lessons:
        with suppress(CourseError):  # a file that is no notebook: its other readers say so
            found += definitions_in(read_lesson(lesson))
    return first_of_each(found)


def first_of_each(definitions: Iterable[Definition]) -> list[Definition]:
    first: dict[str, Definition] = {}
    for one in definitions:
        first.setdefault(one.anchor, one)
    return list(first.values())


def pairs(some: Iterable[Definition], others: Iterable[Definition]) -> list[tuple[Definition, Definition]]:
    """The terms of one language, each with its translation where the other language has one."""
    there = {one.where: one for one in others}
    return [(one, there[one.where]) for one in some if one.where in there]


def used_before_defined(
    cells: Iterable[Cell], defined_in: Mapping[str, Collection[str]], language: str
) -> Iterator[tuple[str, str]]:
    """The cells, each with a term, whose texts or whys use a term on a slide before any that defines it.

    ``defined_in`` names for each term the cells that define it. Titles and objectives name what comes.
    """
    slide_of: dict[str, int] = {}
    read = []
    slide = 0
    for cell in cells:
        slide += slide_type(cell) in STARTS
        slide_of[cell["id"]] = slide
        is_seen = slide_type(cell) != "skip" or has_role(cell, "why")
        if cell["cell_type"] == "markdown" and is_seen and not is_for_instructors(cell):
            read.append(cell)
    first = {
        term: min((slide_of[cell] for cell in places if cell in slide_of), default=slide + 1)
        for term, places in defined_in.items()
    }
    for cell in read:
        if not NAMES_WHAT_COMES.fullmatch(cell["id"]):
            for _, _, term in uses_of(list(first), UNREAD.sub("¶", source(cell)), language):
                if slide_of[cell["id"]] < first[term]:
                    yield cell["id"], term
