"""Finds the reports of a class in a folder and all folders in it, and keeps the newest of each student."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from mha_lib.classroom.course import CourseError, in_one_line
from mha_lib.classroom.live.exercises.reports import FOLDER, SUFFIX, Progress, Report, read_report, shown

PASSED_OVER = ("node_modules", "site-packages", "__pycache__")  # large, without reports; hidden ones too


@dataclass
class HandedIn:
    file: Path  # from the folder that was searched
    report: Report

    @property
    def student(self) -> str:
        """The student as a page shows it: by name, or else by the folder or the name of the file."""
        unnamed = self.home or self.file.parent.as_posix().strip(".") or self.file.name.removesuffix(SUFFIX)
        return self.report.name or shown(f"({unnamed})")

    def progress_in(self, exercise: str) -> Progress:
        return self.report.exercises.get(exercise, Progress())

    @property
    def home(self) -> str:
        """The home with the working copy in which the file lies: ada of ada/work/en/reports; "" elsewhere."""
        parts = self.file.parts
        is_working_copy = parts[-4:-3] == ("work",) and parts[-2:-1] == (FOLDER,)
        return "/".join(parts[:-4]) if is_working_copy else ""

    @property
    def same_student(self) -> tuple[str, str]:
        """A key that two files of one student share: the name, or else the home, or else the file's token."""
        if self.report.name:
            return "name", self.report.name.casefold()
        return ("home", self.home) if self.home else ("token", self.report.student)


def gather(folder: Path) -> tuple[list[HandedIn], list[CourseError]]:
    """The newest report of each student on each lesson, and a line for each file that does not count."""
    remarks: list[CourseError] = []
    newest: dict[tuple[str, ...], HandedIn] = {}
    for file in find_reports(folder, remarks):
        try:
            found = HandedIn(file.relative_to(folder), read_report(file))
        except CourseError as error:
            remarks.append(error)
            continue
        key = (found.report.lesson, *found.same_student)
        if former := newest.get(key):
            older, found = sorted((former, found), key=lambda one: datetime.fromisoformat(one.report.written))
            gaps = {"student": found.student, "file": found.file, "older": older.file}
            remarks.append(CourseError("report_twice", **gaps))
        newest[key] = found
    return list(newest.values()), remarks


def find_reports(folder: Path, remarks: list[CourseError]) -> Iterator[Path]:
    """Every file with the name of a report, in alphabetical order; links to folders are not followed."""
    if not folder.is_dir():
        raise CourseError("no_reports_folder", folder=folder)

    walk = os.walk(folder, onerror=lambda error: remarks.append(in_one_line(folder, error)))
    for place, folders, files in walk:
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in PASSED_OVER)
        yield from (Path(place, name) for name in sorted(files) if name.endswith(SUFFIX) and name[0] != ".")
