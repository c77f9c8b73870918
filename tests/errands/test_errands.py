"""Each errand of the guides needs the files that its recipe names, and no other."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.errands import (
    add_argument,
    add_exercise,
    add_key,
    add_language,
    add_lesson,
    add_output,
    move_jupyterlab,
)
from tests.lessons import ROOT

pytestmark = pytest.mark.ci

ERRANDS = [add_lesson, add_language, add_argument, add_key, add_exercise, add_output, move_jupyterlab]
GUIDE, FOR_MAINTAINERS = (
    (ROOT / page).read_text(encoding="utf-8") for page in ("CONTRIBUTING.md", "docs/en/maintain.md")
)
LEFT_OUT = shutil.ignore_patterns(
    *(".git", ".venv", "build", "work", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache"),
    *(".ruff_cache", ".hypothesis", "zh-Hant"),
)


def test_the_guide_has_a_recipe_for_each_errand_and_no_other():
    recipes = re.findall(r"^### (.+)$", GUIDE.split("## Errands")[1], re.MULTILINE)
    assert [*recipes, "Move to a new JupyterLab"] == [errand.HEADING for errand in ERRANDS]


def contents(root: Path) -> dict[str, bytes]:
    files = (file for file in root.rglob("*") if file.is_file())
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}


@pytest.mark.parametrize("errand", ERRANDS, ids=lambda errand: errand.__name__.split(".")[-1])
def test_an_errand_needs_the_files_that_its_recipe_names(errand, tmp_path):
    root = Path(shutil.copytree(ROOT, tmp_path / "repository", ignore=LEFT_OUT))
    before = contents(root)
    errand.make(root)
    touched = [name for name, content in contents(root).items() if before.get(name) != content]
    guides = GUIDE + FOR_MAINTAINERS
    recipe = guides.split(f"# {errand.HEADING}\n")[1].split("\n#")[0]
    steps = "\n".join(re.findall(r"^\d+\. .*", recipe, re.MULTILINE))
    named = [name for name in re.findall(r"`([\w./-]+)`", steps) if re.search(r"/|\.(md|toml|txt)$", name)]
    assert [name for name in touched if not name.startswith(tuple(named))] == [], "these are in no recipe"
    unused = [name for name in named if not any(touch.startswith(name) for touch in touched)]
    assert {*unused} <= {*getattr(errand, "IF_NEEDED", ())}, "the recipe names these in vain"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *errand.TESTS]
    environment = os.environ | {"PYTHONPATH": str(root)}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
