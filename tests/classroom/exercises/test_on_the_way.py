"""The watch over an answer notices loops, in whatever way the answer makes them."""

import sys

import pytest
import torch

from mha_lib.classroom.exercises.on_the_way import loops


def ones(size):
    return (torch.ones(size),)


def while_loop(x):
    doubled, place = x.clone(), 0
    while place < len(x):
        doubled[place] *= 2
        place += 1
    return doubled


def helper(x):
    return while_loop(x)


@pytest.mark.parametrize("answer", [helper, lambda x: torch.stack(list(map(lambda n: 2 * n, x)))])
def test_a_loop_is_found_however_it_is_written(answer):
    assert loops(answer, ones)


def longer_branch(x):
    return torch.cat([2 * x[:1], 2 * x[1:]]) if len(x) > 5 else 2 * x


@pytest.mark.parametrize("answer", [longer_branch, lambda x: torch.cat([part for part in (x, x)])])
def test_what_does_as_much_for_more_entries_is_no_loop(answer):
    assert not loops(answer, ones)


def test_an_answer_that_fails_leaves_the_tracing_of_python_as_it_was():
    before = sys.gettrace()
    with pytest.raises(IndexError):
        loops(lambda x: x[99], ones)
    assert sys.gettrace() is before
