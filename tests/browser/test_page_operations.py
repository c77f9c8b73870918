"""Each operation of ``torch_in_page`` alone, against PyTorch."""

import pytest
import torch
from torch.nn.functional import embedding
from torch.testing import assert_close

from tests.browser.in_page import open_empty, run_in_page
from tests.browser.page_operations import DYNAMIC, SHAPES, every_operation, inputs_for
from torch_in_page import export_for_page
from torch_in_page.operations import KNOWN
from torch_in_page.program import named_leaves

CLOSE = 1e-6  # float32 computes with 24 bits
HALVES = torch.tensor([0.1, -1.5, 6e-8, 3e-5, -(2.0**-14), 0.0, -torch.inf])


@pytest.fixture(scope="module")
def program():
    return export_for_page(every_operation, inputs_for(2, 3), DYNAMIC, half=False)


def with_halves(x, tokens, flags):
    """A small function for odd weights and odd inputs."""
    return {
        "weighed": x[:, :1] * HALVES,
        "picked": embedding(tokens, HALVES[:, None]).squeeze(-1),
        "flags": flags,
    }


EXAMPLE = {"x": torch.ones(1, 2), "tokens": torch.tensor([[1, 5]]), "flags": torch.tensor([True, False])}


def test_every_operation_computes_what_pytorch_computes(page, tmp_path, program):
    open_empty(page, tmp_path)
    inputs = [inputs_for(*shape) for shape in SHAPES]
    expected = [named_leaves(every_operation(**given)) for given in inputs]
    for shape, found, right in zip(SHAPES, run_in_page(page, program, *inputs), expected, strict=True):
        for name in right:
            told = f"{name} of {shape}: ".__add__
            assert_close(found[name], right[name], rtol=CLOSE, atol=CLOSE, equal_nan=True, msg=told)


def test_every_operation_that_is_known_is_tested(program):
    assert sorted({name for name, *_ in program.nodes}) == KNOWN


def test_weights_in_float16_are_the_same_numbers_in_page_and_python(page, tmp_path):
    open_empty(page, tmp_path)
    small = export_for_page(with_halves, EXAMPLE, {"x": {1: "N"}, "tokens": {1: "N"}})
    found, right = run_in_page(page, small, EXAMPLE)[0], small.run(**EXAMPLE)
    assert [name for name in right if not torch.equal(found[name], right[name])] == []
    rounded = right["weighed"][0]
    torch.testing.assert_close(rounded, HALVES, rtol=0, atol=1.5 * 2**-11)
    assert not torch.equal(rounded, HALVES)
