"""The page that lists the handouts. What it says of a lesson is what the lesson's notebook says."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mha_lib.classroom.course.files import write_whole
from mha_lib.classroom.course.hosted import links_to
from mha_lib.classroom.course.language import name_of_language, words_in
from mha_lib.classroom.publish.handout.notebook import Description, address_of_page, describe, read_notebook
from mha_lib.classroom.publish.handout.page import TEMPLATES, read, style


@dataclass
class Handout:
    description: Description
    address: str
    pdf: str  # its address, "" where there is none
    hosted: dict[str, str]  # where the lesson opens without being installed


@dataclass
class Language:
    language: str  # its code
    name: str
    words: dict[str, Any]
    hosted_words: dict[str, str]
    handouts: list[Handout]


def write_index(notebooks: Path, folder: Path, audience: str) -> Path:
    """List the handouts in the folder, those of all languages: each lesson that has one, in its order.

    Written again until it lists what there is then: another run may have written a handout meanwhile.
    """
    page, written = folder / "index.html", ""
    while written != (listed := render_index(notebooks, folder, audience)):
        write_whole(page, listed)
        written = listed
    return page


def render_index(notebooks: Path, folder: Path, audience: str) -> str:
    folders = sorted(path for path in notebooks.iterdir() if path.is_dir())
    languages = [read_language(lessons, folder, audience) for lessons in folders]
    template = TEMPLATES.get_template("index.html")
    with_handouts = [language for language in languages if language.handouts] or languages[:1]
    return template.render(languages=with_handouts, style=style(), index_style=read("index.css"))


def read_language(lessons: Path, folder: Path, audience: str) -> Language:
    words = words_in(lessons.name)
    handouts = [
        read_handout(lesson, page, folder, audience)
        for lesson in sorted(lessons.glob("*.ipynb"))
        if (page := address_of_page(lesson, folder)).exists()
    ]
    name = name_of_language(lessons.name)
    return Language(lessons.name, name, words["handout_index"], words["hosted"], handouts)


def read_handout(lesson: Path, page: Path, folder: Path, audience: str) -> Handout:
    try:
        description = describe(read_notebook(lesson, lesson), lesson.stem, audience)
    except Exception:  # its handout is an older one, and why there is no newer one has been said
        description = Description(title=lesson.stem, summary="", number="")
    pdf = page.with_suffix(".pdf")
    return Handout(
        description,
        address=page.relative_to(folder).as_posix(),
        pdf=pdf.relative_to(folder).as_posix() if pdf.exists() else "",
        hosted=links_to(lesson),
    )
