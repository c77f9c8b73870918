"""For every test, and for every process a test starts."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# Threads that wait by spinning starve one another where two kernels share two cores: a training of 3 s
# took minutes. Set before torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Assertions in helpers that tests share are explained as those in tests are.
pytest.register_assert_rewrite("tests.mha_lib.bad_calls")

# The language of the machine is the default of the course: the tests ask for English, in whatever locale.
os.environ.setdefault("LANG", "C.UTF-8")
if locale := os.environ.pop("LC_ALL", ""):  # which goes before all others
    os.environ["LANG"] = locale
os.environ["LC_MESSAGES"] = "C.UTF-8"

pytest_plugins = ["tests.running.failures", "tests.running.order", "tests.running.progress"]


@pytest.fixture(autouse=True)
def _in_english(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lesson that runs in this process sets the language: each test begins in English."""
    from mha_lib.classroom.lesson.language import ENGLISH, RUNNING

    monkeypatch.setattr(RUNNING, "number", "")
    monkeypatch.setattr(RUNNING, "language", ENGLISH)


@pytest.fixture(scope="session")
def made_lessons() -> Path:
    """The folder of the lessons in traditional Chinese, which are made from the simplified ones."""
    from mha_lib.classroom.lesson import prepare_lessons

    return prepare_lessons(Path(__file__).parents[1], "zh-Hant")[0].parent


ShareTrainings = Callable[[Path], None]


@pytest.fixture(scope="session")
def share_trainings(pytestconfig: pytest.Config) -> ShareTrainings:
    """``share_trainings(course)``: the lessons of this course find what others have trained.

    A lesson trains once for all tests, and for its translations too, whose code is the same. pytest's cache
    keeps it for processes side by side and for later runs, until the code changes that it is made with.
    """
    cache = pytestconfig.cache
    assert cache, "the tests need pytest's cache"
    from mha_lib.classroom.trainings.fingerprint import edition

    kept = cache.mkdir(f"trainings-{edition()[:16]}")

    def share(course: Path) -> None:
        place = course / "work" / "trainings"
        place.parent.mkdir(exist_ok=True)
        if not place.exists():
            place.symlink_to(kept)

    return share


@pytest.fixture(scope="session")
def whole_course(tmp_path_factory: pytest.TempPathFactory, share_trainings: ShareTrainings) -> Path:
    """A copy of the course in every language, with what its lessons have trained."""
    from mha_lib.classroom.lesson import prepare_lessons
    from tests.lessons import copy_course

    folder = copy_course(tmp_path_factory.mktemp("course"))
    prepare_lessons(folder, "zh-Hant")
    share_trainings(folder)
    return folder


@pytest.fixture
def in_course(whole_course: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], dict[str, Any]]:
    """``in_course(lesson)``: go to where a copy of the lesson lies; the names with which a kernel begins."""

    def enter(lesson: Path) -> dict[str, Any]:
        monkeypatch.chdir(whole_course / "notebooks" / lesson.parent.name)
        return {"__name__": "__main__"}

    return enter
