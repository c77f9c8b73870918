"""The runs of the tests themselves: progress, what is left of a failure, and the run on a busy machine."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.running import busy

ROOT = Path(__file__).parents[1]
TWO_TESTS = """
import pytest

def test_right():
    pass

@pytest.mark.skip(reason="no aunt: invite one")
def test_aunt():
    pass

@pytest.mark.ci
def test_long():
    assert 0
"""


def run(folder: Path, source: str, *options: str) -> list[str]:
    """Run a test file with the plugins of these tests; returns the lines that were printed."""
    (folder / "test_it.py").write_text(source)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -q\nmarkers =\n    ci\n    whole\n")
    plugins = [f"-ptests.running.{name}" for name in ("failures", "order", "progress")]
    command = [sys.executable, "-m", "pytest", "-pno:cacheprovider", *plugins, *options, "test_it.py"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    printed = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True).stdout
    return printed.splitlines()


def test_a_run_ends_in_one_line_after_it_has_said_what_was_left_out(tmp_path):
    printed = run(tmp_path, TWO_TESTS, "-m", "not ci")
    assert "Left out 1 tests, which make test-ci runs." in printed
    said = r"Good: 1 tests passed in 0:\d\d minutes\. Could not run here: 1 \(no aunt: invite one\)\."
    assert re.fullmatch(said, printed[-1])


def test_a_failure_is_named_in_the_last_line_with_what_to_do(tmp_path):
    last = run(tmp_path, TWO_TESTS)[-1]
    assert last.startswith("1 of 3 tests failed. Run the first alone: make test T='test_it.py::test_long'.")


def test_the_parts_of_the_busy_run_hold_every_file_once_and_take_about_the_same_time():
    seconds = {ROOT / "tests" / "browser" / f"test_{number}.py": number % 7 + 1.0 for number in range(50)}
    parts = busy.deal(seconds, 6)
    assert sorted(file for part in parts for file in part) == sorted(seconds)
    loads = [sum(seconds[file] for file in part) for part in parts]
    assert max(loads) - min(loads) <= max(seconds.values())
    assert parts == busy.deal(dict(reversed(seconds.items())), 6)
