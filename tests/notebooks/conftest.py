"""Trainings of tests are kept in a folder of their own, apart from those of people who work here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mha_lib.classroom.lesson import find_root
from mha_lib.classroom.trainings import kept


@pytest.fixture(autouse=True, scope="module")
def trainings_apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    apart, place = tmp_path_factory.mktemp("trainings"), kept.place_to_keep
    with pytest.MonkeyPatch.context() as patch:
        is_here = lambda: find_root() == Path(__file__).parents[2]  # noqa: E731
        patch.setattr(kept, "place_to_keep", lambda: apart if is_here() else place())
        yield
