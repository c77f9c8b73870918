"""Files that somebody hands in: a report is read, and anything else is harmless and gets a message."""

import json
import os

import pytest

from mha_lib.classroom.exercises.reports import read_report
from mha_lib.classroom.lesson import CourseError
from tests.classroom.students.reports import ADA


def changed(*path_and_value):
    """The report's JSON with one entry changed: ``changed("exercises", "split_heads", "checks", -1)``."""
    tree = ADA.as_tree()
    table = tree
    *path, last, value = path_and_value
    for step in path:
        table = table[step]
    table[last] = value
    return json.dumps(tree)


def test_a_report_is_read_as_it_was_written(tmp_path):
    file = tmp_path / "a.report.json"
    file.write_text(json.dumps(ADA.as_tree()))
    assert read_report(file) == ADA
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())  # as an editor of Windows saves it
    assert read_report(file) == ADA


ONE = ("exercises", "split_heads")
HOSTILE = {
    "nothing": ("", "damaged"),
    "bytes": (b"\xff\xfe\x00", "damaged"),
    "deep": ("[" * 100_000, "damaged"),
    "huge": (json.dumps(ADA.as_tree()) + " " * 300_000, "too large"),
    "other": ('{"cells": []}', "did not write it"),
    "state": (changed(*ONE, "newest", "unheard of"), "entry newest"),
    "NaN": (changed(*ONE, "checks", float("nan")), "damaged"),
    "large number": (changed(*ONE, "checks", 10**9), "entry checks"),
    "HTML for an exercise": (changed("exercises", {"<script>": {}}), "entry exercises"),
    "HTML for a mistake": (changed(*ONE, "mistakes", {"<b>": 1}), "entry mistakes"),
    "lesson": (changed("lesson", "../03"), "entry lesson"),
    "long name": (changed("name", "A" * 1000), "entry name"),
    "no student": (json.dumps(ADA.as_tree()).replace("student", "pupil"), "entry student"),
    "no time": (changed("written", "yesterday"), "entry written"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_report_is_one_line_that_names_the_file(tmp_path, name):
    content, said = HOSTILE[name]
    file = tmp_path / "a.report.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(CourseError) as error:
        read_report(file)
    line = str(error.value)
    assert line.startswith(f"{file}: left out, ")
    assert said in line
    assert "\n" not in line


@pytest.mark.parametrize("name", ["\x1b[2J", "\ud800", "\u202e", "a\nb"])
def test_letters_that_nobody_sees_are_replaced(tmp_path, name):
    (tmp_path / "a").write_text(changed("name", name))
    assert "\ufffd" in read_report(tmp_path / "a").name


def test_links_pipes_and_folders_are_left_out(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(json.dumps(ADA.as_tree()))
    (tmp_path / "link").symlink_to(secret)
    os.mkfifo(tmp_path / "pipe")  # reading it would never end
    (tmp_path / "folder").mkdir()
    for name in ("link", "pipe", "folder"):
        with pytest.raises(CourseError, match=f"{name}: "):
            read_report(tmp_path / name)
