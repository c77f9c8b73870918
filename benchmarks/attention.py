"""How fast is attention? mha_lib beside nn.MultiheadAttention, a textbook version and the bare projections.

    python -m benchmarks.attention                      every case for the CPU; for a GPU: --device cuda
    python -m benchmarks.attention --only padded 1024   the cases whose name contains both words
    python -m benchmarks.attention --only decoding      one token at a time, with and without a cache
    python -m benchmarks.attention --record             keep the table in benchmarks/results/

All contenders hold the same parameters, and a check ensures that they give the same output. They take turns:
a round measures each of them once, so other work of the machine slows all alike. A ratio is a quotient of
medians; the brackets behind it hold the quartiles of the ratios of single rounds.
"""

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.machine import describe_machine
from mha_lib import (
    DecoderCache,
    EncoderDecoder,
    KVCache,
    MultiHeadAttention,
    causal_mask,
    merge_heads,
    padding_mask,
    split_heads,
)
from mha_lib.positions import waves_like

RESULTS = Path(__file__).parent / "results"
PICTURES = Path("build/bench")
BASELINE = "nn.MultiheadAttention"


class Case(NamedTuple):
    batch: int
    num_queries: int
    num_keys: int
    num_hiddens: int
    num_heads: int
    kind: str  # full | half padded | key mask | causal
    need_weights: bool = False

    @property
    def name(self) -> str:
        tokens = (
            f"N={self.num_keys}"
            if self.num_queries == self.num_keys
            else f"Q={self.num_queries} K={self.num_keys}"
        )
        return f"{tokens}, {self.kind}" + (", weights" if self.need_weights else "")


KINDS = ("full", "half padded", "causal")
CASES = {
    "cpu": [
        Case(8, n, n, 512, 8, kind, weights)
        for weights in (False, True)
        for n in (512, 1024)
        for kind in KINDS
    ]
    + [Case(8, 1, 1024, 512, 8, kind) for kind in ("full", "half padded")]
    + [Case(8, 1024, 1024, 512, 8, "key mask"), Case(8, 512, 1024, 512, 8, "causal")]
    + [Case(1, 8, 8, 64, 8, "half padded", weights) for weights in (False, True)],
    "cuda": [Case(8, 4096, 4096, 1024, 16, kind) for kind in KINDS]
    + [Case(8, 1024, 1024, 1024, 16, kind, True) for kind in KINDS],
}

# One decoding step: num_kv_heads for a layer of 16 heads; the last one is the layer of the cases above.
DECODING = [(8, 1024, 1024, 16, num_kv_heads) for num_kv_heads in (16, 4, 1)] + [(8, 1024, 512, 8, 8)]
DECODING_BAR = 20  # times faster with a cache than without, for the last of these
DECODED = 4  # tokens that a round decodes one after another, as generating does

RUNS_OF_SMALL = 100  # calls in a row that are timed together where one takes less than the clock can tell

# The library must reach: (device, case, measured against, ratio at most), forward and forward+backward.
FORWARD_BARS = [("cpu", f"N=512, {kind}, weights", BASELINE, 1.0) for kind in KINDS]
BARS = [
    *(("cpu", f"N={n}, full", BASELINE, 1.05) for n in (512, 1024)),
    ("cpu", "N=1024, half padded", BASELINE, 0.75),
    ("cpu", "N=1024, half padded", "textbook", 0.40),
    *(("cpu", f"N={n}, {kind}, weights", BASELINE, 1.1) for n in (512, 1024) for kind in KINDS),
    ("cpu", "N=1024, full", BASELINE, 0.80),
    ("cpu", "N=8, half padded", BASELINE, 1.5),
    ("cpu", "N=8, half padded, weights", BASELINE, 1.2),
    ("cpu", "N=1024, key mask", "masked SDPA", 1.05),
    ("cpu", "Q=512 K=1024, causal", "masked SDPA", 1.05),
    ("cuda", "N=4096, full", "masked SDPA", 1.10),  # without a mask: FlashAttention and the projections
    ("cuda", "N=4096, half padded", "masked SDPA", 1 / 1.5),
]


