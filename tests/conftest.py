"""For every test, and for every process a test starts."""

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

# Threads that wait by spinning starve one another where two kernels share two cores: a training of 3 s
# took minutes. Set before torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Assertions in helpers that tests share are explained as those in tests are.
pytest.register_assert_rewrite("tests.mha_lib.bad_calls")

# The language of the machine is the default of the course: the tests ask for English.
os.environ["LC_ALL"] = "C.UTF-8"


# The tiers of tests above `make test`, by their marks, and the commands that run them.
TIERS = {"ci": "make test-ci", "whole": "make test-all"}
# Files that take long come first, so that no process is left alone with one at the end.
LONG_FILES = ("test_execution.py", "test_deck.py", "test_deck_lecture.py", "test_deck_keys.py")
left_out = pytest.StashKey[dict[str, int]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[left_out] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the files; ``--dist loadfile`` keeps the tests of a file in one process.

    Browser tests come last: Playwright's event loop goes on in its thread, and what runs a notebook wants
    an event loop of its own.
    """

    def place(item: pytest.Item) -> tuple[bool, int]:
        folder, name = item.path.parent.name, item.path.name
        return folder == "browser", (*LONG_FILES, name).index(name)

    items.sort(key=place)


def pytest_deselected(items: list[pytest.Item]) -> None:
    for item in items:
        tier = next((tier for tier in reversed(TIERS) if item.get_closest_marker(tier)), None)
        if tier:
            counts = item.config.stash[left_out]
            counts[tier] = counts.get(tier, 0) + 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell pytest-xdist's own process what this process has left out; each process leaves out the same."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash[left_out]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[left_out] = getattr(node, "workeroutput", {}).get("left_out", {})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for tier, count in sorted(config.stash[left_out].items()):
        terminalreporter.write_line(f"Left out {count} tests, which {TIERS[tier]} runs.")


@pytest.fixture(scope="session")
def made_lessons() -> Path:
    """The folder of the lessons in traditional Chinese, which are made from the simplified ones."""
    from mha_lib.classroom.course import make_traditional

    return make_traditional(Path(__file__).parents[1])


LayTranslator = Callable[[Path, Path], None]


def made_of(*places: str) -> str:
    """A name for the code in these places, another one as soon as a line of it changes."""
    library = Path(__file__).parents[1] / "mha_lib"
    code = [file.read_bytes() for place in places for file in sorted(library.glob(place))]
    return hashlib.sha256(b"".join(code)).hexdigest()[:16]


@pytest.fixture(scope="session")
def lay_translator(pytestconfig: pytest.Config) -> LayTranslator:
    """``lay_translator(lesson, course)``: a lesson that trains a translator finds one in ``course/work/``.

    It is trained once for all tests, and not at all where none of them runs such a lesson. pytest's cache
    keeps it for processes side by side and for later runs, until the code changes that it is made with.
    """
    cache = pytestconfig.cache
    assert cache, "the tests need pytest's cache"
    kept = cache.mkdir(f"translators-{made_of('*.py', 'classroom/tasks/*.py')}")

    def lay(lesson: Path, course: Path) -> None:
        if "train_translator" not in lesson.read_text(encoding="utf-8"):
            return
        from mha_lib.classroom.tasks import train_translator

        with FileLock(kept / "lock"):
            train_translator(folder=kept)
            place = course / "work" / "trainings"
            shutil.copytree(kept, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("lock"))

    return lay
