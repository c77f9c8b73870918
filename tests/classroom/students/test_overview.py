"""A class hands in: what the instructor sees of it."""

import csv
import json
import os
import re
import subprocess
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup

from mha_lib.classroom import __main__ as command_line
from mha_lib.classroom.course.language import words_in
from mha_lib.classroom.live.exercises.reports import Progress, Report
from tests.lessons import ROOT

ONE_VIEW = words_in("en")["mistakes"]["shared"]["cut_with_one_view"]
NOT_SWAPPED = words_in("en")["mistakes"]["split_heads"]["axes_not_swapped"]
ADA = Report(
    lesson="multi_head_attention",
    language="en",
    version="0.1.0",
    written="2026-11-22T08:00:00+00:00",
    student="ada",
    name="Ada Lovelace",
    exercises={"split_heads": Progress("solved", 3, {"cut_with_one_view": 2})},
)


@pytest.fixture
def course(tmp_path, monkeypatch):
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    (tmp_path / "class").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hand_in(course, report, place=""):
    file = course / "class" / (place or f"{report.student}.report.json")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(report.as_tree()))


def student(name, **progress):
    return replace(ADA, name=name, student=name, exercises=progress)


def overview(*arguments, language="en"):
    return command_line.main(["--language", language, "overview", "class", *arguments])


def page(course, name="overview.html"):
    return BeautifulSoup((course / "build" / "overview" / name).read_text(encoding="utf-8"), "html.parser")


def test_a_class_is_counted(course, capsys):
    hand_in(course, ADA)
    hand_in(course, student("Bob", split_heads=Progress("wrong", 1, {"cut_with_one_view": 1})))
    hand_in(course, student("Eve", split_heads=Progress("wrong", 9, {"axes_not_swapped": 9})))
    hand_in(course, student("Dan", split_heads=Progress("not yet", 1)))
    assert overview() == 0
    out = capsys.readouterr().out
    assert "03 Multi-head attention: reports: 4, started: 3, all solved: 0" in out
    assert "Begin the next hour with split_heads." in out
    assert "split_heads: solved 1 of 4, wrong so far 2, started 3" in out
    lines = [line.strip() for line in out.splitlines()]
    first = lines.index(f"2 students: {ONE_VIEW}")
    assert lines[first + 1] == f"1 student: {NOT_SWAPPED}", "how many students, not how often"
    assert "✓○○○○○○○○○  Ada Lovelace" in lines
    article = page(course).find("h4", string="split_heads").find_parent("article")
    assert [" ".join(item.text.split()) for item in article("li")] == [
        f"2 students: {ONE_VIEW} (3 times in all)",
        f"1 student: {NOT_SWAPPED} (9 times in all)",
    ]
    rows = {row.th.text: "".join(cell.text for cell in row("td")) for row in page(course)("tr")[1:]}
    assert list(rows) == ["Ada Lovelace", "Bob", "Dan", "Eve"]
    assert rows["Bob"] == "✗○○○○○○○○○"


def test_what_students_were_told_is_said_in_the_instructors_language(course, capsys):
    hand_in(course, ADA)
    assert overview(language="zh") == 0
    assert words_in("zh")["mistakes"]["shared"]["cut_with_one_view"] in capsys.readouterr().out
    assert page(course).html["lang"] == "zh"


def test_a_mistake_that_was_recognised_goes_before_what_was_not(course):
    failed = Progress("wrong", 9, {"line_raised": 5, "wrong_entry": 5, "of_another_edition": 5})
    hand_in(course, student("Bob", split_heads=failed))
    hand_in(course, student("Eve", split_heads=replace(failed, mistakes={"line_raised": 1})))
    hand_in(course, ADA)
    assert overview() == 0
    items = [item.text for item in page(course).article("li")]
    assert ONE_VIEW in items[0]
    assert items[1].startswith("2 students: the function raised an error")
    assert "does not know" in "".join(items)


