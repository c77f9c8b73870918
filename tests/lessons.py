"""The lessons of every language that the course has, for the tests that go through them.

Those in traditional Chinese are made where a test asks for them: finding the lessons writes nothing.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from mha_lib.classroom.lesson import list_languages, list_lessons
from mha_lib.classroom.lesson.language import ENGLISH as ENGLISH_CODE
from mha_lib.classroom.lesson.lessons import written_languages

ROOT = Path(__file__).parents[1]
NOT_COPIED = shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__")


def copy_course(folder: Path, only: str = "") -> Path:
    """Lay the course's lessons, or only one, and its figures into the folder; returns the folder."""
    for name in ("notebooks", "img"):
        shutil.copytree(ROOT / name, folder / name, ignore=NOT_COPIED)
    for lesson in folder.glob("notebooks/*/*.ipynb") if only else ():
        if lesson.name != only:
            lesson.unlink()
    return folder


def lessons_in(languages: Iterable[str]) -> list[Path]:
    return [lesson for language in languages for lesson in list_lessons(ROOT, language)]


WRITTEN_LANGUAGES = written_languages(ROOT)
ENGLISH = lessons_in([ENGLISH_CODE])
TRANSLATED = lessons_in(language for language in WRITTEN_LANGUAGES if language != ENGLISH_CODE)
MADE = lessons_in(language for language in list_languages(ROOT) if language not in WRITTEN_LANGUAGES)


def name_of(lesson: Path) -> str:
    return f"{lesson.parent.name}/{lesson.stem}"


def english_of(lesson: Path) -> Path:
    """The English lesson from which a lesson was translated."""
    return ENGLISH[0].with_name(lesson.name)


def in_whole_runs(lessons: Iterable[Path]) -> list[object]:
    """Lessons that ``make test`` leaves to ``make test-all``: their code is that of the English ones."""
    return [pytest.param(lesson, marks=pytest.mark.whole) for lesson in lessons]
