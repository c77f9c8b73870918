"""A student's report on the exercises of a lesson: a small file that ``check.report`` writes.

It tells the progress in each exercise, the mistakes by their names in ``words/``. It holds none of the
student's code. Whoever gathers reports gets them from others, so every entry is checked when read.
"""

import json
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from mha_lib.classroom.exercises.progress import MARKS, MOST, Progress
from mha_lib.classroom.lesson import CourseError, in_one_line, version
from mha_lib.classroom.lesson.files import as_json, write_whole
from mha_lib.classroom.lesson.language import language_here, words_here

FORMAT = 1
FOLDER = "reports"  # beside the lesson
SUFFIX = ".report.json"
LARGEST = 200_000  # bytes; a report on a whole lesson has 3 000
LONGEST_NAME = 50  # characters, so that the name of the file is never too long
# Flags for opening somebody else's file. Windows lacks the first two and needs O_BINARY.
HARMLESS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
JOINERS = "\u200c\u200d"  # Persian and Indian names have them: invisible, they change their neighbours
NO_NAMES_OF_FILES = set('/\\:*?"<>|')
ELLIPSIS = set("….⋯。 ")  # in the lessons it stands where the student's name belongs
IDENTIFIER = re.compile(r"[A-Za-z_]\w{0,60}", re.ASCII)


@dataclass
class Report:
    lesson: str  # the name of its file without the number, "multi_head_attention"
    language: str
    version: str  # of the course
    written: str  # when, in ISO 8601, with the time zone
    student: str  # a random token, the same in all reports of a student's folder
    name: str  # as the student typed it; "" without
    exercises: dict[str, Progress]

    def as_tree(self) -> dict[str, Any]:
        return {"mha_lib_report": FORMAT} | asdict(self)


def write_reports(lessons: Mapping[str, Mapping[str, Progress]], name: object, student: str) -> Iterator[str]:
    """Write a file for each lesson, ``{"03_multi_head_attention": {"split_heads": …}}``; yield a sentence
    about each file."""
    words = words_here()["report"]
    try:
        name = checked_name(name)
        if not lessons:
            yield words["nothing"]
        for lesson, exercises in lessons.items():
            about = (lesson.partition("_")[2], language_here(), version())
            written = datetime.now(UTC).isoformat(timespec="seconds")
            for what, file in write_report(Report(*about, written, student, name, {**exercises})):
                yield words[what].format(file=f"{FOLDER}/{file.name}")
    except CourseError as error:
        raise ValueError(error.said_in(language_here())) from None


def write_report(report: Report) -> Iterator[tuple[str, Path]]:
    """Write a report, over an earlier one of the same student alone; yield files with names of sentences."""
    stem = "-".join([report.lesson, *report.name.split()])
    for number in count(1):
        file = Path.cwd() / FOLDER / f"{stem}{f'-{number}' if number > 1 else ''}{SUFFIX}"
        if is_earlier(file, report) or not (file.exists() or file.is_symlink()):
            break
        yield "not_mine", file
    try:
        write_whole(file, as_json(report.as_tree()))
    except OSError as error:
        raise CourseError("report_not_written", file=file, reason=error.strerror) from None
    yield "written", file


def is_earlier(file: Path, report: Report) -> bool:
    """Whether the file holds a report of the same student on the same lesson."""
    with suppress(CourseError):
        earlier = read_report(file)
        return (earlier.lesson, earlier.student) == (report.lesson, report.student)
    return False


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


def read_report(file: Path) -> Report:
    """The report in a file, whatever the file holds; a ``CourseError`` says what is wrong with it."""
    try:
        content = content_of(file)
    except OSError as error:
        raise in_one_line(file, error) from None
    return report_in(content, file)


def looks_like_report(content: bytes) -> bool:
    """Whether a file that begins like this is a report, whatever its name is."""
    return b'"mha_lib_report"' in content[:100]


def report_in(content: bytes, file: Path) -> Report:
    """The report in the content of a file; a ``CourseError`` says what is wrong with it."""
    try:
        tree = json.loads(content.decode("utf-8-sig"), parse_constant=refuse)
    except (ValueError, RecursionError):
        raise CourseError("report_damaged", file=file) from None
    if not isinstance(tree, dict) or "mha_lib_report" not in tree:
        raise CourseError("report_of_others", file=file)
    if tree["mha_lib_report"] != FORMAT or isinstance(tree["mha_lib_report"], bool):
        raise CourseError("report_other_format", file=file)
    try:
        return report_of(tree)
    except BadEntry as error:
        raise CourseError("report_bad_entry", file=file, entry=error.args[0]) from None


def content_of(file: Path) -> bytes:
    """The bytes of a plain file. A link may lead to a secret file, and a pipe never ends: both are errors."""
    about = file.lstat()
    if not stat.S_ISREG(about.st_mode):
        raise CourseError("report_no_file", file=file)
    if about.st_size > LARGEST:
        raise CourseError("report_large", file=file, kilobytes=about.st_size // 1000)
    with open(os.open(file, HARMLESS), "rb") as opened:  # it may have been replaced since lstat
        return opened.read(LARGEST)


class BadEntry(ValueError):
    """Names an entry that no report can have."""


def refuse(constant: str) -> float:
    raise ValueError(constant)  # NaN and Infinity: Python reads them, but they are no JSON


def report_of(tree: Mapping[str, Any]) -> Report:
    exercises = entry(tree, "exercises", is_table)
    return Report(
        lesson=entry(tree, "lesson", lambda value: is_text(value) and IDENTIFIER.fullmatch(value)),
        language=entry(tree, "language", is_text),
        version=entry(tree, "version", is_text),
        written=datetime.fromisoformat(entry(tree, "written", is_time)).isoformat(),
        student=entry(tree, "student", is_text),
        name=shown(entry(tree, "name", is_text))[:LONGEST_NAME].strip(f" {JOINERS}"),
        exercises={name: progress_of(exercises, name) for name in exercises},
    )


def progress_of(exercises: Mapping[str, Any], name: str) -> Progress:
    progress = entry(exercises, name, lambda value: isinstance(value, dict))
    mistakes = entry(progress, "mistakes", is_table)
    return Progress(
        state=entry(progress, "state", is_state),
        newest=entry(progress, "newest", is_state),
        checks=entry(progress, "checks", is_count),
        mistakes={mistake: entry(mistakes, mistake, is_count) for mistake in mistakes},
    )


def entry(table: Mapping[str, Any], name: str, is_right: Callable[[Any], object]) -> Any:
    if name not in table or not is_right(table[name]):
        raise BadEntry(name)
    return table[name]


def is_state(value: object) -> bool:
    return is_text(value) and value in MARKS


def is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= 200


def is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= MOST


def is_table(value: object) -> bool:
    """Whether this is a table of not too many entries, each with a key that could name an exercise."""
    return isinstance(value, dict) and len(value) <= MOST and all(map(IDENTIFIER.fullmatch, value))


def is_time(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def shown(text: str) -> str:
    """The text, with a replacement for letters that are invisible or move a terminal's cursor."""
    return "".join(letter if is_seen(letter) else "\ufffd" for letter in text)


def is_seen(letter: str) -> bool:
    return letter.isprintable() or letter in JOINERS


def named(exercise: str, words: Mapping[str, Any]) -> str:
    """The name of an exercise for readers of a language, its name in code behind it.

    A language in which the name in code says enough has no other.
    """
    title = words.get("exercises", {}).get(exercise)
    return str(words["checks"]["named"].format(title=title, name=exercise)) if title else exercise
