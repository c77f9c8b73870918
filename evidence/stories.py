"""What do the heads of lesson 07's small language model do, over seeds?

    python -m evidence.stories en           # trains what is not kept yet; prints what all models reach
    python -m evidence.stories en --write   # also puts it into evidence/results/stories_en.json

The lesson's own cells make, train and measure the models: an hour for a language on one quiet core. The
models are kept in build/stories/, so a run that was stopped goes on; delete that folder after a change of the
stories, of the model or of its training. The lesson repeats these numbers; tests compare the two.
"""

import argparse
from pathlib import Path
from statistics import median
from typing import Any

import torch

from evidence.heads import run_cells
from evidence.tables import Table, write_table
from mha_lib.classroom.lesson.language import source_folder
from mha_lib.classroom.stories import tales_in
from mha_lib.classroom.trainings import one_thread

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "build" / "stories"
SEEDS = range(24)
MEASURING = ("measured", "leads", "measures", "removal", "hiding", "swapping", "harder")


def table_of(language: str) -> Path:
    return ROOT / "evidence" / "results" / f"stories_{language}.json"


def lesson_of(language: str) -> Path:
    return source_folder(ROOT, language) / "07_small_language_model.ipynb"


@one_thread()
def lesson_with_model(language: str, seed: int, num_heads: int = 2) -> dict[str, Any]:
    """The names of the lesson, with a model of this seed and so many heads a layer, kept or trained now."""
    lesson = run_cells(lesson_of(language), "imports", "model")
    lesson["tales"] = tales_in(language)
    lesson["kept_steps"] = lambda steps, *parts: range(steps)
    torch.manual_seed(seed)
    model = lesson["make_model"](num_heads).eval()
    file = KEPT / f"{language}-{num_heads}-heads-{seed}.pt"
    if not file.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        torch.save(lesson["train"](model, torch.Generator().manual_seed(seed)), file)
    states = torch.load(file, weights_only=True)
    model.load_state_dict(states[max(states)])
    return lesson | {"model": model, "states": states}


@one_thread()
def measured(language: str, seed: int) -> dict[str, dict[str, float]]:
    """Run the lesson's measuring cells on this seed's model, and return their numbers."""
    lesson = run_cells(lesson_of(language), *MEASURING, given=lesson_with_model(language, seed))
    kinds = ["words", "first", "asked", "later"]
    reached: dict[str, dict[str, Any]] = {}
    for step, model in lesson["on_the_way"].items():
        reached[f"right after {step} steps"] = dict(zip(kinds, lesson["right"](model), strict=True))
    heads = [f"{layer}.{head}" for layer, head in lesson["HEADS"]]
    parts = ["table", "0.0", "0.1", "network 0", "1.0", "1.1", "network 1"]
    reached["share"] = dict(zip(parts, lesson["shares_here"], strict=True))
    reached["before"] = dict(zip(heads[:2], lesson["before"], strict=True))
    reached["after"] = dict(zip(heads[2:], lesson["after"], strict=True))
    reached["later without"] = dict(zip(heads, lesson["later_without"], strict=True))
    hidden = lesson["hidden"].values()
    reached["later, note hidden from"] = dict(zip(["nothing", *"qkv"], hidden, strict=True))
    reached["even"] = {"before": lesson["even"][0][0], "after": lesson["even"][1][1]}
    one_by_one = (lesson["swapped"](lesson["model"], head) for head in lesson["HEADS"])
    reached["swapped alone"] = dict(zip(heads, one_by_one, strict=True))
    for layer, answers in enumerate(lesson["answers"]):
        reached[f"layer {layer}"] = dict(zip(["share", "lost", "swapped"], answers, strict=True))
    for kind, right in zip(
        ["as trained", "names of six", "384 tokens"], lesson["harder"].values(), strict=True
    ):
        reached[kind] = dict(zip(kinds[1:], right, strict=True))
    reached |= more_heads(language, seed)
    return {part: {name: round(float(x), 3) for name, x in found.items()} for part, found in reached.items()}


@one_thread()
def more_heads(language: str, seed: int) -> dict[str, dict[str, float]]:
    """The shares of layer 1's heads in names, in a model of four heads a layer, the largest first."""
    given = lesson_with_model(language, seed, num_heads=4)
    lesson = run_cells(lesson_of(language), "measured", "leads", "removal", given=given)
    shares = lesson["shares_here"]  # table, four heads, network, four heads, network
    order = shares[6:10].argsort(descending=True).tolist()
    alone = [lesson["without"](lesson["model"], (1, head))[3] for head in order]
    ranks = ["first", "second", "third", "fourth"]
    return {
        "four heads, share": dict(zip(ranks, shares[6:10][order], strict=True)),
        "four heads, later without": dict(zip(ranks, alone, strict=True)),
        "four heads": {"later": lesson["right"](lesson["model"])[3], "layer 0": shares[1:5].abs().max()},
    }


def table(language: str) -> Table:
    """The measures of each part, a number for each seed."""
    seeds = [measured(language, seed) for seed in SEEDS]
    return {
        part: {name: [seed[part][name] for seed in seeds] for name in found}
        for part, found in seeds[0].items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("language")
    parser.add_argument("--write", action="store_true", help="put the table into evidence/results/")
    given = parser.parse_args()
    found = table(given.language)
    for part, measures in found.items():
        for name, numbers in measures.items():
            print(f"{part}, {name}: {median(numbers):.3f} ({min(numbers):.3f} to {max(numbers):.3f})")
    if given.write:
        write_table(table_of(given.language), found)


if __name__ == "__main__":
    main()
