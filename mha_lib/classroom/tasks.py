"""Names that older copies of the lessons import from here; the lessons import them from the rooms."""

import importlib
from typing import Any

ROOMS = (
    "translator",
    "explorer",
    "heads",
    "trainings",
)  # two have `importance_by_removal`: lessons had the first


def __getattr__(name: str) -> Any:
    if name == "largest_difference":
        return importlib.import_module("mha_lib.from_transformers").largest_difference
    for room in ROOMS:
        module = importlib.import_module(f"mha_lib.classroom.{room}")
        if not name.startswith("_") and hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
