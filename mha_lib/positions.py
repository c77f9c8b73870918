"""Positions, which attention by itself cannot see: permute its tokens and its outputs are permuted alike."""

import torch
from torch import Tensor

from mha_lib import checks


def sinusoidal_positions(num_positions: int, num_hiddens: int) -> Tensor:
    """A vector for each position, to be added to the token at that position: ``(N, D)``.

        P[i, 2j]     = sin(i / 10000^(2j/D))
        P[i, 2j + 1] = cos(i / 10000^(2j/D))

    Every pair of columns turns at a speed of its own, so moving by k positions is one fixed rotation of each
    pair, wherever one starts. Raises ValueError for an odd ``num_hiddens``: sines and cosines come in pairs.

    Source: Vaswani et al. 2017, section 3.5. Elsewhere: d2l's ``PositionalEncoding`` (which also adds and
    drops).
    """
    checks.check_size("num_positions", num_positions, minimum=0)
    checks.check_sizes(num_hiddens=num_hiddens)
    checks.check_even("num_hiddens", num_hiddens)
    position = torch.arange(num_positions, dtype=torch.float64)[:, None]  # (N, 1); far positions need float64
    even = torch.arange(0, num_hiddens, 2, dtype=torch.float64)  # (D/2,)
    angles = position / 10000 ** (even / num_hiddens)  # (N, D/2)
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (N, D/2, 2)
    return waves.flatten(1).to(torch.get_default_dtype())  # (N, D): sine, cosine, sine, cosine …
