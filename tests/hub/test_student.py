"""Before a student's server starts, it lays the lessons into the student's home."""

import importlib.util
import json
import shutil
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
LESSON = "01_single_head_attention.ipynb"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    course = tmp_path / "opt" / "course"
    (course / "notebooks" / "en").mkdir(parents=True)
    for name in (LESSON, "course.css"):
        shutil.copy(ROOT / "notebooks" / "en" / name, course / "notebooks" / "en")
    shutil.copytree(ROOT / "img", course / "img")
    return course


@pytest.fixture
def student(course: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("student", ROOT / "hub" / "student.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "COURSE", course)
    monkeypatch.delenv("MHA_LANGUAGE", raising=False)
    monkeypatch.delenv("MHA_INSTRUCTOR", raising=False)
    return module


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


def slide_types(lesson: Path) -> set[str]:
    return {cell["metadata"]["slideshow"]["slide_type"] for cell in json.loads(lesson.read_text())["cells"]}


def change(lesson: Path, text: str) -> None:
    notebook = json.loads(lesson.read_text())
    notebook["cells"][0]["source"] = [text]
    lesson.write_text(json.dumps(notebook))


def test_a_home_gets_a_copy_without_notes_whose_figures_are_found(student, home):
    lesson = student.prepare(home)
    assert lesson == home / "course/work/en" / LESSON
    assert "notes" not in slide_types(lesson)
    assert (lesson.parent / "../../img/subspaces.svg").is_file()
    assert not (home / "course/work/deck-en").exists()


def test_an_instructor_has_the_deck_with_its_notes_too(student, home, monkeypatch):
    monkeypatch.setenv("MHA_INSTRUCTOR", "yes")
    lesson = student.prepare(home)
    assert "notes" not in slide_types(lesson)
    assert "notes" in slide_types(home / "course/work/deck-en" / LESSON)


def test_a_new_edition_replaces_what_nobody_changed(student, home, course):
    lesson = student.prepare(home)
    change(course / "notebooks/en" / LESSON, "# A new edition")
    student.prepare(home)
    assert "# A new edition" in lesson.read_text()


def test_a_new_edition_is_laid_beside_a_lesson_that_its_student_changed(student, home, course, capsys):
    lesson = student.prepare(home)
    change(lesson, "my answer")
    change(course / "notebooks/en" / LESSON, "# A new edition")
    student.prepare(home)
    assert "my answer" in lesson.read_text()
    beside = lesson.with_suffix(".new.ipynb")
    assert "# A new edition" in beside.read_text()
    assert beside.name in capsys.readouterr().err


def test_a_course_that_has_moved_is_found_again(student, home, course, monkeypatch):
    student.prepare(home)
    moved = course.rename(course.with_name("moved"))
    monkeypatch.setattr(student, "COURSE", moved)
    assert student.prepare(home).is_file()
    assert (home / "course/img/subspaces.svg").is_file()
