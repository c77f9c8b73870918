"""The grammar of a lesson: how the cells of a notebook make slides, and what their tags mean.

The slide type of a cell tells its place: ``slide`` and ``subslide`` begin a slide, ``fragment`` and ``-``
continue it, ``skip`` is on no slide, and ``notes`` belong to the instructor. The notes of a slide begin with
its minutes: a number, the word of any language for minutes, and a full stop or the end of the line, as in
``3 min. Show of hands first.`` or ``3 分。``. One word before the minutes, as in ``Optional, 3 min.``, takes
the slide out of the core path and its time out of the total.

Nobody else reads this grammar: copies carry what the page asks for, and ``carried.py`` writes it there.

The deck keeps room for the output of a code cell before it runs. The cell's tags say what comes:
``grammar.json`` explains them. How many lines of how many letters are printed stands in the cell's metadata:
``"room": "3 x 61"``, and of a table its rows. A Chinese character is 5/3 letters wide. ``"picture": "500 x
230"`` is the size of a picture in pixels. Without such tags a cell gets room for a few printed lines.

A guess that is a choice names its answers in its metadata: ``"choices": ["yes", "no"]``. The notebook's own
metadata ``guess`` asks about the lesson's first live picture, with which its handout opens.

A *helper* is a code cell that only installs, imports, draws, measures or prepares. It is a ``skip`` cell that
JupyterLab folds (``"jupyter": {"source_hidden": true}``), and it begins with a comment that says what it
does: ``# Helper: draws a bar for each head``. A *test* holds the ticks of a slide that asks for a guess. It
is folded, too, since its sentences are the answers: ``# Test: the sum``. ``docs/en/write.md`` has the rules.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mha_lib.classroom.lesson.grammar import Cell, Identity, has_role

STARTS = ("slide", "subslide")
MINUTES = re.compile(
    r"\s*(?:(?P<optional>[^\W\d]+)[,，、:：]\s*)?(?P<minutes>[0-9０-９]+(?:\.[0-9０-９]+)?)"
    r"\s*[^\s0-9.。．]+\s*(?:[.。．\n]|$)"
)
IMPORTS = "imports"  # the id of the cell with which a lesson begins: it ends with begin_lesson
STEP = "mha_step"  # in the metadata of the cell with which a step begins, in copies and routes: what it is
HEADING = re.compile(r"^#+ +(.+?) *#*$", re.MULTILINE)


def slide_type(cell: Cell) -> str:
    return str(cell["metadata"].get("slideshow", {}).get("slide_type") or "-")


def source(cell: Cell) -> str:
    return "".join(cell["source"])


def is_notes(cell: Cell) -> bool:
    return slide_type(cell) == "notes"


def is_for_instructors(cell: Cell) -> bool:
    return is_notes(cell) or has_role(cell, "solution")


@dataclass
class Slide:
    starts: str = "slide"  # or "subslide", which lies below a slide
    cells: list[Cell] = field(default_factory=list)  # the cells that the slide shows
    notes: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """The first heading, as Markdown; without one, the first line."""
        lines = "\n".join(map(source, self.cells)).strip().split("\n")
        return first_heading(self.cells) or (f"`{lines[0].strip()}`" if lines[0] else "")

    @property
    def minutes(self) -> float:
        return sum(float(time["minutes"]) for time in self.times)

    @property
    def is_optional(self) -> bool:
        return any(time["optional"] for time in self.times)

    @property
    def times(self) -> list[re.Match[str]]:
        return [found for note in self.notes if (found := MINUTES.match(note))]


def read_slides(cells: list[Cell]) -> list[Slide]:
    """The slides as RISE cuts them.

    The first cell begins a slide whatever its type, and the notes of that slide may come before it. A lesson
    of notes alone has one slide, which shows nothing.
    """
    slides = [Slide()]
    for cell in cells:
        kind = slide_type(cell)
        if kind in STARTS and slides[-1].cells:
            slides.append(Slide(kind))
        if kind == "notes":
            slides[-1].notes.append(source(cell))
        elif kind != "skip":
            slides[-1].cells.append(cell)
    return [slide for slide in slides if slide.cells or slide.notes]


def read_stacks(cells: list[Cell]) -> list[list[Slide]]:
    """The slides along the top, each with those below it."""
    stacks: list[list[Slide]] = []
    for slide in read_slides(cells):
        if slide.starts == "slide":
            stacks.append([])
        stacks[-1].append(slide)
    return stacks


def without_exercises(stacks: list[list[Slide]]) -> list[Slide]:
    """The slides of a lesson but for the exercises and what lies among them."""
    return [slide for stack in stacks if not any(map(has_exercise, stack)) for slide in stack]


def has_exercise(slide: Slide) -> bool:
    return any(has_role(cell, "exercise", "check") for cell in slide.cells)


def core_minutes(slides: list[Slide]) -> float:
    return sum(slide.minutes for slide in slides if not slide.is_optional)


def addresses_of(slides: Iterable[Slide], identity: Identity | None) -> dict[str, str]:
    """The address of each slide, by the id of its first cell: ``3.12``, or ``3.12.1`` for an optional one.

    The first number is the lesson's. What follows counts along the core path, as the deck's foot does. A
    route through several lessons tells the addresses that its slides have there. Empty where the slides are
    those of no lesson.
    """
    number = re.match(r"0*(\d+)", identity.lesson) if identity else None
    addresses: dict[str, str] = {}
    core = beyond = 0
    for slide in (slide for slide in slides if slide.cells):
        core, beyond = (core, beyond + 1) if slide.is_optional else (core + 1, 0)
        first = slide.cells[0]
        counted = f"{number[1]}.{core}" + (f".{beyond}" if beyond else "") if number else ""
        if address := first["metadata"].get(STEP, {}).get("address", counted):
            addresses[first.get("id", "")] = address
    return addresses


def steps_of(cells: list[Any]) -> dict[str, list[Any]]:
    """The cells of each step, its notes and helpers among them, by the name of the cell that begins it."""
    steps: dict[str, list[Any]] = {}
    for cell in cells:
        if slide_type(cell) in STARTS:
            steps[cell["id"]] = []
        if steps:
            steps[next(reversed(steps))].append(cell)
    return steps


def title_of(notebook: Mapping[str, Any], default: str) -> str:
    """The title in the notebook's metadata, or else its first heading."""
    return str(notebook["metadata"].get("title") or first_heading(notebook["cells"]) or default)


def first_heading(cells: list[Cell]) -> str | None:
    texts = (source(cell) for cell in cells if cell["cell_type"] == "markdown")
    return next((found[1] for found in map(HEADING.search, texts) if found), None)
