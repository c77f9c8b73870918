import pytest
import torch

torch.set_num_threads(1)  # the tensors of these tests are tiny: threads would only wait for one another


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(20)
