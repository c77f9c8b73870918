import pytest
import torch

import mha_lib.fused

torch.set_num_threads(1)  # the tensors of these tests are tiny: threads would only wait for one another


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(20)


@pytest.fixture
def always_pack(monkeypatch):
    """Padded keys are left out however small the batch."""
    monkeypatch.setattr(mha_lib.fused, "WORTH_SKIPPING", -1)


@pytest.fixture
def small_chunks(monkeypatch):
    """Queries with a causal mask of their own are computed two at a time."""
    monkeypatch.setattr(mha_lib.fused, "MASK_CELLS", 1)
    monkeypatch.setattr(mha_lib.fused, "SMALLEST_CHUNK", 2)


@pytest.fixture(params=["readable", "fused", "packed", "chunks"])
def attend(request):
    """A call of a layer that gives its output, along each of the ways through it."""
    if request.param == "packed":
        request.getfixturevalue("always_pack")
    if request.param == "chunks":
        request.getfixturevalue("small_chunks")

    def attend(layer, *inputs, **arguments):
        if request.param == "readable":
            return layer(*inputs, need_weights=True, **arguments)[0]
        return layer(*inputs, **arguments)

    return attend
