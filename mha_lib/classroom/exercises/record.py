"""Keeps the verdicts of this session, and writes them into a report when the student asks for one.

A restarted kernel has forgotten them. Of earlier sessions it finds the newest state of each exercise
(``kept.py``) and the reports that were written; new verdicts are added to these.
"""

import secrets
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import NamedTuple

from mha_lib.classroom.exercises.kept import kept_states
from mha_lib.classroom.exercises.reports import (
    FOLDER,
    LONGEST_NAME,
    MOST,
    SUFFIX,
    Progress,
    Report,
    is_seen,
    read_report,
)
from mha_lib.classroom.lesson import CourseError, version
from mha_lib.classroom.lesson.files import as_json, write_whole
from mha_lib.classroom.lesson.language import language_here, words_here

NO_NAMES_OF_FILES = set('/\\:*?"<>|')
ELLIPSIS = set("….⋯。 ")  # in the lessons it stands where the student's name belongs


class Noted(NamedTuple):
    """The verdict on one answer."""

    lesson: str  # the name of its file, "03_multi_head_attention"
    exercise: str
    state: str
    mistakes: tuple[str, ...]


class Record:
    """The verdicts of a session, the oldest first. ``lessons`` holds the lesson of each exercise."""

    def __init__(self, lessons: Mapping[str, str]) -> None:
        self.lessons = lessons
        self.student = secrets.token_hex(8)
        self.noted: list[Noted] = []
        self.written: dict[Path, int] = {}  # how many of the verdicts each file holds already

    def newest(self) -> dict[str, str]:
        """The newest state of each exercise in this session, in the order of their first checks."""
        return {noted.exercise: noted.state for noted in self.noted}

    def states(self) -> dict[str, str]:
        """The newest state of each exercise, also those kept from earlier sessions.

        They are those of the lessons that this session has checked, and before its first check of all.
        """
        wanted = {noted.lesson for noted in self.noted} or {*self.lessons.values()}
        kept = {name: state for name, state in kept_states().items() if self.lessons.get(name) in wanted}
        return kept | self.newest()

    def write(self, name: str) -> Iterator[str]:
        """Write a file for each lesson with checked exercises, and yield a sentence about each file."""
        words = words_here()["report"]
        try:
            name = checked_name(name)
            lessons = sorted({self.lessons[exercise] for exercise in self.states()})
            if not lessons:
                yield words["nothing"]
            for lesson in lessons:
                for what, file in self.write_lesson(lesson, name):
                    yield words[what].format(file=f"{FOLDER}/{file.name}")
        except CourseError as error:
            raise ValueError(error.said_in(language_here())) from None

    def write_lesson(self, lesson: str, name: str) -> Iterator[tuple[str, Path]]:
        """Write the report on a lesson; yield each file with the name of a sentence about it."""
        lesson_name = lesson.partition("_")[2]
        stem = "-".join([lesson_name, *name.split()])
        for number in count(1):
            file = Path.cwd() / FOLDER / f"{stem}{f'-{number}' if number > 1 else ''}{SUFFIX}"
            earlier = earlier_report(file, lesson_name, name)
            if earlier or not (file.exists() or file.is_symlink()):
                break
            yield "not_mine", file
        news = self.noted[self.written.get(file, 0) if earlier else 0 :]
        exercises = brought_on(
            earlier.exercises if earlier else {}, (noted for noted in news if noted.lesson == lesson)
        )
        for exercise, state in self.states().items():
            if self.lessons[exercise] == lesson:  # one that no report has was checked at least once
                exercises[exercise] = replace(exercises.get(exercise, Progress(checks=1)), state=state)
        report = Report(
            lesson=lesson_name,
            language=language_here(),
            version=version(),
            written=datetime.now(UTC).isoformat(timespec="seconds"),
            student=earlier.student if earlier else self.student,
            name=name,
            exercises=exercises,
        )
        try:
            write_whole(file, as_json(report.as_tree()))
        except OSError as error:
            raise CourseError("report_not_written", file=file, reason=error.strerror) from None
        self.written[file] = len(self.noted)
        yield "written", file


def earlier_report(file: Path, lesson: str, name: str) -> Report | None:
    """The student's own report in the file; None if it is somebody else's, or no report."""
    with suppress(CourseError):
        report = read_report(file)
        return report if (report.lesson, report.name.casefold()) == (lesson, name.casefold()) else None
    return None


def brought_on(earlier: Mapping[str, Progress], news: Iterable[Noted]) -> dict[str, Progress]:
    """The progress in each exercise, with the new verdicts added."""
    exercises = dict(earlier)
    for noted in news:
        before = exercises.get(noted.exercise, Progress())
        mistakes = dict(before.mistakes)
        for mistake in noted.mistakes:
            mistakes[mistake] = min(mistakes.get(mistake, 0) + 1, MOST)
        exercises[noted.exercise] = Progress(noted.state, min(before.checks + 1, MOST), mistakes)
    return exercises


def checked_name(name: object) -> str:
    """The name as the report keeps it; an error says why something else is none."""
    if not isinstance(name, str):
        raise CourseError("report_name_no_text", name=repr(name))
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    if name and ELLIPSIS.issuperset(name):
        raise CourseError("report_name_placeholder", name=repr(name))
    bad = [letter for letter in name if letter in NO_NAMES_OF_FILES or not is_seen(letter)]
    if bad:
        raise CourseError("report_name_bad", name=repr(name), letters=" ".join(map(repr, dict.fromkeys(bad))))
    if len(name) > LONGEST_NAME:
        raise CourseError("report_name_long", length=len(name), longest=LONGEST_NAME)
    return name
