"""Make what a release has, and try it: ``make release``; the workflow of a release calls nothing else.

Into ``dist/`` go the source archive and the wheel made from it, each language's handouts, the slides, the
site and the checksums of all. The wheel is tried as a user has it: installed into an empty environment, away
from the repository, by each Python of this machine that the package takes, with the oldest PyTorch that it
takes and with the pinned one. ``ONLY=packages`` leaves out handouts, slides and site, which take a quarter of
an hour. ``TAG=v1.0.0`` is refused where it does not name the version.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from mha_lib.classroom.lesson import list_languages
from tools.stable import lacking, listed, names_today

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OLDEST_PYTHON = int(PROJECT["requires-python"].removeprefix(">=3."))
(OLDEST_TORCH,) = re.findall(r"torch>=([\d.]+)", PROJECT["dependencies"][0])
OF_TORCH = r"^(torch|triton|sympy|setuptools|nvidia-.*)==.*$"  # and what each of its versions pins itself
CONSTRAINTS = ROOT / "constraints.txt"
# The commands of a user who has the wheel alone. Each ends with a status other than 0 where it fails.
COMMANDS = (["--version"], ["notes"], ["handouts", "02"])
OF_TRAINING = [
    "handouts",
    "07",
    "--language",
    "zh",
]  # with the oldest PyTorch: it trains, and exports a model
FEW_TESTS = ["test_formula.py", "test_torch_cases.py"]  # with the pinned one, with which all others were run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tag", default=f"v{PROJECT['version']}", help="the tag of the release")
    parser.add_argument("--only", choices=["packages"], help="make and try the packages alone")
    chosen = parser.parse_args()
    check_version(chosen.tag)
    shutil.rmtree(DIST, ignore_errors=True)
    wheel = make_packages(DIST)
    for python in pythons():
        for oldest in (True, False):
            try_wheel(wheel, python, oldest=oldest)
    if not chosen.only:
        make_pages()
    write_checksums(DIST)
    tell(f"all is in {DIST.name}/")


def tell(sentence: str) -> None:
    print(f"release: {sentence}", flush=True)


def check_version(tag: str) -> None:
    """End with a sentence where the tag, the version, the changes and the stable names don't fit."""
    version = PROJECT["version"]
    if tag != f"v{version}":
        sys.exit(f"The tag must name the version in pyproject.toml, v{version}, got {tag}.")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## {re.escape(version)}$", changes, re.MULTILINE):
        sys.exit(f"CHANGELOG.md must have a part ## {version}.")
    if version not in (ROOT / "CITATION.cff").read_text(encoding="utf-8"):
        sys.exit(f"CITATION.cff must name version {version}.")
    if new := lacking(names_today(), listed()):
        sys.exit(f"tools/stable.json must list {', '.join(new)}; run python -m tools.stable, and commit it.")


def make_packages(folder: Path) -> Path:
    """Write the source archive, and the wheel made from it; return the wheel, once twine takes both."""
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    run(sys.executable, "-m", "twine", "check", "--strict", *sorted(folder.iterdir()))
    tell(f"made {', '.join(file.name for file in sorted(folder.iterdir()))}")
    return wheel


def pythons() -> list[str]:
    """The Pythons of this machine that the package takes and that start, each version once, this first."""
    names = (f"python3.{minor}" for minor in range(OLDEST_PYTHON, OLDEST_PYTHON + 10))
    found = [path for name in names if (path := shutil.which(name)) and starts(path)]
    versions = {sys.version_info[:2]: sys.executable}
    for path in found:
        versions.setdefault((3, int(path.rpartition("python3.")[2].removesuffix(".exe"))), path)
    return list(versions.values())


def starts(python: str) -> bool:
    """pyenv puts a name on the path for each version that it has, and starts those alone that are chosen."""
    return subprocess.run([python, "--version"], capture_output=True).returncode == 0


def try_wheel(wheel: Path, python: str, *, oldest: bool) -> None:
    """Install the wheel into an empty environment, and try it there."""
    with tempfile.TemporaryDirectory(prefix="mha release ") as name:
        place = Path(name)
        own = install(wheel, python, place, oldest=oldest)
        try_alone(own, place, oldest=oldest)
        version = output(
            own / "python", "-c", "import sys, torch; print(sys.version.split()[0], torch.__version__)"
        )
    tell("the wheel works alone with Python {} and PyTorch {}".format(*version.split()))


def install(wheel: Path, python: str, place: Path, *, oldest: bool) -> Path:
    """Make an empty environment, install the wheel and what it needs; return the folder of its programs."""
    run(python, "-m", "venv", place / "venv")
    own = place / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pins = place / "constraints.txt"
    pinned = CONSTRAINTS.read_text(encoding="utf-8")
    if oldest:
        pinned = re.sub(OF_TORCH, "", pinned, flags=re.MULTILINE) + f"\ntorch=={OLDEST_TORCH}\n"
    pins.write_text(pinned, encoding="utf-8")
    wanted = (f"{wheel}[classroom]", "pytest", "hypothesis")
    # Not compiled: of PyTorch's files, few are imported here.
    run(own / "python", "-m", "pip", "--quiet", "install", "--no-compile", "--constraint", pins, *wanted)
    return own


def try_alone(own: Path, place: Path, *, oldest: bool) -> None:
    """Run the wheel's commands and the library's tests, away from the repository."""
    course = place / "course"
    course.mkdir()
    for command in (*COMMANDS, OF_TRAINING) if oldest else COMMANDS:
        run(own / "mha", *command, cwd=course)
    tests = shutil.copytree(ROOT / "tests" / "mha_lib", place / "tests" / "mha_lib")
    shutil.copy(ROOT / "pyproject.toml", place)
    (tests / "test_mutants.py").unlink()  # it reads the repository
    chosen = [tests] if oldest else [tests / name for name in FEW_TESTS]
    run(own / "python", "-P", "-m", "pytest", "--rootdir", place, *chosen, cwd=place)


def make_pages() -> None:
    """Write handouts and slides of each language, and the site with all of them, as archives."""
    command = [sys.executable, "-m", "mha_lib.classroom"]
    for language in list_languages(ROOT):
        run(*command, "--language", language, "handouts", cwd=ROOT)
    run(*command, "site", cwd=ROOT)
    for part in ("handouts", "slides", "site"):
        shutil.make_archive(str(DIST / part), "zip", ROOT / "build", part)


def write_checksums(folder: Path) -> None:
    """Write SHA256SUMS, which ``sha256sum --check`` reads."""
    files = sorted(file for file in folder.iterdir() if file.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def run(*command: str | Path, cwd: Path | None = None) -> None:
    subprocess.run(list(map(str, command)), cwd=cwd, check=True)


def output(*command: str | Path) -> str:
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
