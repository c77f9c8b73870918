"""The layer that an answer to the exercise ``two_hops`` looks with."""

import torch

from mha_lib.classroom.exercises.lesson_04_layers import look


def test_a_layer_finds_the_last_key_that_is_equal():
    values = look(torch.tensor([5, 8, 2]), torch.tensor([2, 5, 2, 1]), torch.tensor([10, 11, 12, 13]))
    assert values.tolist() == [11, -1, 12]
