"""The set-up files say the same thing, and a lesson imports no more than its extra brings."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINNED = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE))


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_library_needs_torch_alone():
    assert [Requirement(text).name for text in PROJECT["dependencies"]] == ["torch"]


@pytest.mark.parametrize("group", ["dependencies", *PROJECT["optional-dependencies"]])
def test_every_dependency_is_pinned_within_its_range(group):
    pinned = {plain(name): version for name, version in PINNED.items()}
    listed = PROJECT["dependencies"] if group == "dependencies" else PROJECT["optional-dependencies"][group]
    for requirement in map(Requirement, listed):
        if requirement.name == PROJECT["name"]:  # an extra that builds on another one
            assert requirement.extras <= PROJECT["optional-dependencies"].keys()
            continue
        assert requirement.specifier.contains(pinned[plain(requirement.name)]), requirement


BY_EVERY_RUN = {"chromium": "Chromium", "firefox-esr": "Firefox ESR", "webkit2gtk-driver": "WebKitGTK"}
BY_EVERY_RUN["podman"] = "podman"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_list_of_what_was_tried_names_what_a_test_run_installs(language):
    page = (ROOT / "docs" / language / "stability.md").read_text(encoding="utf-8")
    by_every_run, by_hand = re.findall(r"^\| (Python .*?) \| (.*?) \|", page, re.MULTILINE)[0]
    for package, name in {"torch": "PyTorch", "jupyterlab": "JupyterLab", "jupyterlab_rise": "RISE"}.items():
        assert f"{name} {PINNED[package].rpartition('.')[0]}" in by_every_run
    installed = (ROOT / ".ci" / "run").read_text()
    for package, name in BY_EVERY_RUN.items():
        assert package in installed
        assert name in by_every_run
    assert f"Python {PROJECT['requires-python'].removeprefix('>=')}" in by_every_run
    (torch,) = PROJECT["dependencies"]
    assert f"PyTorch {torch.removeprefix('torch>=').partition(',')[0]}" in by_hand


def test_conda_installs_what_pyproject_lists():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    *conda, pip = environment["dependencies"]
    python = re.fullmatch(r"python=(\d+\.\d+)", conda[0])
    assert python
    assert SpecifierSet(PROJECT["requires-python"]).contains(python[1])
    assert conda[1:] == ["pip"]
    assert [line for line in pip["pip"] if "index" not in line] == ["-c constraints.txt", "-e .[classroom]"]
    assert "classroom" in PROJECT["optional-dependencies"]


def printed_by(code, *arguments):
    """The words that a fresh Python prints."""
    command = [sys.executable, "-c", code, *arguments]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


IMPORT_LESSONS = """
import json
import sys
from pathlib import Path
for lesson in sys.argv[1:]:
    cells = json.loads(Path(lesson).read_text(encoding="utf-8"))["cells"]
    exec("".join(line for cell in cells if cell["id"] == "imports" for line in cell["source"]))
import mha_lib.classroom.lesson.chinese
mha_lib.classroom.lesson.chinese.to_traditional("")  # as the words of a lesson in traditional Chinese are
print(*sys.modules)
"""


def test_a_lesson_imports_nothing_that_its_extra_does_not_bring():
    """A notebook elsewhere has a server and a kernel of its own: ``[lesson]`` brings no other."""
    lessons = (ROOT / "notebooks").glob("[ez][nh]/*.ipynb")
    loaded = {name.split(".")[0] for name in printed_by(IMPORT_LESSONS, *lessons)}
    extras = PROJECT["optional-dependencies"]
    brought = brought_by([*PROJECT["dependencies"], *extras["lesson"]])
    others = brought_by([*extras["classroom"], *extras["slides"]]) - brought
    assert {"jupyterlab", "jupyter-server", "ipykernel", "nbconvert", "playwright"} <= others
    owners = importlib.metadata.packages_distributions()
    assert {name for name in loaded if others & set(map(plain, owners.get(name, ())))} == set()
    assert {"torch", "matplotlib", "anywidget", "opencc"} <= loaded


def brought_by(listed):
    """The names of what these requirements install, and of all that those need in turn."""
    todo, brought = list(map(Requirement, listed)), set()
    while todo:
        requirement = todo.pop()
        name = plain(requirement.name)
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if name in brought or not applies:
            continue
        brought.add(name)
        with suppress(importlib.metadata.PackageNotFoundError):  # what PyTorch needs where there is a GPU
            todo += map(Requirement, importlib.metadata.requires(name) or [])
    return brought


def test_notebooks_are_read_without_a_grammar_that_takes_seconds():
    loaded = printed_by("import sys, nbformat, jupyter_events; print(*sys.modules)")
    assert "jsonschema" in loaded
    assert not loaded & {"rfc3987_syntax", "lark"}
