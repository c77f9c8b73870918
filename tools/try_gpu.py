"""Try on one NVIDIA GPU what only a GPU can show, in less than eight minutes: ``make gpu``.

At the end it says for each part whether it was seen on a GPU. It exits with 1 unless all of them were.
"""

import subprocess
import sys
import time

import torch

LIMIT = 470  # seconds for all parts together
TRAINING = """
import torch
torch.set_default_device("cuda")
from mha_lib.classroom.translator.training import train_translator
training = train_translator()
assert {p.device.type for p in training.model.parameters()} == {"cuda"}
"""
PARTS = {
    "the tests that need a GPU": ["-m", "pytest", "-q", "-m", "", "-k", "cuda or gpu", "tests/mha_lib"],
    "make bench in bfloat16": ["-m", "benchmarks.attention", "--device", "cuda", "--rounds", "5"],
    "one training of lesson 05": ["-c", TRAINING],
}


def outcome_of(command: list[str], seconds: float) -> str:
    """Run a part; return an empty text if it was seen, else why not."""
    if not torch.cuda.is_available():
        return "there is no GPU that CUDA finds"
    if seconds <= 0:
        return "no time was left"
    try:
        done = subprocess.run([sys.executable, *command], timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"it was stopped after {seconds:.0f} seconds"
    return "" if done.returncode == 0 else f"it failed, with exit status {done.returncode}"


def main() -> int:
    end = time.monotonic() + LIMIT
    outcomes = {part: outcome_of(command, end - time.monotonic()) for part, command in PARTS.items()}
    seen = [part for part, why in outcomes.items() if not why]
    if seen:
        print(f"Seen on {torch.cuda.get_device_name()}:", *seen, sep="\n  ")
    if missed := [f"{part}: {why}" for part, why in outcomes.items() if why]:
        print("Never seen on a GPU:", *missed, sep="\n  ")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
