"""For the tests of several rooms."""

import pytest


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of the test's own, with a lesson: the test works in the folder of the lesson."""
    lesson = tmp_path / "notebooks" / "en" / "02.ipynb"
    lesson.parent.mkdir(parents=True)
    lesson.touch()
    monkeypatch.chdir(lesson.parent)
    return tmp_path
