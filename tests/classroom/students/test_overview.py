"""A class hands in: what the instructor sees of it."""

import csv
import json
import os
import re
import subprocess
from dataclasses import replace
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from bs4 import BeautifulSoup

from mha_lib.classroom import __main__ as command_line
from mha_lib.classroom.exercises import names_by_lesson
from mha_lib.classroom.exercises.progress import Progress
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.students import gather
from tests.classroom.students.reports import ADA
from tests.lessons import ROOT

ONE_VIEW = words_in("en")["mistakes"]["shared"]["cut_with_one_view"]
EXERCISES = names_by_lesson()["03_multi_head_attention"]
NOT_SWAPPED = words_in("en")["mistakes"]["split_heads"]["axes_not_swapped"]


class Class:
    """A folder of reports in a course, and what the instructor is told and shown of it."""

    def __init__(self, course, capsys):
        self.course, self.capsys = course, capsys
        self.folder = course / "class"
        self.built = course / "build" / "overview"

    def hand_in(self, report=ADA, place=""):
        file = self.folder / (place or f"{report.student}.report.json")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(report.as_tree()))

    def overview(self, *options, folder="class", language="en", status=0):
        assert command_line.main(["--language", language, "overview", folder, *options]) == status
        self.out, self.err = self.capsys.readouterr()
        return self

    @property
    def page(self):
        (file,) = self.built.glob("*.html")
        return BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")

    def told_of(self, exercise):
        """The sentences of the page about an exercise: what students did wrong."""
        article = self.page.find("h4", string=exercise).find_parent("article")
        return [" ".join(item.text.split()) for item in article("li")]

    @property
    def table(self):
        return (self.built / "overview.csv").read_text(encoding="utf-8-sig")


@pytest.fixture
def room(tmp_path, monkeypatch, capsys):
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    (tmp_path / "class").mkdir()
    monkeypatch.chdir(tmp_path)
    return Class(tmp_path, capsys)


def student(name, **progress):
    return replace(ADA, name=name, student=name, exercises=progress)


def marks(mark):
    """A student's row when the mark is that of ``split_heads``, and nothing else was begun."""
    return "".join(mark if name == "split_heads" else "○" for name in EXERCISES)


def test_a_class_is_counted(room):
    room.hand_in()
    room.hand_in(student("Bob", split_heads=Progress("wrong", "wrong", 1, {"cut_with_one_view": 1})))
    room.hand_in(student("Eve", split_heads=Progress("wrong", "wrong", 9, {"axes_not_swapped": 9})))
    room.hand_in(student("Dan", split_heads=Progress("not yet", "not yet", 1)))
    room.hand_in(student("Fay", split_heads=Progress("solved", "wrong", 4)))
    out = room.overview().out
    assert "03 Multi-head attention: reports: 5, started: 4, all solved: 0" in out
    assert "Begin the next hour with split_heads." in out
    assert "split_heads: solved 2 of 5, wrong so far 2, started 4" in out
    lines = [line.strip() for line in out.splitlines()]
    first = lines.index(f"2 students: {ONE_VIEW}")
    assert lines[first + 1] == f"1 student: {NOT_SWAPPED}", "how many students, not how often"
    assert f"{marks('✓')}  Ada Lovelace" in lines
    assert room.told_of("split_heads") == [
        f"2 students: {ONE_VIEW} (3 times in all)",
        f"1 student: {NOT_SWAPPED} (9 times in all)",
    ]
    rows = {row.th.text: "".join(cell.text for cell in row("td")) for row in room.page("tr")[1:]}
    assert list(rows) == ["Ada Lovelace", "Bob", "Dan", "Eve", "Fay"]
    assert (rows["Bob"], rows["Fay"]) == (marks("✗"), marks("✓"))
    assert room.page.find(title="split_heads: solved, checked 4 times (the newest answer is wrong)")


def test_what_students_were_told_is_said_in_the_instructors_language(room):
    room.hand_in()
    said = words_in("zh")["mistakes"]["shared"]["cut_with_one_view"]
    assert said in room.overview(language="zh").out
    assert room.page.html["lang"] == "zh"


def test_a_mistake_that_was_recognised_goes_before_what_was_not(room):
    failed = Progress("wrong", "wrong", 9, {"line_raised": 5, "wrong_entry": 5, "of_another_edition": 5})
    room.hand_in(student("Bob", split_heads=failed))
    room.hand_in(student("Eve", split_heads=replace(failed, mistakes={"line_raised": 1})))
    room.hand_in()
    items = room.overview().told_of("split_heads")
    assert ONE_VIEW in items[0]
    assert items[1].startswith("2 students: the function raised an error")
    assert "does not know" in "".join(items)


