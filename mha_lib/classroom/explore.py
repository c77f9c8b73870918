"""The live heatmap explorer: Python computes attention weights, the browser draws them."""

import inspect
import itertools
import math
import time
import traceback
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets

from mha_lib.classroom.weights import as_weights

MAX_SECONDS, MAX_BYTES = 2.0, 2_000_000  # the budget of what is computed ahead
BYTES_PER_SETTING = 64  # a line of the directory

Labels = Sequence | Callable[..., Sequence] | None
Key = tuple[int | str, ...]  # a setting in the browser's terms: of each entry the option's index, or the text


def explore(
    weights_of: Callable[..., Any],
    /,
    *,
    query_labels: Labels = None,
    key_labels: Labels = None,
    **controls: Any,
) -> "Explorer":
    """Heatmaps of ``weights_of(**settings)``, one a head, that follow a slider for each of ``controls``.

    ``weights_of`` returns the weights, (Q,K), (H,Q,K) or (B,H,Q,K), or ``(weights, mask)`` with a boolean
    mask, True = may attend: (Q,K), (B,Q,K), (B,1,K) or (B,H,Q,K). The same settings must give the same
    weights: they are computed ahead and kept.

    A list or range is a slider over its values, a list of ranges a vector with one slider an entry, a bool
    a switch, a dict a choice by label, a str a text box. The first setting is made of the defaults in the
    signature of ``weights_of``; where it has none, of the first values.

    Labels are a list, a list of lists (one a sample), or a function that is called as ``weights_of`` is.

    A cell shows the explorer it ends with; ``settings`` and ``weights`` hand its state to the next cell.
    """
    return Explorer(weights_of, query_labels, key_labels, controls)


@dataclass(frozen=True)
class Control:
    """One argument of ``weights_of``: one entry, or several for a vector."""

    name: str
    kind: str  # slider, switch, choice or text
    values: list[list]  # of each entry; a text has none
    texts: list[list[str]]  # what the class reads for each value
    start: list[int | str]
    is_vector: bool = False

    def setting(self, state: Iterable[int | str]) -> Any:
        chosen = [values[int(s)] if values else s for values, s in zip(self.values, state, strict=True)]
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
    if isinstance(given, Mapping):
        values = [list(given.values())]
    if not all(values):
        raise ValueError(f"{name} must offer at least one value, got {given!r}")
    start: list[int | str] = [0] * len(values)
    if default is not inspect.Parameter.empty:
        try:
            wanted = default if is_vector else [default]
            start = [entry.index(value) for entry, value in zip(values, wanted, strict=True)]
        except ValueError:
            raise ValueError(
                f"weights_of starts at {name}={default!r}, not among the values: {given!r}"
            ) from None
    return Control(
        name, "choice" if isinstance(given, Mapping) else "slider", values, texts, start, is_vector
    )


def pack(maps: np.ndarray, allowed: np.ndarray | None) -> np.ndarray:
    """float16. No weight is negative, so the sign is free to say: the mask forbids this cell."""
    half = np.abs(np.minimum(maps, np.finfo(np.float16).max)).astype("<f2")
    return half if allowed is None else np.where(allowed, half, -half)


@dataclass
class Store:
    """Maps and labels, each kept once however many settings share it."""

    data: bytearray = field(default_factory=bytearray)
    labels: list = field(default_factory=list)
    places: dict[bytes, int] = field(default_factory=dict)

    def place(self, maps: np.ndarray) -> int:
        """Where the maps (H,Q,K) of a sample begin, counted in float16 numbers."""
        block = maps.tobytes()
        if block not in self.places:
            self.places[block] = len(self.data) // 2
            self.data += block
        return self.places[block]

    def place_labels(self, labels: list) -> int:
        if labels not in self.labels:
            self.labels.append(labels)
        return self.labels.index(labels)


def drive(explorer: "Explorer") -> int:
    """Compute every setting, as a test of a lesson does: an error is raised, else their number returned."""
    return sum(bool(explorer._entry(key, Store())) for key in itertools.product(*explorer._options()))


