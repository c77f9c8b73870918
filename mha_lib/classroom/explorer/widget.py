"""The live heatmap explorer: Python computes attention weights, the browser draws them (``view.js``)."""

import inspect
import itertools
import math
import time
import traceback
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from traitlets import Bool, Bytes, Dict, Int, List, Unicode

from mha_lib.classroom.explorer.cell_widget import CellWidget
from mha_lib.classroom.explorer.controls import describe_inputs, make_control, read_labels
from mha_lib.classroom.weights import as_weights

MAX_SECONDS, MAX_BYTES, BYTES_PER_SETTING = 2.0, 2_000_000, 64  # the budget of what is computed ahead
OWN_RANGES = "each control's own range, with the others as they were at first"
Labels = Sequence | Callable[..., Sequence] | None
Key = tuple[int | str, ...]  # a setting as the browser says it: each entry's option number, or its text


def explore(
    weights_of: Callable, /, *, query_labels: Labels = None, key_labels: Labels = None, **controls: Any
) -> "Explorer":
    """Heatmaps of ``weights_of(**settings)``, one a head, that follow the ``controls``.

    ``weights_of`` returns weights (Q,K), (H,Q,K) or (B,H,Q,K), or ``(weights, mask)`` with a boolean mask,
    True = may attend: (Q,K), (B,Q,K), (B,1,K) or (B,H,Q,K). The same settings must give the same weights.

    A list or range is a slider over its values, a list of ranges a vector with one slider an entry, a bool
    a switch, a dict a choice by label, a str a text box. The first setting: the defaults in the signature
    of ``weights_of``; where it has none, the first values.

    Labels are a list, a list of lists (one a sample), or a function that is called as ``weights_of`` is.
    A cell shows the explorer it ends with; ``settings`` and ``weights`` hand its state to the next cell.
    """
    return Explorer(weights_of, {"query_labels": query_labels, "key_labels": key_labels}, controls)


@dataclass
class Store:
    """Maps in float16 and labels, each kept once however many settings share them."""

    data: bytearray = field(default_factory=bytearray)
    places: dict[bytes, int] = field(default_factory=dict)
    labels: list = field(default_factory=list)

    def place(self, maps: np.ndarray, allowed: np.ndarray | None) -> int:
        """Where the maps (H,Q,K) begin. No weight is negative: the sign bit says "the mask forbids it"."""
        half = np.abs(maps.astype("<f2"))
        block = (half if allowed is None else np.where(allowed, half, -half)).tobytes()
        if block not in self.places:
            self.places[block] = len(self.data) // 2
            self.data += block
        return self.places[block]

    def place_labels(self, labels: list[list[str]]) -> int:
        if labels not in self.labels:
            self.labels.append(labels)
        return self.labels.index(labels)


def drive(explorer: "Explorer") -> int:
    """Compute every setting, as a lesson's test does: raise its error, or return how many there are."""
    return sum(bool(explorer._entry(key, Store())) for key in itertools.product(*explorer._options()))


