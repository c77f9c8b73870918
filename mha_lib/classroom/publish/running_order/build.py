"""Each slide of a lesson once, with its minutes, the time at which it starts, and its notes."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from mha_lib.classroom import look
from mha_lib.classroom.course import in_one_line
from mha_lib.classroom.course.files import require_writable, write_whole
from mha_lib.classroom.course.language import words_in
from mha_lib.classroom.course.slides import (
    Slide,
    core_minutes,
    optional_minutes,
    read_lesson,
    read_slides,
    title_of,
)
from mha_lib.classroom.publish.html import Cleaner, plain, to_html
from mha_lib.classroom.publish.html.tree import inside

HERE = Path(__file__).parent
STYLE = HERE / "page.css"
TEMPLATES = Environment(loader=FileSystemLoader(HERE), autoescape=True)


@dataclass
class Row:
    """A slide as the page shows it."""

    number: int
    title: Markup
    minutes: str
    start: str  # in minutes from the beginning; "" for a slide that is not in the lesson's clock
    notes: Markup
    is_optional: bool


def write_running_orders(lessons: list[Path], folder: Path) -> int:
    """Write ``folder/<language>/<lesson>.html`` for each lesson; returns the exit status, 1 if one failed."""
    require_writable(folder)
    failures = []
    for lesson in lessons:
        try:
            write_running_order(lesson, folder)
        except Exception as error:  # of one lesson; the others have their running orders all the same
            failures.append(in_one_line(lesson, error))
    language = lessons[0].parent.name
    for failure in failures:
        print(failure.said_in(language), file=sys.stderr)
    return int(bool(failures))


def write_running_order(lesson: Path, folder: Path) -> None:
    language = lesson.parent.name
    words = words_in(language)["running_order"]
    notebook = read_lesson(lesson)
    slides = read_slides(notebook["cells"])
    title = plain(to_html(title_of(notebook, lesson.stem), escape=True))
    page = folder / language / f"{lesson.stem}.html"
    write_whole(page, render(lesson, title, slides, words))
    print(f"{page}  {total(slides, words)}")


def render(lesson: Path, title: str, slides: list[Slide], words: dict[str, Any]) -> str:
    def complain(problem: str) -> None:
        print(words["problem"].format(lesson=lesson, problem=problem), file=sys.stderr)

    cleaner = Cleaner(lesson.parent, lesson.parent.name, complain)
    return TEMPLATES.get_template("page.html").render(
        language=lesson.parent.name,
        words=words,
        title=words["title"].format(lesson=title),
        total=total(slides, words),
        rows=rows_of(slides, cleaner),
        style=Markup(look.CSS + STYLE.read_text(encoding="utf-8") + cleaner.formulas.style()),
    )


def rows_of(slides: list[Slide], cleaner: Cleaner) -> list[Row]:
    def rendered(*sources: str) -> Markup:
        return Markup("".join(inside(cleaner.clean(to_html(source))) for source in sources))

    rows, clock = [], 0.0
    for number, slide in enumerate(slides, 1):
        rows.append(
            Row(
                number,
                title=rendered(slide.title),
                minutes=f"{slide.minutes:g}" if slide.minutes else "?",
                start="" if slide.is_optional else f"{clock:g}",
                notes=rendered(*slide.notes),
                is_optional=slide.is_optional,
            )
        )
        clock += 0 if slide.is_optional else slide.minutes
    return rows


def total(slides: list[Slide], words: dict[str, Any]) -> str:
    core, optional = core_minutes(slides), optional_minutes(slides)
    sentence = words["total_with_optional" if optional else "total"]
    return str(sentence.format(core=f"{core:g}", optional=f"{optional:g}"))
