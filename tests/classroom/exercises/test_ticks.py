"""A fact that holds gets a tick; one that does not is said not to hold."""

import pytest
import torch

from mha_lib.classroom import speak, tick


@pytest.mark.parametrize("condition", [True, 1 + 1 == 2, torch.tensor([[True]])])
def test_a_fact_that_holds_gets_a_tick(condition, capsys):
    tick(condition, "the variance is d")
    assert capsys.readouterr().out == "\x1b[32m✓\x1b[39m the variance is d\n"


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "this does not hold here: “the variance is d”"), ("zh", "这里不成立：“the variance is d”")],
)
def test_a_fact_that_does_not_hold_is_an_error_that_says_so(language, said, capsys):
    speak(language)
    with pytest.raises(AssertionError, match=said):
        tick(torch.tensor(False), "the variance is d")
    assert capsys.readouterr().out == ""


def test_several_truth_values_are_refused():
    with pytest.raises(ValueError, match=r"condition must be one truth value.*\.all\(\)"):
        tick(torch.ones(2) > 0, "both")
