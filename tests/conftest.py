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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where tests run side by side, those of a file stay together, for they share what takes long to set up.

    Each lesson is a group of its own.
    """
    for item in items:
        arguments = getattr(item, "callspec", None)
        given = arguments.params.values() if arguments else ()
        lesson = next((str(value) for value in given if getattr(value, "suffix", "") == ".ipynb"), "")
        item.add_marker(pytest.mark.xdist_group(f"{item.path} {lesson}"))


LayTranslator = Callable[[Path, Path], None]


@pytest.fixture(scope="session")
def lay_translator(tmp_path_factory: pytest.TempPathFactory) -> LayTranslator:
    """``lay_translator(lesson, course)``: a lesson that trains a translator finds one in ``course/work/``.

    It is trained once for all tests, and not at all where none of them runs such a lesson.
    """
    temporary = tmp_path_factory.getbasetemp()
    shared = temporary.parent if "PYTEST_XDIST_WORKER" in os.environ else temporary
    kept = shared / "translators"

    def lay(lesson: Path, course: Path) -> None:
        if "train_translator" not in lesson.read_text(encoding="utf-8"):
            return
        from mha_lib.classroom.tasks import train_translator

        with FileLock(shared / "translators.lock"):
            train_translator(folder=kept)
        shutil.copytree(kept, course / "work", dirs_exist_ok=True)

    return lay