class Explorer(CellWidget):
    """What ``explore`` returns. All that it shows is in its traits: a handout needs no kernel."""

    _esm, _css = Path(__file__).with_name("view.js"), Path(__file__).with_name("view.css")
    controls: List = List().tag(sync=True)
    chosen: List = List().tag(sync=True)  # the current setting, a Key
    table = Bytes().tag(sync=True)  # the maps computed ahead, deflated
    directory: List = List().tag(sync=True)  # where each setting's maps are in the table
    labels: List = List().tag(sync=True)
    carries = Unicode().tag(sync=True)  # in words, how far the table goes
    answer: Dict = Dict().tag(sync=True)  # the setting that was last computed on demand
    sample = Int(0).tag(sync=True)
    enlarged = Int(-1).tag(sync=True)  # the head that fills the picture; -1: all of them
    to_max = Bool(False).tag(sync=True)  # the scale ends at the largest weight instead of at 1

    def __init__(self, weights_of: Callable, labels: dict[str, Labels], controls: dict[str, Any]):
        self._result = lru_cache(64)(self._compute)
        defaults = {name: p.default for name, p in inspect.signature(weights_of).parameters.items()}
        parts = [make_control(n, c, defaults.get(n, inspect.Parameter.empty)) for n, c in controls.items()]
        self._weights_of, self._given_labels, self._parts = weights_of, labels, parts
        self.chosen = [entry for control in parts for entry in control.start]
        self._compute_ahead()
        self.controls = describe_inputs(parts, samples=len(self.directory[0]["at"]))
        super().__init__()  # last: an error above leaves no half-made widget in the browser
        self.observe(self._compute_on_demand, "chosen")

    @property
    def settings(self) -> dict[str, Any]:
        """The current arguments of ``weights_of``."""
        return self._settings(tuple(self.chosen))

    @property
    def weights(self) -> Any:
        """What ``weights_of`` gives for them, in full precision; without the mask."""
        return self._result(tuple(self.chosen))[0]

    def _settings(self, key: Key) -> dict[str, Any]:
        entries = iter(key)
        return {c.name: c.setting(itertools.islice(entries, len(c.values))) for c in self._parts}

    def _compute(self, key: Key) -> tuple[Any, Any]:
        result = self._weights_of(**self._settings(key))
        return result if isinstance(result, tuple) else (result, None)

    def _entry(self, key: Key, store: Store) -> dict[str, Any]:
        """What the browser needs to know of a setting; its maps and labels go into ``store``."""
        maps, allowed = as_weights(*self._result(key))
        at = [store.place(m, None if allowed is None else allowed[b]) for b, m in enumerate(maps)]
        entry: dict[str, Any] = {"state": key, "shape": maps.shape, "at": at}
        for (name, labels), count in zip(self._given_labels.items(), maps.shape[2:], strict=True):
            labels = labels(**self._settings(key)) if callable(labels) else labels
            entry[name] = store.place_labels(read_labels(name, labels, len(maps), count))
        return entry

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
        """What each entry can be; of a text, what it is."""
        values = [values for control in self._parts for values in control.values]
        return [range(len(v)) or [entry] for v, entry in zip(values, self.chosen, strict=True)]

    def _compute_ahead(self) -> None:
        """As far as the budget goes: all settings, or else each entry's own range, or else some of that."""
        start, options, store = tuple(self.chosen), self._options(), Store()
        own = [(*start[:i], v, *start[i + 1 :]) for i, r in enumerate(options) for v in r if v != start[i]]
        taken = {start, *own}
        rest = (key for key in itertools.product(*options) if key not in taken)
        directory = [self._entry(start, store)]  # an error here is the cell's own
        began = time.perf_counter()

        def add(keys: Iterable[Key]) -> bool:
            for key in keys:
                size = len(store.data) + BYTES_PER_SETTING * len(directory)
                if size > MAX_BYTES or time.perf_counter() - began > MAX_SECONDS:
                    return False
                directory.append(self._entry_or_error(key, store))
            return True

        self.carries = OWN_RANGES if add(own) else f"a part of {OWN_RANGES}"
        count, size = len(directory), len(store.data)
        needed = (time.perf_counter() - began) / count * math.prod(map(len, options))
        if self.carries == OWN_RANGES and needed < 4 * MAX_SECONDS and add(rest):  # the first calls are slow
            self.carries, count, size = "all settings but other texts", len(directory), len(store.data)
        self.directory, self.labels = directory[:count], store.labels
        self.table = zlib.compress(store.data[:size])
        self._known = {entry["state"] for entry in self.directory}

    def _compute_on_demand(self, change: Any) -> None:
        if (key := tuple(self.chosen)) not in self._known:
            store = Store()
            entry = self._entry_or_error(key, store)
            self.answer = {
                "directory": [entry],
                "labels": store.labels,
                "table": zlib.compress(store.data, 1),
            }

    def close(self) -> None:
        super().close()
        self.table, self.directory = b"", []  # IPython's Out may keep the rest
        self._result.cache_clear()
