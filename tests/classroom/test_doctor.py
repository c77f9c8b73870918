"""The evening before: each part of a machine gets a tick, and each that is broken a cross with a way out."""

import importlib.metadata
import os
import platform
import shutil
import socket
import subprocess
import sys
import webbrowser
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from mha_lib.classroom import __main__ as command_line
from mha_lib.classroom import doctor
from mha_lib.classroom.lesson.language import words_in
from tests.lessons import ENGLISH, ROOT


def said_by(name, root, lesson, monkeypatch, capsys):
    """The status and the lines of one check alone."""
    monkeypatch.setattr(doctor, "CHECKS", {name: doctor.CHECKS[name]})
    status = doctor.examine(root, lesson, "en")
    return status, capsys.readouterr().out.splitlines()


MISSING = Mock(side_effect=importlib.metadata.PackageNotFoundError)
REFUSED = Mock(side_effect=PermissionError(1, "Operation not permitted"))
NOTHING = Mock(side_effect=webbrowser.Error("could not locate runnable browser"))
BROKEN = [  # a check, what is broken, what stands in its place, and the reason that is told
    ("python", platform, "python_version", lambda: "3.9.1", "Python is 3.9.1, and >=3.11 is needed"),
    ("packages", importlib.metadata, "version", MISSING, "torch is not installed"),
    ("packages", importlib.metadata, "version", lambda _: "2.5.1", "torch is 2.5.1, and <3,>=2.12"),
    ("folder", shutil, "disk_usage", lambda _: SimpleNamespace(free=0.2e9), "0.2 GB are free in "),
    ("browser", webbrowser, "get", NOTHING, "Python finds no browser that it can open"),
    ("server", socket, "create_server", REFUSED, "PermissionError: [Errno 1] Operation not permitted"),
]


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken[4])
def test_a_broken_part_has_a_cross_its_reason_and_a_way_out(tmp_path, monkeypatch, capsys, broken):
    name, module, function, instead, reason = broken
    words, lesson = words_in("en")["doctor"], Path(shutil.copy(ENGLISH[0], tmp_path))
    if name == "browser":
        monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.GenericBrowser("lynx"))
    assert said_by(name, tmp_path, lesson, monkeypatch, capsys)[1][0][0] == "✓"
    monkeypatch.setattr(module, function, instead)
    status, (cross, way_out, end) = said_by(name, tmp_path, lesson, monkeypatch, capsys)
    assert (status, way_out) == (1, f"  → {words[f'{name}_way_out']}")
    assert cross.startswith(words["line"].format(mark="✗", name=words[name], said=""))
    assert end == words["ill"].format(count=1, all=1)
    assert reason in cross


def test_a_broken_pytorch_ends_in_a_way_out(tmp_path):
    (tmp_path / "torch.py").write_text("raise OSError('a DLL is missing')")
    command = [sys.executable, "-m", "mha_lib.classroom", "doctor"]
    given = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (tmp_path, ROOT)))}
    ended = subprocess.run(command, env=given, capture_output=True, text=True, check=False)
    assert ended.returncode
    assert ended.stderr.splitlines()[-1] == (
        "ImportError: PyTorch does not work here: a DLL is missing. Install it anew: pip install torch"
    )


@pytest.mark.ci
def test_a_machine_that_is_ready_has_ticks_alone(tmp_path, monkeypatch, capsys):
    (tmp_path / "notebooks").symlink_to(command_line.course.find_root() / "notebooks")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.GenericBrowser("lynx"))
    assert command_line.main(["doctor", "--language", "zh"]) == 0
    *lines, end = capsys.readouterr().out.splitlines()
    assert [line[:2] for line in lines] == ["✓ "] * (len(doctor.CHECKS) - 1) + ["○ "]  # no published model
    assert end == words_in("zh")["doctor"]["well"]
    names = {requirement.name for requirement in doctor.requirements_of(doctor.EXTRA)}
    assert {"torch", "matplotlib", "anywidget", "jupyterlab", "scour"} < names
    assert not {"playwright", "jupyterhub", "ruff", "transformers"} & names
