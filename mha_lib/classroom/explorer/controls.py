"""What the arguments of ``explore`` mean: controls for the settings, labels for the axes.

A setting says where each entry of the controls stands. An entry that offers options stands at the number
of one of them; an entry without options is a text box, and stands at its text. A slider, a switch and a
choice have one entry each, a vector has several.
"""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Setting = tuple[int | str, ...]


@dataclass(frozen=True)
class Control:
    """One argument of ``weights_of``."""

    name: str
    kind: str  # slider, switch, choice or text
    options: list[list]  # what each entry offers; a text offers nothing
    texts: list[list[str]]  # how the options read; a switch is worded by the language
    start: Setting
    is_vector: bool = False

    def label(self, entry: int) -> str:
        return f"{self.name}[{entry}]" if self.is_vector else self.name

    def argument(self, setting: Iterable[int | str]) -> Any:
        """What ``weights_of`` gets where this control's own entries stand at ``setting``."""
        values = [
            options[int(place)] if options else place
            for options, place in zip(self.options, setting, strict=True)
        ]
        return values if self.is_vector else values[0]


def make_control(name: str, given: Any, default: Any) -> Control:
    """The control for what ``explore`` was given; ``default`` comes from the signature of ``weights_of``."""
    if isinstance(given, str):
        return Control(name, "text", [[]], [[]], (given,))
    if isinstance(given, bool):
        return Control(name, "switch", [[False, True]], [[]], (int(given),))
    if not (hasattr(given, "__len__") and hasattr(given, "__iter__")):
        raise TypeError(f"{name} must be a list, range, list of ranges, bool, dict or str, got {given!r}")
    is_vector = len(given) > 0 and all(isinstance(entry, list | range) for entry in given)
    kind = "choice" if isinstance(given, Mapping) else "slider"
    read = [list(entry) for entry in given] if is_vector else [list(given)]
    options = [list(given.values())] if isinstance(given, Mapping) else read
    if not all(options):
        raise ValueError(f"{name} must offer at least one value, got {given!r}")
    texts = [[f"{option:g}" if isinstance(option, float) else str(option) for option in e] for e in read]
    return Control(
        name, kind, options, texts, find_start(name, given, options, default, is_vector), is_vector
    )


def find_start(name: str, given: Any, options: list[list], default: Any, is_vector: bool) -> Setting:
    """Where the control's entries stand at first: at the default, or else at the first values."""
    if default is inspect.Parameter.empty:
        return (0,) * len(options)
    wanted = default if is_vector else [default]
    try:
        return tuple(entry.index(value) for entry, value in zip(options, wanted, strict=True))
    except ValueError:
        message = f"weights_of starts with {name}={default!r}, which {given!r} doesn't offer"
        raise ValueError(message) from None


def describe_inputs(controls: list[Control], samples: int, words: dict[str, Any]) -> list[dict[str, Any]]:
    """What the browser asks for: each entry of the setting, then the sample and the end of the scale.

    Each input belongs to a trait of the widget. ``at`` is its entry in the trait ``setting``; the inputs
    for the other traits have -1 there.
    """
    off_and_on = [words["off"], words["on"]]
    entries = [
        (control.label(entry), control.kind, off_and_on if control.kind == "switch" else texts, "setting")
        for control in controls
        for entry, texts in enumerate(control.texts)
    ]
    others = [(words["to_max"], "switch", off_and_on, "to_max")]
    if samples > 1:
        others.insert(0, (words["sample"], "slider", [str(sample) for sample in range(samples)], "sample"))
    return [
        {"name": name, "kind": kind, "texts": texts, "trait": trait, "at": at if trait == "setting" else -1}
        for at, (name, kind, texts, trait) in enumerate(entries + others)
    ]


def read_labels(name: str, given: Any, samples: int, count: int) -> list[list[str]]:
    """A list of labels for each sample: from one for all samples, or one for each; else numbers."""
    given = range(count) if given is None else given
    one_for_each = all(isinstance(entry, list | tuple) for entry in given)
    lists = [[str(label) for label in entry] for entry in (given if one_for_each else [given])]
    if len(lists) not in (1, samples) or any(len(entry) != count for entry in lists):
        got = ", ".join(str(len(entry)) for entry in lists)
        raise ValueError(
            f"{name} must hold {count} labels, in one list or one a sample ({samples}), got {got}"
        )
    return lists if one_for_each else lists * samples
