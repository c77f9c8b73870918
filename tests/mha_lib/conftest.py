import pytest
import torch

import mha_lib.fused
import mha_lib.packing

torch.set_num_threads(1)  # the tensors of these tests are tiny: more threads would only wait


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(20)


@pytest.fixture
def always_pack(monkeypatch):
    """Leave out padded keys, however small the batch is."""
    monkeypatch.setattr(mha_lib.packing, "WORTH_SKIPPING", -1)


@pytest.fixture
def chunks_of(monkeypatch):
    """Return a function that sets how many queries with a mask of their own are computed at once."""

    def chunks_of(num_queries):
        monkeypatch.setattr(mha_lib.fused, "MASK_CELLS", 1)
        monkeypatch.setattr(mha_lib.fused, "SMALLEST_CHUNK", num_queries)

    return chunks_of


@pytest.fixture
def small_chunks(chunks_of):
    chunks_of(2)


@pytest.fixture(params=["readable", "fused", "packed", "chunks"])
def attend(request):
    """Return a function that calls a layer along one of the ways through it, and returns its output."""
    if request.param == "packed":
        request.getfixturevalue("always_pack")
    if request.param == "chunks":
        request.getfixturevalue("small_chunks")

    def attend(layer, *inputs, **arguments):
        if request.param == "readable":
            return layer(*inputs, need_weights=True, **arguments)[0]
        return layer(*inputs, **arguments)

    return attend
