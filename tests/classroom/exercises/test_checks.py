"""``check`` shows verdicts and what is solved; its reports leave other files alone."""

import json
from dataclasses import replace

import pytest

from mha_lib.classroom.exercises.checks import Check
from mha_lib.classroom.exercises.judge import Exercise
from mha_lib.classroom.exercises.reports import read_report
from tests.classroom.students.reports import ADA


def scaled(n, *, scale=2, mask=3):
    return scale * n + mask


MISTAKES = {"scale_missing": {"scale": 1}, "mask_missing": {"mask": 0}}
NUMBER = Exercise("number", scaled, lambda draw: (5,), MISTAKES, lesson="03_three")
DOUBLED = Exercise("doubled", lambda x: 2 * x, lambda draw: draw.tensors((2, 3)), lesson="04_four")


@pytest.fixture
def check(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Check(NUMBER, DOUBLED)


def doubled_solution(x):
    return 2 * x


def test_the_verdict_is_printed_with_its_mark(check, capsys):
    for answer in (lambda x: 2 * x, lambda x: 2, doubled_solution):
        check.doubled(answer)
    assert capsys.readouterr().out.splitlines() == [
        "✓ doubled: right on 5 random cases.",
        "✗ doubled: a tensor is wanted, and this returned 2. "
        "You have solved this exercise before, and it stays solved.",
        "Solution of doubled, not your answer: right on 5 random cases.",
    ]


def test_the_report_counts_the_students_answers_and_not_the_solutions(check, capsys):
    for answer, report in [
        (lambda x: ..., "○ doubled\n0 of 1 solved\n"),
        (doubled_solution, "○ doubled\n0 of 1 solved\n"),
        (lambda x: 2 * x, "✓ doubled\n1 of 1 solved\n"),
    ]:
        check.doubled(answer)
        capsys.readouterr()
        check.report()
        assert capsys.readouterr().out == report


def test_an_objective_is_reached_when_all_its_exercises_are_solved(check, capsys):
    check.doubled(lambda x: 2 * x)
    check.number(lambda n: n)
    capsys.readouterr()
    check.reached({"one": "doubled", "two": "doubled number"})
    assert capsys.readouterr().out == "✓ one: 1 of 1 solved\n○ two: 1 of 2 solved\n"


def read(folder, name):
    return read_report(folder / "reports" / f"{name}.report.json")


def test_without_a_name_or_a_checked_answer_nothing_is_written(check, tmp_path, capsys):
    check.report("Ada")
    assert "Nothing was written" in capsys.readouterr().out
    check.number(scaled)
    check.report()
    assert list(tmp_path.iterdir()) == []


def test_the_file_says_what_is_solved_and_which_mistakes_came_up(check, tmp_path, capsys):
    for answer in (lambda n: n + 3, lambda n: n + 3, lambda n: n, lambda n: n.my_very_own_line, scaled):
        check.number(answer)
    check.report("  Ada  Lovelace ")
    report = read(tmp_path, "three-Ada-Lovelace")
    assert (report.lesson, report.language, report.name) == ("three", "en", "Ada Lovelace")
    progress = report.exercises["number"]
    assert (progress.state, progress.checks) == ("solved", 5)
    assert progress.mistakes == {"scale_missing": 3, "mask_missing": 1, "line_raised": 1}
    said = capsys.readouterr().out
    assert "Written: reports/three-Ada-Lovelace.report.json" in said
    assert "Nothing is sent" in said
    written = (tmp_path / "reports" / "three-Ada-Lovelace.report.json").read_text()
    assert "my_very_own_line" not in written, "no code of the student's is in the file"


OF_ANOTHER = json.dumps(replace(ADA, lesson="three").as_tree())


@pytest.mark.parametrize("content", ["my own notes", '{"mha_lib_report": 1', OF_ANOTHER])
def test_a_file_that_is_no_report_of_the_students_stays(check, tmp_path, capsys, content):
    mine = tmp_path / "reports" / "three.report.json"
    mine.parent.mkdir()
    mine.write_text(content)
    check.number(scaled)
    check.report("")
    assert mine.read_text() == content
    assert read(tmp_path, "three-2").exercises["number"].state == "solved"
    assert "three.report.json is another's, or can't be read: it stays" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../Bob", "'/'"),
        ("Ada\x1b[2J", "'\\x1b'"),
        ("Ada\u202e", "'\\u202e'"),
        ("A" * 51, "51 characters; 50"),
        *((ellipsis, "your own name in the place of") for ellipsis in ("…", "...", "。。。")),
        (3, "and not 3"),
    ],
)
def test_a_name_that_no_file_can_have_is_refused_and_nothing_is_written(check, tmp_path, name, said):
    check.number(scaled)
    with pytest.raises(ValueError, match="name") as error:
        check.report(name)
    assert said in str(error.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["O'Brien, Pat", "王小明", "علی‌رضا", "𝔸" * 50, "Jr."])
def test_names_of_all_the_world_are_written(check, tmp_path, name):
    check.number(scaled)
    check.report(name)
    (file,) = (tmp_path / "reports").iterdir()
    assert read_report(file).name == name


def test_a_folder_that_cannot_be_written_is_an_error_that_names_the_file(check, tmp_path):
    check.number(scaled)
    (tmp_path / "reports").touch()
    with pytest.raises(ValueError, match=r"three-Ada\.report\.json could not be written: "):
        check.report("Ada")
