"""Positions. Attention by itself cannot see them: permute its tokens, and its outputs are permuted alike.

Three ways to make them seen: add a vector to each token (``sinusoidal_positions``), turn queries and keys
(``Rotary``), or lower the scores of distant keys (``alibi_slopes``).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from mha_lib import checks, tracing

SECTION = 64  # positions


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
    positions = torch.arange(num_positions, device=torch.empty(0).device)
    (waves,) = Rotary().waves(positions, num_hiddens, torch.get_default_dtype())
    return waves


def waves_like(x: Tensor, start: int) -> Tensor:
    """The rows of ``sinusoidal_positions`` for tokens ``(B, N, D)`` at the positions from ``start`` on."""
    (waves,) = table(Rotary.waves, Rotary(), start, start + x.shape[1], x.device, x.shape[2], x.dtype)
    return waves


@dataclass(frozen=True)
class Llama3Scaling:
    """Slow down the pairs that turn slowly, so that a model can go on beyond the length it was trained on.

        a pair that turns less than ``low`` times within ``original`` positions turns ``factor`` times slower,
        one that turns more than ``high`` times keeps its speed, and those between are blended

    Source: the published code of Llama 3.1. Elsewhere: ``rope_type: "llama3"`` (Hugging Face), with
    ``low_freq_factor``, ``high_freq_factor``, ``original_max_position_embeddings``.
    """

    factor: float = 8.0
    low: float = 1.0
    high: float = 4.0
    original: int = 8192  # positions

    def __post_init__(self) -> None:
        for name in ("factor", "low", "high", "original"):
            checks.check_positive(name, getattr(self, name))
        if self.high <= self.low:
            raise ValueError(f"high must be above low={self.low}, got {self.high}; Llama 3.1 has 1 and 4")

    def slow_down(self, speeds: Tensor, base: float) -> Tensor:
        """The speeds of all pairs, ``(d/2,)``, some of them lower."""
        turns = self.original * speeds / (2 * math.pi)
        kept = ((turns - self.low) / (self.high - self.low)).clamp(0, 1)  # 1: keeps its speed
        return speeds * (kept + (1 - kept) / self.factor)


@dataclass(frozen=True)
class YarnScaling:
    """Slow down the pairs that turn slowly, and lengthen queries and keys: YaRN, as in Qwen 3 beyond 32,768.

        a pair that turns less than ``low`` times within ``original`` positions turns ``factor`` times slower,
        one that turns more than ``high`` times keeps its speed, and those between are blended by their number
        queries and keys become ``length`` times longer, so that scores grow by length²

    length  None: 0.1 ln(factor) + 1, as in the paper, for a factor above 1
    whole   whether the blend begins and ends at a whole pair, as in the published code (gpt-oss: no)

    Source: Peng et al. 2023, sections 3.2 to 3.4. Elsewhere: ``rope_type: "yarn"`` (Hugging Face), with
    ``beta_slow``, ``beta_fast``, ``attention_factor``, ``truncate``.
    """

    factor: float = 4.0
    low: float = 1.0
    high: float = 32.0
    original: int = 32_768  # positions
    length: float | None = None
    whole: bool = True

    def __post_init__(self) -> None:
        for name in ("factor", "low", "high", "original"):
            checks.check_positive(name, getattr(self, name))
        if self.high <= self.low:
            raise ValueError(f"high must be above low={self.low}, got {self.high}; the paper has 1 and 32")
        if self.length is not None:
            checks.check_positive("length", self.length)
        checks.check_flag("whole", self.whole)

    @property
    def growth(self) -> float:
        """How many times longer queries and keys become."""
        return 0.1 * math.log(max(self.factor, 1)) + 1 if self.length is None else self.length

    def slow_down(self, speeds: Tensor, base: float) -> Tensor:
        """The speeds of all pairs, ``(d/2,)``, some of them lower."""
        pairs = len(speeds)

        def pair(turns: float) -> float:
            """The number of the pair, 0 to d/2, that turns so often within ``original`` positions."""
            return pairs * math.log(self.original / (turns * 2 * math.pi)) / math.log(base)

        first, last = pair(self.high), pair(self.low)
        if self.whole:
            first, last = math.floor(first), math.ceil(last)
        first, last = max(first, 0), min(last, 2 * pairs - 1)
        numbers = torch.arange(pairs, dtype=speeds.dtype, device=speeds.device)
        slowed = ((numbers - first) / max(last - first, 0.001)).clamp(0, 1)  # 0: keeps its speed
        return speeds * (1 - slowed + slowed / self.factor)


@dataclass(frozen=True)
class Rotary:
    """Rotary positions: turns every pair of columns by an angle that grows with the position.

        x'[a] = x[a] cos θ − x[b] sin θ        θ = position · base^(−2j/d) for the pair j = 0 … d/2 − 1
        x'[b] = x[a] sin θ + x[b] cos θ

    base     how much slower the last pair turns than the first; Llama 3 has 500,000, Qwen 3 1,000,000
    scaling  a number: all pairs turn so many times slower; or a ``Llama3Scaling`` or ``YarnScaling``
    halves   whether a pair is (a, b) = (j, j + d/2) as in Hugging Face's models, or (2j, 2j + 1), neighbours,
             as in the paper. Sorting the columns of ``W_q`` and ``W_k`` makes one of the other

    A query turned by its position and a key turned by its own have a dot product that depends on the two
    vectors and on the *distance* of the positions alone. Values are not turned.
    Raises ValueError or TypeError for numbers that are not positive and for other kinds of scaling.

    Source: Su et al. 2021, section 3.4.2, equation 34; ``scaling`` by a number: Chen et al. 2023 (position
    interpolation). Elsewhere: RoPE; ``rope_theta``, ``rope_scaling`` (Hugging Face).
    """

    base: float = 10_000.0
    scaling: float | Llama3Scaling | YarnScaling = 1.0
    halves: bool = False

    def __post_init__(self) -> None:
        checks.check_positive("base", self.base)
        if not isinstance(self.scaling, Llama3Scaling | YarnScaling):
            checks.check_positive(
                "scaling", self.scaling, "a number above 0, a Llama3Scaling or a YarnScaling"
            )
        checks.check_flag("halves", self.halves)

    def angles(self, positions: Tensor, width: int) -> Tensor:
        """The angle by which each pair of columns has turned at each position: ``(..., N, width/2)``.

        Far positions need float64: in float32, position 100,000 is off by 0.004. Apple's GPUs have no
        float64.
        """
        dtype = torch.float32 if positions.device.type == "mps" else torch.float64
        even = torch.arange(0, width, 2, dtype=dtype, device=positions.device)  # (width/2,)
        speeds = self.base ** (-even / width)  # radians for each position
        if isinstance(self.scaling, Llama3Scaling | YarnScaling):
            speeds = self.scaling.slow_down(speeds, self.base)
        else:
            speeds = speeds / self.scaling
        return positions.to(dtype)[..., None] * speeds  # (..., N, width/2)

    def waves(self, positions: Tensor, width: int, dtype: torch.dtype) -> tuple[Tensor]:
        """The rows of ``sinusoidal_positions`` for some positions: rounded only at the end."""
        angles = self.angles(positions, width)  # (N, D/2)
        pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (N, D/2, 2)
        return (pairs.flatten(1).to(dtype),)  # (N, D): sine, cosine, sine, cosine …

    def cos_and_sin(self, positions: Tensor, width: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Each column's cosine, and the sine by which its partner counts: ``(..., N, width)`` each."""
        angles = self.angles(positions, width)
        cos, sin = ((x * self.growth).to(dtype) for x in (angles.cos(), angles.sin()))  # (..., N, width/2)
        if self.halves:
            return torch.cat([cos, cos], dim=-1), torch.cat([-sin, sin], dim=-1)
        return torch.stack([cos, cos], dim=-1).flatten(-2), torch.stack([-sin, sin], dim=-1).flatten(-2)

    @property
    def growth(self) -> float:
        """How many times longer queries and keys become."""
        return self.scaling.growth if isinstance(self.scaling, YarnScaling) else 1.0

    def apply(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """Turn ``x``, ``(..., N, d)``, by what ``cos_and_sin`` gave for its positions."""
        if x.dtype != cos.dtype:
            return self.apply(x.to(cos.dtype), cos, sin).to(x.dtype)
        width = x.shape[-1]
        if self.halves:
            partner = x.roll(width // 2, -1)
        else:
            partner = x.reshape(*x.shape[:-1], width // 2, 2).flip(-1).reshape(x.shape)
        return torch.addcmul(x * cos, partner, sin)

    def turn(self, x: Tensor, where: int | Tensor) -> Tensor:
        """Turn tokens ``(..., N, d)`` at the positions from ``where`` on, or at positions ``(..., N)``."""
        width, dtype = x.shape[-1], torch.promote_types(x.dtype, torch.float32)
        if isinstance(where, Tensor):
            return self.apply(x, *self.cos_and_sin(where, width, dtype))
        rows = table(Rotary.cos_and_sin, self, where, where + x.shape[-2], x.device, width, dtype)
        return self.apply(x, *rows)

    def move(self, x: Tensor, distance: int) -> Tensor:
        """Turn tokens ``(..., N, d)`` that have been turned already to positions so much further on."""
        dtype = torch.promote_types(x.dtype, torch.float32)
        cos, sin = self.cos_and_sin(torch.tensor([distance], device=x.device), x.shape[-1], dtype)
        return self.apply(x, cos / self.growth, sin / self.growth)  # they are as long already


# Makes numbers for positions (N,) of a width and a dtype: Rotary.cos_and_sin, Rotary.waves.
Make = Callable[[Rotary, Tensor, int, torch.dtype], tuple[Tensor, ...]]


def table(
    make: Make, rotary: Rotary, start: int, end: int, device: torch.device, width: int, dtype: torch.dtype
) -> tuple[Tensor, ...]:
    """The rows that ``make`` gives for the positions from ``start`` to ``end``: ``(N, ...)``.

    It is kept for whole sections of positions, so that all layers share it, and tokens that come one by one.
    It is as large as what is asked for, however far along that is.
    """
    if tracing.is_tracing():
        return make(rotary, torch.arange(start, end, device=device), width, dtype)
    return kept_rows(make, rotary, start, end, device, width, dtype)


@lru_cache(maxsize=8)  # of a token that is decoded all layers ask for the same rows
def kept_rows(
    make: Make, rotary: Rotary, start: int, end: int, device: torch.device, width: int, dtype: torch.dtype
) -> tuple[Tensor, ...]:
    first, last = start // SECTION * SECTION, -(-end // SECTION) * SECTION
    kept = kept_table(make, rotary, first, last, device, width, dtype)
    return tuple(rows[start - first : end - first] for rows in kept)


@lru_cache(maxsize=8)
def kept_table(
    make: Make, rotary: Rotary, first: int, last: int, device: torch.device, width: int, dtype: torch.dtype
) -> tuple[Tensor, ...]:
    with torch.inference_mode(False):  # usable in and outside inference mode
        return make(rotary, torch.arange(first, last, device=device), width, dtype)


def rotate_by_position(x: Tensor, positions: Tensor, rotary: Rotary | None = None) -> Tensor:
    """Turn queries or keys by their positions; see ``Rotary``.

    x          queries or keys of a head, ``(..., N, d)``, d even
    positions  ``(N,)``, the position of each
    rotary     how the pairs turn: base 10,000 and neighbours unless said otherwise

    Returns the same shape and dtype.
    Raises ValueError for an odd d and for positions that are not ``(N,)``, TypeError for other than tensors.

    Source: Su et al. 2021, section 3.4.2, equation 34. Elsewhere: ``RotaryPositionalEmbeddings`` (torchtune),
    ``apply_rotary_pos_emb`` (Hugging Face).
    """
    checks.check_positions(x, positions)
    rotary = Rotary() if rotary is None else rotary
    checks.check_class("rotary", rotary, Rotary, "try Rotary(base=10_000)")
    return rotary.turn(x, positions)


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
