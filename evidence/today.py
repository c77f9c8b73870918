"""How well do the small models of lesson 06 do, over seeds? Positions, a cache that slides, pooled heads.

    python -m evidence.today           # trains what is not kept yet; prints what all models reach
    python -m evidence.today --write   # also puts it into evidence/results/today.json

All trainings take about 40 minutes of one quiet core; half of them are the translators of lesson 05. The
lesson's own cells make and train the models. What a seed has reached is kept in build/today/, so a run that
was stopped goes on; delete that folder after a change of a task, of a model or of a training. The lesson
repeats these numbers; tests compare the two, and train one of the models anew.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import torch

from evidence.heads import run_cells
from mha_lib.classroom.lesson.language import source_folder
from mha_lib.classroom.translator import train_translator

ROOT = Path(__file__).parents[1]
TABLE, KEPT = ROOT / "evidence" / "results" / "today.json", ROOT / "build" / "today"
POSITIONS, LENGTHS = ("none", "learnt", "rotary", "ALiBi"), (40, 80, 160, 320)
SEEDS, TRANSLATOR_SEEDS = range(12), range(8)

Reached = dict[str, dict[str, float]]  # what was measured, by the name of the model

CELLS = ["exam", "starts-code", "reader-class", "draw-texts", "train-reader"]
CELLS += ["slower-code", "stream-code", "streamer-code"]
LESSON = run_cells(source_folder(ROOT, "en") / "06_heads_today.ipynb", "imports", *CELLS)
LESSON["kept_steps"] = lambda steps, *parts: range(steps)


def positions(seed: int) -> Reached:
    """The share right at each length, by positions; then with rotary ones that turn more slowly."""
    readers, reached = {}, {}
    for kind in POSITIONS:
        torch.manual_seed(seed)
        readers[kind] = LESSON["train_reader"](LESSON["Reader"](kind), seed=seed)
        reached[kind] = at_each_length(readers[kind])
    slowed, trained_on = LESSON["slowed_and_trained_on"](readers["rotary"], seed=seed + 1)
    for name, reader in slowed.items():
        reached[name] = at_each_length(reader)
        reached[f"{name}, 50 steps more"] = at_each_length(trained_on[name])
    return reached


def at_each_length(reader: torch.nn.Module) -> dict[str, float]:
    return {str(length): LESSON["right_at_the_end"](reader, length) for length in LENGTHS}


def streamed(seed: int) -> Reached:
    """The loss and the share right in long texts with three caches, and what heads give the first token."""
    reader = LESSON["train_streamer"](seed)
    found = {
        name: dict(zip(("loss", "right"), each, strict=True))
        for name, each in LESSON["streamed"](reader).items()
    }
    weights = LESSON["on_the_first"](reader)
    return found | {"weight on the first": {f"head {head}": weight for head, weight in enumerate(weights)}}


def converted(seed: int) -> Reached:
    """The share right after a conversion from three starts, at once and after 100 more steps."""
    translator = train_translator(seed=seed, folder=ROOT / "build" / "translators").model.cpu()
    reached = {"4": {"trained": LESSON["right"](translator)}}
    for num_kv_heads in (2, 1):
        for start in ("mean", "first", "random"):
            model = LESSON["started_from"](start, translator, num_kv_heads, seed)
            after = LESSON["right"](LESSON["tuned"](model))
            reached[f"{num_kv_heads}, {start}"] = {"at once": LESSON["right"](model), "after": after}
    return reached


MEASURES: dict[str, tuple[Callable[[int], Reached], range]] = {
    "positions": (positions, SEEDS),
    "streamed": (streamed, SEEDS),
    "converted": (converted, TRANSLATOR_SEEDS),
}


def reached(name: str, seed: int) -> Reached:
    """The results of a seed, kept or measured now."""
    file = KEPT / f"{name}-{seed}.json"
    if not file.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(MEASURES[name][0](seed)), encoding="utf-8")
    return json.loads(file.read_text(encoding="utf-8"))


def table_of(name: str) -> dict[str, dict[str, list[float]]]:
    """The measures of each model, a number for each seed."""
    seeds = [reached(name, seed) for seed in MEASURES[name][1]]
    return {
        model: {measure: [round(each[model][measure], 3) for each in seeds] for measure in measures}
        for model, measures in seeds[0].items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.relative_to(ROOT)}")
    write = parser.parse_args().write
    torch.set_num_threads(1)  # models this small gain nothing from more, and results stay the same everywhere
    found = {name: table_of(name) for name in MEASURES}
    print(json.dumps(found, indent=1))
    if write:
        TABLE.write_text(json.dumps(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
