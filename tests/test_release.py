"""Workflows have no more rights than they need; a release keeps what 1.0 promised, and is what was tried."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from tools import make_release
from tools.stable import lacking, listed, names_today

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
TEXTS = {file.stem: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.yml")}
WORKFLOWS = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
JOBS = {(name, job): its for name, workflow in WORKFLOWS.items() for job, its in workflow["jobs"].items()}
STEPS = [step for job in JOBS.values() for step in job["steps"]]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINNED = r"uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+"
READ = {"contents": "read"}
RIGHTS = {
    ("newest", "test"): READ,
    ("release", "test"): READ,
    ("release", "build"): READ,
    ("release", "attach"): {"contents": "write"},
    ("release", "publish"): {"id-token": "write"},
    ("release", "pages"): {"pages": "write", "id-token": "write"},
}


def test_every_action_is_named_by_commit_and_version():
    used = [line for text in TEXTS.values() for line in re.findall(r"uses: .*", text)]
    assert used
    assert [line for line in used if not re.fullmatch(PINNED, line)] == []
    assert len(set(used)) == len({re.split("[@/]", line)[1] for line in used}), "one version of each"


def test_each_job_has_the_rights_it_needs_and_no_others():
    assert [workflow["permissions"] for workflow in WORKFLOWS.values()] == [{}] * len(WORKFLOWS)
    assert {name: job["permissions"] for name, job in JOBS.items()} == RIGHTS
    checkouts = [step for step in STEPS if "actions/checkout" in step.get("uses", "")]
    assert [step["with"]["persist-credentials"] for step in checkouts] == [False] * 3


def test_the_next_release_can_be_made_and_no_tag_names_another_version():
    make_release.check_version(f"v{PROJECT['version']}")
    with pytest.raises(SystemExit, match="the version"):
        make_release.check_version("v0.9.0")


def test_every_stable_name_is_still_there():
    missing = lacking(listed(), names_today())
    assert not missing, (
        f"{', '.join(missing)}: stable in 1.x. Let it work, with a DeprecationWarning that names the way "
        "out, until 2.0; docs/en/stability.md says how"
    )


def test_a_name_or_an_argument_that_is_gone_is_told():
    today = {"mha_lib": {"Rotary": ["dim", "new"], "KVCache": []}}
    assert lacking({"mha_lib": {"Rotary": ["base"]}}, today) == ["mha_lib: Rotary(base)"]
    assert lacking({"commands": {"lab": ["--port"]}}, today) == ["commands: lab"]
    assert lacking({"mha_lib": {"Rotary": ["dim"]}}, today) == []
