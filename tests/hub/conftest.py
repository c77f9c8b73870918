"""A real hub with podman for the tests in this folder.

A machine that cannot run one skips these tests and says so in one line; with ``MHA_REQUIRE_HUB=1`` (as in
CI) what is missing is a failure.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hub.server import Hub, build_image, running_hub, what_is_missing


@pytest.hookimpl(trylast=True)  # once it is clear whether any of these tests are run
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    mine = [item for item in items if here in item.path.parents]
    missing = what_is_missing() if mine and not os.environ.get("MHA_REQUIRE_HUB") else None
    if missing:
        for item in mine:
            item.add_marker(pytest.mark.skip(reason=f"the server for a class: {missing}"))


@pytest.fixture(scope="session")
def hub() -> Iterator[Hub]:
    assert not (missing := what_is_missing()), missing
    build_image()
    with running_hub() as hub:
        yield hub
