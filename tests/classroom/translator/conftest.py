"""A translator of numbers up to 999 that takes seconds to train, for tests that need a trained one."""

from typing import Any

import pytest
from filelock import FileLock

from mha_lib.classroom.translator import Training, held_out_numbers, make_translator

SMALL: dict[str, Any] = {"steps": 200, "batch_size": 64, "max_digits": 3}
NUMBERS = held_out_numbers(100, max_digits=3)


@pytest.fixture(scope="session")
def trained(pytestconfig, tmp_path_factory):
    """Return a trained translator. All tests share it, so none may change it.

    pytest's cache keeps it for processes side by side and for later runs, until the code changes.
    """
    cache = getattr(pytestconfig, "cache", None)  # a mutant is trained without one
    folder = (cache.mkdir if cache else tmp_path_factory.mktemp)("small-translator")
    with FileLock(folder / "lock"):
        return Training(make_translator(), **SMALL).run(show_progress=False, folder=folder).model