def test_lessons_are_told_apart(room):
    room.hand_in()
    room.hand_in(replace(ADA, lesson="single_head_attention", exercises={}), "other.report.json")
    room.hand_in(replace(ADA, lesson="brand_new", exercises={}), "none.report.json")
    room.hand_in(student("Bob", brand_new=Progress("solved", "solved", 1)))
    said = room.overview()
    assert re.findall(r"^(\d\d) ", said.out, re.MULTILINE) == ["01", "03"]
    assert "none.report.json: left out, this course has no lesson brand_new" in said.err
    assert "exercises that are not in this one do not count: brand_new" in said.err


def test_of_two_files_of_a_student_the_newer_counts_whatever_its_zone(room):
    room.hand_in(replace(ADA, written="2026-11-22T09:00:00+02:00", exercises={}), "later.report.json")
    room.hand_in(replace(ADA, name="ada lovelace"), "sooner.report.json")
    said = room.overview()
    assert "handed in twice; the newer counts: sooner.report.json, and not later.report.json" in said.err
    assert "reports: 1" in said.out


@pytest.mark.parametrize("name", ["Ada.report-1.json", "Ada.Report(2).JSON", "Ada.report 副本.json"])
def test_copies_numbered_by_browsers_and_learning_platforms_are_read(room, name):
    room.hand_in(ADA, "Ada.report.json")
    room.hand_in(replace(ADA, written="2026-11-22T09:00:00+00:00"), name)
    assert f"the newer counts: {name}" in room.overview().err


@pytest.mark.parametrize("name", ["Ada.json", "upload_17.JSON", "heads.report.json.txt"])
def test_a_report_is_known_by_its_content_whatever_its_name(room, name):
    room.hand_in(ADA, name)
    (room.folder / "other.json").write_text('{"cells": []}')
    os.mkfifo(room.folder / "pipe.json")
    said = room.overview()
    assert "reports: 1" in said.out
    assert said.err == ""


def test_the_archive_of_a_learning_platform_is_read_and_no_other_file_by_it(room):
    room.hand_in(ADA, "outside.json")
    (room.folder / "outside.json").rename(room.course / "outside.json")
    with ZipFile(room.folder / "class.zip", "w") as archive:
        for place in ("Ada_12/heads.report.json", "Bob_13/upload.json", "../outside.json", "/outside.json"):
            archive.writestr(place, json.dumps(student(place.split("_")[0]).as_tree()))
        archive.writestr("Cy_14/large.report.json", " " * 10**7, ZIP_DEFLATED)
        archive.writestr("Dan_15/inner.zip", "")
        archive.writestr("Eve_16/answer.txt", "not a report")
    (room.folder / "broken.zip").write_text("not an archive")
    (room.folder / "link.zip").symlink_to(room.folder / "class.zip")
    said = room.overview()
    assert re.findall(r"○  (.*)$", said.out, re.MULTILINE) == ["Ada", "Bob"]
    wanted = {
        "large.report.json": "too large",
        "inner.zip": "unpack the outer one",
        "broken.zip": "not a zip file",
        "link.zip": "link",
    }
    assert len(said.err.splitlines()) == len(wanted)
    for file, reason in wanted.items():
        assert re.search(rf"{re.escape(file)}.*{reason}", said.err), said.err


def test_a_date_in_the_future_goes_before_no_other_and_counts_alone(room):
    late = "2099-01-01T00:00:00+00:00"
    room.hand_in(replace(ADA, written=late, exercises={}), "wrong.report.json")
    room.hand_in()
    room.hand_in(replace(student("Bob"), written=late))
    said = room.overview()
    assert "the newer counts: ada.report.json, and not wrong.report.json" in said.err
    assert said.err.count("2099-01-01, is in the future") == 2
    assert "reports: 2" in said.out


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ("a.report.json", "b.report.json", ["a", "b"]),
        ("Ada 1/a.report.json", "Ada 2/a.report.json", ["Ada 1", "Ada 2"]),
    ],
    ids=["flat", "folders"],
)
def test_two_students_of_one_name_are_two_students(room, first, second, names):
    room.hand_in(place=first)
    room.hand_in(replace(ADA, student="other", written="2026-11-22T09:00:00+00:00"), second)
    said = room.overview()
    assert "reports: 2" in said.out
    assert re.findall(r"Ada Lovelace \((.*)\)$", said.out, re.MULTILINE) == names
    assert "several students or copies of the course have this name" in said.err


