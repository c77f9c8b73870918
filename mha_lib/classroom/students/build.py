"""Writes the overview: a few lines on the terminal, a page, and a table for a spreadsheet."""

import csv
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from mha_lib.classroom import look
from mha_lib.classroom.course import CourseError
from mha_lib.classroom.course.files import write_whole
from mha_lib.classroom.course.language import words_in
from mha_lib.classroom.live.exercises.reports import SUFFIX, shown
from mha_lib.classroom.students.gather import HandedIn, gather
from mha_lib.classroom.students.tally import Lesson, progress_of, tally

HERE = Path(__file__).parent
STYLE = HERE / "page.css"
TEMPLATES = Environment(loader=FileSystemLoader(HERE), autoescape=True)
MARKS = {"solved": "✓", "wrong": "✗", "not yet": "○"}
BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")
MOST_SHOWN = 3  # mistakes of an exercise on the terminal


def write_overview(folder: Path, lessons: list[Path], out: Path, *, with_names: bool = True) -> int:
    """Gather the reports in ``folder`` and write ``out/overview.html`` and ``out/overview.csv``.

    Without names the page is called ``overview-without-names.html``, and there is no table.
    """
    language = lessons[0].parent.name
    words = words_in(language)
    found, remarks = gather(folder)
    counted = list(tally(found, lessons, words, remarks))
    said = [shown(remark.said_in(language)) for remark in remarks]
    if not with_names and said:  # the names of files name students
        said = [words["overview"]["remarks_hidden"].format(count=len(said))]
    for remark in said:
        print(remark, file=sys.stderr)
    if not counted:
        raise CourseError("no_reports", folder=folder, suffix=SUFFIX)
    out.mkdir(parents=True, exist_ok=True)
    os.chmod(out, 0o700)  # others who use the machine need not read who solved what
    page = out / ("overview.html" if with_names else "overview-without-names.html")
    write_whole(page, render(counted, said, lessons[0].parent.name, words["overview"], with_names=with_names))
    files = [page]
    if with_names:
        files.append(out / "overview.csv")
        write_whole(files[-1], "\ufeff" + table_of(counted))  # without the mark Excel reads no Chinese
    for lesson in counted:
        for line in lines_of(lesson, words["overview"], with_names=with_names):
            print(line)
    print(*files, sep="\n")
    return 0


def lines_of(lesson: Lesson, words: dict[str, Any], *, with_names: bool) -> Iterator[str]:
    line = words["line"].format
    yield line(about=f"{lesson.number} {lesson.title}", text=summary(lesson, words))
    if first := lesson.to_begin_with:
        yield f"  {words['begin_with'].format(exercise=first.name)}"
    for exercise in lesson.exercises:
        counts = words["counts"].format(**vars(exercise), all=len(lesson.students))
        yield line(about=f"  {exercise.name}", text=counts)
        for mistake in exercise.mistakes[:MOST_SHOWN]:
            yield f"    {made_by(mistake.students, words)}{mistake.sentence}"
    if with_names:
        for student in lesson.students:
            marks = "".join(MARKS[each.state] for each in progress_of(student, lesson))
            yield f"  {marks}  {student.student}"


def summary(lesson: Lesson, words: dict[str, Any]) -> str:
    gaps = {"reports": len(lesson.students), "started": lesson.started, "finished": lesson.finished}
    return str(words["summary"].format(**gaps))


def made_by(students: int, words: dict[str, Any]) -> str:
    return str(words["one_student" if students == 1 else "students"].format(count=students))


def render(
    counted: list[Lesson], remarks: list[str], language: str, words: dict[str, Any], *, with_names: bool
) -> str:
    return TEMPLATES.get_template("page.html").render(
        language=language,
        words=words,
        lessons=counted,
        remarks=remarks,
        with_names=with_names,
        marks=MARKS,
        summary=lambda lesson: summary(lesson, words),
        made_by=lambda students: made_by(students, words),
        progress_of=progress_of,
        ordered=by_name if with_names else by_solved,
        style=Markup(look.CSS + STYLE.read_text(encoding="utf-8")),
    )


def by_name(lesson: Lesson) -> list[HandedIn]:
    return lesson.students


def by_solved(lesson: Lesson) -> list[HandedIn]:
    """An order that does not tell who is who, as the alphabet would."""

    def order(one: HandedIn) -> tuple[int, str]:
        return -sum(each.state == "solved" for each in progress_of(one, lesson)), one.report.student

    return sorted(lesson.students, key=order)


def table_of(counted: list[Lesson]) -> str:
    """A line for each student and exercise."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(["lesson", "student", "exercise", "state", "checks", "mistakes", "written", "file"])
    for lesson in counted:
        for one in lesson.students:
            for exercise, each in zip(lesson.exercises, progress_of(one, lesson), strict=True):
                mistakes = " ".join(f"{name}:{count}" for name, count in each.mistakes.items())
                row = [lesson.number, one.student, exercise.name, each.state, each.checks, mistakes]
                table.writerow(map(harmless, [*row, one.report.written, shown(one.file.as_posix())]))
    return text.getvalue()


def harmless(value: object) -> object:
    """A text that a spreadsheet takes for a text, and not for a formula to carry out."""
    is_formula = isinstance(value, str) and value.lstrip().startswith(BEGINS_A_FORMULA)
    return f"'{value}" if is_formula else value
