"""How many heads does the translator of lesson 05 take? Three seeds each, trained briefly and to the end.

    python -m evidence.translator            # trains 24 models, some 15 minutes, and prints what they reach
    python -m evidence.translator --write    # also puts them into evidence/results/translator.json
    python -m evidence.translator --heads 4  # trains some of them

The number of parameters is the same for every number of heads. A result is the share of exact matches on
4,000 numbers of all kinds and on 4,000 with many zeros inside; no translator was trained on them. Translators
that are trained to the end are kept in build/translators/, where an interrupted training goes on. A test
trains one of the brief ones anew.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from evidence.tables import read_table, write_table
from mha_lib import EncoderDecoder
from mha_lib.classroom.translator import (
    Training,
    exact_matches,
    held_out_numbers,
    make_translator,
    train_translator,
)

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "evidence" / "results" / "translator.json"
HEADS, SEEDS, EARLY, EXAMS = (1, 2, 4, 8), range(3), 250, 4000

Result = tuple[float, float]  # exact matches on all numbers and on those with many zeros


def train_briefly(num_heads: int, seed: int) -> EncoderDecoder:
    """Train in few steps: a short training of its own, not the first steps of a long one. It is not kept."""
    training = Training(make_translator(num_heads, seed), steps=EARLY, seed=seed)
    with TemporaryDirectory() as folder:
        return training.run(show_progress=False, folder=folder).model


def train_to_the_end(num_heads: int, seed: int) -> EncoderDecoder:
    return train_translator(num_heads, seed, folder=ROOT / "build" / "translators").model


def exam(model: EncoderDecoder, numbers: int = EXAMS) -> Result:
    all_numbers, zero_rich = (
        exact_matches(model, held_out_numbers(numbers, zero_rich=zero_rich)).float().mean().item()
        for zero_rich in (False, True)
    )
    return round(all_numbers, 4), round(zero_rich, 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--heads", type=int, nargs="+", choices=HEADS, default=HEADS)
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.relative_to(ROOT)}")
    options = parser.parse_args()
    for heads in options.heads:
        results = {
            "early": [exam(train_briefly(heads, seed)) for seed in SEEDS],
            "late": [exam(train_to_the_end(heads, seed)) for seed in SEEDS],
        }
        print(f"\n{heads}: {results}", flush=True)
        if options.write:
            write_table(TABLE, read_table(TABLE) | {str(heads): results})


if __name__ == "__main__":
    main()