class Explorer(anywidget.AnyWidget):
    """What ``explore`` returns. All it shows is in its traits, so a handout can show it without a kernel."""

    _esm = Path(__file__).with_name("explore.js")
    _css = Path(__file__).with_name("explore.css")
    controls: traitlets.List = traitlets.List().tag(sync=True)
    chosen: traitlets.List = traitlets.List().tag(sync=True)  # the current setting, a Key
    table = traitlets.Bytes().tag(sync=True)  # the maps computed ahead, deflated
    directory: traitlets.List = traitlets.List().tag(sync=True)  # of each setting: where its maps lie
    labels: traitlets.List = traitlets.List().tag(sync=True)
    carries = traitlets.Unicode().tag(sync=True)  # how far the table goes: all, ranges or some
    answer = traitlets.Dict().tag(sync=True)  # the setting last computed on demand
    sample = traitlets.Int(0).tag(sync=True)
    enlarged = traitlets.Int(-1).tag(sync=True)  # the head that fills the picture; -1: all of them
    to_max = traitlets.Bool(False).tag(sync=True)  # the scale ends at the largest weight instead of 1

    def __init__(
        self, weights_of: Callable, query_labels: Labels, key_labels: Labels, controls: dict[str, Any]
    ):
        super().__init__()
        self._weights_of, self._given_labels = (
            weights_of,
            {"query_labels": query_labels, "key_labels": key_labels},
        )
        defaults = {name: p.default for name, p in inspect.signature(weights_of).parameters.items()}
        self._parts = [
            make_control(n, given, defaults.get(n, inspect.Parameter.empty)) for n, given in controls.items()
        ]
        self._result = lru_cache(64)(self._compute)
        self.controls = [
            {"name": c.name, "kind": c.kind, "texts": c.texts, "isVector": c.is_vector} for c in self._parts
        ]
        self.chosen = [entry for control in self._parts for entry in control.start]
        self._compute_ahead()
        self.observe(self._compute_on_demand, "chosen")

    @property
    def settings(self) -> dict[str, Any]:
        """The current arguments of ``weights_of``."""
        return self._settings(tuple(self.chosen))

    @property
    def weights(self) -> Any:
        """What ``weights_of`` gives for the current settings, in full precision, without the mask."""
        return self._result(tuple(self.chosen))[0]

    def _settings(self, key: Key) -> dict[str, Any]:
        entries = iter(key)
        return {c.name: c.setting(itertools.islice(entries, len(c.values))) for c in self._parts}

    def _compute(self, key: Key) -> tuple[Any, Any]:
        result = self._weights_of(**self._settings(key))
        return result if isinstance(result, tuple) else (result, None)

    def _entry(self, key: Key, store: Store) -> dict[str, Any]:
        """What the browser needs for one setting; its maps go into ``store``."""
        maps = pack(*as_weights(*self._result(key)))
        labels = {
            name: store.place_labels(self._read_labels(name, given, key, len(maps), count))
            for (name, given), count in zip(self._given_labels.items(), maps.shape[2:], strict=True)
            if given is not None
        }
        return {"state": key, "shape": maps.shape, "at": [store.place(sample) for sample in maps], **labels}

    def _read_labels(self, name: str, given: Any, key: Key, samples: int, count: int) -> list[list[str]]:
        """One list for all samples, or one for each."""
        labels = given(**self._settings(key)) if callable(given) else given
        nested = all(isinstance(entry, list | tuple) for entry in labels)
        lists = [[str(label) for label in entry] for entry in (labels if nested else [labels])]
        if len(lists) not in (1, samples) or any(len(entry) != count for entry in lists):
            got = ", ".join(str(len(entry)) for entry in lists)
            raise ValueError(
                f"{name} must hold {count} labels, in one list or one a sample ({samples}), got {got}"
            )
        return lists

    def _entry_or_error(self, key: Key, store: Store) -> dict[str, Any]:
        try:
            return self._entry(key, store)
        except Exception as error:  # the widget shows it, with the traceback from weights_of on
            trace = error.__traceback__
            while trace and trace.tb_frame.f_code.co_filename == __file__:
                trace = trace.tb_next
            lines = traceback.format_exception(type(error), error, trace)
            return {"state": key, "error": lines[-1].strip(), "traceback": "".join(lines)}

    def _options(self) -> list[Sequence[int | str]]:
        """What each entry can be; of a text only what it is."""
        values = [values for control in self._parts for values in control.values]
        return [range(len(v)) or [entry] for v, entry in zip(values, self.chosen, strict=True)]

    def _compute_ahead(self) -> None:
        """Fill the table as far as the budget goes: all settings, or each entry's own range."""
        start, options = tuple(self.chosen), self._options()
        own = [(*start[:i], v, *start[i + 1 :]) for i, r in enumerate(options) for v in r if v != start[i]]
        store = Store()
        directory = [self._entry(start, store)]  # an error here is the cell's own
        began = time.perf_counter()

        def add(keys: Iterable[Key]) -> bool:
            for key in keys:
                size = len(store.data) + BYTES_PER_SETTING * len(directory)
                if size > MAX_BYTES or time.perf_counter() - began > MAX_SECONDS:
                    return False
                directory.append(self._entry_or_error(key, store))
            return True

        self.carries = "ranges" if add(own) else "some"
        total, known, size = math.prod(map(len, options)), len(directory), len(store.data)
        hopeful = (time.perf_counter() - began) / known * total < 4 * MAX_SECONDS  # first calls are slow
        seen = {start, *own}
        if (
            self.carries == "ranges"
            and hopeful
            and add(k for k in itertools.product(*options) if k not in seen)
        ):
            self.carries, known, size = "all", total, len(store.data)
        self._known = {tuple(entry["state"]) for entry in directory[:known]}
        self.directory, self.labels = directory[:known], store.labels
        self.table = zlib.compress(bytes(store.data[:size]))

    def _compute_on_demand(self, change: Any) -> None:
        key = tuple(self.chosen)
        if key not in self._known:
            store = Store()
            entry = self._entry_or_error(key, store)
            self.answer = {"entry": entry, "labels": store.labels, "maps": bytes(store.data)}
