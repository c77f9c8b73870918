"""Finds the reports of a class in a folder and all folders in it, and keeps the newest of each student."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mha_lib.classroom.exercises.reports import FOLDER, Progress, Report, read_report, shown
from mha_lib.classroom.lesson import CourseError, in_one_line

DEEPEST = 20  # folders in folders: no report lies deeper, and a student may lay thousands
PASSED_OVER = ("node_modules", "site-packages", "__pycache__")  # large, without reports; hidden ones too
# Browsers and learning platforms number copies: heads.report-1.json, "heads.report (1).json".
NAME = re.compile(r"(?P<about>[^.].*)\.report.*\.json", re.IGNORECASE)
FAST_CLOCK = timedelta(days=1)  # a report that is written later than this from now has a wrong date


@dataclass
class HandedIn:
    file: Path  # from the folder that was searched
    report: Report
    has_namesake: bool = False

    @property
    def student(self) -> str:
        """The student as a page shows it: by name, and by the folder or the name of the file if need be."""
        name = NAME.fullmatch(self.file.name)
        place = self.home or self.file.parent.as_posix().strip(".") or (name["about"] if name else "")
        named = self.report.name and not self.has_namesake
        return self.report.name if named else shown(f"{self.report.name} ({place})").strip()

    def progress_in(self, exercise: str) -> Progress:
        return self.report.exercises.get(exercise, Progress())

    @property
    def home(self) -> str:
        """The home with the working copy in which the file lies: ada of ada/work/en/reports; "" elsewhere.

        A hub's volume is such a copy, which Docker and podman keep as mha-ada/_data/en/reports.
        """
        parts = self.file.parts
        is_working_copy = parts[-4:-3] in (("work",), ("_data",)) and parts[-2:-1] == (FOLDER,)
        return "/".join(parts[:-4]) if is_working_copy else ""

    @property
    def same_student(self) -> tuple[str, ...]:
        """A key that two files of one student share, and those of two students with one name do not.

        A home is one student's. A folder may be one student's or hold many, so the name counts too. Where
        there is no folder, or no name, the token in the file tells.
        """
        if self.home:
            return (self.home,)
        folder, name = self.file.parent.as_posix(), self.report.name.casefold()
        return folder, name, "" if folder != "." and name else self.report.student

    @property
    def is_dated(self) -> bool:
        """Whether the report's date can be right: it is not in the future."""
        return self.written <= datetime.now(UTC) + FAST_CLOCK

    @property
    def written(self) -> datetime:
        return datetime.fromisoformat(self.report.written)


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
        if not found.is_dated:
            remarks.append(CourseError("report_future", file=found.file, date=found.report.written[:10]))
        key = (found.report.lesson, *found.same_student)
        if former := newest.get(key):
            older, found = sorted((former, found), key=lambda one: (one.is_dated, one.written))
            gaps = {"student": found.student, "file": found.file, "older": older.file}
            remarks.append(CourseError("report_twice", **gaps))
        newest[key] = found
    counted = list(newest.values())
    mark_namesakes(counted, remarks)
    return counted, remarks


def mark_namesakes(counted: list[HandedIn], remarks: list[CourseError]) -> None:
    """Mark the students who share a name on one lesson: pages show where their files lie."""
    by_name: dict[tuple[str, str], list[HandedIn]] = {}
    for one in counted:
        if one.report.name:
            by_name.setdefault((one.report.lesson, one.report.name.casefold()), []).append(one)
    for namesakes in by_name.values():
        if len(namesakes) > 1:
            files = ", ".join(str(one.file) for one in namesakes)
            remarks.append(CourseError("report_namesakes", student=namesakes[0].report.name, files=files))
            for one in namesakes:
                one.has_namesake = True


def find_reports(folder: Path, remarks: list[CourseError]) -> Iterator[Path]:
    """Every file with the name of a report, in alphabetical order; links to folders are not followed.

    Folders too deep for a report get a remark.
    """
    if not folder.is_dir():
        raise CourseError("no_reports_folder", folder=folder)

    walk = os.walk(folder, onerror=lambda error: remarks.append(in_one_line(folder, error)))
    for place, folders, files in walk:
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in PASSED_OVER)
        if folders and len(Path(place).relative_to(folder).parts) >= DEEPEST:
            remarks.append(CourseError("report_deep", folder=place, most=DEEPEST))
            folders.clear()
        yield from (Path(place, name) for name in sorted(files) if NAME.fullmatch(name))
