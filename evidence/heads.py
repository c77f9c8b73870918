"""How many heads do the four reports of lesson 03 take? Twenty-four seeds each, by the lesson's own cells.

    python -m evidence.heads            # trains 192 models, a quarter of an hour; prints the lesson's table
    python -m evidence.heads --write    # also puts it into the lesson of each language

The lesson keeps the table in its cell ``many-seeds``; a test trains one of them anew.
"""

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from mha_lib.classroom.lesson.files import as_json
from mha_lib.classroom.lesson.language import source_folder
from mha_lib.classroom.lesson.lessons import written_languages

ROOT = Path(__file__).parents[1]
LESSONS = [
    source_folder(ROOT, language) / "03_multi_head_attention.ipynb" for language in written_languages(ROOT)
]
TASK = "the-task"
TABLE = "many-seeds"  # the cell that holds the results, the share explained
HEADS, WITH_HIDDEN_LAYER, SEEDS = (1, 2, 3, 4, 8), (1, 2, 3), range(24)


def source_of(lesson: Path, cell: str) -> str:
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
    return next("".join(each["source"]) for each in cells if each["id"] == cell)


def run_cells(lesson: Path, *names: str, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Run the cells one after the other, and return all names that they define, with those that are given."""
    namespace: dict[str, Any] = {"__name__": lesson.stem, **(given or {})}
    for name in names:
        exec(compile(source_of(lesson, name), name, "exec"), namespace)
    return namespace


def task_of(lesson: Path) -> dict[str, Any]:
    """The lesson's task, without the models that the lesson trains; no training is kept."""
    task = run_cells(lesson, "imports", TASK)
    task["kept_steps"] = lambda steps, *parts: range(steps)
    return task


def train_with_hidden_layer(task: Mapping[str, Any], heads: int, seed: int) -> nn.Module:
    """Train so many heads with a read-out that is not linear."""
    torch.manual_seed(seed)
    model = task["Reporter"](heads)
    model.read_out = nn.Sequential(nn.Linear(96, 256), nn.ReLU(), nn.Linear(256, 4 * 10))
    return task["train"](model, seed)


def as_list(numbers: Sequence[float], indent: str) -> str:
    """The numbers in lines of twelve."""
    lines = [numbers[start : start + 12] for start in range(0, len(numbers), 12)]
    rows = (f"{indent}    {', '.join(f'{number:.3f}' for number in line)},\n" for line in lines)
    return f"[\n{''.join(rows)}{indent}]"


def write_table(lesson: Path, tables: Mapping[str, Mapping[int, list[float]]]) -> None:
    """Put the results into the cell and keep its comments, which are in the lesson's language."""
    notebook = json.loads(lesson.read_text(encoding="utf-8"))
    cell = next(cell for cell in notebook["cells"] if cell["id"] == TABLE)
    text = "".join(cell["source"])
    for name, by_heads in tables.items():
        rows = "".join(f"    {heads}: {as_list(shares, '    ')},\n" for heads, shares in by_heads.items())
        text = re.sub(rf"(?ms)^({name} = \{{.*?\n).*?^\}}", rf"\g<1>{rows}}}", text)
    cell["source"] = text.splitlines(keepends=True)
    lesson.write_text(as_json(notebook), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="put the table into the lessons")
    write = parser.parse_args().write
    torch.set_num_threads(1)  # models this small gain nothing from more, and results stay the same everywhere
    task = task_of(LESSONS[0])
    trainings = {
        "seeds_explained": (task["train_heads"], HEADS),
        "hidden_explained": (partial(train_with_hidden_layer, task), WITH_HIDDEN_LAYER),
    }
    tables: dict[str, dict[int, list[float]]] = {name: {} for name in trainings}
    for name, (train, numbers) in trainings.items():
        for heads in numbers:
            tables[name][heads] = [task["share_explained"](train(heads, seed)) for seed in SEEDS]
            print(name, heads, tables[name][heads], flush=True)
    if write:
        for lesson in LESSONS:
            write_table(lesson, tables)


if __name__ == "__main__":
    main()