def test_a_folder_and_a_name_decide_who_handed_in_again(room):
    again = replace(ADA, student="another token", written="2026-11-22T09:00:00+00:00")
    room.hand_in(ADA, "Ada 17/heads.report.json")
    room.hand_in(again, "Ada 17/heads.report-1.json")
    room.hand_in(replace(again, name="Bob"), "Ada 17/bob.report.json")
    said = room.overview()
    assert re.findall(r"○○  (.*)$", said.out, re.MULTILINE) == ["Ada Lovelace", "Bob"]
    assert said.err.count("handed in twice") == 1


def test_folders_are_searched_and_name_who_gave_no_name(room):
    nameless = replace(ADA, name="")
    room.hand_in(nameless, "ada/course/work/en/reports/heads.report.json")
    room.hand_in(replace(nameless, student="cid"), "cid_17/heads.report.json")
    room.hand_in(replace(nameless, student="dan"), "heads-4.report.json")
    room.hand_in(replace(nameless, student="eve"), "bob/.ipynb_checkpoints/heads.report.json")
    (room.folder / "loop").symlink_to(room.folder)
    said = room.overview()
    places = ["ada/course/work/en/reports", "cid_17", "heads-4"]
    assert re.findall(r"\((.*)\)$", said.out, re.MULTILINE) == places
    assert said.err == ""


