"""For every test, and for every process a test starts."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

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


@pytest.fixture(scope="session")
def made_lessons() -> Path:
    """The folder of the lessons in traditional Chinese, which are made from the simplified ones."""
    from mha_lib.classroom.lesson import make_traditional

    return make_traditional(Path(__file__).parents[1])


LayTranslator = Callable[[Path, Path], None]


@pytest.fixture(scope="session")
def lay_translator(pytestconfig: pytest.Config) -> LayTranslator:
    """``lay_translator(lesson, course)``: a lesson that trains a translator finds one in ``course/work/``.

    It is trained once for all tests, and not at all where none of them runs such a lesson. pytest's cache
    keeps it for processes side by side and for later runs, until the code changes that it is made with.
    """
    cache = pytestconfig.cache
    assert cache, "the tests need pytest's cache"
    from mha_lib.classroom.trainings.fingerprint import edition

    kept = cache.mkdir(f"translators-{edition()[:16]}")

    def lay(lesson: Path, course: Path) -> None:
        if "train_translator" not in lesson.read_text(encoding="utf-8"):
            return
        from mha_lib.classroom.translator import train_translator

        with FileLock(kept / "lock"):
            train_translator(folder=kept)
            place = course / "work" / "trainings"
            shutil.copytree(kept, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("lock"))

    return lay
