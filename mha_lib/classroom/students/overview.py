"""Writes the overview: a few lines on the terminal, a page, and a table for a spreadsheet."""

import csv
import io
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mha_lib.classroom.exercises.progress import MARKS
from mha_lib.classroom.exercises.reports import SUFFIX, shown
from mha_lib.classroom.lesson import CourseError, language_in
from mha_lib.classroom.lesson.files import write_whole
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.pages import page
from mha_lib.classroom.pages.build import Build
from mha_lib.classroom.students.gather import HandedIn, Remarks, gather
from mha_lib.classroom.students.tally import LessonRow, progress_of, tally

# A spreadsheet may cut a line at other marks than commas, whatever is in quotation marks, and in Chinese and
# Japanese it reads the wide signs too.
FORMULA = re.compile(r"""(^|[,;|\t\r\n])(?=["'\s]*[=+@＝＋－＠-])""")
MOST_SHOWN = 3  # mistakes of an exercise on the terminal
MOST_SAID = 10  # remarks about one place


def write_overview(
    root: Path, folder: Path, lessons: list[Path], *, with_names: bool, into: Path | None = None
) -> int:
    """Gather the reports in ``folder`` and write ``build/overview/overview.html`` and ``overview.csv``.

    Without names the page is called ``overview-without-names.html``, and there is no table. Returns the exit
    status.
    """
    language = language_in(lessons[0])
    words = words_in(language)
    found, remarks = gather(folder)
    rows = list(tally(found, lessons, words, remarks))
    said = list(lines_about(folder, remarks, language))
    if not with_names and said:  # the names of files name students
        said = [words["overview"]["remarks_hidden"].format(count=sum(map(len, remarks.values())))]
    if not rows:
        print(*said, sep="\n", end="\n" if said else "", file=sys.stderr)
        raise CourseError("no_reports", folder=folder, suffix=SUFFIX)
    build = Build(into or root / "build" / "overview", language)
    build.warnings = said
    if into is None:  # others who use the machine need not read who solved what
        os.chmod(build.folder, 0o700)
    for row in rows:
        print(*lines_of(row, words["overview"], with_names=with_names), sep="\n")
    name = "overview.html" if with_names else "overview-without-names.html"
    contents = {name: overview_page(rows, build, with_names=with_names)}
    if with_names:
        contents["overview.csv"] = "\ufeff" + table_of(rows)  # without the mark Excel reads no Chinese
    for name, content in contents.items():
        file = build.folder / name
        write_whole(file, content, mode=0o600)
        build.wrote(file, about="")
    return build.end()


def lines_about(folder: Path, remarks: Remarks, language: str) -> Iterator[str]:
    """The remarks in a language: of each place the first ones, and how many more there are."""
    for place, about in remarks.items():
        yield from (shown(remark.said_in(language)) for remark in about[:MOST_SAID])
        if more := len(about[MOST_SAID:]):
            remark = CourseError("reports_more_said", place=folder / place, count=more)
            yield shown(remark.said_in(language))


def lines_of(lesson: LessonRow, words: dict[str, Any], *, with_names: bool) -> Iterator[str]:
    line = words["line"].format
    yield line(about=f"{lesson.number} {lesson.title}", text=summary(lesson, words))
    if first := lesson.to_begin_with:
        yield f"  {words['begin_with'].format(exercise=first.title)}"
    for exercise in lesson.exercises:
        counts = words["counts"].format(**vars(exercise), all=len(lesson.students))
        yield line(about=f"  {exercise.title}", text=counts)
        for mistake in exercise.mistakes[:MOST_SHOWN]:
            yield f"    {made_by(mistake.students, words)}{mistake.sentence}"
    if with_names:
        for student in lesson.students:
            marks = "".join(MARKS[each.state] for each in progress_of(student, lesson))
            yield f"  {marks}  {student.student}"


def summary(lesson: LessonRow, words: dict[str, Any]) -> str:
    gaps = {"reports": len(lesson.students), "started": lesson.started, "finished": lesson.finished}
    return str(words["summary"].format(**gaps))


def made_by(students: int, words: dict[str, Any]) -> str:
    return str(words["one_student" if students == 1 else "students"].format(count=students))


def overview_page(rows: list[LessonRow], build: Build, *, with_names: bool) -> str:
    words = build.words["overview"]
    return page.render(
        "students/overview.html",
        language=build.language,
        title=words["title"],
        styles=["pages/sheet.css", "students/overview.css"],
        words=words,
        wrong_again=build.words["checks"]["wrong_again"],
        lessons=rows,
        remarks=build.warnings,
        with_names=with_names,
        marks=MARKS,
        summary=lambda lesson: summary(lesson, words),
        made_by=lambda students: made_by(students, words),
        progress_of=progress_of,
        by_solved=by_solved,
    )


def by_solved(lesson: LessonRow) -> list[HandedIn]:
    """The best first: an order by the alphabet would tell who is who."""

    def order(one: HandedIn) -> tuple[int, str]:
        return -sum(each.state == "solved" for each in progress_of(one, lesson)), one.report.student

    return sorted(lesson.students, key=order)


def table_of(rows: list[LessonRow]) -> str:
    """A line for each student and exercise."""
    text = io.StringIO()
    table = csv.writer(text)
    columns = ["lesson", "student", "exercise", "state", "newest", "checks", "mistakes", "written", "file"]
    table.writerow(columns)
    for lesson in rows:
        for one in lesson.students:
            for exercise, each in zip(lesson.exercises, progress_of(one, lesson), strict=True):
                mistakes = " ".join(f"{name}:{count}" for name, count in each.mistakes.items())
                row = [lesson.number, one.student, exercise.name, each.state, each.newest, each.checks]
                table.writerow(
                    map(harmless, [*row, mistakes, one.report.written, shown(one.file.as_posix())])
                )
    return text.getvalue()


def harmless(value: object) -> object:
    """The value, with an apostrophe before whatever a spreadsheet would carry out as a formula."""
    return FORMULA.sub(r"\1'", value) if isinstance(value, str) else value
