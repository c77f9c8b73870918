"""A lesson begins with one call; without it nothing of IPython is changed."""

import sys

import matplotlib.pyplot as plt
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from mha_lib.classroom import begin, begin_lesson
from mha_lib.classroom.lesson.language import language_here


@pytest.fixture
def shell(monkeypatch):
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    monkeypatch.setattr(begin, "shell_here", lambda: shell)
    return shell


def test_figures_are_themed(shell):
    begin_lesson("03", "en")
    figure, _ = plt.subplots()
    plt.close(figure)
    shown, _ = shell.display_formatter.format(figure)
    assert set(shown) == {"text/plain", "image/svg+xml"}


@pytest.mark.parametrize(("language", "writes_chinese"), [("en", False), ("zh", True), ("zh-Hant", True)])
def test_figures_of_a_chinese_lesson_write_chinese(shell, monkeypatch, language, writes_chinese):
    called: list[bool] = []
    monkeypatch.setattr(begin, "write_chinese", lambda: called.append(True))
    begin_lesson("03", language)
    assert bool(called) == writes_chinese
    assert language_here() == language


def test_outside_ipython_it_sets_the_language_alone(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython")
    monkeypatch.setattr(begin, "write_chinese", None)
    begin_lesson("03", "zh")
    assert language_here() == "zh"
