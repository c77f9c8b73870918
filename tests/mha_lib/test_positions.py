import math

import torch

from mha_lib import sinusoidal_positions


def test_positions_follow_the_formula_of_the_paper():
    positions = sinusoidal_positions(31, 6)
    for i in range(31):
        for j in range(3):
            angle = i / 10000 ** (2 * j / 6)
            assert math.isclose(positions[i, 2 * j], math.sin(angle), abs_tol=1e-6)
            assert math.isclose(positions[i, 2 * j + 1], math.cos(angle), abs_tol=1e-6)


def test_moving_by_one_position_is_the_same_rotation_everywhere():
    pairs = torch.view_as_complex(sinusoidal_positions(50, 8).unflatten(1, (4, 2)).double())  # sin + i cos
    steps = pairs[1:] / pairs[:-1]
    torch.testing.assert_close(steps, steps[:1].expand_as(steps), atol=1e-5, rtol=0)


def test_far_positions_are_as_exact_as_near_ones():
    last = sinusoidal_positions(100_001, 6)[-1]
    expected = [f(100_000 / 10000 ** (j / 3)) for j in range(3) for f in (math.sin, math.cos)]
    torch.testing.assert_close(last, torch.tensor(expected), atol=1e-6, rtol=0)
