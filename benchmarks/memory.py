"""How much memory does attention need? The peak of one forward and backward pass, for ever longer inputs.

    python -m benchmarks.memory            without weights (full, half padded, causal …), and with them
    python -m benchmarks.memory --record   keep the table in benchmarks/results/

Each number comes from a new process. Without weights the peak grows linearly in N; with them it
grows quadratically, so they stop at N = 4k. "2 N keys": N queries stand at the end of 2 N keys.
"""

import argparse
import resource
import subprocess
import sys

import torch

from benchmarks.attention import RESULTS
from benchmarks.machine import describe_machine
from mha_lib import MultiHeadAttention

BATCH, NUM_HIDDENS, NUM_HEADS = 2, 128, 4
KINDS = (
    "full",
    "half padded",
    "causal",
    "causal, half padded",
    "causal, 2 N keys",
    "causal, gaps",
    "weights",
)
LENGTHS = (1024, 2048, 4096, 8192, 16384)
LONGEST_WITH_WEIGHTS = 4096


def peak_megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def measure_here(kind: str, num_tokens: int) -> float:
    """Return how much a forward and a backward pass raise the peak of this process."""
    layer = MultiHeadAttention(NUM_HIDDENS, NUM_HEADS)

    def run(num_tokens: int) -> None:
        x = torch.randn(BATCH, num_tokens, NUM_HIDDENS, requires_grad=True)
        keys = torch.randn(BATCH, 2 * num_tokens, NUM_HIDDENS) if "2 N keys" in kind else x
        valid_lens = torch.tensor([num_tokens // 2] * BATCH) if "padded" in kind else None
        key_mask = torch.arange(num_tokens).expand(BATCH, -1) % 3 > 0 if "gaps" in kind else None
        result = layer(
            x,
            keys,
            valid_lens=valid_lens,
            key_mask=key_mask,
            is_causal="causal" in kind,
            need_weights=kind == "weights",
        )
        output = result[0] if kind == "weights" else result
        output.backward(torch.ones_like(output))

    run(64)  # PyTorch loads parts of itself at first use
    before = peak_megabytes()
    run(num_tokens)
    return peak_megabytes() - before


def measure(kind: str, num_tokens: int) -> float:
    command = [sys.executable, "-m", "benchmarks.memory", "--here", kind, str(num_tokens)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="keep the table in benchmarks/results/")
    parser.add_argument("--here", nargs=2, metavar=("KIND", "N"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(measure_here(options.here[0], int(options.here[1])))
        return

    lines = [
        f"Peak memory of one forward and backward pass, above what the process held before, in MB; "
        f"B={BATCH}, D={NUM_HIDDENS}, H={NUM_HEADS}, float32.",
        "",
        "| | " + " | ".join(f"N={n // 1024}k" for n in LENGTHS) + " |",
        "|---" * (1 + len(LENGTHS)) + "|",
    ]
    print("\n".join(lines), flush=True)
    for kind in KINDS:
        lengths = [n for n in LENGTHS if kind != "weights" or n <= LONGEST_WITH_WEIGHTS]
        cells = [f"{measure(kind, n):.0f}" for n in lengths] + [""] * (len(LENGTHS) - len(lengths))
        lines.append(f"| {kind} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    lines += ["", *describe_machine("cpu")]
    if options.record:
        RESULTS.mkdir(exist_ok=True)
        text = "# Memory of attention on the CPU\n\n" + "\n".join(lines) + "\n"
        (RESULTS / "memory-cpu.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
