"""One run of a command that publishes: its progress, its failures and its exit status."""

import sys

from mha_lib.classroom.lesson import CourseError
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.pages.build import Build, Progress


def test_progress_is_a_line_in_a_terminal_that_leaves_nothing_and_silent_elsewhere(monkeypatch, capsys):
    for is_terminal in (True, False):
        monkeypatch.setattr(sys.stderr, "isatty", lambda is_terminal=is_terminal: is_terminal)
        progress = Progress()
        progress.show("03_lesson: cell 4")
        progress.show("")
        shown = capsys.readouterr().err
        assert ("03_lesson: cell 4" in shown and shown.endswith(" \r")) if is_terminal else shown == ""


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
