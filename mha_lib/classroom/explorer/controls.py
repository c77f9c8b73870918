"""Reads the arguments of ``explore``: controls for the settings, labels for the axes.

A setting holds the state of each entry of the controls. An entry that offers options holds the number of one
of them; an entry without options is a text box, and holds its text. A slider, a switch and a choice have one
entry each, a vector has several.
"""

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

Setting = tuple[int | str, ...]


@dataclass(frozen=True)
class Control:
    """One argument of ``weights_of``."""

    name: str
    kind: str  # slider, switch, choice or text
    options: list[list]  # of each entry; a text box has none
    texts: list[list[str]]  # the options as they are shown; a switch has words of the lesson's language
    start: Setting
    is_vector: bool = False
    label: str = ""  # as it is shown, if that is not the name

    def argument(self, setting: Iterable[int | str]) -> Any:
        """The argument of ``weights_of`` if this control's own entries have this setting."""
        entries = zip(self.options, setting, strict=True)
        values = [options[int(place)] if options else place for options, place in entries]
        return values if self.is_vector else values[0]


def make_control(name: str, given: Any, default: Any) -> Control:
    """The control for an argument of ``explore``; ``default`` is from the signature of ``weights_of``."""
    if isinstance(given, str):
        return Control(name, "text", [[]], [[]], (given,))
    if isinstance(given, bool):
        return Control(name, "switch", [[False, True]], [[]], (int(given),))
    if not (hasattr(given, "__len__") and hasattr(given, "__iter__")):
        raise TypeError(f"{name} must be a list, range, list of ranges, bool, dict or str, got {given!r}")
    is_vector = len(given) > 0 and all(isinstance(entry, list | range) for entry in given)
    read = [list(entry) for entry in given] if is_vector else [list(given)]
    if not all(read):
        raise ValueError(f"{name} must offer at least one value, got {given!r}")
    are_numbers = all(read_number(option) for entry in read for option in entry)
    kind = "slider" if are_numbers and not isinstance(given, Mapping) else "choice"
    if kind == "slider":  # it rises as one reads, wherever it begins
        if default is inspect.Parameter.empty:
            default = [entry[0] for entry in read] if is_vector else read[0][0]
        read = [sorted(entry) for entry in read]
    options = [list(given.values())] if isinstance(given, Mapping) else read
    texts = [distinct_texts(entry) for entry in read]
    start = find_start(name, options, texts, default, is_vector)
    return Control(name, kind, options, texts, start, is_vector)


def read_number(option: Any) -> str:
    """The text of a number of Python, numpy or a tensor; "" for anything else, such as True."""
    number = option.item() if getattr(option, "ndim", None) == 0 else option
    if isinstance(number, bool | str) or not isinstance(number, Real):
        return ""
    return f"{number:g}" if isinstance(number, float) else str(number)


def distinct_texts(options: list) -> list[str]:
    """The texts of the options: shortened numbers if they stay different, and else numbers in full."""
    texts = [read_number(option) or str(option) for option in options]
    return texts if len({*texts}) == len(options) else [str(option) for option in options]


def find_start(
    name: str, options: list[list], texts: list[list[str]], default: Any, is_vector: bool
) -> Setting:
    """The control's first setting: the default, or else the first values."""
    if default is inspect.Parameter.empty:
        return (0,) * len(options)
    wanted = default if is_vector else [default]
    try:
        return tuple(place_of(value, entry) for entry, value in zip(options, wanted, strict=True))
    except (ValueError, TypeError, RuntimeError):  # numpy and PyTorch raise them when they compare arrays
        short = [entry if len(entry) <= 12 else [*entry[:6], "…", *entry[-3:]] for entry in texts]
        lists = [f"[{', '.join(entry)}]" for entry in short]
        offer = f"[{', '.join(lists)}]" if is_vector else lists[0]
        message = f"weights_of starts with {name}={default!r}, which {offer} doesn't offer"
        raise ValueError(message) from None


def place_of(value: Any, options: list) -> int:
    """The place of the option that equals the value; a number may have a rounding error, as 0.1 + 0.2 has."""
    numbers = {place: option for place, option in enumerate(options) if read_number(option)}
    if numbers and read_number(value):
        nearest = min(numbers, key=lambda place: abs(numbers[place] - value))
        if math.isclose(numbers[nearest], value):
            return nearest
    same = [place for place, option in enumerate(options) if option is value]
    return same[0] if same else options.index(value)


def describe_inputs(
    controls: list[Control],
    samples: int,
    words: dict[str, Any],
    *,
    of_masks: bool = False,
    measures: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """The inputs in the browser: one for each entry of the setting, then the sample, the measure and the
    order of the heads, and the scale of the colours.

    Each input belongs to a trait of the widget. ``at`` is its entry in the trait ``setting``, and -1 for an
    input of another trait. Masks have no scale. A caption in the language of the lesson, where there is one,
    stands beside the name of a setting.
    """
    off_and_on = [words["off"], words["on"]]
    entries = []
    for control in controls:
        for entry, texts in enumerate(control.texts):
            name = f"{control.name}[{entry}]" if control.is_vector else control.name
            name = control.label or f"{name} {words['captions'].get(control.name, '')}".rstrip()
            shown = off_and_on if control.kind == "switch" else texts
            entries.append((name, control.kind, shown, "setting"))
    if samples > 1:
        entries.append((words["sample"], "slider", [str(sample) for sample in range(samples)], "sample"))
    if measures:
        entries.append((words["measure"], "choice", [*measures], "measure"))
        orders = [words["orders"][order] for order in ("own", "highest", "lowest")]
        entries.append((words["order"], "choice", orders, "order"))
    if not of_masks:
        scales = ["to_max", "by_root"] if measures else ["to_max"]
        entries += [(words[scale], "switch", off_and_on, scale) for scale in scales]
    return [
        {"name": name, "kind": kind, "texts": texts, "trait": trait, "at": at if trait == "setting" else -1}
        for at, (name, kind, texts, trait) in enumerate(entries)
    ]


def read_labels(name: str, given: Any, samples: int, count: int) -> list[list[str]] | None:
    """A list of labels for each sample, from one list for all or one for each; None to show only numbers."""
    if given is None:
        return None
    one_for_each = all(isinstance(entry, list | tuple) for entry in given)
    given = given if one_for_each else [given]
    lists = [[read_number(label) or str(label) for label in entry] for entry in given]
    if len(lists) not in (1, samples) or any(len(entry) != count for entry in lists):
        got = ", ".join(str(len(entry)) for entry in lists)
        raise ValueError(
            f"{name} must hold {count} labels, in one list or one a sample ({samples}), got {got}"
        )
    return lists if one_for_each else lists * samples
