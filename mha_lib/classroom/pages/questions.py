"""The questions before and after the lessons: a page for each, to print or to answer, and the key."""

import re
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from mha_lib.classroom.lesson import language_in
from mha_lib.classroom.lesson.files import write_whole
from mha_lib.classroom.lesson.language import lesson_folder, words_in
from mha_lib.classroom.lesson.questions import FORMS, has_questions, read_key, read_questions
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.pages import page
from mha_lib.classroom.pages.build import Build

# On the site, and in a student's copy, where files stand in alphabetical order.
ADDRESSES = {form: f"questions-{number}-{form}.html" for number, form in enumerate(FORMS, 1)}
POLICY = {**page.OWN_STYLES, "script-src": "'unsafe-inline'", "img-src": "data:"}
LETTERS = "abcd"


def write_questions(root: Path, lessons: list[Path], folder: Path | None = None) -> int:
    """Write ``before.html``, ``after.html`` and ``key.html`` to ``build/questions/<language>/``.

    Returns the exit status.
    """
    build = Build(folder or root / "build" / "questions", language_in(lessons[0]))
    made = {form: question_page(root, build.language, form) for form in FORMS}
    made["key"] = key_page(root, build.language)
    for name, text in made.items():
        file = build.folder / build.language / f"{name}.html"
        write_whole(file, text)
        build.wrote(file)
    return build.end()


def students_pages(root: Path, language: str) -> list[tuple[str, bytes]]:
    """Name and content of each page for a student's copy; none in a language without questions."""
    forms = FORMS if has_questions(root, language) else ()
    return [(ADDRESSES[form], question_page(root, language, form).encode()) for form in forms]


def question_page(root: Path, language: str, form: str, styles: tuple[str, ...] = (), **frame: Any) -> str:
    """The page of a form, which doesn't hold the right answers; on the site, in the site's ``frame``."""
    tree, words = read_questions(root, language), words_in(language)["questions"]
    return page.render(
        "pages/questions.html",
        language=language,
        title=words[form],
        policy=POLICY,
        styles=["pages/sheet.css", *styles, "pages/questions.css"],
        scripts=["pages/questions.js"],
        words=words,
        form=form,
        legend=rendered(tree["legend"]),
        questions=[
            (rendered(one[form]["asks"]), lettered(map(rendered, one[form]["choices"].values())))
            for one in tree["questions"]
        ],
        **frame,
    )


def key_page(root: Path, language: str) -> str:
    """The right answers, why each other choice is wrong, and the step of a lesson that shows it."""
    words, key = words_in(language)["questions"], read_key(root, language)
    rows: list[tuple[str, list[tuple[str | Markup, ...]]]] = []
    for one in read_questions(root, language)["questions"]:
        answer = key[one["id"]]
        letters = {form: dict(zip(one[form]["choices"], LETTERS, strict=True)) for form in FORMS}
        choices = [
            (
                *(letters[form][name] for form in FORMS),
                rendered(says),
                rendered(answer["because"].get(name, "")),
            )
            for name, says in one["before"]["choices"].items()
        ]
        number, title = int(answer["lesson"].split("_")[0]), title_of_step(root, language, answer)
        step = words["step"].format(question=len(rows) + 1, number=number, title=title)
        rows.append((step, choices))
    return page.render(
        "pages/key.html",
        language=language,
        title=words["key"],
        styles=["pages/sheet.css", "pages/questions.css"],
        words=words,
        rows=rows,
    )


def title_of_step(root: Path, language: str, answer: dict[str, Any]) -> str:
    """The title of the slide that begins with the cell which the key names."""
    lesson = lesson_folder(root, language) / f"{answer['lesson']}.ipynb"
    from offline_notebook import plain, to_html  # here: it takes a second, and no student's page needs it

    titles = {slide.cells[0]["id"]: slide.title for slide in read_lesson(lesson).slides if slide.cells}
    return plain(to_html(titles[answer["step"]], escape=True))


def lettered(choices: Any) -> list[tuple[str, Markup]]:
    return list(zip(LETTERS, choices, strict=True))


def rendered(text: str) -> Markup:
    """A text as HTML; code in it stands between backticks."""
    return Markup(re.sub("`(.+?)`", r"<code>\1</code>", str(escape(text))))
