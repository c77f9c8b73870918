"""Each operation of the interpreter is PyTorch's, in a real browser; and its tests notice a wrong one."""

import pytest

from mha_lib.classroom.page_torch import export_for_page
from mha_lib.classroom.page_torch.operations import ATEN
from tests.browser.in_page import InPage, difference, plain_script
from tests.browser.page_operations import DYNAMIC, SHAPES, every_operation, inputs_for

CLOSE = 1e-4


@pytest.fixture(scope="module")
def program():
    return export_for_page(every_operation, inputs_for(2, 3), DYNAMIC, half=False)


def differing(in_page, program, inputs=None):
    """The outputs that differ from PyTorch's, with the shape at which they do."""
    inputs = inputs or [inputs_for(a, b) for a, b in SHAPES]
    wrong = []
    for given, found in zip(inputs, in_page.run(program, *inputs), strict=True):
        expected = program.run(**given)
        assert found.keys() == expected.keys()
        wrong += [
            (name, tuple(expected[name].shape))
            for name in found
            if difference(found[name], expected[name]) > CLOSE
        ]
    return wrong


def test_each_operation_computes_what_pytorchs_does(page, tmp_path, program):
    assert differing(InPage(page, tmp_path), program) == []
    used = {node[0] for node in program.nodes}
    assert ATEN.keys() - used == {"all"}, "torch.export writes all by any; no other operation is untried"


# Each a wrong interpreter: what stands there, and what is put in its place.
BREAKS = [
    ("Math.floor(row / rows) * inner * columns", "0"),
    ("sums.fill(0)", "row || sums.fill(0)"),
    ("k < (row + 1) * inner", "k < (row + 1) * inner - 1"),
    ("start * strides[axis]", "0"),
    ("strides[axis] * step", "strides[axis]"),
    ("place < 0 ? place + size : place, 0), size)", "place, 0), size)"),
    ("sizes.find((size) => size !== 1) ?? 1", "sizes[0]"),
    ("data.length === 1 ? 0 : 1", "1"),
    ('dtype === "bool") return each(dtype, (a) => a !== 0, x)', '"no") return x'),
    ('dtype.startsWith("int") ? Math.trunc : (a) => a', "(a) => a"),
    ("? 1 : x.shape[axis]))\n    : kept", "? 2 : x.shape[axis]))\n    : kept"),
    ("[...kept, ...gone]).data", "[...gone, ...kept]).data"),
    ("i === last ? axis : i < axis ? i : i + 1", "i"),
    ("(data[i] - mean) ** 2", "data[i] ** 2"),
    ("|| Number.isNaN(data[i])", ""),
    ("placeOfBest((a, b) => a > b)", "placeOfBest((a, b) => a >= b)"),
    ("Math.exp(x - largest)", "Math.exp(x)"),
    ("x - largest - Math.log(sum)", "x - Math.log(sum)"),
    ("/ width + epsilon", "/ width"),
    ("/ Math.sqrt(scatter(...part) / width", "/ Math.sqrt(scatter(...part) / (width - 1)"),
    ("weight ? each(dtype, (a, b) => a * b, normed, weight) : normed", "normed"),
    ("index < 0 ? index + size : index", "index"),
    ("together ? chosen[0] : 0", "0"),
    ("other === axis ? place", "other === 0 ? place"),
    ("to += widths[i]", "to += widths[0]"),
    ("total(sizes, 0, i)", "0"),
    (
        "times.flatMap((time, axis) => [time, shape[axis]])",
        "times.flatMap((time, axis) => [shape[axis], time])",
    ),
    ("const axis = x.shape.length - 1 - i / 2", "const axis = i / 2"),
    ("descending ? -1 : 1", "1"),
    ("Math.sign(x) || 0", "Math.sign(x)"),
    ("axis < added || x.shape[axis - added] === 1 ? 0 : own[axis - added]", "own[axis - added] ?? 0"),
]


def is_noticed(in_page, program):
    try:
        return differing(in_page, program) != []
    except AssertionError:  # the page has refused to go on
        return True


@pytest.mark.parametrize(
    "place",
    [pytest.param(i, marks=pytest.mark.whole if i % 6 else pytest.mark.ci) for i in range(len(BREAKS))],
)
def test_a_wrong_interpreter_is_noticed(page, tmp_path, program, place):
    right, wrong = BREAKS[place]
    source = plain_script()
    assert right in source
    in_page = InPage(page, tmp_path)
    in_page.use(source.replace(right, wrong, 1))
    assert is_noticed(in_page, program)
