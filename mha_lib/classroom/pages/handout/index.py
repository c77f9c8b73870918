"""The page that lists the handouts of all languages, with what each lesson's notebook says of itself."""

from pathlib import Path
from typing import Any

from mha_lib.classroom.lesson import list_languages, list_lessons
from mha_lib.classroom.lesson.files import write_whole
from mha_lib.classroom.lesson.language import name_of_language, words_in
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.pages import page
from mha_lib.classroom.pages.handout.handout_page import STYLES
from mha_lib.classroom.pages.handout.notebook import Description, address_of_page, describe


def write_index(root: Path, folder: Path, audience: str) -> Path:
    """List the handouts in the folder: each lesson that has one, in its order."""
    known = {language: rows_in(root, language, folder, audience) for language in list_languages(root)}
    listed = {language: rows for language, rows in known.items() if rows} or dict(list(known.items())[:1])
    words = {language: words_in(language) for language in listed}
    text = page.render(
        "pages/handout/index.html",
        language=next(iter(listed)),
        title=" · ".join(said["handout_index"]["title"] for said in words.values()),
        styles=[*STYLES, "pages/handout/index.css"],
        listed=listed,
        words=words,
        name_of=name_of_language,
    )
    file = folder / "index.html"
    write_whole(file, text)
    return file


def rows_in(root: Path, language: str, folder: Path, audience: str) -> list[dict[str, Any]]:
    lessons = list_lessons(root, language) if (folder / language).is_dir() else []
    files = ((lesson, address_of_page(lesson, folder)) for lesson in lessons)
    return [row_of(lesson, file, folder, audience) for lesson, file in files if file.exists()]


def row_of(lesson: Path, file: Path, folder: Path, audience: str) -> dict[str, Any]:
    """A lesson as the template shows it."""
    try:
        description = describe(read_lesson(lesson), audience)
    except Exception:  # its handout is an older one, and why there is no newer one has been said
        description = Description(title=lesson.stem, summary="", number="")
    return {
        "description": description,
        "address": file.relative_to(folder).as_posix(),
    }
