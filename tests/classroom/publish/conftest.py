import pytest

from tests.classroom.publish.pages import Cleaning


@pytest.fixture
def clean(tmp_path):
    return Cleaning(tmp_path)
