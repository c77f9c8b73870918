"""One run of a command that publishes: its progress bar, its failures and its exit status."""

import sys

from mha_lib.classroom.lesson import CourseError
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.pages.build import Build, Progress


def start(monkeypatch, *, terminal):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    return Progress(words_in("en")["handout_build"])


def test_progress_is_a_bar_in_a_terminal(monkeypatch, capsys):
    progress = start(monkeypatch, terminal=True)
    progress.lessons_to_come = 2
    progress.begin_lesson(cells=4)
    progress.end_cell()
    progress.end_cell()
    progress.show("03_lesson: train")
    bar = "#" * 15 + "." * 15
    assert f"\r[{bar}] 2/4+ cells  03_lesson: train" in capsys.readouterr().err
    progress.begin_lesson(cells=1)
    progress.end()
    assert "] 2/5 cells  done" in capsys.readouterr().err


def test_where_there_is_no_terminal_there_is_no_bar(monkeypatch, capsys):
    progress = start(monkeypatch, terminal=False)
    progress.show("03_lesson: train")
    progress.end()
    assert capsys.readouterr().err == ""


def test_a_deck_shows_its_progress_as_a_line_without_a_bar(monkeypatch, capsys):
    progress = start(monkeypatch, terminal=True)
    progress.show("03_lesson: cell 4")
    progress.write("")
    progress.end()
    shown = capsys.readouterr().err
    assert "03_lesson: cell 4" in shown
    assert "[" not in shown
    assert shown.endswith(" \r"), "the line is cleared, and nothing is left of it"


def test_each_failure_is_one_line_in_order_in_the_users_language_and_the_status_is_1(tmp_path, capsys):
    build = Build(tmp_path, "zh")
    for lesson in ("02", "01", "03"):  # in the order in which they failed
        with build.attempt(lesson):
            raise CourseError("kernel_died", lesson=lesson)
    build.warn_of("04")("odd")
    assert build.end() == 1
    died = words_in("zh")["errors"]["kernel_died"]
    lines = ["04: odd", *(died.format(lesson=lesson) for lesson in ("01", "02", "03"))]
    assert capsys.readouterr().err.splitlines() == lines