def test_volumes_of_a_hub_are_searched_whatever_a_student_laid_there(room):
    room.hand_in(replace(ADA, name=""), "mha-ada/_data/en/reports/heads.report.json")
    laid = room.folder / "mha-bob" / "_data" / "en" / "reports"
    laid.mkdir(parents=True)
    os.mkfifo(laid / "pipe.report.json")
    (laid / "link.report.json").symlink_to("/etc/shadow")
    with (laid / "large.report.json").open("wb") as large:
        large.truncate(10**12)
    deep = os.open(laid, os.O_RDONLY)
    for _ in range(700):  # longer than a path may be
        os.mkdir("deeper", dir_fd=deep)
        inner = os.open("deeper", os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = inner
    os.close(deep)
    said = room.overview()
    subprocess.run(["rm", "-r", laid], check=True)  # Python's own way fails on so many
    assert re.findall(r"\((.*)\)$", said.out, re.MULTILINE) == ["mha-ada"]
    kinds = ("too large", "it is a link or no file", "it is a link or no file", "folders deep")
    assert len(said.err.splitlines()) == len(kinds)
    assert all(said.err.count(kind) == kinds.count(kind) for kind in kinds), said.err


def test_a_volume_is_one_student_whatever_folders_and_names_lie_in_it(room):
    room.hand_in(replace(ADA, name="Cy"), "mha-cy/_data/en/reports/heads.report.json")
    for number in range(10):
        for place in ("en/reports", "_data"):
            room.hand_in(student("Су"), f"mha-mal/_data/{number}/{place}/heads.report.json")  # Cyrillic
    said = room.overview()
    assert re.findall(r"○  (.*)$", said.out, re.MULTILINE) == ["Cy (mha-cy)", "Су (mha-mal)"]
    assert "mha-mal/_data: 9 more remarks are left out" in said.err
    assert len(said.err.splitlines()) == 10 + 1


def test_many_names_in_one_folder_displace_no_other_student(room, monkeypatch):
    monkeypatch.setattr(gather, "MOST", 4)
    for number in range(6):
        room.hand_in(student(f"A{number}"), f"a/{number}.report.json")
    room.hand_in(student("z"), "z/heads.report.json")
    said = room.overview()
    assert "7 files have the name of a report, and 4 are read" in said.err
    assert [row.th.text for row in room.page("tr")[1:]] == ["A0", "A1", "A2", "z"]


ODD_LETTERS = ["\ud800", "\0", "\x1b[2J", "\u202e", "a\r\nb", "\u2028"]


def test_no_file_ends_the_table_of_the_class(room, monkeypatch):
    room.hand_in()
    read = gather.read_report
    monkeypatch.setattr(gather, "read_report", lambda file: 1 / 0 if file.name[0] == "7" else read(file))
    for number, odd in enumerate([*ODD_LETTERS, 10**400, None]):
        for field in ("name", "written"):
            tree = student(f"Bob {number}").as_tree() | {field: odd}
            (room.folder / f"{number}-{field}.report.json").write_text(json.dumps(tree))
    with open(os.fsencode(room.folder) + b"/\xff\x1b.report.json", "wb") as file:
        file.write(json.dumps(ADA.as_tree() | {"name": ""}).encode())
    said = room.overview()
    assert "Ada Lovelace" in room.table
    assert "Ada Lovelace" in room.page.text
    for text in (said.out, said.err, room.table, room.page.text):
        assert not re.search("[\0\x1b\ud800\u202e\u2028]", text)


HOSTILE = "<img src=x onerror=alert(1)>\u202e"


def test_html_in_a_name_is_a_name(room):
    room.hand_in(replace(ADA, name=HOSTILE))
    room.hand_in(replace(ADA, name="", student="b"), "<b>x<b>.report.json")
    found = room.overview().page
    assert not found("img")
    assert not found.tbody("b")
    assert HOSTILE[:-1] in found.tbody.text
    assert "\u202e" not in found.text + room.out
    assert "default-src 'none'" in found.meta.find_next("meta")["content"]


def test_damaged_files_are_a_line_each_and_the_rest_counts(room):
    room.hand_in()
    (room.folder / "half.report.json").write_text('{"mha_lib_report": 1, "les')
    (room.folder / "notes.json").write_text("not one of ours")
    said = room.overview()
    assert len(said.err.splitlines()) == 1
    assert "reports: 1" in said.out
    assert "half.report.json" in room.page.select_one(".remarks li").text


def test_without_names_no_name_is_shown_anywhere(room):
    room.hand_in()
    room.hand_in(ADA, "Ada-again.report.json")
    room.hand_in(student("Bob"))
    said = room.overview("--no-names")
    assert [file.name for file in room.built.iterdir()] == ["overview-without-names.html"]
    assert not re.search("Ada|Bob", said.out + said.err + str(said.page))
    assert "Remarks on files: 1." in said.err
    assert [row.th.text for row in said.page("tr")[1:]] == ["1", "2"]


def test_the_table_opens_in_a_spreadsheet_and_runs_nothing(room):
    room.hand_in(replace(ADA, name='=HYPERLINK("x")'))
    room.hand_in(student("王小明", split_heads=Progress("solved", "solved", 1)))
    rows = list(csv.DictReader(room.overview().table.splitlines()))
    assert {row["student"] for row in rows} == {'\'=HYPERLINK("x")', "王小明"}
    about = {"lesson": "03", "student": '\'=HYPERLINK("x")', "exercise": "split_heads"}
    counted = {"state": "solved", "newest": "solved", "checks": "3", "mistakes": "cut_with_one_view:2"}
    row = next(row for row in rows if row["exercise"] == "split_heads")
    assert row | {"written": "", "file": ""} == about | counted | {"written": "", "file": ""}


@pytest.mark.parametrize("name", ['x;"=1+1', "x, @SUM(1)", "＝1+1", "x|=cmd", "'=1+1"])
def test_no_part_of_a_name_is_a_formula_wherever_a_spreadsheet_cuts_the_line(room, name):
    room.hand_in(replace(ADA, name=name))
    text = room.overview().table
    for part in re.split(r"[,;|\t\n]", text):
        assert not re.match(r"[\s\"]*[=+@＝＋－＠-]", part), part
    student = next(csv.DictReader(text.splitlines()))["student"]
    assert student.replace("'", "") == name.strip().replace("'", "")


def test_others_on_the_machine_cannot_read_the_overview(room):
    room.hand_in()
    shared = room.course / "shared"
    shared.mkdir(mode=0o755)
    room.overview("--output", "shared")
    assert shared.stat().st_mode & 0o777 == 0o755, "others may have files in it"
    assert [file.stat().st_mode & 0o777 for file in shared.iterdir()] == [0o600] * 2
    room.overview()
    assert room.built.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("folder", "said"), [("nowhere", "no folder nowhere"), ("class", "holds no reports")]
)
def test_without_reports_it_is_one_line(room, folder, said):
    line = room.overview(folder=folder, status=2).err.strip()
    assert line.startswith("overview: ")
    assert said in line
    assert "\n" not in line
    assert not (room.course / "build").exists()
