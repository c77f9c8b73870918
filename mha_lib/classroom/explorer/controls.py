"""What the arguments of ``explore`` mean: controls for the settings, labels for the axes."""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Control:
    """One argument of ``weights_of``: one entry, or several for a vector."""

    name: str
    kind: str  # slider, switch, choice or text
    values: list[list]  # of each entry; a text has none
    texts: list[list[str]]  # how they read
    start: list[int | str]
    is_vector: bool = False

    def label(self, entry: int) -> str:
        return f"{self.name}[{entry}]" if self.is_vector else self.name

    def setting(self, entries: Iterable[int | str]) -> Any:
        chosen = [
            values[int(entry)] if values else entry
            for values, entry in zip(self.values, entries, strict=True)
        ]
        return chosen if self.is_vector else chosen[0]


def make_control(name: str, given: Any, default: Any) -> Control:
    if isinstance(given, str):
        return Control(name, "text", [[]], [[]], [given])
    if isinstance(given, bool):
        return Control(name, "switch", [[False, True]], [["off", "on"]], [int(given)])
    if not (hasattr(given, "__len__") and hasattr(given, "__iter__")):
        raise TypeError(f"{name} must be a list, range, list of ranges, bool, dict or str, got {given!r}")
    is_vector = len(given) > 0 and all(isinstance(entry, list | range) for entry in given)
    values = [list(entry) for entry in given] if is_vector else [list(given)]
    texts = [[f"{v:g}" if isinstance(v, float) else str(v) for v in entry] for entry in values]
    kind, values = ("choice", [list(given.values())]) if isinstance(given, Mapping) else ("slider", values)
    if not all(values):
        raise ValueError(f"{name} must offer at least one value, got {given!r}")
    wanted = (
        [v[0] for v in values] if default is inspect.Parameter.empty else default if is_vector else [default]
    )
    try:
        start: list[int | str] = [entry.index(value) for entry, value in zip(values, wanted, strict=True)]
    except ValueError:
        raise ValueError(
            f"weights_of starts with {name}={default!r}, which {given!r} doesn't offer"
        ) from None
    return Control(name, kind, values, texts, start, is_vector)


def describe_inputs(controls: list[Control], samples: int) -> list[dict[str, Any]]:
    """What the browser asks: the settings' entries and the explorer's own traits."""
    entries = [(c.label(i), c.kind, texts, "chosen") for c in controls for i, texts in enumerate(c.texts)]
    own = [("sample", "slider", [str(i) for i in range(samples)], "sample")] if samples > 1 else []
    own.append(("0–max", "switch", ["off", "on"], "to_max"))
    return [
        {"name": name, "kind": kind, "texts": texts, "trait": trait, "at": i if i < len(entries) else -1}
        for i, (name, kind, texts, trait) in enumerate(entries + own)
    ]


def read_labels(name: str, given: Any, samples: int, count: int) -> list[list[str]]:
    """A list for each sample, of one for all of them or of one for each; numbers where none are given."""
    given = range(count) if given is None else given
    nested = all(isinstance(entry, list | tuple) for entry in given)
    lists = [[str(label) for label in entry] for entry in (given if nested else [given])]
    if len(lists) not in (1, samples) or any(len(entry) != count for entry in lists):
        got = ", ".join(str(len(entry)) for entry in lists)
        raise ValueError(
            f"{name} must hold {count} labels, in one list or one a sample ({samples}), got {got}"
        )
    return lists if nested else lists * samples
