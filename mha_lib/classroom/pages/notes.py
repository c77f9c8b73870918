"""The notes of a lesson as one page to print: each slide once, with its minutes, its start and its notes."""

from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

from markupsafe import Markup

from mha_lib.classroom.lesson import language_in
from mha_lib.classroom.lesson.files import write_whole
from mha_lib.classroom.lesson.reading import Lesson, read_lesson
from mha_lib.classroom.lesson.slides import (
    Slide,
    core_minutes,
)
from mha_lib.classroom.pages import page
from mha_lib.classroom.pages.build import Build
from mha_lib.classroom.pages.cleaner import cleaner_for
from offline_notebook import inside, plain, to_html

POLICY = {**page.OWN_STYLES, "img-src": "data:", "font-src": "data:"}


def write_notes(root: Path, lessons: list[Path], folder: Path | None = None) -> int:
    """Write ``build/notes/<language>/<lesson>.html`` for each lesson; returns the exit status."""
    build = Build(folder or root / "build" / "notes", language_in(lessons[0]))
    words = build.words["notes"]
    with build.until_ctrl_c():
        for source in lessons:
            with build.attempt(source):
                lesson = read_lesson(source)
                file = build.folder / build.language / f"{lesson.name}.html"
                write_whole(file, notes_page(lesson, build))
                build.wrote(file, about=total(lesson.slides, words))
    return build.end()


def notes_page(lesson: Lesson, build: Build) -> str:
    words, slides = build.words["notes"], lesson.slides
    title = plain(to_html(lesson.title, escape=True))
    cleaner = cleaner_for(lesson.folder, build.language, build.warn_of(lesson.name))

    def rendered(*sources: str) -> Markup:
        return Markup("".join(inside(cleaner.clean(cleaner.markdown(source))) for source in sources))

    # In minutes from the beginning; the clock leaves optional slides out.
    starts = accumulate((0 if slide.is_optional else slide.minutes for slide in slides), initial=0.0)
    rows = [
        (slide, start, rendered(slide.title), rendered(*slide.notes))
        for slide, start in zip(slides, starts, strict=False)
    ]
    return page.render(
        "pages/notes.html",
        language=build.language,
        title=words["title"].format(lesson=title),
        policy=POLICY,
        styles=["pages/sheet.css", "pages/notes.css"],
        more_style=cleaner.formulas.style(),
        words=words,
        total=total(slides, words),
        rows=rows,
    )


def total(slides: list[Slide], words: Mapping[str, Any]) -> str:
    """The minutes of a lesson in words, those of its optional slides apart."""
    core = core_minutes(slides)
    optional = sum(slide.minutes for slide in slides) - core
    sentence = words["total_with_optional" if optional else "total"]
    return str(sentence.format(core=f"{core:g}", optional=f"{optional:g}"))
