"""How well do the small models of lesson 06 do, over seeds? Positions, windows, a cache that slides, sinks.

    python -m evidence.today           # trains what is not kept yet; prints what all models reach
    python -m evidence.today --write   # also puts it into evidence/results/today.json

All trainings take about 40 minutes of one quiet core. The lesson's own cells make and train the models. What
a seed has reached is kept in build/today/, so a run that was stopped goes on; delete that folder after a
change of a task, of a model or of a training. The lesson repeats these numbers; tests compare the two, and
train one of the models anew.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional as F

from evidence.heads import run_cells
from mha_lib import KVCache
from mha_lib.classroom.lesson.language import source_folder

ROOT = Path(__file__).parents[1]
TABLE, KEPT = ROOT / "evidence" / "results" / "today.json", ROOT / "build" / "today"
POSITIONS, WINDOWS, LENGTHS = ("learnt", "rotary", "ALiBi"), (8, 16, 24, 32, 40), (40, 80, 160, 320)
CACHES: dict[str, tuple[int, int] | None] = {
    "all tokens": None,
    "the last 40": (0, 40),
    "the first and the last 39": (1, 39),
}
SEEDS = range(24)

Reached = dict[str, dict[str, float]]  # what was measured, by the name of the model

FILE = source_folder(ROOT, "en") / "06_heads_today.ipynb"
LESSON = run_cells(FILE, "imports", "reader")
LESSON["kept_steps"] = lambda steps, *parts: range(steps)


def positions(seed: int) -> Reached:
    """The share right at each length, by positions, and with windows of keys where keys are not learnt."""
    reached = {}
    for kind in POSITIONS:
        torch.manual_seed(seed)
        reader = LESSON["train_reader"](LESSON["Reader"](kind), seed=seed)
        reached[kind] = at_each_length(reader)
        for window in WINDOWS if kind != "learnt" else ():
            reached[f"{kind}, window {window}"] = at_each_length(reader, window)
    return reached


def at_each_length(reader: Any, window: int | None = None) -> dict[str, float]:
    return {str(length): LESSON["right_at_the_end"](reader, length, window) for length in LENGTHS}


@torch.no_grad()
def stream(reader: Any, inputs: torch.Tensor, keep: tuple[int, int] | None) -> torch.Tensor:
    """The logits, a token a step; ``keep``: how many first and how many last tokens the caches hold."""
    caches, steps = [KVCache(layer, *inputs.shape) for layer in reader.layers], []
    for token in inputs.split(1, dim=1):
        steps.append(reader(token, caches))
        if keep:
            for cache in caches:
                cache.keep(*keep)
    return torch.cat(steps, dim=1)


def streamed(seed: int) -> Reached:
    """The loss and the share right in long texts with three caches, and what the first token is to heads."""
    torch.manual_seed(seed)
    reader = LESSON["train_reader"](LESSON["Reader"]("rotary", num_heads=2), steps=800, seed=seed)
    inputs, tokens, known = LESSON["draw_texts"](32, 400, torch.Generator().manual_seed(99))
    measured: Reached = {}
    for name, keep in CACHES.items():
        logits, late = stream(reader, inputs, keep)[:, 200:], tokens[:, 200:]
        loss = F.cross_entropy(logits.flatten(0, 1), late.flatten()).item()
        right = (logits.argmax(-1) == late)[known[:, 200:]].float().mean().item()
        measured[name] = {"loss": loss, "right": right}
    for name, heads in on_the_first(reader).items():
        measured[name] = {f"head {head}": number for head, number in enumerate(heads.tolist())}
    return measured


@torch.no_grad()
def on_the_first(reader: Any) -> dict[str, torch.Tensor]:
    """The weight of the first token in layer 1, and the size of values, for each head.

    The weights are those of the tokens from the 20th on of short texts: where the next letter cannot be
    known, and where it can.
    """
    inputs, _, known = LESSON["draw_texts"](100, 40, torch.Generator().manual_seed(99))
    x = reader.token(inputs)
    x = x + reader.layers[0](reader.norms[0](x), is_causal=True)
    layer, normed = reader.layers[1], reader.norms[1](x)
    _, weights = layer(normed, is_causal=True, need_weights=True)  # (B, H, Q, K)
    first, late = weights[:, :, 20:, 0], known[:, None, 20:]  # (B, H, 20)
    blind, knowing = ((first * where).sum((0, 2)) / where.sum((0, 2)) for where in (~late, late))
    sizes = layer.W_v(normed).unflatten(-1, (layer.num_heads, -1)).norm(dim=-1)  # (B, N, H)
    of_first, of_others = sizes[:, 0].mean(0), sizes[:, 1:].mean((0, 1))
    names = "cannot know", "can know", "value of the first", "other values"
    return dict(zip(names, (blind, knowing, of_first, of_others), strict=True))


MEASURES: dict[str, Callable[[int], Reached]] = {"positions": positions, "streamed": streamed}


def reached(name: str, seed: int) -> Reached:
    """The results of a seed, kept or measured now."""
    file = KEPT / f"{name}-{seed}.json"
    if not file.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(MEASURES[name](seed)), encoding="utf-8")
    return json.loads(file.read_text(encoding="utf-8"))


def table_of(name: str) -> dict[str, dict[str, list[float]]]:
    """The measures of each model, a number for each seed."""
    seeds = [reached(name, seed) for seed in SEEDS]
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
