"""A restarted kernel finds in ``work/`` what earlier sessions have solved."""

import json
from dataclasses import replace

import pytest

from mha_lib.classroom.exercises import kept
from mha_lib.classroom.exercises.judge import Check, Exercise
from mha_lib.classroom.exercises.reports import Progress, read_report

NUMBER = Exercise("number", lambda n: 2 * n, lambda draw: (5,), lesson="03_three")
SECOND, OTHER = replace(NUMBER, name="second"), replace(NUMBER, name="other", lesson="04_four")


@pytest.fixture
def course(tmp_path):
    """A course with a lesson in English; a kernel may run in any of these folders."""
    for folder in ("notebooks/en", "work/en", "work/deck-en", "mine/work/en"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


@pytest.fixture
def here(course, monkeypatch):
    folder = course / "work" / "en"
    copy = {"metadata": {"mha": {"lesson": "03_heads", "language": "en", "kind": "student"}}}
    (folder / "03_heads.ipynb").write_text(json.dumps(copy))
    monkeypatch.chdir(folder)
    monkeypatch.setenv("JPY_SESSION_NAME", "03_heads.ipynb")
    return folder


def test_a_report_begins_from_what_earlier_sessions_have_kept(here, capsys):
    """It is on the lessons that this session has checked, and on all before the first check."""

    def reported(check):
        capsys.readouterr()
        check.report("Ada")
        files = [read_report(file) for file in sorted((here / "reports").iterdir())]
        return capsys.readouterr().out.partition("Written")[0], *(file.exercises for file in files)

    first, second, third = (Check(NUMBER, SECOND, OTHER) for _ in range(3))
    first.number(lambda n: n)
    first.report("Ada")  # the file says "wrong", and what is kept is newer
    for exercise in (first.number, first.second, first.other):
        exercise(lambda n: 2 * n)
    kept.keep_state("of an earlier edition", "solved")
    three = {"number": Progress("solved", 1, {"wrong_number": 1}), "second": Progress("solved", 1)}
    four = {"other": Progress("solved", 1)}
    assert reported(second) == ("✓ number\n✓ second\n✓ other\n3 of 3 solved\n", four, three)
    third.second(lambda n: n)
    now = {"second": Progress("wrong", 2, {"wrong_number": 1})}
    assert reported(third) == ("✓ number\n✗ second\n1 of 2 solved\n", four, three | now)
    assert third.solved == []


@pytest.mark.parametrize("folder", ["notebooks/en", "work/deck-en", "mine/work/en", "work", "."])
def test_nothing_is_kept_outside_of_a_students_lessons(course, monkeypatch, folder):
    monkeypatch.chdir(course / folder)
    Check(NUMBER).number(lambda n: 2 * n)
    assert not [path for path in course.rglob("*") if path.is_file()]
    assert kept.kept_states() == {}


@pytest.mark.parametrize("content", ["", "[1]", '{"number": []}', "\xff"])
def test_a_damaged_file_counts_as_none_and_is_written_anew(here, content):
    (here / kept.FILE).write_text(content, encoding="latin-1")
    assert kept.kept_states() == {}
    kept.keep_state("number", "solved")
    assert kept.kept_states() == {"number": "solved"}


def test_a_check_answers_also_where_nothing_can_be_written(here, monkeypatch, capsys):
    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept, "write_whole", full)
    Check(NUMBER).number(lambda n: 2 * n)
    assert "✓ number" in capsys.readouterr().out