def test_odd_counts_and_odd_times_do_no_harm(course, capsys):
    odd = {"split_heads": Progress("wrong", 0, {"cut_with_one_view": 0})}
    hand_in(course, replace(ADA, exercises=odd, written="0001-01-01T00:00:00+23:59"))
    hand_in(course, replace(ADA, exercises=odd, written="9999-12-31T23:59:59-23:59"), "late.report.json")
    assert overview() == 0
    said = capsys.readouterr()
    assert ONE_VIEW not in said.out
    assert "counts: ada.report.json, and not late.report.json" in said.err
    assert "late.report.json: its date, 9999-12-31, is in the future" in said.err


def test_gaps_of_a_sentence_are_left_open(course, capsys):
    failed = Progress("wrong", 1, {"bias": 1})
    hand_in(course, replace(ADA, lesson="heads_today", exercises={"describe_model": failed}))
    assert overview() == 0
    assert "…: bias is …, and … is wanted" in capsys.readouterr().out


def test_lessons_are_told_apart(course, capsys):
    hand_in(course, ADA)
    hand_in(course, replace(ADA, lesson="single_head_attention", exercises={}), "other.report.json")
    hand_in(course, replace(ADA, lesson="brand_new", exercises={}), "none.report.json")
    hand_in(course, student("Bob", brand_new=Progress("solved", 1)))
    assert overview() == 0
    said = capsys.readouterr()
    assert re.findall(r"^(\d\d) ", said.out, re.MULTILINE) == ["01", "03"]
    assert "none.report.json: left out, this course has no lesson brand_new" in said.err
    assert "exercises that are not in this one do not count: brand_new" in said.err


def test_of_two_files_of_a_student_the_newer_counts_whatever_its_zone(course, capsys):
    hand_in(course, replace(ADA, written="2026-11-22T09:00:00+02:00", exercises={}), "later.report.json")
    hand_in(course, replace(ADA, name="ada lovelace"), "sooner.report.json")
    assert overview() == 0
    said = capsys.readouterr()
    assert "handed in twice; the newer counts: sooner.report.json, and not later.report.json" in said.err
    assert "reports: 1" in said.out


@pytest.mark.parametrize(
    "name",
    [
        "lesson-03-Ada.report-1.json",
        "lesson-03-Ada.report (1).json",
        "Lesson-03-Ada.Report(2).JSON",
        "lesson-03-Ada.report - Copy.json",
        "lesson-03-Ada.report 副本.json",
    ],
)
def test_copies_numbered_by_browsers_and_learning_platforms_are_read(course, capsys, name):
    hand_in(course, ADA, "lesson-03-Ada.report.json")
    hand_in(course, replace(ADA, written="2026-11-22T09:00:00+00:00"), name)
    assert overview() == 0
    assert f"the newer counts: {name}" in capsys.readouterr().err


def test_a_date_in_the_future_goes_before_no_other_and_counts_alone(course, capsys):
    late = "2099-01-01T00:00:00+00:00"
    hand_in(course, replace(ADA, written=late, exercises={}), "wrong.report.json")
    hand_in(course, ADA)
    hand_in(course, replace(student("Bob"), written=late))
    assert overview() == 0
    said = capsys.readouterr()
    assert "the newer counts: ada.report.json, and not wrong.report.json" in said.err
    assert said.err.count("2099-01-01, is in the future") == 2
    assert "reports: 2" in said.out


def test_two_students_of_one_name_are_two_students(course, capsys):
    other = replace(ADA, student="other", written="2026-11-22T09:00:00+00:00")
    for place in ("flat", "folders", "homes"):
        first, second = {
            "flat": ("a.report.json", "b.report.json"),
            "folders": ("Ada 1/a.report.json", "Ada 2/a.report.json"),
            "homes": ("ada1/work/en/reports/a.report.json", "ada2/work/en/reports/a.report.json"),
        }[place]
        hand_in(course, ADA, f"{place}/{first}")
        hand_in(course, other, f"{place}/{second}")
        assert command_line.main(["overview", f"class/{place}"]) == 0
        said = capsys.readouterr()
        assert "reports: 2" in said.out
        shown = re.findall(r"Ada Lovelace \((.*)\)$", said.out, re.MULTILINE)
        assert shown == {"flat": ["a", "b"], "folders": ["Ada 1", "Ada 2"], "homes": ["ada1", "ada2"]}[place]
        assert "several students or copies of the course have this name" in said.err


