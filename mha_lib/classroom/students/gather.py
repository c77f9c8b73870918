"""Finds the reports of a class in a folder and all folders in it, and keeps the newest of each student."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

from mha_lib.classroom.exercises.progress import Progress
from mha_lib.classroom.exercises.reports import (
    HARMLESS,
    LARGEST,
    Report,
    looks_like_report,
    read_report,
    report_in,
    shown,
)
from mha_lib.classroom.lesson import CourseError, in_one_line

DEEPEST = 20  # folders in folders: no report lies deeper, and a student may lay thousands
PASSED_OVER = ("node_modules", "site-packages", "__pycache__")  # large, without reports; hidden ones too
# Browsers and learning platforms number copies: heads.report-1.json, "heads.report (1).json".
NAME = re.compile(r"(?P<about>[^.].*)\.report.*\.json", re.IGNORECASE)
OTHER_NAMES, ZIP = (".json", ".txt"), ".zip"  # files that are looked into
FAST_CLOCK = timedelta(days=1)  # a report that is written later than this from now has a wrong date
VOLUME = "_data"  # Docker and podman keep the content of a hub's volume in this folder: mha-ada/_data
MOST = 3000  # reports in one overview: of 500 students, on six lessons
Remarks = defaultdict[str, list[CourseError]]  # sentences about files, by the place where they lie


@dataclass
class HandedIn:
    file: Path  # from the folder that was searched
    report: Report
    has_namesake: bool = False

    @property
    def student(self) -> str:
        """The student as a page shows it: by name, and by volume, for a name may look like another student's.
        Without a volume, the folder or the name of the file stands beside a name only where it is needed."""
        name, file = self.report.name, NAME.fullmatch(self.file.name)
        if name and not self.has_namesake and not self.volume:
            return name
        place = (
            self.volume
            or self.file.parent.as_posix().strip(".")
            or (file["about"] if file else self.file.stem)
        )
        return shown(f"{name} ({place})").strip()

    def progress_in(self, exercise: str) -> Progress:
        return self.report.exercises.get(exercise, Progress())

    @property
    def volume(self) -> str:
        """The hub's volume in which the file lies, such as mha-ada; "" elsewhere."""
        return self.place.removesuffix(f"/{VOLUME}") if VOLUME in self.file.parts[:-1] else ""

    @property
    def place(self) -> str:
        return place_of(self.file)

    @property
    def same_student(self) -> tuple[str, ...]:
        """A key that two files of one student share, and those of two students with one name do not.

        A volume is one student's, whatever folders and names the student makes in it. A folder may be one
        student's or hold many, so the name counts too. Where there is no folder, or no name, the token in
        the file tells.
        """
        if self.volume:
            return (self.volume,)
        folder, name = self.file.parent.as_posix(), self.report.name.casefold()
        return folder, name, "" if folder != "." and name else self.report.student

    @property
    def is_dated(self) -> bool:
        """Whether the report's date can be right: it is not in the future."""
        return self.written <= datetime.now(UTC) + FAST_CLOCK

    @property
    def written(self) -> datetime:
        return datetime.fromisoformat(self.report.written)


def place_of(file: Path) -> str:
    """The volume in which a file lies, or else the first of its folders, or else "".

    A student may make folders in it, but no second one.
    """
    parts = file.parts[:-1]
    return "/".join(parts[: parts.index(VOLUME) + 1] if VOLUME in parts else parts[:1])


def gather(folder: Path) -> tuple[list[HandedIn], Remarks]:
    """The newest report of each student on each lesson, and a sentence for each file that does not count."""
    remarks: Remarks = defaultdict(list)
    newest: dict[tuple[str, ...], HandedIn] = {}
    for file in not_too_many(find_reports(folder, remarks), remarks):
        about = remarks[place_of(file)]
        try:
            found = HandedIn(file, read_handed_in(folder, file))
        except Exception as error:  # of any kind: no file ends the table of the class
            about.append(in_one_line(file, error))
            continue
        if not found.is_dated:
            about.append(CourseError("report_future", file=file, date=found.report.written[:10]))
        key = (found.report.lesson, *found.same_student)
        if former := newest.get(key):
            older, found = sorted((former, found), key=lambda one: (one.is_dated, one.written))
            gaps = {"student": found.student, "file": found.file, "older": older.file}
            about.append(CourseError("report_twice", **gaps))
        newest[key] = found
    counted = list(newest.values())
    mark_namesakes(counted, remarks)
    return counted, remarks


