"""The order of the tests: long files first, browser tests last; or, by ``--shuffle SEED``, none at all.

``--dist loadfile`` keeps the tests of a file in one process. Browser tests come last, since Playwright's
event loop goes on in its thread, and what runs a notebook wants an event loop of its own.
"""

import random

import pytest

# Files that take long come first, so that no process is left alone with one at the end.
LONG_FILES = [
    *("test_execution.py", "test_intruder.py", "test_class.py", "test_operator.py", "test_setup_cells.py"),
    *("test_routes.py", "test_errands.py", "test_deck.py", "test_walks.py", "test_seat.py"),
    *("test_fresh_environment.py", "test_languages.py", "test_trust.py", "test_deck_lecture.py"),
]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", metavar="SEED", help="run files, and the tests in each, in random order")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> tuple[bool, float]:
        in_browser = item.path.parent.name == "browser"
        if seed:
            return in_browser, random.Random(f"{seed} {item.path}").random()
        return in_browser, [*LONG_FILES, item.path.name].index(item.path.name)

    if seed := config.getoption("--shuffle"):
        random.Random(seed).shuffle(items)
    items.sort(key=place)
