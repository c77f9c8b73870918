"""The workflows fit this repository, have no more rights than they need, and a release is what was tried."""

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from tools import make_release, newest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
TEXTS = {file.stem: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.yml")}
WORKFLOWS = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
JOBS = {(name, job): its for name, workflow in WORKFLOWS.items() for job, its in workflow["jobs"].items()}
STEPS = [step for job in JOBS.values() for step in job["steps"]]
COMMANDS = "\n".join(step["run"] for step in STEPS if "run" in step)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
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


def test_every_make_target_and_file_that_is_named_exists():
    targets = set(re.findall(r"\bmake ([a-z-]+)", COMMANDS))
    assert targets == {"release"}
    assert targets <= set(re.findall(r"^([a-z-]+):.* ## ", MAKEFILE, re.MULTILINE))
    for file in re.findall(r"(?:^|python )([\w./]+\.py|\.ci/run)$", COMMANDS, re.MULTILINE):
        assert (ROOT / file).is_file(), file
    for variable in re.findall(r"\b([A-Z]+)=", "".join(re.findall(r"make .*", COMMANDS))):
        assert f"$(if $({variable})" in MAKEFILE, variable
    for heading in re.findall(r'CONTRIBUTING.md, \\"(.*?)\\"', TEXTS["newest"]):
        assert f"### {heading}\n" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("job", [name for name, job in JOBS.items() if "setup-python" in str(job)])
def test_its_python_is_one_that_the_project_takes(job):
    python = next(
        step["with"]["python-version"] for step in JOBS[job]["steps"] if "setup-python" in str(step)
    )
    assert SpecifierSet(PROJECT["requires-python"]).contains(python)


@pytest.mark.parametrize(
    "form", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")), ids=lambda f: f.stem
)
def test_the_forms_ask_each_thing_once_and_name_what_exists(form):
    asked = yaml.safe_load(form.read_text(encoding="utf-8"))
    fields = asked.get("body", [])
    assert len({field["id"] for field in fields}) == len(fields)
    assert all({"name", "description", "body"} <= asked.keys() for _ in fields)
    for script in re.findall(r"python -m ([\w.]+)", form.read_text(encoding="utf-8")):
        assert (ROOT / f"{script.replace('.', '/')}.py").is_file()


def test_the_citation_names_this_version_and_these_authors():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])
    assert citation["authors"][0]["name"] in (ROOT / "LICENSE").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("tag", "said"), [("v0.9.0", "the version"), (PROJECT["version"], "the version"), ("latest", "latest")]
)
def test_a_tag_that_names_another_version_is_refused(tag, said):
    with pytest.raises(SystemExit, match=said):
        make_release.check_version(tag)


def test_the_next_release_can_be_made():
    make_release.check_version(f"v{PROJECT['version']}")


def test_a_release_without_its_changes_is_refused(monkeypatch, tmp_path):
    (tmp_path / "CHANGELOG.md").write_text("## Unreleased\n", encoding="utf-8")
    monkeypatch.setattr(make_release, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match="CHANGELOG"):
        make_release.check_version(f"v{PROJECT['version']}")


def test_the_checksums_are_those_that_sha256sum_reads(tmp_path):
    (tmp_path / "site.zip").write_bytes(b"pages")
    make_release.write_checksums(tmp_path)
    digest = hashlib.sha256(b"pages").hexdigest()
    assert (tmp_path / "SHA256SUMS").read_text() == f"{digest}  site.zip\n"


def test_the_newest_versions_keep_the_comments_and_leave_out_what_serves_gpus(monkeypatch, tmp_path):
    pins = tmp_path / "constraints.txt"
    pins.write_text("# tested\ntorch==2.13.0\n")
    found = {"torch": "2.15.0+cpu", "nvidia-nccl": "2", "Jinja2": "3", "mha-lib": "1"}
    report = [{"metadata": {"name": name, "version": version}} for name, version in found.items()]
    said = json.dumps({"install": report})
    monkeypatch.setattr(newest, "CONSTRAINTS", pins)
    monkeypatch.setattr(newest.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, said))
    newest.main()
    assert pins.read_text() == "# tested\nJinja2==3\ntorch==2.15.0\n"


@pytest.mark.ci
def test_the_packages_are_whole_and_the_wheel_works_alone(tmp_path):
    """With the pinned PyTorch; ``make release`` tries the oldest one too, which is 3 GB on Linux."""
    wheel = make_release.make_packages(tmp_path)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as packed, zipfile.ZipFile(wheel) as installed:
        inside = {name.partition("/")[2] for name in packed.getnames()}
        modules = {name for name in installed.namelist() if name.endswith(".py")}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert modules <= inside
    assert set(listed.stdout.split("\n")[:-1]) - inside == set()
    make_release.try_wheel(wheel, sys.executable, oldest=False)
