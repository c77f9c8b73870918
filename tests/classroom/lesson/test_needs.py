"""Names that code binds and reads, and the cells that a step needs."""

import pytest
from nbformat.v4 import new_code_cell

from mha_lib.classroom.lesson.names import names_in
from mha_lib.classroom.lesson.needs import needed_by

NAMES = {
    "x += 1": ({"x"}, {"x"}),
    "y = 1\nx = y": ({"x", "y"}, set()),
    "for i in rows:\n    i + 1": ({"i"}, {"rows"}),
    "[i * k for i in rows]": (set(), {"rows", "k"}),
    "def f(a):\n    b = a\n    return b + c + g()\ndef g(): ...": ({"f", "g"}, {"c"}),
    "class A(Base):\n    size = width\n    def f(self):\n        return depth": (
        {"A"},
        {"Base", "width", "depth"},
    ),
    "%magic x": (set(), set()),
}


@pytest.mark.parametrize("code", NAMES)
def test_names_that_code_binds_and_reads(code):
    bound, read = names_in(code)
    hidden = {"__name__", "__module__", "__qualname__", "__build_class__"}  # that Python adds to a class
    assert (bound - hidden, read - hidden) == NAMES[code]


def cell(name, code, *tags):
    return new_code_cell(code, id=name, metadata={"tags": list(tags)})


LESSON = [
    cell("setup", "size = 3", "setup"),
    cell("first", "x = size"),
    cell("again", "x = size + 1"),
    cell("other", "z = 7"),
    cell("answer", "y = x", "exercise"),
    cell("solution", "y = 4", "solution"),
    cell("made", "y = x * 2"),
]


def test_a_step_needs_the_last_cells_that_bind_its_names_and_what_these_need():
    step = [cell("one", "w = y"), cell("two", "w + v")]
    assert [each["id"] for each in needed_by(step, LESSON)] == ["setup", "again", "made"]
    assert needed_by([cell("one", "y = 1"), cell("two", "y")], LESSON) == []
    answered = [each["id"] for each in needed_by(step, LESSON[:-1])]
    assert answered == [], "an answer and a solution are nobody's help"
