"""Computes the pictures of an explorer: attention weights, masks and labels of each setting.

This module knows no widgets. ``compute_table`` computes ahead as much as the budget allows, and
``compute_answer`` computes the picture of one setting. Both return a ``Table``, which the browser reads.
"""

import itertools
import math
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from mha_lib.classroom.explorer.controls import Control, Setting, place_of, read_labels
from mha_lib.classroom.lesson.language import words_here
from mha_lib.classroom.pictures.weights import as_weights, lengths_in, to_numpy

Labels = Sequence | Callable[..., Sequence] | None


DIRECTORY_ENTRY = 64  # bytes, about
BUDGET = 2_000_000  # bytes of maps that are computed ahead
MOST_TOKENS = 4096  # queries, or keys, in a picture: more are too slow for a browser
MOST_WEIGHTS = 2**25  # in a picture
KEPT_RESULTS = 64  # the next cell gets the weights on show without computing them again


@dataclass(frozen=True)
class Overview:
    """Makes a picture an overview: rows × columns of heads so small that each only opens a larger picture."""

    rows: list[str]  # the name of each row
    columns: list[str]  # the name of each column, short
    corner: str  # what the names of the columns are names of
    opens: list[tuple[dict[str, Any], int]]  # for each head the arguments to set, and the head to enlarge


@dataclass(frozen=True)
class Picture:
    """Weights with names and measures of the heads: ``weights_of`` may return it in their place."""

    weights: Any
    mask: Any = None
    query_labels: Sequence | None = None
    key_labels: Sequence | None = None
    lengths: Sequence[int] | None = None  # of each sample, where its padding begins among queries and keys
    head_labels: list[str] | None = None
    short_labels: list[str] | None = None  # of the heads, where the others find no room
    measures: Mapping[str, Sequence[float]] = field(default_factory=dict)  # by name, a number for each head
    note: str = ""  # a sentence to be said with the picture
    overview: Overview | None = None
    bars: Mapping[str, float] = field(default_factory=dict)  # by name, from 0 to 1: bars beside the arcs
    call: str = ""  # of Python, which shows the picture again; {head} is filled where a head is alone


def read_picture(result: Any) -> Picture:
    """Return a result of ``weights_of``, a ``Picture``, weights or (weights, mask), as a ``Picture``."""
    if isinstance(result, Picture):
        return result
    if not isinstance(result, tuple):
        return Picture(result)
    if len(result) != 2:
        raise TypeError(f"weights_of must return weights, or (weights, mask), got a tuple of {len(result)}")
    return Picture(*result)


@dataclass(frozen=True)
class Table:
    """Pictures of several settings, in the form that the browser takes."""

    directory: list[dict[str, Any]]  # for each setting the place of its maps and labels, or else its error
    maps: bytes  # of all settings, in float16
    labels: list[list[list[str]]]  # each a list for each sample
    carries: str = ""  # the settings of a table that was computed ahead: "all", "own_ranges" or "part"
    of_masks: bool = False  # the maps show where a query may attend, not how much it does


class Source:
    """The function that gives the weights, with its controls and labels.

    ``labels`` holds the labels of queries and keys, by their names in ``explore``. Heads of several
    ``layers`` are named layer.head.
    """

    def __init__(
        self, weights_of: Callable, controls: list[Control], labels: Mapping[str, Labels], layers: int = 1
    ):
        self.weights_of, self.controls, self.labels, self.layers = weights_of, controls, labels, layers
        self.start: Setting = tuple(place for control in controls for place in control.start)
        entries = [options for control in controls for options in control.options]
        # The values that each entry can have; a text box stays at its first text.
        self.places = [range(len(o)) or [place] for o, place in zip(entries, self.start, strict=True)]
        self.result_at = lru_cache(KEPT_RESULTS)(self._result_at)

    def arguments(self, setting: Setting) -> dict[str, Any]:
        """The arguments of ``weights_of`` at a setting."""
        places = iter(setting)
        return {
            control.name: control.argument(itertools.islice(places, len(control.options)))
            for control in self.controls
        }

    def _result_at(self, setting: Setting) -> Picture:
        """The picture of a setting: weights, and the mask and the labels, if there are any."""
        arguments = self.arguments(setting)
        picture = read_picture(self.weights_of(**arguments))
        labels: dict[str, Any] = {
            name: given(**arguments) if callable(given) else given
            for name, given in self.labels.items()
            if given is not None
        }
        for name in labels:
            if getattr(picture, name) is not None:
                raise ValueError(f"{name} must be given to explore or the Picture, got both; leave one out")
        if labels and self.labels["query_labels"] is self.labels["key_labels"] and picture.lengths is None:
            picture = replace(picture, lengths=lengths_in(picture.mask))
        return replace(picture, **labels)

    def with_arguments(self, setting: Setting, arguments: Mapping[str, Any]) -> Setting:
        """The setting after some arguments, each of one entry, have got other values."""
        changed = list(setting)
        at = 0
        for control in self.controls:
            if control.name in arguments:
                changed[at] = place_of(arguments[control.name], control.options[0])
            at += len(control.options)
        return tuple(changed)

    def settings(self) -> Iterable[Setting]:
        return itertools.product(*self.places)

    def own_ranges(self) -> list[Setting]:
        """The settings that differ from the start in one entry."""
        return [
            (*self.start[:entry], place, *self.start[entry + 1 :])
            for entry, places in enumerate(self.places)
            for place in places
            if place != self.start[entry]
        ]


