"""One file beside the lesson holds what a student has solved and tried, in all kernels and on all days."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import nbformat
import pytest

from mha_lib.classroom.exercises.checks import Check
from mha_lib.classroom.exercises.judge import Exercise
from mha_lib.classroom.exercises.progress import FILE, Noted, Progress, Record, file_here, verdict_in
from mha_lib.classroom.exercises.reports import read_report
from mha_lib.classroom.lesson.grammar import Identity

NUMBER = Exercise("number", lambda n: 2 * n, lambda draw: (5,), lesson="03_three")
SECOND, OTHER = replace(NUMBER, name="second"), replace(NUMBER, name="other", lesson="04_four")


@pytest.fixture
def here(tmp_path, monkeypatch, request):
    """The folder of a student's copy of a lesson, as Jupyter's server names it to its kernel."""
    kind = getattr(request, "param", "student")
    metadata = {"mha": Identity("03_three", "en", kind).block()} if kind else {}
    nbformat.write(nbformat.v4.new_notebook(metadata=metadata), tmp_path / "03_three.ipynb")
    monkeypatch.setenv("JPY_SESSION_NAME", "03_three.ipynb")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_kernels_and_days_count_and_what_is_solved_stays_solved(here, capsys):
    """A report is on the lessons that this kernel has checked, and before its first check on all."""

    def reported(check):
        capsys.readouterr()
        check.report("Ada")
        files = [read_report(file) for file in sorted((here / "reports").iterdir())]
        return capsys.readouterr().out.partition("Written")[0], files

    first, second, third = (Check(NUMBER, SECOND, OTHER) for _ in range(3))
    first.number(abs)
    second.number(NUMBER.answer)  # while the first kernel still runs
    first.number(lambda n: ...)
    first.other(lambda n: ...)
    said, (four, three) = reported(third)
    assert said == "✓ number\n○ second\n○ other\n1 of 3 solved\n"
    number = Progress("solved", "not yet", checks=3, mistakes={"wrong_number": 1})
    assert three.exercises == {"number": number, "second": Progress()}
    assert four.exercises == {"other": Progress(checks=1)}
    third.number(abs)
    said, (_, again) = reported(third)
    assert said == "✓ number (the newest answer is wrong)\n○ second\n1 of 2 solved\n"
    number = Progress("solved", "wrong", checks=4, mistakes={"wrong_number": 2})
    assert again.exercises["number"] == number
    assert (second.solved, third.solved) == (["number"], [])
    second.number(abs)
    assert second.solved == [], "of one kernel the newest answer counts"
    assert {report.student for report in (three, four, again)} == {three.student}


def test_a_check_while_the_lesson_is_saved_is_kept_with_the_next_one(here):
    lesson, check = here / "03_three.ipynb", Check(NUMBER)
    whole = lesson.read_bytes()
    lesson.write_bytes(whole[:9])  # Jupyter's server writes it in its place
    check.number(NUMBER.answer)
    assert file_here() is None
    lesson.write_bytes(whole)
    check.number(abs)
    noted = [verdict_in(line).state for line in (here / FILE).read_bytes().split(b"\n") if line]
    assert noted == ["solved", "wrong"]


def test_a_notebook_counts_what_it_asks_for_and_its_objectives_need_its_core(here, capsys):
    """Also what a student has deleted of it; a lesson's file for the teacher has all of its exercises."""

    def asks(exercise, is_optional):
        about = {"tags": ["shows-check"], "checks": exercise, "mha_step": {"is_optional": is_optional}}
        return nbformat.v4.new_code_cell(metadata=about)

    cells = [asks("number", False), asks("other", True)]
    metadata = {"mha": Identity("route_45", "en", "student").block(), "mha_original": {"cells": cells}}
    nbformat.write(nbformat.v4.new_notebook(metadata=metadata), here / "03_three.ipynb")
    check = Check(NUMBER, SECOND, OTHER)
    check.number(NUMBER.answer)
    capsys.readouterr()
    check.report("Ada")
    assert capsys.readouterr().out.startswith("✓ number\n○ other\n1 of 2 solved\n")
    (file,) = (here / "reports").iterdir()
    assert {*read_report(file).exercises} == {"number", "second"}
    check.reached({"both": "number other", "optional": "other"})
    assert capsys.readouterr().out.splitlines() == [
        "✓ both: 1 of 2 solved (what is left is optional)",
        "✓ optional: 0 of 1 solved (what is left is optional)",
    ]
    (here / FILE).unlink()
    Check(NUMBER, OTHER).reached({"both": "number other", "optional": "other"})
    assert capsys.readouterr().out == "○ both: 0 of 2 solved\n○ optional: 0 of 1 solved\n"


def test_kernels_that_check_at_once_lose_no_verdict(here):
    records = [Record() for _ in range(4)]
    with ThreadPoolExecutor(len(records)) as at_once:
        list(at_once.map(lambda record: [record.add("number", "wrong", ["a"]) for _ in range(50)], records))
    kernels = Counter(noted.kernel for noted in Record().verdicts())
    assert kernels == {record.kernel: 50 for record in records}


@pytest.mark.parametrize("here", ["source", "deck", ""], indirect=True)
def test_nothing_is_kept_beside_another_notebook_than_a_students(here, capsys):
    check = Check(NUMBER)
    check.number(NUMBER.answer)
    check.reached({"one": "number"})
    assert "✓ one" in capsys.readouterr().out, "this kernel knows it"
    assert not (here / FILE).exists()


def test_a_copy_that_was_renamed_keeps_its_file_after_a_restart(here):
    (here / FILE).touch()
    (here / "03_three.ipynb").rename("mine.ipynb")  # the server still tells a restarted kernel the old name
    assert file_here() == here / FILE


LINE = b'{"exercise": "number", "state": "solved", "mistakes": [], "kernel": "a", "mha_progress": 1}'
DAMAGED = {
    "cut off": LINE[:40],
    "bytes": b"\xff\x00",
    "no object": b"[1]",
    "deep": b"[" * 100_000,
    "another format": LINE.replace(b": 1", b": 2"),
    "no state": LINE.replace(b'"solved"', b"[]"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_cannot_be_read_is_said_does_not_count_and_stays(here, name, capsys):
    assert verdict_in(LINE) == Noted("number", "solved", [], "a")
    (here / FILE).write_bytes(DAMAGED[name])
    check = Check(NUMBER, SECOND)
    check.second(abs)
    assert capsys.readouterr().out.count("Parts of progress.jsonl can't be read") == 1
    check.second(NUMBER.answer)
    check.report()
    said = capsys.readouterr().out
    assert "Parts of progress.jsonl can't be read" in said
    assert "○ number\n✓ second\n" in said
    assert (here / FILE).read_bytes().startswith(DAMAGED[name] + b"\n")


def test_a_check_answers_also_where_nothing_can_be_written_and_is_kept_later(here, capsys):
    (here / FILE).mkdir()
    check = Check(NUMBER, SECOND)
    check.number(NUMBER.answer)
    check.report()
    said = capsys.readouterr().out
    assert "could not be written into progress.jsonl (Is a directory)" in said
    assert "✓ number: right" in said
    assert "1 of 2 solved" in said
    (here / FILE).rmdir()
    check.second(abs)
    assert [noted.exercise for noted in Record().verdicts()] == ["number", "second"]
