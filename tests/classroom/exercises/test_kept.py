"""A restarted kernel finds in ``work/`` what earlier sessions have solved."""

import pytest

from mha_lib.classroom.exercises import kept
from mha_lib.classroom.exercises.judge import Check, Exercise

NUMBER = Exercise("number", lambda n: 2 * n, lambda draw: (5,), lesson="03_three")


@pytest.fixture
def course(tmp_path):
    """A course with a lesson in English; a kernel may run in any of these folders."""
    for folder in ("notebooks/en", "work/en", "work/deck-en", "mine/work/en"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


@pytest.fixture
def here(course, monkeypatch):
    monkeypatch.chdir(course / "work" / "en")
    return course / "work" / "en"


def test_the_newest_state_of_each_exercise_is_kept(here):
    Check(NUMBER).number(lambda n: 2 * n)
    assert kept.kept_states() == {"number": "solved"}
    kept.keep_state("other", "not yet")
    Check(NUMBER).number(lambda n: n)
    assert kept.kept_states() == {"number": "wrong", "other": "not yet"}


def test_a_solution_of_the_course_is_not_kept(here):
    def number_solution(n):
        return 2 * n

    Check(NUMBER).number(number_solution)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("folder", ["notebooks/en", "work/deck-en", "mine/work/en", "work", "."])
def test_nothing_is_kept_outside_of_a_students_lessons(course, monkeypatch, folder):
    monkeypatch.chdir(course / folder)
    Check(NUMBER).number(lambda n: 2 * n)
    assert not [path for path in course.rglob("*") if path.is_file()]
    assert kept.kept_states() == {}


@pytest.mark.parametrize("content", ["", "[1]", '{"number": 3}', '{"number": []}', "\xff"])
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
