"""A translator of numbers up to 999, trained in some seconds, for the tests that need a trained one."""

from typing import Any

import pytest
import torch

from mha_lib.classroom.tasks import Training, held_out_numbers, make_translator

SMALL: dict[str, Any] = {"steps": 200, "batch_size": 64, "max_digits": 3}
NUMBERS = held_out_numbers(100, max_digits=3)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # as fast for models this small
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def trained():
    """No test changes it."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    model = Training(make_translator(), **SMALL).run(show_progress=False).model
    torch.set_num_threads(before)
    return model
