"""Each operation of ``torch_in_page`` alone, against PyTorch."""

import pytest
from torch.testing import assert_close

from tests.browser.in_page import open_empty, run_in_page
from tests.browser.page_operations import DYNAMIC, SHAPES, every_operation, inputs_for
from torch_in_page import export_for_page
from torch_in_page.operations import KNOWN
from torch_in_page.program import named_leaves

CLOSE = 1e-6  # float32 computes with 24 bits


@pytest.fixture(scope="module")
def program():
    return export_for_page(every_operation, inputs_for(2, 3), DYNAMIC, half=False)


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