def test_a_home_and_a_folder_decide_who_handed_in_again(course, capsys):
    again = replace(ADA, student="another token", written="2026-11-22T09:00:00+00:00")
    hand_in(course, ADA, "Ada 17/heads.report.json")
    hand_in(course, again, "Ada 17/heads.report-1.json")
    hand_in(course, ADA, "home/work/en/reports/heads.report.json")
    hand_in(course, replace(again, name="Ada L."), "home/work/zh/reports/heads.report.json")
    hand_in(course, replace(again, name="Bob"), "Ada 17/bob.report.json")
    assert overview() == 0
    said = capsys.readouterr()
    assert re.findall(r"○○  (.*)$", said.out, re.MULTILINE) == ["Ada L.", "Ada Lovelace", "Bob"]
    assert said.err.count("handed in twice") == 2


def test_homes_on_a_server_are_searched_and_name_who_gave_no_name(course, capsys):
    nameless = replace(ADA, name="")
    hand_in(course, nameless, "ada/course/work/en/reports/heads.report.json")
    hand_in(course, replace(nameless, student="again"), "ada/course/work/zh/reports/heads.report.json")
    hand_in(course, replace(nameless, student="bob"), "bob/work/en/reports/heads.report.json")
    hand_in(course, replace(nameless, student="cid"), "cid_17/heads.report.json")
    hand_in(course, replace(nameless, student="dan"), "heads-4.report.json")
    hand_in(course, replace(nameless, student="eve"), "bob/.ipynb_checkpoints/heads.report.json")
    (course / "class" / "loop").symlink_to(course / "class")
    assert overview() == 0
    said = capsys.readouterr()
    assert re.findall(r"\((.*)\)$", said.out, re.MULTILINE) == ["ada/course", "bob", "cid_17", "heads-4"]
    assert len(said.err.splitlines()) == 1, "ada handed in twice"


def test_volumes_of_a_hub_are_searched_whatever_a_student_laid_there(course, capsys):
    hand_in(course, replace(ADA, name=""), "mha-ada/_data/en/reports/heads.report.json")
    laid = course / "class" / "mha-bob" / "_data" / "en" / "reports"
    laid.mkdir(parents=True)
    os.mkfifo(laid / "pipe.report.json")
    (laid / "link.report.json").symlink_to("/etc/shadow")
    with (laid / "large.report.json").open("wb") as large:
        large.truncate(10**12)
    deep = os.open(laid, os.O_RDONLY)
    for _ in range(2000):  # longer than a path may be
        os.mkdir("deeper", dir_fd=deep)
        inner = os.open("deeper", os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = inner
    os.close(deep)
    assert overview() == 0
    subprocess.run(["rm", "-r", laid], check=True)  # Python's own way fails on so many
    said = capsys.readouterr()
    assert re.findall(r"\((.*)\)$", said.out, re.MULTILINE) == ["mha-ada"]
    kinds = ("too large", "it is a link or no file", "it is a link or no file", "folders deep")
    assert len(said.err.splitlines()) == len(kinds)
    assert all(said.err.count(kind) == kinds.count(kind) for kind in kinds), said.err


@pytest.mark.parametrize("name", [" ", "\u200d", " \u200c "])
def test_a_name_that_nobody_can_see_is_no_name(course, name):
    hand_in(course, replace(ADA, name=name))
    assert overview() == 0
    assert page(course).tbody.th.text == "(ada)"


HOSTILE = "<img src=x onerror=alert(1)>\u202e"


def test_html_in_a_name_is_a_name(course, capsys):
    hand_in(course, replace(ADA, name=HOSTILE))
    hand_in(course, replace(ADA, name="", student="b"), "<b>x<b>.report.json")
    assert overview() == 0
    found = page(course)
    assert not found("img")
    assert not found.tbody("b")
    assert HOSTILE[:-1] in found.tbody.text
    assert "\u202e" not in found.text + capsys.readouterr().out
    assert "default-src 'none'" in found.meta.find_next("meta")["content"]


def test_damaged_files_are_a_line_each_and_the_rest_counts(course, capsys):
    hand_in(course, ADA)
    (course / "class" / "half.report.json").write_text('{"mha_lib_report": 1, "les')
    (course / "class" / "deep.report.json").write_text("[" * 100_000)
    (course / "class" / "notes.json").write_text("not one of ours")
    assert overview() == 0
    said = capsys.readouterr()
    assert len(said.err.splitlines()) == 2
    assert "reports: 1" in said.out
    files = [item.text.split(":")[0].split("/")[-1] for item in page(course).select(".remarks li")]
    assert files == ["deep.report.json", "half.report.json"]


def test_a_lesson_that_is_no_notebook_has_no_title_and_its_reports_count(course, capsys):
    (course / "notebooks").unlink()
    (course / "notebooks" / "en").mkdir(parents=True)
    (course / "notebooks" / "en" / "03_multi_head_attention.ipynb").write_text("[]")
    hand_in(course, ADA)
    assert overview() == 0
    said = capsys.readouterr()
    assert "03 03_multi_head_attention: reports: 1" in said.out
    assert "its entry cells is missing" in said.err


def test_without_names_no_name_is_shown_anywhere(course, capsys):
    hand_in(course, ADA)
    hand_in(course, ADA, "Ada-again.report.json")
    hand_in(course, student("Bob"))
    assert overview("--no-names") == 0
    said = capsys.readouterr()
    written = [file.name for file in (course / "build" / "overview").iterdir()]
    assert written == ["overview-without-names.html"]
    shown = page(course, written[0])
    for text in (said.out, said.err, str(shown)):
        assert not re.search("Ada|Bob", text)
    assert "Remarks on files: 1." in said.err
    assert [row.th.text for row in shown("tr")[1:]] == ["1", "2"]


def test_the_table_opens_in_a_spreadsheet_and_runs_nothing(course):
    hand_in(course, replace(ADA, name='=HYPERLINK("x")'))
    hand_in(course, student("王小明", split_heads=Progress("solved", 1)))
    assert overview() == 0
    text = (course / "build" / "overview" / "overview.csv").read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(text.splitlines()))
    assert {row["student"] for row in rows} == {'\'=HYPERLINK("x")', "王小明"}
    about = {"lesson": "03", "student": '\'=HYPERLINK("x")', "exercise": "split_heads"}
    counted = {"state": "solved", "checks": "3", "mistakes": "cut_with_one_view:2"}
    assert rows[0] | {"written": "", "file": ""} == about | counted | {"written": "", "file": ""}