class Collection:
    """A table in the making. Maps and labels that several settings share are kept once."""

    def __init__(self, source: Source):
        self.source = source
        self.directory: list[dict[str, Any]] = []
        self.maps = bytearray()
        self.places: dict[bytes, int] = {}  # the place of each map that is kept already
        self.labels: list[list[list[str]]] = []
        self.are_masks = True  # so far all weights were boolean

    def add(self, setting: Setting) -> None:
        """Compute a setting's picture, or raise its error."""
        picture = self.source.result_at(setting)
        maps, allowed = as_weights(picture.weights, picture.mask)
        samples, heads, queries, keys = maps.shape
        if max(queries, keys) > MOST_TOKENS or maps.size > MOST_WEIGHTS:
            raise ValueError(
                f"weights must have at most {MOST_TOKENS} queries and keys and {MOST_WEIGHTS:,} entries, "
                f"got shape {maps.shape}; show a part of them, such as weights[..., :64, :64]"
            )
        self.are_masks &= to_numpy(picture.weights).dtype == bool
        # The sign bit marks cells that the mask forbids: no weight is negative.
        half = np.abs(maps.astype("<f2"))
        half = half if allowed is None else np.where(allowed, half, -half)
        at = [self._keep_maps(sample.tobytes()) for sample in half]
        entry: dict[str, Any] = {"setting": setting, "shape": maps.shape, "at": at}
        for name, count in (("query_labels", queries), ("key_labels", keys)):
            entry[name] = self._keep_labels(read_labels(name, getattr(picture, name), samples, count))
        if picture.lengths is not None:
            entry["lengths"] = np.broadcast_to(picture.lengths, samples).tolist()
        if (layers := self.source.layers) > 1:
            if heads % layers:
                raise ValueError(
                    f"arcs: layers={layers} must divide the number of heads, got weights {maps.shape}"
                )
            per_layer = heads // layers
            names = [f"{head // per_layer}.{head % per_layer}" for head in range(heads)]
            named = words_here()["explorer"]["head"]
            entry |= {"head_labels": [named.format(head=name) for name in names], "short_labels": names}
        self.directory.append(entry | self._described(setting, picture))

    def _described(self, setting: Setting, picture: Picture) -> dict[str, Any]:
        """The names, measures, note and call of a picture, and what its heads open, for the directory."""
        said = {"note": picture.note, "call": picture.call}
        described: dict[str, Any] = {name: text for name, text in said.items() if text}
        if picture.head_labels:
            described["head_labels"] = picture.head_labels
            described["short_labels"] = picture.short_labels or picture.head_labels
        if picture.measures:
            described["measures"] = {
                name: [round(float(value), 4) for value in values]
                for name, values in picture.measures.items()
            }
        if picture.bars:
            described["bars"] = {name: round(float(share), 4) for name, share in picture.bars.items()}
        if picture.overview:
            opens = [
                (self.source.with_arguments(setting, arguments), head)
                for arguments, head in picture.overview.opens
            ]
            described["overview"] = vars(picture.overview) | {"opens": opens}
        return described

    def add_or_note_error(self, setting: Setting) -> None:
        """Compute a setting's picture, or keep its error in the directory for the widget to show."""
        try:
            self.add(setting)
        except Exception as error:
            trace = error.__traceback__
            while trace and trace.tb_frame.f_code.co_filename == __file__:
                trace = trace.tb_next  # drop our own frames: the traceback starts in weights_of
            lines = traceback.format_exception(type(error), error, trace)
            said = lines[-1].strip().removeprefix(f"{type(error).__module__}.")  # the bare name is enough
            self.directory.append({"setting": setting, "error": said, "traceback": "".join(lines)})

    def finished(self, carries: str = "") -> Table:
        return Table(self.directory, bytes(self.maps), self.labels, carries, self.are_masks)

    def _keep_maps(self, maps: bytes) -> int:
        """Keep the maps (H,Q,K) of a sample, and return where they begin."""
        if maps not in self.places:
            self.places[maps] = len(self.maps) // 2  # a float16 has two bytes
            self.maps += maps
        return self.places[maps]

    def _keep_labels(self, labels: list[list[str]] | None) -> int | None:
        if labels is None:
            return None
        if labels not in self.labels:
            self.labels.append(labels)
        return self.labels.index(labels)


def compute_table(source: Source, *, seconds: float = 2.0, most: int = BUDGET) -> Table:
    """The table of all settings, or else of each entry's own range, or else of a part, as the budget allows:
    ``seconds``, and ``most`` bytes of maps and directory.

    An error at the start is raised, since there is nothing to show then. Later errors go into the table.
    """
    collection = Collection(source)
    collection.add(source.start)
    began = time.perf_counter()

    def add(settings: Iterable[Setting]) -> bool:
        """Add the settings; returns whether the budget was enough for all of them."""
        for setting in settings:
            size = len(collection.maps) + DIRECTORY_ENTRY * len(collection.directory)
            if size > most or time.perf_counter() - began > seconds:
                return False
            collection.add_or_note_error(setting)
        return True

    own_ranges = source.own_ranges()
    if not add(own_ranges):
        return collection.finished("part")
    count, size = len(collection.directory), len(collection.maps)
    seconds_for_all = (time.perf_counter() - began) / count * math.prod(map(len, source.places))
    if seconds_for_all < 4 * seconds:  # the first calls are slow, so the rest may take less
        taken = {source.start, *own_ranges}
        if add(setting for setting in source.settings() if setting not in taken):
            return collection.finished("all")
        del collection.directory[count:], collection.maps[size:]
    return collection.finished("own_ranges")


def compute_answer(source: Source, setting: Setting) -> Table:
    """The picture of one setting, or its error."""
    collection = Collection(source)
    collection.add_or_note_error(setting)
    return collection.finished()
