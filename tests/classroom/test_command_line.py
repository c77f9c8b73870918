import argparse
import importlib.metadata
import io
import json
import socket

import pytest

from mha_lib.classroom import __main__ as command_line


@pytest.fixture
def served(monkeypatch, tmp_path):
    """The addresses that would be served, with no server; the working copy is a temporary one."""
    (tmp_path / "notebooks").symlink_to(command_line.find_root() / "notebooks")
    monkeypatch.chdir(tmp_path)
    addresses = []
    monkeypatch.setattr(command_line, "serve", lambda root, address, *_: addresses.append(address))
    return addresses


def test_lab_opens_the_working_copy(served):
    assert command_line.main(["lab"]) == 0
    assert served[0].startswith("/lab/tree/work/en/")


def test_lab_edit_opens_the_lessons_themselves(served, tmp_path):
    command_line.main(["lab", "--edit"])
    assert served[0].startswith("/lab/tree/notebooks/en/")
    assert not (tmp_path / "work").exists()


def test_present_opens_lesson_three_unless_told_otherwise(served):
    command_line.main(["present"])
    assert served == ["/rise/work/deck-en/03_multi_head_attention.ipynb"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


CHANGED = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@pytest.mark.parametrize(
    ("stdin", "begins_afresh"),
    [
        (Terminal("a\n"), True),
        (Terminal("\n"), False),
        (Terminal("what?\n"), False),
        (Terminal(""), False),
        (io.StringIO("a\n"), False),
    ],
    ids=["a", "Enter", "nonsense", "end of input", "no terminal"],
)
def test_present_asks_what_becomes_of_an_instructors_changes(
    served, tmp_path, monkeypatch, stdin, begins_afresh
):
    command_line.main(["present", "01"])
    lesson = tmp_path / "work/deck-en/01_single_head_attention.ipynb"
    edition = lesson.read_bytes()
    lesson.write_text(json.dumps(CHANGED))
    monkeypatch.setattr("sys.stdin", stdin)
    assert command_line.main(["present", "01"]) == 0
    if begins_afresh:
        assert lesson.read_bytes() == edition
        assert json.loads(lesson.with_suffix(".mine.ipynb").read_text()) == CHANGED
    else:
        assert json.loads(lesson.read_text()) == CHANGED
    assert len(served) == 2


def last_line(capsys):
    error = capsys.readouterr().err.strip()
    assert "\n" not in error, "one clear line"
    return error


def test_unknown_lesson_is_one_line_and_a_failure(served, capsys):
    assert command_line.main(["present", "99"]) == 2
    assert "no lesson '99'; there are: " in last_line(capsys)
    assert served == []


def test_port_in_use_is_one_line_and_a_failure(served, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert command_line.main(["lab", "--port", str(port)]) == 2
    assert f"port {port} can't be used" in last_line(capsys)
    assert served == []


@pytest.mark.parametrize(
    ("found", "wanted"), [(None, "not installed"), ("0.42.0", "0.42.0 is too old, 0.43")]
)
def test_missing_or_old_rise_is_one_line_and_a_failure(served, capsys, monkeypatch, found, wanted):
    def version(name):
        if found is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return found

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert command_line.main(["present"]) == 2
    assert wanted in last_line(capsys)


def test_outside_the_course_is_one_line(capsys, monkeypatch):
    def nowhere():
        raise command_line.CourseError("no_course", folder="here")

    monkeypatch.setattr(command_line, "find_root", nowhere)
    assert command_line.main(["lab"]) == 2
    assert "no lessons found" in last_line(capsys)


def test_served_lab_greets_the_class_without_news(monkeypatch, tmp_path):
    from jupyter_server.services.config.manager import ConfigManager
    from jupyterlab.labapp import LabApp

    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")
    monkeypatch.setattr(LabApp, "launch_instance", lambda arguments: None)
    command_line.serve(tmp_path, "/lab", argparse.Namespace(port=None, no_browser=True), [])
    settings = ConfigManager(config_dir_name="labconfig").get("default_setting_overrides")
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
    assert settings["jupyterlab-rise:plugin"]["auto_select"] == "none"
