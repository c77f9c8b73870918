"""How many heads do the four reports of lesson 03 take? Five seeds each, by the lesson's own cells.

    python -m benchmarks.heads            # trains 30 models, some minutes; prints the lesson's table
    python -m benchmarks.heads --write    # also puts it into the lesson of each language

The lesson keeps the table in its cell ``five-seeds``; a test trains one of the thirty anew.
"""

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from mha_lib.classroom.course.files import as_json
from mha_lib.classroom.course.language import source_folder
from mha_lib.classroom.course.lessons import written_languages

ROOT = Path(__file__).parents[1]
LESSONS = [
    source_folder(ROOT, language) / "03_multi_head_attention.ipynb" for language in written_languages(ROOT)
]
TASK = [
    "make-batch",
    "reporter-class",
    "digits-wanted",
    "train-code",
    "train-heads",
    "exam-code",
    "score-code",
]
TABLE = "five-seeds"  # the cell that holds the results
HEADS, SEEDS = (1, 2, 3, 4, 8), range(5)

Result = tuple[float, float]  # the share explained, and the share of positions with four right reports


def source_of(lesson: Path, cell: str) -> str:
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
    return next("".join(each["source"]) for each in cells if each["id"] == cell)


def run_cells(lesson: Path, *names: str) -> dict[str, Any]:
    """Run the cells one after the other, and return all names that they define."""
    namespace: dict[str, Any] = {"__name__": lesson.stem}
    for name in names:
        exec(compile(source_of(lesson, name), name, "exec"), namespace)
    return namespace


def task_of(lesson: Path) -> dict[str, Any]:
    """The lesson's task, without the models that the lesson trains; no training is kept."""
    task = run_cells(lesson, "imports", *TASK)
    task["kept_steps"] = lambda steps, *parts: range(steps)
    return task


def train_with_hidden_layer(task: Mapping[str, Any], seed: int) -> nn.Module:
    """Train three heads with a read-out that is not linear."""
    torch.manual_seed(seed)
    model = task["Reporter"](3)
    model.read_out = nn.Sequential(nn.Linear(96, 256), nn.ReLU(), nn.Linear(256, 4 * 10))
    return task["train"](model, seed)


def as_line(results: list[Result]) -> str:
    return "[" + ", ".join(f"({explained:.3f}, {right:.3f})" for explained, right in results) + "]"


def write_table(lesson: Path, five_seeds: str, hidden_layer: str) -> None:
    """Put the results into the cell and keep its comments, which are in the lesson's language."""
    notebook = json.loads(lesson.read_text(encoding="utf-8"))
    cell = next(cell for cell in notebook["cells"] if cell["id"] == TABLE)
    text = re.sub(r"(?ms)(^five_seeds = \{.*?\n).*?^\}", rf"\g<1>{five_seeds}\n}}", "".join(cell["source"]))
    text = re.sub(r"(?m)^(hidden_layer = ).*$", rf"\g<1>{hidden_layer}", text)
    cell["source"] = text.splitlines(keepends=True)
    lesson.write_text(as_json(notebook), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="put the table into the lessons")
    write = parser.parse_args().write
    torch.set_num_threads(1)  # models this small gain nothing from more, and results stay the same everywhere
    task = task_of(LESSONS[0])
    lines = []
    for heads in HEADS:
        results = [task["score"](task["train_heads"](heads, seed)) for seed in SEEDS]
        lines.append(f"    {heads}: {as_line(results)},")
        print(lines[-1], flush=True)
    hidden_layer = as_line([task["score"](train_with_hidden_layer(task, seed)) for seed in SEEDS])
    print(f"three heads and a hidden layer: {hidden_layer}")
    if write:
        for lesson in LESSONS:
            write_table(lesson, "\n".join(lines), hidden_layer)


if __name__ == "__main__":
    main()
