"""The stable names, listed in stable.json: what keeps working through all of 1.x (docs/en/stability.md).

``.venv/bin/python -m tools.stable`` adds to the list what is new; before a release it is run, and the list is
committed. It takes nothing off: a test fails while a name that is listed is missing.
"""

import inspect
import json
import re
from argparse import _SubParsersAction
from dataclasses import fields
from pathlib import Path
from typing import Any

import mha_lib
import mha_lib.classroom
from mha_lib.classroom.__main__ import make_parser
from mha_lib.classroom.exercises import names_by_lesson
from mha_lib.classroom.exercises.progress import Progress
from mha_lib.classroom.exercises.reports import FORMAT, Report
from mha_lib.classroom.lesson.grammar import BLOCK, Identity
from mha_lib.classroom.lesson.language import words_in

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_suffix(".json")
Names = dict[str, dict[str, list[str]]]  # by kind and name: what belongs to it, such as its arguments
# The targets of make that serve this repository's own development.
INNER = {
    "bench",
    "biome",
    "gpu",
    "hub-proxy",
    "lint",
    "mutants",
    "release",
    "test-all",
    "test-busy",
    "test-ci",
}


def names_today() -> Names:
    """The names that the repository has now, in the form of the list."""
    targets = re.findall(r"^([a-z-]+):.* ## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    lessons = sorted((ROOT / "notebooks" / "en").glob("*.ipynb"))
    return {
        "mha_lib": {name: arguments_of(getattr(mha_lib, name)) for name in mha_lib.__all__},
        "mha_lib.classroom": {
            name: arguments_of(getattr(mha_lib.classroom, name)) for name in mha_lib.classroom.__all__
        },
        "make": {target: [] for target in targets if target not in INNER},
        "mha": options_by_command(),
        "exercises": names_by_lesson(),
        "cells": {lesson.stem: cell_ids(lesson) for lesson in lessons},
        "reports": {
            f"mha_lib_report {FORMAT}": [field.name for field in fields(Report)],
            "exercises": [field.name for field in fields(Progress)],
        },
        "metadata": {BLOCK: [field.name for field in fields(Identity)]},
    }


def arguments_of(public: Any) -> list[str]:
    if not callable(public):
        return []
    return [name for name in inspect.signature(public).parameters if name not in {"args", "kwargs"}]


def options_by_command() -> dict[str, list[str]]:
    parser = make_parser(words_in("en")["command_line"], "en")
    (commands,) = (action for action in parser._actions if isinstance(action, _SubParsersAction))
    return {
        name: [*command._option_string_actions.keys() - {"-h"}] for name, command in commands.choices.items()
    }


def cell_ids(lesson: Path) -> list[str]:
    return [cell["id"] for cell in json.loads(lesson.read_text(encoding="utf-8"))["cells"]]


def listed() -> Names:
    kinds = json.loads(LIST.read_text(encoding="utf-8"))
    return {kind: {name: parts.split() for name, parts in names.items()} for kind, names in kinds.items()}


def lacking(wanted: Names, there: Names) -> list[str]:
    """The names that are wanted and not there, such as ``mha_lib: MultiHeadAttention(window)``."""
    missing = []
    for kind, names in wanted.items():
        for name, parts in names.items():
            if name not in there.get(kind, {}):
                missing.append(f"{kind}: {name}")
            else:
                has = there[kind][name]
                missing += [f"{kind}: {name}({part})" for part in parts if part not in has]
    return missing


def add_new(former: Names, today: Names) -> None:
    """Write the list with what is new, a line for each name."""
    kinds: dict[str, dict[str, str]] = {}
    for kind in sorted({*former, *today}):
        then, now = former.get(kind, {}), today.get(kind, {})
        kinds[kind] = {
            name: " ".join(sorted({*then.get(name, ()), *now.get(name, ())}))
            for name in sorted({*then, *now})
        }
    LIST.write_text(json.dumps(kinds, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    add_new(listed() if LIST.exists() else {}, names_today())
