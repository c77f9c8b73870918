"""One function that uses every operation of ``page_torch``, over dtypes, broadcasting and odd numbers.

Lengths A and B are free. x (A, 3, B), y (3, B) and p (A, 1, 1) above 0 are float32, d (B,) float64,
n (A, 3, B) and m (3, B), never 0, int64, j (B,) int32, t (A, 3, B) and u (3, B) boolean, odd (8,) holds NaN
and infinities. Of indices there are g (A, 2, B) and r (2,) from 0 to 2, e (A, B) from 0 to 6.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

SHAPES = [(2, 3), (1, 1), (4, 1), (1, 6), (5, 4), (3, 2)]
DYNAMIC = {
    **{name: {0: "A", 2: "B"} for name in ("x", "n", "t", "g")},
    **{name: {1: "B"} for name in ("y", "m", "u")},
    **{name: {0: "B"} for name in ("d", "j")},
    "p": {0: "A"},
    "e": {0: "A", 1: "B"},
}
ODD = torch.tensor([torch.nan, torch.inf, -torch.inf, -0.5, 0.5, 1.5, 2.5, 0.0])
GENERATOR = torch.Generator().manual_seed(0)
TABLE = torch.randn(7, 5, generator=GENERATOR)
WIDE = torch.randn(3, 4, generator=GENERATOR)
SCALE, SHIFT = torch.randn(2, 3, 1, generator=GENERATOR).expand(2, 3, 2).contiguous().unbind()
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
        "j": whole(-9, 10, b).int(),
        "t": whole(0, 2, a, 3, b).bool(),
        "u": whole(0, 2, 3, b).bool(),
        "odd": ODD[torch.randperm(8, generator=generator)],
        "g": whole(0, 3, a, 2, b),
        "r": whole(0, 3, 2),
        "e": whole(0, 7, a, b),
    }


def alone(x, p, n, odd):
    """Each number on its own."""
    wide = 3 * x
    names = "neg abs sign exp expm1 sin cos tanh sigmoid relu erf floor ceil trunc round"
    found = {name: getattr(torch, name)(wide) for name in names.split()}
    found |= {f"{name} odd": getattr(torch, name)(odd) for name in names.split()}
    found |= {name: getattr(torch, name)(p) for name in ("log", "log1p", "sqrt", "rsqrt", "reciprocal")}
    found |= {
        f"{name} whole": getattr(torch, name)(n) for name in ("neg", "abs", "sign", "relu", "sin", "sqrt")
    }
    return found | {
        "round to even": torch.round(n / 2),
        "gelu": F.gelu(wide),
        "gelu by tanh": F.gelu(wide, approximate="tanh"),
        "erf far out": torch.erf(4 * wide),
        "silu": F.silu(wide),
        "isnan": odd.isnan(),
        "isinf": odd.isinf(),
        "isfinite": odd.isfinite(),
        "logical_not of numbers": n.logical_not(),
        "clamp": x.clamp(-0.5, 0.7),
        "clamp from below": n.clamp(min=-2),
        "clamp by tensors": x.clamp(-p, p),
        "to float": n.float(),
        "to whole": wide.long(),
        "to int": wide.int(),
        "to bool": n.bool(),
        "to double": x.double(),
    }


def together(x, y, p, d, n, m, j, t, u, odd):
    """Two or three tensors, broadcast, and numbers beside them."""
    found: dict[str, Tensor] = {}
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        compare = getattr(torch, name)
        found |= {name: compare(n, m), f"{name} of a number": compare(n, 2), f"{name} odd": compare(odd, 0.5)}
        found |= {f"{name} rounded": compare((0 * y + 0.1), 0.1), f"{name} of dtypes": compare(n, x)}
    for name in ("add", "sub", "mul", "div", "maximum", "minimum"):
        compute = getattr(torch, name)
        found |= {name: compute(x, y), f"{name} of p": compute(p, y), f"{name} whole": compute(n, m)}
        found |= {f"{name} of dtypes": compute(x, d), f"{name} of int and float": compute(n, y)}
        found |= {f"{name} odd": compute(odd, odd.flip(0)), f"{name} int32": compute(j, m)}
    for name in ("fmod", "remainder"):
        compute = getattr(torch, name)
        found |= {name: compute(x, y), f"{name} whole": compute(n, m), f"{name} of a number": compute(n, -4)}
        found |= {f"{name} odd": compute(odd, 0.4)}
    for name in ("and", "or", "xor"):
        found |= {name: getattr(torch, f"logical_{name}")(t, u)}
        found |= {f"{name} of numbers": getattr(torch, f"logical_{name}")(n, m)}
    return found | {
        "equal to true": t == True,  # noqa: E712
        "bool and whole": t + n * u,
        "& | ^ ~": (t & u) | (t ^ ~u),
        "add alpha": torch.add(x, y, alpha=0.3),
        "sub alpha": torch.sub(n, m, alpha=3),
        "numbers": 2 - (x + 0.1) * 3 / 0.7,
        "number first": 1 / p - 3,
        "number of a double": d * 0.1 + 2,
        "floor divided": n // m,
        "truncated": torch.div(n, m, rounding_mode="trunc"),
        "floor of floats": torch.div(x, y, rounding_mode="floor"),
        "power": p**x,
        "square": x**2,
        "power of a number": 2.5**x,
        "whole power": n**3,
        "where": torch.where(t, x, y),
        "where numbers": torch.where(t, 1.0, -torch.inf),
        "where a number": torch.where(u, n, 7),
        "where nan": torch.where(odd > 0, odd, torch.nan),
        "masked": x.masked_fill(u, -torch.inf),
        "float64 beside": x * d.sum(),
        "float64 alone": (x * 0 + 0.1) == (d.sum() * 0 + 0.1),
        "lerp": torch.lerp(x, y, 0.3),
    }


def made(x, y, n):
    """New tensors, of lengths too."""
    a, _, b = x.shape
    torch._check(a < b + 50)
    torch._check(b <= a + 50)
    torch._check(a != b + 40)
    return {
        "shorter": torch.zeros(torch.sym_min(a, b)),
        "longer": torch.zeros(torch.sym_max(a, b)),
        "full": torch.full((a, b), 2.5),
        "full whole": x.new_full((2, b), 3, dtype=torch.long),
        "zeros": torch.zeros(b, a),
        "full_like": torch.full_like(n, 7),
        "ones_like": torch.ones_like(x, dtype=torch.bool),
        "arange": torch.arange(a),
        "arange from": torch.arange(2, 2 + 3 * b, 3),
        "arange of floats": torch.arange(0, 1, 0.25),
        "arange back": torch.arange(5, -2, -2),
        "tril": y[:, :1].expand(3, b).tril(),
        "triu": torch.ones(b, b + a).triu(1),
        "scalar": torch.scalar_tensor(1.5) + x,
        "lengths": torch.full((a + b, a * b), a - b),
        "half a length": torch.full(((a + 5) // 2,), (a * 7) % 4),
    }


def moved(x, y, n, r, e, g, t):
    """Other shapes and other places."""
    a, _, b = x.shape
    first, second, third = x.split([1, 1, 1], dim=1)
    return {
        "view": x.view(a, 3 * b),
        "view -1": x.reshape(-1, b),
        "flatten": y.flatten(),
        "expand": y.expand(a, 3, b),
        "expand -1": x.unsqueeze(1).expand(-1, 2, -1, -1),
        "expand -1 behind a new axis": y.expand(a, -1, -1),
        "permute": x.permute(2, 0, 1),
        "transpose": x.mT,
        "unsqueeze": x.unsqueeze(-1),
        "squeeze": x[:, :1].squeeze(1),
        "squeeze several": x[None, :, 1:2].squeeze((0, 2)),
        "select": x[:, -1],
        "select last": x[..., 0],
        "slice": x[:, 1:],
        "slice from the end": x[:, -2:-1],
        "slice steps": x[:, ::2],
        "slice too far": x[:, 1:9],
        "slice of a length": torch.arange(a + b)[b:],
        "flip": x.flip(0, 2),
        "roll": x.roll(1, -1),
        "cat": torch.cat([x, y.expand(a, 3, b)], dim=1),
        "cat first": torch.cat([x, x + 1], dim=0),
        "cat dtypes": torch.cat([n, x], dim=-1),
        "cat of nothing": torch.cat([x[:, :0], x], dim=1),
        "stack": torch.stack([x, -x], dim=-1),
        "split": second - third + first,
        "chunk": torch.cat(x.chunk(3, dim=1)[::-1], dim=1),
        "unbind": x.unbind(1)[2],
        "repeat": x.repeat(2, 1, 3, 1),
        "repeat_interleave": x.repeat_interleave(2, dim=1),
        "tile": y.tile(2),
        "pad": F.pad(x, (1, 2, 0, 1), value=0.5),
        "pad cuts": F.pad(x, (0, 0, -1, 1)),
        "pad bool": F.pad(t, (1, 0), value=True),
        "embedding": F.embedding(e, TABLE),
        "index": x[:, r],
        "index first": TABLE[e],
        "index two": TABLE[e, e.clamp(max=4)],
        "index apart": x.unsqueeze(2)[:, r, :, torch.zeros_like(r)],
        "index from the end": x[:, r - 3],
        "index_select": x.index_select(1, r),
        "gather": x.gather(1, g),
        "gather last": n.gather(-1, n.argsort(-1)),
        "outer": torch.outer(y[0], y[1]),
    }


def summed(x, n, t, odd, p):
    """Sums, what is largest, and what orders."""
    found: dict[str, Tensor] = {}
    for name in ("sum", "mean", "prod", "var"):
        compute = getattr(torch, name)
        found |= {name: compute(x, dim=1), f"{name} of all": compute(x.double()[:, :2])}
        found |= {f"{name} kept": compute(x, dim=-2, keepdim=True)}
    for name in ("amax", "amin"):
        compute = getattr(torch, name)
        found |= {
            name: compute(x, dim=(0, 2)),
            f"{name} odd": compute(odd),
            f"{name} whole": compute(n, dim=1),
        }
    for name in ("argmax", "argmin"):
        compute = getattr(torch, name)
        found |= {name: compute(n, dim=1), f"{name} of all": compute(x), f"{name} odd": compute(odd)}
        found |= {f"{name} kept": compute(x, dim=2, keepdim=True)}
    for name in ("any", "all"):
        compute = getattr(torch, name)
        found |= {
            name: compute(t, dim=1),
            f"{name} of all": compute(t),
            f"{name} of numbers": compute(n, dim=0),
        }
        found |= {f"{name} odd": compute(odd), f"{name} of two": compute(t, dim=(0, 1))}
    return found | {
        "sum of two": x.sum((0, 2)),
        "sum of bool": t.sum(-1),
        "sum whole": n.sum(),
        "sum as float64": x.sum(dtype=torch.float64),
        "mean of two": x.mean((1, 2)),
        "population variance": x.var(1, correction=0),
        "std": x.std(1),
        "max": x.max(),
        "min": n.min(),
        "max and where": x.max(dim=1),
        "min and where": n.min(dim=-1, keepdim=True),
        "cumsum": x.cumsum(1),
        "cumsum last": n.cumsum(-1),
        "cumsum of bool": t.cumsum(0),
        "sort": x.sort(1),
        "sort odd": odd.sort(),
        "sort down": odd.sort(descending=True),
        "sort equals": n.sort(stable=True, dim=1),
        "topk": x.topk(2, dim=1),
        "least": x.topk(2, dim=1, largest=False),
        "softmax": x.softmax(-1),
        "softmax in the middle": (300 * x).softmax(1),
        "softmax of nothing": torch.full_like(p, -torch.inf).softmax(-1),
        "log_softmax": (20 * x).log_softmax(0),
        "logsumexp": x.logsumexp(1),
        "layer_norm": F.layer_norm(x.mT, (3,), SCALE[:, 0].contiguous(), SHIFT[:, 1].contiguous()),
        "layer_norm bare": F.layer_norm(x.mT, (3,), eps=0.1),
        "layer_norm of two": F.layer_norm(
            x.expand(2, *x.shape)[..., :1].expand(2, -1, 3, 2), (3, 2), SCALE, SHIFT
        ),
    }


def multiplied(x, y, n):
    """Products of matrices."""
    return {
        "mm": x[0].mT @ WIDE,
        "bmm": x.mT @ x,
        "matmul": x.mT @ WIDE,
        "vector": y.mT @ WIDE[:, 0],
        "addmm": torch.addmm(WIDE[0], y.mT, WIDE),
        "addmm scaled": torch.addmm(WIDE[0], y.mT, WIDE, beta=0.5, alpha=-2),
        "baddbmm": torch.baddbmm(x[:, :, :1], x, x.mT, alpha=0.3),
        "linear": F.linear(x.mT, WIDE.mT, WIDE[0]),
        "einsum": torch.einsum("aib,ij->ajb", x, WIDE),
        "whole": n[0].mT @ n[0],
    }


def every_operation(**given):
    def of(function):
        code = function.__code__
        return function(**{name: given[name] for name in code.co_varnames[: code.co_argcount]})

    x, m = given["x"], given["m"]
    groups = [alone, together, made, moved, summed, multiplied]
    whole = {"whole constant": m[:, :1] + WHOLE, "given back": x}
    return {function.__name__: of(function) for function in groups} | {"others": whole}
