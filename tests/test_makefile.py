"""`make` fails with one clear line where a machine is not as it should be."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = ("Makefile", "pyproject.toml", "constraints.txt", "README.md", "LICENSE", "LICENSE-TEXTS")
SCRIPT = "tools/install_torch.py"

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make")


@pytest.fixture
def clone(tmp_path):
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / SCRIPT, tmp_path / SCRIPT)
    (tmp_path / "mha_lib").mkdir()
    (tmp_path / "mha_lib/__init__.py").touch()
    return tmp_path


def make(folder, *arguments, **environment):
    environment = {name: value for name, value in os.environ.items() if name[:4] != "MAKE"} | environment
    return subprocess.run(["make", *arguments], cwd=folder, env=environment, capture_output=True, text=True)


def test_help_is_the_default_and_lists_every_target(clone):
    listed = {line.split()[1] for line in make(clone).stdout.splitlines()}
    phony = next(line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith(".PHONY:"))
    assert listed == set(phony.split()[1:])


def python_that(folder, commands):
    """A program in the place of Python: a shell runs the commands."""
    python = folder / "python3.9"
    python.write_text(f"#!/bin/sh\n{commands}\n")
    python.chmod(0o755)
    return f"PYTHON={python}"


def test_old_python_is_refused_by_name(clone):
    result = make(clone, "setup", python_that(clone, '[ "$1" = --version ] && echo "Python 3.9.1"\nexit 1'))
    assert result.returncode
    assert result.stderr.startswith("Python 3.11 or newer is needed, found: Python 3.9.1.")
    assert not (clone / ".venv").exists()


@pytest.mark.ci
def test_no_network_at_set_up_is_said_and_leaves_no_mark_of_success(clone):
    """The environment borrows pip from this one: making its own would take ten seconds."""
    nowhere = {name: "" for name in os.environ if name.startswith("PIP_")}
    nowhere |= {
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_CACHE_DIR": "1",
        "PYTHONPATH": sysconfig.get_path("purelib"),
    }
    python = python_that(clone, f'[ "$2" = venv ] && set -- "$@" --without-pip\nexec {sys.executable} "$@"')
    result = make(clone, "setup", python, "PIP_OPTIONS=--retries 0", **nowhere)
    assert result.returncode
    assert result.stderr.startswith("Set-up failed: ERROR: ")
    assert "Check the network and run the same command again" in result.stderr
    assert (clone / ".venv" / "bin").is_dir()
    assert not list(clone.glob(".venv/ready-*"))


def test_set_up_decides_about_torch_before_pip_runs_and_again_when_torch_is_given(clone):
    """Both Pythons are made up: the one in .venv writes down what it is asked to run."""
    asked = clone / "asked"
    (clone / ".venv/bin").mkdir(parents=True)
    recorder = Path(python_that(clone / ".venv/bin", f'[ "$1" = -c ] || echo "$@" >> {asked}')[7:])
    recorder.rename(clone / ".venv/bin/python")
    pip = "-m pip install --retries 2 -c constraints.txt -e .[classroom]"
    for wish, expected in (("", [SCRIPT, pip]), ("", []), ("TORCH=cuda", [f"{SCRIPT} cuda", pip]), ("", [])):
        asked.write_text("")
        done = make(clone, "setup", python_that(clone, "exit 0"), *wish.split(), TORCH="")
        assert not done.returncode, done.stderr
        assert asked.read_text().splitlines() == expected
