"""Positions. Attention by itself cannot see them: permute its tokens, and its outputs are permuted alike.

Three ways to make them seen: add a vector to each token (``sinusoidal_positions``), turn queries and keys
(``rotate_by_position``), or lower the scores of distant keys (``alibi_slopes``).
"""

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
    num_positions = checks.checked_size("num_positions", num_positions, minimum=0)
    num_hiddens = checks.checked_size("num_hiddens", num_hiddens)
    checks.check_even("num_hiddens", num_hiddens)
    angles = rotary_angles(torch.arange(num_positions), num_hiddens)  # (N, D/2)
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (N, D/2, 2)
    return waves.flatten(1).to(torch.get_default_dtype())  # (N, D): sine, cosine, sine, cosine …


def rotary_angles(positions: Tensor, width: int) -> Tensor:
    """The angle by which each pair of columns has turned at each position: ``(N,) -> (N, width/2)``.

    Far positions need float64: in float32, position 100,000 is off by 0.004. Apple's GPUs have no float64.
    """
    dtype = torch.float32 if positions.device.type == "mps" else torch.float64
    even = torch.arange(0, width, 2, dtype=dtype, device=positions.device)  # (width/2,)
    return positions.to(dtype)[:, None] / 10000 ** (even / width)  # (N, width/2)


def rotate_by_position(x: Tensor, positions: Tensor) -> Tensor:
    """Rotary positions: turns every pair of columns by an angle that grows with the position.

        x'[2j]     = x[2j] cos θ − x[2j + 1] sin θ        θ = position / 10000^(2j/d)
        x'[2j + 1] = x[2j] sin θ + x[2j + 1] cos θ

    x          queries or keys of a head, ``(..., N, d)``, d even
    positions  ``(N,)``, the position of each

    Returns the same shape and dtype. A query turned by its position and a key turned by its own have a dot
    product that depends on the two vectors and on the *distance* of the positions alone. Values are not
    turned.
    Raises ValueError for an odd d and for positions that are not ``(N,)``, TypeError for other than tensors.

    Source: Su et al. 2021, section 3.4.2, equation 34. Elsewhere: RoPE; ``RotaryPositionalEmbeddings``
    (torchtune); Hugging Face's Llama pairs column j with j + d/2 instead of its neighbour, which is the same
    after sorting the columns of W_q and W_k.
    """
    checks.check_positions(x, positions)
    angles = rotary_angles(positions, x.shape[-1])  # (N, d/2)
    wide = torch.promote_types(x.dtype, torch.float32)
    cos, sin = angles.cos().to(wide), angles.sin().to(wide)  # (N, d/2)
    first, second = x[..., 0::2], x[..., 1::2]  # (..., N, d/2)
    turned = torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1)  # (..., N, d/2, 2)
    return turned.flatten(-2).to(x.dtype)  # (..., N, d)


def alibi_slopes(num_heads: int) -> Tensor:
    """How much each head's scores fall with every token of distance: ``(H,)``, for a ``score_bias``.

        slope[i] = 2^(−8 (i + 1) / H)        where H is a power of 2

    For other H, the slopes for the next lower power of 2 come first, then every other slope for the next
    higher one. The bias of a causal layer with Q queries and K keys is::

        distance = torch.arange(K - Q, K)[:, None] - torch.arange(K)  # (Q, K), from query to key
        score_bias = -alibi_slopes(H)[:, None, None] * distance.abs()  # (H, Q, K)
        layer(x, is_causal=True, score_bias=score_bias[None])  # (1, H, Q, K)

    Source: Press et al. 2022, section 3 and its published code. Elsewhere: ``build_alibi_tensor`` (Hugging
    Face's Bloom).
    """
    num_heads = checks.checked_size("num_heads", num_heads)
    power = 2 ** (num_heads.bit_length() - 1)  # the largest power of 2 that is at most H
    exponents = torch.arange(1, power + 1) * (8 / power)  # (power,)
    between = (2 * torch.arange(num_heads - power) + 1) * (4 / power)  # (H - power,)
    return 2.0 ** -torch.cat([exponents, between]).to(torch.get_default_dtype())