def contenders(
    case: Case, device: str, dtype: torch.dtype
) -> tuple[dict[str, Callable[[], list[Tensor]]], nn.Module]:
    """Return the functions to compare, whose results start the backward pass, and all parameters."""
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(
        case.num_hiddens, case.num_heads, batch_first=True, device=device, dtype=dtype
    )
    ours = MultiHeadAttention.from_torch(theirs)
    queries = torch.randn(case.batch, case.num_queries, case.num_hiddens, device=device, dtype=dtype)
    keys = torch.randn(case.batch, case.num_keys, case.num_hiddens, device=device, dtype=dtype)
    keys = queries if case.num_queries == case.num_keys else keys
    for x in (queries, keys):
        x.requires_grad_()

    is_causal = case.kind == "causal"
    valid_lens, mask = None, None  # (B,) on the CPU; (B, 1, 1, K) or (Q, K)
    is_padded = case.kind in ("half padded", "key mask")
    if is_padded:
        valid_lens = torch.linspace(1, case.num_keys, case.batch).long()
        mask = padding_mask(valid_lens, case.num_keys)[:, None].to(device)
    if is_causal:
        mask = causal_mask(case.num_queries, case.num_keys).to(device)
    padding = None if mask is None or not is_padded else ~mask[:, 0, 0]
    limits: dict[str, Any] = {"valid_lens": valid_lens}
    if case.kind == "key mask" and padding is not None:
        limits = {"key_mask": ~padding}
    forbidden = ~mask if mask is not None and is_causal else None
    by_flag = is_causal and case.num_queries == case.num_keys  # PyTorch's flag is aligned at the first key

    def project() -> list[Tensor]:
        return [
            split_heads(W(x), case.num_heads)
            for W, x in ((ours.W_q, queries), (ours.W_k, keys), (ours.W_v, keys))
        ]

    def mha_lib() -> list[Tensor]:
        result = ours(queries, keys, **limits, is_causal=is_causal, need_weights=case.need_weights)
        return [result[0] if case.need_weights else result]

    def multihead_attention() -> list[Tensor]:
        output, _ = theirs(
            queries,
            keys,
            keys,
            key_padding_mask=padding,
            need_weights=case.need_weights,
            attn_mask=forbidden,
            is_causal=by_flag,
            average_attn_weights=False,
        )
        return [output]

    def textbook() -> list[Tensor]:
        """Fold the heads into the batch, build every score and mask it."""
        q, k, v = (x.flatten(0, 1) for x in project())  # (B*H, N, d)
        scores = torch.bmm(q, k.transpose(1, 2)) / (case.num_hiddens // case.num_heads) ** 0.5
        if mask is not None:
            folded = mask if is_causal else mask.repeat_interleave(case.num_heads, dim=1).flatten(0, 1)
            scores = scores.masked_fill(~folded, -1e6)
        weights = scores.softmax(dim=-1)
        heads = torch.bmm(weights, v).unflatten(0, (case.batch, case.num_heads))
        return [ours.W_o(merge_heads(heads))]

    def masked_sdpa() -> list[Tensor]:
        """PyTorch's attention between the projections."""
        q, k, v = project()
        heads = F.scaled_dot_product_attention(q, k, v, None if by_flag else mask, is_causal=by_flag)
        return [ours.W_o(merge_heads(heads))]

    def projections() -> list[Tensor]:
        """Compute the four projections alone, without attention."""
        q, k, v = project()
        return [ours.W_o(merge_heads(q)), k, v]

    compared = {
        BASELINE: multihead_attention,
        "mha_lib": mha_lib,
        "textbook": textbook,
        "projections": projections,
    }
    if not case.need_weights:
        compared["masked SDPA"] = masked_sdpa
    return compared, nn.ModuleList([ours, theirs])


def seconds(run: Callable[[], list[Tensor]], backward: bool, device: str, times: int = 1) -> float:
    """Return the seconds of a call, forward or forward and backward; the mean of several ``times``."""
    synchronize = torch.cuda.synchronize if device == "cuda" else lambda: None
    synchronize()
    started = time.perf_counter()
    with torch.set_grad_enabled(backward):
        for _ in range(times):
            outputs = run()
            if backward:
                torch.autograd.backward(outputs, [torch.ones_like(output) for output in outputs])
    synchronize()
    return (time.perf_counter() - started) / times


def measure(case: Case, backward: bool, rounds: int, device: str, dtype: torch.dtype) -> dict[str, Tensor]:
    """Return the seconds of every round for every contender."""
    compared, modules = contenders(case, device, dtype)
    modules.train(backward)
    expected = compared[BASELINE]()[0]
    tolerance = 2e-4 if dtype == torch.float32 else 3e-2
    for name in compared.keys() - {"projections"}:
        torch.testing.assert_close(compared[name]()[0], expected, atol=tolerance, rtol=tolerance)
    del expected
    times: dict[str, list[float]] = {name: [] for name in compared}
    for round_number in range(-1, rounds):  # one round to warm up
        for name, run in compared.items():
            elapsed = seconds(run, backward, device, RUNS_OF_SMALL if case.num_keys < 64 else 1)
            modules.zero_grad()
            if round_number >= 0:
                times[name].append(elapsed)
    return {name: torch.tensor(values, dtype=torch.float64) for name, values in times.items()}


def ratio(times: dict[str, Tensor], name: str, other: str) -> float:
    return float(times[name].median() / times[other].median())


def quartiles(times: dict[str, Tensor], name: str, other: str) -> tuple[float, float]:
    low, high = (times[name] / times[other]).quantile(torch.tensor([0.25, 0.75], dtype=torch.float64))
    return float(low), float(high)


def row(case: Case, mode: str, times: dict[str, Tensor], names: list[str]) -> str:
    cells = []
    for name in names:
        low, high = quartiles(times, name, BASELINE) if name in times else (0, 0)
        cells.append(f"{ratio(times, name, BASELINE):.2f} ({low:.2f}–{high:.2f})" if name in times else "")
    milliseconds = float(times[BASELINE].median()) * 1e3
    return f"| {case.name} | {mode} | {milliseconds:.1f} ms | " + " | ".join(cells) + " |"


def draw(results: dict[tuple[Case, str], dict[str, Tensor]], names: list[str], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shown = [(case, times) for (case, mode), times in results.items() if mode == "forward+backward"]
    figure, axes = plt.subplots(figsize=(9, 1.2 + 0.75 * len(shown)), layout="constrained")
    height = 0.8 / len(names)
    colors = dict(zip(names, ("#0067A5", "#B04500", "#007556", "#97447A"), strict=False))
    for i, name in enumerate(names):
        rows = [j for j, (_, times) in enumerate(shown) if name in times]
        values = [ratio(shown[j][1], name, BASELINE) for j in rows]
        spread = [quartiles(shown[j][1], name, BASELINE) for j in rows]
        errors = [
            [max(0, value - low) for value, (low, _) in zip(values, spread, strict=True)],
            [max(0, high - value) for value, (_, high) in zip(values, spread, strict=True)],
        ]
        places = [j + (i - (len(names) - 1) / 2) * height for j in rows]
        axes.barh(places, values, height, xerr=errors, label=name, color=colors[name])
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(range(len(shown)), [case.name for case, _ in shown])
    axes.invert_yaxis()
    axes.set_xlabel(f"time forward+backward, {BASELINE} = 1; shorter is faster")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=4)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def measure_decoding(
    batch: int,
    num_keys: int,
    num_hiddens: int,
    num_heads: int,
    num_kv_heads: int,
    rounds: int,
    device: str,
    dtype: torch.dtype,
) -> tuple[Tensor, Tensor, int]:
    """Return the seconds a token takes in each round, without and with a cache, and the bytes it keeps.

    The tokens are the last ones of ``num_keys``, decoded one after another.
    """
    torch.manual_seed(0)
    layer = MultiHeadAttention(
        num_hiddens, num_heads, num_kv_heads=num_kv_heads, device=device, dtype=dtype
    ).eval()
    x = torch.randn(batch, num_keys, num_hiddens, device=device, dtype=dtype)
    cache = KVCache(layer, batch, num_keys)
    with torch.no_grad():
        layer(x, cache=cache, is_causal=True)

    lengths = range(num_keys - DECODED + 1, num_keys + 1)

    def without() -> list[Tensor]:
        return [layer(x[:, length - 1 : length], x[:, :length], is_causal=True) for length in lengths]

    def with_cache() -> list[Tensor]:
        cache.crop(num_keys - DECODED)  # forgets the tokens of the last round
        return [layer(x[:, length - 1 : length], cache=cache, is_causal=True) for length in lengths]

    with torch.no_grad():
        tolerance = 2e-4 if dtype == torch.float32 else 3e-2
        torch.testing.assert_close(with_cache(), without(), atol=tolerance, rtol=tolerance)
    times: list[list[float]] = [[], []]
    for round_number in range(-1, rounds):  # one round to warm up
        for run, kept in zip((without, with_cache), times, strict=True):
            elapsed = seconds(run, False, device)
            if round_number >= 0:
                kept.append(elapsed / DECODED)
    assert cache.keys is not None
    assert cache.values is not None
    first, second = (torch.tensor(each, dtype=torch.float64) for each in times)
    return first, second, cache.keys.nbytes + cache.values.nbytes


def decoding_table(rounds: int, device: str, dtype: torch.dtype) -> tuple[list[str], bool]:
    """Return the table of decoding steps, and whether the bar is missed."""
    lines = [
        f"One decoding step: time a token of the last {DECODED} of K, one after another.",
        "",
        "| B, K, D, H, key-value heads | without cache | with cache | times faster | bytes kept |",
        "|---|---|---|---|---|",
    ]
    faster = 0.0
    for sizes in DECODING:
        without, with_cache, num_bytes = measure_decoding(*sizes, rounds, device, dtype)
        faster = float(without.median() / with_cache.median())
        low, high = (without / with_cache).quantile(torch.tensor([0.25, 0.75], dtype=torch.float64))
        lines.append(
            f"| {', '.join(map(str, sizes))} | {without.median() * 1e3:.1f} ms "
            f"| {with_cache.median() * 1e3:.2f} ms | {faster:.0f} ({low:.0f}–{high:.0f}) "
            f"| {num_bytes / 2**20:.0f} MB |"
        )
    missed = device == "cpu" and faster < DECODING_BAR
    verdict = " **missed**" if missed else ""
    lines += [
        "",
        f"Asked for at {DECODING[-1]}: at least {DECODING_BAR} times faster; is {faster:.0f}{verdict}.",
    ]
    return lines, missed


def measure_rotary(rounds: int) -> tuple[float, str]:
    """Return how much longer a small rotary layer takes than one without positions, and a line."""
    torch.manual_seed(0)
    layers = [MultiHeadAttention(64, 8, rotary=rotary).eval() for rotary in (True, False)]
    x = torch.randn(1, 8, 64)
    times: list[list[float]] = [[], []]
    for _ in range(rounds):
        for layer, kept in zip(layers, times, strict=True):
            kept.append(seconds(partial(layer, x), False, "cpu", RUNS_OF_SMALL))
    turned, plain = (float(torch.tensor(each).median()) for each in times)
    return turned / plain, f"N=8, rotary / without positions: {turned / plain:.2f}; asked for: at most 1.80."


def measure_positions(rounds: int) -> tuple[float, str]:
    """Return the share of a step of ``generate`` at position 1,024 that looks up positions, and a line."""
    torch.manual_seed(0)
    model = EncoderDecoder(100, 100, 64, 4, 128).eval()
    memory, tokens = torch.randn(1, 8, 64), torch.ones(1, 1023, dtype=torch.int64)
    cache = DecoderCache(model, memory, 2048)
    embedded = torch.randn(1, 1, 64)

    def step() -> list[Tensor]:
        logits = model.decode(tokens[:, :1], memory, cache=cache)
        for keys, _ in cache.layers:
            keys.crop(1023)
        return [logits]

    with torch.no_grad():
        model.decode(tokens, memory, cache=cache)
    shares = []
    for _ in range(rounds):
        found = seconds(lambda: [waves_like(embedded, 1023)], False, "cpu", RUNS_OF_SMALL)
        shares.append(found / seconds(step, False, "cpu", RUNS_OF_SMALL))
    share = float(torch.tensor(shares).median())
    return (
        share,
        f"Positions in a step of generate at T=1024: {share:.1%} of its time; asked for: at most 5 %.",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--device", choices=CASES, default="cpu")
    parser.add_argument("--only", nargs="*", default=[], help="words that a case must contain")
    parser.add_argument("--record", action="store_true", help="keep the table in benchmarks/results/")
    options = parser.parse_args()
    dtype = torch.float32 if options.device == "cpu" else torch.bfloat16

    names = ["mha_lib", "textbook", "masked SDPA", "projections"]
    cases = [case for case in CASES[options.device] if all(word in case.name for word in options.only)]
    decodes = all(word in "decoding" for word in options.only)
    if not cases and not decodes:
        names_of_all = [*(case.name for case in CASES[options.device]), "decoding"]
        parser.error("--only fits none of: " + "; ".join(names_of_all))
    sizes = {(case.batch, case.num_hiddens, case.num_heads) for case in cases}
    lines = [
        f"Time relative to `{BASELINE}`, {options.rounds} rounds; B, D, H = {sorted(sizes)}, {dtype}.",
        "",
    ]
    lines.append(f"| case | | {BASELINE} | " + " | ".join(names) + " |")
    lines.append("|---" * (3 + len(names)) + "|")
    print("\n".join(lines), flush=True)
    results = {}
    for case in cases:
        for mode in ("forward", "forward+backward"):
            times = measure(case, mode == "forward+backward", options.rounds, options.device, dtype)
            results[case, mode] = times
            lines.append(row(case, mode, times, names))
            print(lines[-1], flush=True)

    lines += ["", "| asked for | | at most | is |", "|---|---|---|---|"]
    failed = False
    for case in cases:
        for mode, bars in (("forward", FORWARD_BARS), ("forward+backward", BARS)):
            for device, name, other, most in bars:
                if (device, name) == (options.device, case.name):
                    value = ratio(results[case, mode], "mha_lib", other)
                    failed |= value > most
                    verdict = "" if value <= most else " **missed**"
                    lines.append(
                        f"| {name}: mha_lib / {other} | {mode} | {most:.2f} | {value:.2f}{verdict} |"
                    )
    if decodes:
        table, missed = decoding_table(options.rounds, options.device, dtype)
        failed |= missed
        lines += ["", *table]
    if options.device == "cpu" and not options.only:
        for most, (found, line) in (
            (1.8, measure_rotary(options.rounds)),
            (0.05, measure_positions(options.rounds)),
        ):
            failed |= found > most
            lines += ["", line + (" **missed**" if found > most else "")]
    lines += ["", *describe_machine(options.device)]
    print("\n".join(lines[lines.index("", 4) :]))

    if cases:
        picture = PICTURES / f"attention-{options.device}.png"
        draw(results, names, picture)
        print(f"\nThe picture: {picture}")
    if options.record:
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"attention-{options.device}.md"
        path.write_text(
            f"# Attention on {options.device.upper()}\n\n" + "\n".join(lines) + "\n", encoding="utf-8"
        )
        print(f"The table: {path}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
