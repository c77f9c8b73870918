"""The workflow of a release fits this repository, and has no more rights than it needs."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from mha_lib.classroom.lesson import list_languages

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
WORKFLOW = yaml.safe_load(TEXT)
JOBS = WORKFLOW["jobs"]
STEPS = [step for job in JOBS.values() for step in job["steps"]]
COMMANDS = "\n".join(step["run"] for step in STEPS if "run" in step)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PINNED = r"uses: actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+"
RIGHTS = {
    "test": {"contents": "read"},
    "build": {"contents": "read"},
    "attach": {"contents": "write"},
    "publish": {"pages": "write", "id-token": "write"},
}


def test_every_action_is_named_by_commit_and_version():
    used = re.findall(r"uses: .*", TEXT)
    assert used
    assert [line for line in used if not re.fullmatch(PINNED, line)] == []
    assert len(set(used)) == len({re.split("[@/]", line)[1] for line in used}), "one version of each"


def test_each_job_has_the_rights_it_needs_and_no_others():
    assert WORKFLOW["permissions"] == {}
    assert {name: job["permissions"] for name, job in JOBS.items()} == RIGHTS
    checkouts = [step for step in STEPS if "actions/checkout" in step.get("uses", "")]
    assert [step["with"]["persist-credentials"] for step in checkouts] == [False] * 2


def test_every_make_target_and_file_that_is_named_exists():
    targets = set(re.findall(r"\bmake ([a-z-]+)", COMMANDS))
    assert targets == {"setup", "handouts", "site"}
    assert targets <= set(re.findall(r"^([a-z-]+):.* ## ", MAKEFILE, re.MULTILINE))
    assert (ROOT / ".ci/run").is_file()
    for variable in re.findall(r"\b([A-Z]+)=", "".join(re.findall(r"make .*", COMMANDS))):
        assert f"$({variable})" in MAKEFILE or f"$(if $({variable})" in MAKEFILE, variable


@pytest.mark.skipif(os.name == "nt", reason="GitHub runs it on Linux")
def test_a_release_has_the_handouts_of_every_language(tmp_path):
    (step,) = (step for step in JOBS["build"]["steps"] if step.get("name") == "Handouts")
    commands = tmp_path / "bin"
    python = tmp_path / ".venv" / "bin" / "python"
    for file, line in ((commands / "make", 'echo "$@"'), (python, f'exec "{sys.executable}" "$@"')):
        file.parent.mkdir(parents=True)
        file.write_text(f"#!/bin/sh\n{line}\n")
        file.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    languages = list_languages(ROOT)
    assert len(languages) > 1
    assert done.stdout.splitlines() == ["setup", *(f"handouts L={name}" for name in languages)]


@pytest.mark.parametrize("job", ["test", "build"])
def test_its_python_is_one_that_the_project_takes(job):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    python = next(
        step["with"]["python-version"] for step in JOBS[job]["steps"] if "setup-python" in str(step)
    )
    assert SpecifierSet(project["requires-python"]).contains(python)
