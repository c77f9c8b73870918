"""Names that older copies of the lessons import from here; the lessons import them from the rooms."""

import importlib
from typing import Any

# Two have an `importance_by_removal`; the lessons had the first.
ROOMS = ("translator", "explorer", "heads", "trainings")


def __getattr__(name: str) -> Any:
    if name == "largest_difference":
        return importlib.import_module("mha_lib.from_transformers").largest_difference
    for room in ROOMS:
        module = importlib.import_module(f"mha_lib.classroom.{room}")
        if not name.startswith("_") and hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
