"""The lessons in each language, for the tests that go through them.

Traditional Chinese is made from simplified, and so it is made here before any test is collected.
"""

from collections.abc import Iterable
from pathlib import Path

import pytest

from mha_lib.classroom.course import list_lessons

ROOT = Path(__file__).parents[1]
ENGLISH, CHINESE, TRADITIONAL = (list_lessons(ROOT, language) for language in ("en", "zh", "zh-Hant"))


def name_of(lesson: Path) -> str:
    return f"{lesson.parent.name}/{lesson.stem}"


def in_whole_runs(lessons: Iterable[Path]) -> list[object]:
    """Lessons that ``make test`` leaves to ``make test-all``: their code is that of the English ones."""
    return [pytest.param(lesson, marks=pytest.mark.whole) for lesson in lessons]
