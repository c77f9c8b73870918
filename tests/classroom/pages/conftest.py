import pytest

from tests.classroom.pages.pages import Cleaning


@pytest.fixture
def clean(tmp_path):
    return Cleaning(tmp_path)
