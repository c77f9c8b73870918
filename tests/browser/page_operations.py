"""One function that uses every operation of ``torch_in_page``, over dtypes, broadcasting and odd numbers.

Lengths A and B are free. x (A, 3, B), y (3, B) and p (A, 1, 1) above 0 are float32, d (B,) float64,
n (A, 3, B) and m (3, B), never 0, int64, t (A, 3, B) and u (3, B) boolean, odd (8,) holds NaN and infinities.
Of indices there are e (A, B) from 0 to 6.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

SHAPES = [(2, 3), (1, 1), (4, 1), (1, 6), (5, 4), (3, 2)]
DYNAMIC = {
    **{name: {0: "A", 2: "B"} for name in ("x", "n", "t")},
    **{name: {1: "B"} for name in ("y", "m", "u")},
    "d": {0: "B"},
    "p": {0: "A"},
    "e": {0: "A", 1: "B"},
}
ODD = torch.tensor([torch.nan, torch.inf, -torch.inf, -0.5, 0.5, 1.5, 2.5, 0.0])
GENERATOR = torch.Generator().manual_seed(0)
TABLE = torch.randn(7, 5, generator=GENERATOR)
WIDE, ROW = torch.randn(3, 4, generator=GENERATOR), torch.randn(4, generator=GENERATOR)
SCALE, SHIFT = torch.randn(2, 3, 1, generator=GENERATOR).expand(2, 3, 2).contiguous().unbind()
COLUMNS = SCALE[:, 0].contiguous(), SHIFT[:, 1].contiguous()
WHOLE = torch.tensor([3, -5, 2**40])


def inputs_for(a: int, b: int, seed: int = 0) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(100 * seed + 10 * a + b)

    def normal(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=dtype)

    def whole(low: int, high: int, *shape: int) -> Tensor:
        return torch.randint(low, high, shape, generator=generator)

    return {
        "x": normal(a, 3, b),
        "y": normal(3, b),
        "p": normal(a, 1, 1).abs() + 0.1,
        "d": normal(b, dtype=torch.float64),
        "n": whole(-6, 7, a, 3, b),
        "m": whole(1, 6, 3, b) * (2 * whole(0, 2, 3, b) - 1),
        "t": whole(0, 2, a, 3, b).bool(),
        "u": whole(0, 2, 3, b).bool(),
        "odd": ODD[torch.randperm(8, generator=generator)],
        "e": whole(0, 7, a, b),
    }


def alone(x, p, n, odd):
    """Each number on its own."""
    wide = 3 * x
    names = "neg sin cos sigmoid relu"
    found = {name: getattr(torch, name)(wide) for name in names.split()}
    found |= {f"{name} odd": getattr(torch, name)(odd) for name in names.split()}
    found |= {f"{name} whole": getattr(torch, name)(n) for name in ("neg", "relu", "sin")}
    return found | {
        "rsqrt": p.rsqrt(),
        "silu": F.silu(wide),
        "to float": n.float(),
        "to whole": wide.long(),
        "to bool": n.bool(),
        "to double": x.double(),
    }


def together(x, y, p, d, n, m, t, u, odd):
    """Two or three tensors, broadcast, and numbers beside them."""
    found: dict[str, Tensor] = {}
    for name in ("add", "sub", "mul", "div", "le", "ge"):
        compute = getattr(torch, name)
        found |= {name: compute(x, y), f"{name} of p": compute(p, y), f"{name} whole": compute(n, m)}
        found |= {f"{name} of dtypes": compute(x, d), f"{name} of int and float": compute(n, y)}
        found |= {f"{name} odd": compute(odd, odd.flip(0))}
    return found | {
        "and": t.logical_and(u),
        "and of long numbers": (n * 2**40) & (m * 2**39),
        "or of bits": n | m,
        "or of booleans": t | u,
        "not of bits": ~n,
        "not of booleans": ~t,
        "ge a number": n >= 2,
        "add alpha": torch.add(x, y, alpha=0.3),
        "number first": 3 - p,
        "power": p**x,
        "power of a number": 2.5**x,
        "where": torch.where(t, x, y),
        "where numbers": torch.where(t, 1.0, -torch.inf),
        "masked": x.masked_fill(u, -torch.inf),
    }


def made(x, y, n):
    """New tensors, of lengths too."""
    a, _, b = x.shape
    return {
        "full": torch.full((a, b), 2.5),
        "arange": torch.arange(a),
        "arange back": torch.arange(5, -2, -2),
        "triu of lengths": y[:, :1].expand(3, b).triu(a - b),
        "scalar": torch.scalar_tensor(1.5) + x,
        "lengths": torch.zeros(a * b),
        "lengths added": torch.zeros(a + b),
    }


def moved(x, y, n, e):
    """Other shapes and other places."""
    a, _, b = x.shape
    return {
        "view -1": x.reshape(-1, b),
        "expand": y.expand(a, 3, b),
        "permute": x.permute(2, 0, 1),
        "unsqueeze": x.unsqueeze(-1),
        "squeeze": x[:, :1].squeeze(1),
        "slice": x[:, 1:],
        "slice from the end": x[:, -2:-1],
        "slice steps": x[:, ::2],
        "flip": x.flip(0, 2),
        "cat": torch.cat([x, y.expand(a, 3, b)], dim=1),
        "cat dtypes": torch.cat([n, x], dim=-1),
        "embedding": F.embedding(e, TABLE),
    }


def summed(x, odd, p):
    """Means of rows, and rows that are made alike."""
    return {
        "any": (x <= -0.5).any(1),
        "mean": x.mean(1),
        "mean kept": x.mean(-2, keepdim=True),
        "mean of two": x.mean((0, 2)),
        "softmax": x.softmax(-1),
        "softmax in the middle": (300 * x).softmax(1),
        "softmax of nothing": (-torch.inf * p).softmax(-1),
        "layer_norm": F.layer_norm(x.mT, (3,), *COLUMNS),
        "layer_norm bare": F.layer_norm(x.mT, (3,), eps=0.1),
        "layer_norm of two": F.layer_norm(
            x.expand(2, *x.shape)[..., :1].expand(2, -1, 3, 2), (3, 2), SCALE, SHIFT
        ),
    }


def multiplied(x, y, m):
    """Products of matrices."""
    return {
        "mm": y.mT @ WIDE,
        "bmm": x.mT @ x,
        "matmul": x.mT @ WIDE,
        "addmm scaled": torch.addmm(ROW, y.mT, WIDE, beta=0.5, alpha=-2),
    }


def every_operation(**given):
    def of(function):
        code = function.__code__
        return function(**{name: given[name] for name in code.co_varnames[: code.co_argcount]})

    x, m = given["x"], given["m"]
    groups = [alone, together, made, moved, summed, multiplied]
    whole = {"whole constant": m[:, :1] + WHOLE, "given back": x}
    return {function.__name__: of(function) for function in groups} | {"others": whole}
