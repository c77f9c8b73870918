"""A new language needs its lessons, its words and the words of its figures, and no other change."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mha_lib.classroom.lesson import list_languages
from mha_lib.classroom.lesson.files import as_json
from mha_lib.classroom.lesson.slides import ENVIRONMENT, read_lesson, source
from mha_lib.classroom.lesson.translations import ENGLISH_SOURCE, hash_of
from tests.brackets import bracketed
from tests.drawings import words_of_drawing
from tests.lessons import ENGLISH, ROOT

COPIED = ("mha_lib", "tests", "notebooks", "img", ".github", "pyproject.toml", "Makefile", "README.md", ".ci")


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A copy of the repository with a French course, which says the English sentences between ⟦ and ⟧."""
    root = tmp_path_factory.mktemp("repository")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "zh-*"))
        else:
            shutil.copy(ROOT / name, root / name)
    add_french(root)
    return root


def add_french(root: Path) -> None:
    lessons, words = root / "notebooks", root / "mha_lib" / "classroom" / "words"
    shutil.copytree(lessons / "en", lessons / "fr")
    for lesson in (lessons / "fr").glob("*.ipynb"):
        lesson.write_text(as_json(in_french(read_lesson(lesson))), encoding="utf-8")
    (words / "fr").mkdir()
    for file in (words / "en").glob("*.json"):
        said = bracketed(json.loads(file.read_text(encoding="utf-8")))
        (words / "fr" / file.name).write_text(json.dumps(said), encoding="utf-8")
    figures = {
        file.name: {word: f"⟦{word}⟧" for word in words_of_drawing(file.read_bytes())}
        for file in (root / "img").glob("*.svg")
    }
    (root / "img" / "words" / "fr.json").write_text(json.dumps(figures), encoding="utf-8")


def in_french(notebook):
    for cell in notebook["cells"]:
        text = source(cell)
        cell["metadata"][ENGLISH_SOURCE] = hash_of(cell)
        if cell["cell_type"] == "markdown":
            text = text.replace("<summary>Why<", "<summary>Pourquoi<").replace("*Guess", "*Devinez")
            text = re.sub("^(#+ )(?!Optional)(.+)$", r"\1⟦\2⟧", text, flags=re.MULTILINE)
        elif cell["id"] == ENVIRONMENT:
            text = text.replace('"en"', '"fr"')
        cell["source"] = text.splitlines(keepends=True)
    return notebook


def run_tests(root, *arguments):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    environment = os.environ | {"PYTHONPATH": str(root)}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)


def test_a_new_folder_of_lessons_is_found(repository):
    assert "fr" in list_languages(repository)


@pytest.mark.ci
def test_its_lessons_and_words_pass_the_tests_of_all_languages(repository):
    places = ("tests/notebooks/test_structure.py", "tests/notebooks/test_environment_cell.py")
    done = run_tests(
        repository, "-vv", "-k", "fr or every_language or gap", *places, "tests/classroom/lesson"
    )
    assert done.returncode == 0, done.stdout
    for lesson in ENGLISH:
        assert f"[fr/{lesson.stem}] PASSED" in done.stdout


@pytest.mark.ci
def test_its_lessons_run_are_exported_and_presented_in_the_long_tests(repository):
    names = (
        "notebooks/test_execution.py",
        "classroom/pages/handout/test_handout.py",
        "browser/test_deck.py",
    )
    files = [f"tests/{name}" for name in names]
    listed = run_tests(repository, "--collect-only", "-m", "whole or not whole", *files).stdout.splitlines()
    for file in files:
        for lesson in ENGLISH:
            assert any(line.startswith(file) and f"fr/{lesson.stem}" in line for line in listed)
