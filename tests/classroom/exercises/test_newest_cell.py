import pytest

from mha_lib.classroom.exercises.newest_cell import Cell, syntax_error_since

STUB = "def answer(x):\n    ..."
BROKEN = "def answer(x):\n    return x +"
RIGHT = "def answer(x):\n    return x"


def answer(x):
    return x


def cells(*sources):
    return [Cell(source, source) for source in sources]


@pytest.mark.parametrize(
    ("broken", "line", "reason"),
    [
        (BROKEN, 2, "invalid syntax"),
        ("def answer(x):\nreturn x", 2, "expected an indented block after function definition on line 1"),
    ],
)
def test_a_broken_cell_after_the_function_is_found_with_its_line(broken, line, reason):
    error = syntax_error_since(answer, cells(STUB, broken, "check.answer(answer)"))
    assert error is not None
    assert (error.lineno, error.msg) == (line, reason)


@pytest.mark.parametrize(
    "sources",
    [
        (),
        (STUB,),
        (STUB, BROKEN, RIGHT),
        (STUB, "def answers(x):\n    return x +"),  # another function
        (STUB, "check.answer(answer"),  # the cell with the check, not the one with the function
        (STUB, RIGHT + "\n\nassert (answer, 'always true')"),  # Python warns about it
        (STUB, "import asyncio\nawait asyncio.sleep(0)\n" + RIGHT),  # allowed in a cell
    ],
)
def test_a_function_of_the_newest_cell_is_judged(sources):
    assert syntax_error_since(answer, cells(*sources)) is None


def test_magics_are_no_syntax_errors():
    timed = Cell("%%time\n" + RIGHT, f"get_ipython().run_cell_magic('time', '', {RIGHT!r})")
    assert syntax_error_since(answer, [*cells(STUB, BROKEN), timed]) is None