@pytest.mark.parametrize(
    "name", ["x;=1+1", "x;  +1", 'x;"=1+1', "x, @SUM(1)", "＝1+1", " －1", "x|=cmd", "'=1+1", "=1;-1"]
)
def test_no_part_of_a_name_is_a_formula_wherever_a_spreadsheet_cuts_the_line(course, name):
    hand_in(course, replace(ADA, name=name))
    assert overview() == 0
    text = (course / "build" / "overview" / "overview.csv").read_text(encoding="utf-8-sig")
    for part in re.split(r"[,;|\t\n]", text):
        assert not re.match(r"[\s\"]*[=+@＝＋－＠-]", part), part
    student = next(csv.DictReader(text.splitlines()))["student"]
    assert student.replace("'", "") == name.strip().replace("'", "")


def test_others_on_the_machine_cannot_read_the_overview(course):
    hand_in(course, ADA)
    (course / "shared").mkdir(mode=0o755)
    assert overview("--output", "shared") == 0
    assert (course / "shared").stat().st_mode & 0o777 == 0o755, "others may have files in it"
    assert [file.stat().st_mode & 0o777 for file in (course / "shared").iterdir()] == [0o600] * 2
    assert overview() == 0
    assert (course / "build" / "overview").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("folder", "said"), [("nowhere", "no folder nowhere"), ("class", "holds no reports")]
)
def test_without_reports_it_is_one_line(course, capsys, folder, said):
    assert command_line.main(["overview", folder]) == 2
    line = capsys.readouterr().err.strip()
    assert line.startswith("overview: ")
    assert said in line
    assert "\n" not in line
    assert not (course / "build").exists()


def test_a_course_that_cannot_be_written_to_is_one_line(course, capsys):
    hand_in(course, ADA)
    (course / "build").write_text("a file where a folder must be")
    assert overview() == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