def not_too_many(files: Iterable[Path], remarks: Remarks) -> list[Path]:
    """The files without those that are too many for one overview.

    Each place counts with as many as any other, so a folder of thousands displaces no other student.
    """
    by_place: dict[str, list[Path]] = {}
    for file in files:
        by_place.setdefault(place_of(file), []).append(file)
    in_turn = sorted((turn, file) for found in by_place.values() for turn, file in enumerate(found))
    if len(in_turn) > MOST:
        remarks[""].append(CourseError("reports_too_many", count=len(in_turn), most=MOST))
    return sorted(file for _, file in in_turn[:MOST])


def mark_namesakes(counted: list[HandedIn], remarks: Remarks) -> None:
    """Mark the students who share a name on one lesson: pages show where their files lie."""
    by_name: dict[tuple[str, str], list[HandedIn]] = {}
    for one in counted:
        if one.report.name:
            by_name.setdefault((one.report.lesson, one.report.name.casefold()), []).append(one)
    for namesakes in by_name.values():
        if len(namesakes) > 1:
            files = ", ".join([*(str(one.file) for one in namesakes[:5]), *["…"] * (len(namesakes) > 5)])
            gaps = {"student": namesakes[0].report.name, "files": files}
            remarks[namesakes[0].place].append(CourseError("report_namesakes", **gaps))
            for one in namesakes:
                one.has_namesake = True


def find_reports(folder: Path, remarks: Remarks) -> Iterator[Path]:
    """Every file with the name or the content of a report, from the folder on, also those in zip archives.

    They come in alphabetical order; links are not followed. Folders too deep for a report get a remark, and
    so does an archive that can't be read or that holds archives.
    """
    if not folder.is_dir():
        raise CourseError("no_reports_folder", folder=folder)

    def say(where: str, error: CourseError) -> None:
        remarks[place_of(Path(where).relative_to(folder))].append(error)

    walk = os.walk(folder, onerror=lambda error: say(error.filename, in_one_line(folder, error)))
    for place, folders, files in walk:
        here = Path(place).relative_to(folder)
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in PASSED_OVER)
        if folders and len(here.parts) >= DEEPEST:
            say(place, CourseError("report_deep", folder=place, most=DEEPEST))
            folders.clear()
        for name in sorted(files):
            if name.lower().endswith(ZIP):
                try:
                    yield from reports_in_archive(folder, here / name, remarks)
                except Exception as error:  # of any kind: no file ends the table of the class
                    say(str(Path(place, name)), in_one_line(here / name, error))
            elif NAME.fullmatch(name) or (name.lower().endswith(OTHER_NAMES) and holds_report(place, name)):
                yield here / name


def holds_report(place: str, name: str) -> bool:
    """Whether the file begins as a report does."""
    with suppress(OSError), open(os.open(Path(place, name), HARMLESS), "rb") as opened:
        return looks_like_report(opened.read(LARGEST))
    return False


@contextmanager
def opened_archive(file: Path) -> Iterator[ZipFile]:
    with open(os.open(file, HARMLESS), "rb") as opened, ZipFile(opened) as archive:
        yield archive


def reports_in_archive(folder: Path, archive: Path, remarks: Remarks) -> Iterator[Path]:
    """The reports in a zip archive, as paths below it; an archive in it gets a remark."""
    with opened_archive(folder / archive) as zipped:
        found = []
        for about in zipped.infolist()[:MOST]:
            path = PurePosixPath(about.filename)
            is_below = not path.is_absolute() and ".." not in path.parts and path.as_posix() == about.filename
            if not is_below or path.parts[0] == "__MACOSX":
                continue
            if path.suffix.lower() == ZIP:
                remarks[place_of(archive)].append(CourseError("report_packed_twice", file=archive / path))
            elif path.suffix.lower() in OTHER_NAMES:
                with zipped.open(about) as opened:
                    is_report = NAME.fullmatch(path.name) or looks_like_report(opened.read(LARGEST))
                found += [archive / path] if is_report else []
    yield from sorted(found)


def read_handed_in(folder: Path, file: Path) -> Report:
    """The report in a file, which may lie in a zip archive."""
    for archive in file.parents:
        if archive.suffix.lower() == ZIP and (folder / archive).is_file():
            inner = file.relative_to(archive).as_posix()
            with opened_archive(folder / archive) as zipped, zipped.open(inner) as opened:
                content = opened.read(LARGEST + 1)
            if len(content) > LARGEST:
                raise CourseError("report_large", file=file, kilobytes=LARGEST // 1000)
            return report_in(content, file)
    return read_report(folder / file)
