"""A cell that succeeds prints what its asserts have shown."""

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from mha_lib.classroom.exercises.asserts import show_passed_asserts


@pytest.fixture
def said(capsys):
    """Runs a cell, and returns the lines that it prints, without colours."""
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    show_passed_asserts(shell)

    def run(cell):
        capsys.readouterr()
        shell.run_cell(cell)
        return capsys.readouterr().out.replace("\x1b[32m", "").replace("\x1b[39m", "").splitlines()

    return run


def test_a_passed_assert_says_its_message(said):
    assert said("assert 1 + 1 == 2, 'one and one'") == ["✓ one and one"]
    assert said("n = 3\nassert n > 2, f'{n} is more'") == ["✓ 3 is more"]


def test_the_result_of_the_cell_is_shown_as_before(said):
    assert said("assert True, 'true'\n7") == ["Out[0]: 7", "✓ true"]
    assert said("print('a')\nassert True, 'true'\nprint('b')") == ["a", "b", "✓ true"]


def test_in_a_loop_it_is_said_once_and_in_a_branch_only_when_it_was_tried(said):
    assert said("for n in range(3):\n    assert n < 3, 'small'") == ["✓ small"]
    assert said("if False:\n    assert True, 'never tried'\nelse:\n    assert True, 'tried'") == ["✓ tried"]


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("assert 1 + 1 == 2", "1 + 1 == 2"),
        ("import torch; torch.testing.assert_close(3 / 3, 1.0, rtol=0, atol=1)", "3 / 3 ≈ 1.0"),
        ("for n in range(3): assert (n <\n  3)", "n < 3"),
    ],
)
def test_without_a_message_it_says_what_holds(said, line, fact):
    assert said(line) == [f"✓ {fact}"]
    assert said(f"{line}\nassert True, 'with one'") == ["✓ with one"]


@pytest.mark.parametrize(
    "wrong", ["assert False, 'wrong'", "1 / 0", "import torch; torch.testing.assert_close(1, 2)"]
)
def test_a_cell_that_fails_says_nothing_of_the_kind(said, wrong):
    assert "✓" not in "".join(said(f"assert True, 'right'\n{wrong}"))
    assert said("n = 2") == []  # nor does the next


def test_an_assert_in_a_function_is_for_those_who_call_it(said):
    assert said("def check(n):\n    assert n, 'given'\n\ncheck(1)") == []
    assert said("class C:\n    def m(self):\n        assert True, 'm'\n\nC().m()") == []
