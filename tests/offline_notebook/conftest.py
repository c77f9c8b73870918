import pytest

from tests.offline_notebook.pages import Cleaning


@pytest.fixture
def clean(tmp_path):
    return Cleaning(tmp_path)
