"""From the wheel alone, without a checkout, ``mha lab`` opens the lessons in any folder."""

import os
import re
import subprocess
import sys

import pytest

from mha_lib.classroom.lesson import list_lessons
from tests.lessons import ROOT

pytestmark = pytest.mark.ci  # pip takes hatchling from an index to build the wheel

# Starts no server: prints what it would tell and open.
MHA = """
import sys
from mha_lib.classroom import __main__ as command_line
command_line.serve = lambda root, view, lesson, messages, _: print(*messages, root, lesson, sep="\\n") or 0
sys.exit(command_line.mha())
"""
FIGURE = """
from pathlib import Path
from mha_lib.classroom.pages.cleaner import pictures_of
print(pictures_of(Path.cwd(), Path.cwd().name).read("../../img/masks.svg").data.decode())
"""
OF_COURSE = "mha_lib/classroom/course"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    place = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", place, ROOT], check=True)
    (wheel,) = place.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", place / "installed", wheel], check=True)
    return place / "installed"


@pytest.fixture
def here(tmp_path):
    folder = tmp_path / "my course 空"
    folder.mkdir()
    return folder


def run(package, folder, *arguments, program=MHA):
    environment = os.environ | {"PYTHONPATH": str(package), "HOME": str(package.parent), "PYTHONUTF8": "1"}
    command = [sys.executable, "-P", "-c", program, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8")
    return done.returncode, done.stdout.splitlines(), done.stderr


def contents(folder):
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_lessons_open_in_an_empty_folder_with_figures_and_later_again(package, here):
    language = "zh-Hant"
    status, lines, error = run(package, here, "lab", "--language", language)
    work, names = here / "work" / language, [lesson.name for lesson in list_lessons(ROOT, language)]
    assert (status, lines[1:]) == (0, [str(here), str(work / names[0])]), error
    assert str(work) in lines[0], "a newcomer is told where the copies are"
    assert sorted(copy.name for copy in work.glob("*.ipynb")) == names
    text = "".join(copy.read_text("utf-8") for copy in work.glob("*.ipynb"))
    figures = set(re.findall(r"\]\(([^)\s]+\.svg)", text))
    assert len(figures) > 10
    assert [name for name in figures if not (work / name).is_file()] == []
    assert {path.name for path in here.iterdir()} == {"work", "build"}
    before = contents(here)
    assert run(package, here / "build" / language, "lab", "--language", language) == (0, lines[1:], "")
    assert contents(here) == before
    drawn = run(package, here / "build" / language, program=FIGURE)[1]  # as a handout shows it
    assert "\n".join(drawn).strip() == (work / "img" / "masks.svg").read_text("utf-8").strip()


def test_the_files_of_others_and_those_of_the_package_stay(package, here):
    for name in ("notebooks/mine/a.ipynb", "img/masks.svg", "work/en/04_layers.ipynb", "build/zh/notes.txt"):
        (here / name).parent.mkdir(parents=True)
        (here / name).write_text("mine", "utf-8")
    before, installed = contents(here), contents(package / OF_COURSE)
    for command in (["lab", "--language", "zh"], ["lab", "--edit"]):
        status, _, error = run(package, here, *command)
        assert (status, len(error.splitlines())) == (2, 1), error
        assert contents(here) == before, command
    assert run(package, here, "lab")[0] == 0
    assert before.items() <= contents(here).items()
    assert contents(package / OF_COURSE) == installed
