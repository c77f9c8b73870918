"""Show a model's heads in the explorer, which knows arrays only: an overview, and each layer."""

import os
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mha_lib.classroom.explorer.controls import Control, make_control
from mha_lib.classroom.explorer.table import BUDGET, Overview, Picture, Source
from mha_lib.classroom.explorer.widget import Explorer, words_with
from mha_lib.classroom.heads.changes import checked_heads
from mha_lib.classroom.lesson.language import words_here
from mha_lib.classroom.lesson.outputs import FOR_A_PAGE
from mha_lib.classroom.models.load import load, tokenized
from mha_lib.classroom.models.measures import measures_of
from mha_lib.classroom.models.reading import Layer, ModelAttention, read_attention
from mha_lib.classroom.models.tokens import labels_of, lengths_of, sequences_of

WINDOW = 64  # tokens of a part: so many labels can be read
WHOLE = 200  # tokens: of more a picture shows blocks, since a screen has no more cells to point at
SMALL = 32  # blocks along a side of a picture in the overview
# To compute ahead: somebody waits for the first picture, and a kernel computes the others.
AHEAD: dict[str, Any] = {"seconds": 0.5, "most": 500_000}  # bytes
AHEAD_FOR_A_PAGE: dict[str, Any] = {"seconds": 60.0}
Window = tuple[int, int] | None  # where a part begins and ends; None for the whole text


def explore_model(model: Any, inputs: Any, tokens: Any = None) -> "ModelExplorer":
    """The heads of any model that returns attentions in the way of ``transformers``.

    model   a module in evaluation mode, or a name or a folder: then ``inputs`` is a text, and
            ``transformers`` loads the model from its cache or the network
    inputs  what the model is called with, for one text or picture: a tensor, or a mapping as a tokenizer
            returns it with ``return_tensors="pt"``; with ``decoder_input_ids`` if the model has a decoder.
            Or a text, if ``tokens`` is the tokenizer
    tokens  the tokenizer, or a list of labels, or ``{"encoder": labels, "decoder": labels}``. Without them
            patches of pictures are named by row and column, and tokens by number.

    The overview shows all layers × heads; a click opens one. Texts of more than 64 tokens have a choice of
    the part to see. ``explorer.inputs`` are what the model was called with, and
    ``explorer.show(layer=3, head=1)`` opens a head. A copy of the model is read, with the same parameters,
    so that the model stays as it is.

    Raises TypeError or ValueError for inputs and labels that don't fit the model, and for a model whose
    weights cannot be read.
    """
    if isinstance(model, str | os.PathLike):
        tokenizer = tokens if hasattr(tokens, "decode") else None
        model, inputs, found = load(os.fspath(model), inputs, tokenizer)
        tokens = found if tokens is None else tokens
    elif isinstance(inputs, str):
        inputs = tokenized(model, inputs, tokens)
    attention = read_attention(model, inputs)
    return ModelExplorer(ModelPictures(attention, inputs, tokens), inputs)


class ModelExplorer(Explorer):
    """The explorer of a model's heads."""

    def __init__(self, pictures: "ModelPictures", inputs: Any):
        budget = AHEAD_FOR_A_PAGE if pictures.is_for_a_page else AHEAD
        super().__init__(Source(pictures, pictures.controls(), {}), words_with(None, None), **budget)
        self._pictures = pictures
        self.attention = pictures.attention
        self.inputs = inputs
        self.by_root = max(lengths_of(self.attention).values()) > WINDOW  # of so many, each gets little

    @property
    def weights(self) -> Tensor:
        """The weights (H, Q, K) of the layer and the part on show, as the model gives them.

        In the overview they are those of all layers. There are no blocks here, and no column of a sink.
        """
        return self._pictures.weights(**self.settings)

    def show(
        self,
        layer: int | None = None,
        head: int | None = None,
        *,
        kind: str | None = None,
        queries: Window = None,
        keys: Window = None,
    ) -> "ModelExplorer":
        """Show a layer, or one head of it, or without a layer the overview; returns the explorer.

        kind           of attention, in a model that has several; without it the first
        queries, keys  where a part of a long text begins and ends, such as (64, 128)

        Raises ValueError for a layer, head or part that is not there.
        """
        kind = kind or next(iter(self.attention.layers))
        at = None
        if layer is not None:
            checked_heads([(kind, layer, head or 0)], self.attention.heads)
            at = [each.number for each in self.attention.layers[kind]].index(layer)
        wanted = {"layer": (kind, at), "queries": queries, "keys": keys}
        for control in self._source.controls:
            if wanted[control.name] not in control.options[0]:
                raise ValueError(
                    f"{control.name} must be one of {control.options[0]}, got {wanted[control.name]}"
                )
        self.setting = list(self._source.with_arguments(self._source.start, wanted))
        self.enlarged = -1 if layer is None or head is None else head
        return self

    def save(self, file: str | Path) -> None:
        """Write what is shown as one HTML file that works without a kernel and a network.

        It carries the overview and all layers, a long text in blocks and with as many parts as 2 MB hold.
        """
        from mha_lib.classroom.models.save import save_page  # here: nbconvert takes a second

        pictures = copy(self._pictures)
        pictures.is_for_a_page = True
        page = Explorer(Source(pictures, pictures.controls(), {}), self.words, **AHEAD_FOR_A_PAGE)
        chosen = ["to_max", "by_root", "measure", "order"]
        if any(entry["setting"] == tuple(self.setting) for entry in page.table["directory"]):
            chosen += ["setting", "enlarged"]
        for name in chosen:
            setattr(page, name, getattr(self, name))
        try:
            title = pictures.words["saved"].format(model=name_of(self.attention.model))
            save_page(page, file, title)
        finally:
            page.close()

    def close(self) -> None:
        super().close()
        self.attention.layers.clear()  # IPython's Out may keep the explorer itself


def name_of(model: Any) -> str:
    """The last part of the name or folder that a model was loaded from, or else the name of its class."""
    loaded_from = getattr(getattr(model, "config", None), "name_or_path", "")
    return Path(loaded_from).name or type(model).__name__


class ModelPictures:
    """The function that gives the explorer the picture of a setting."""

    def __init__(self, attention: ModelAttention, inputs: Any, tokens: Any):
        self.attention = attention
        self.words: dict[str, Any] = words_here()["models"]
        self.labels = labels_of(attention, inputs, tokens)
        self.sequences = sequences_of(attention)
        self.measures, self.no_induction = measures_of(attention, inputs)
        self.is_for_a_page = bool(os.environ.get(FOR_A_PAGE))

    def controls(self) -> list[Control]:
        """The choice of a layer, and of the part of a long text along each axis."""
        layers: dict[str, tuple[str, int | None]] = {}
        for kind, found in self.attention.layers.items():
            if len(found) > 1:
                layers[self.named("all_layers", kind)] = (kind, None)
            layers |= {
                self.named("layer", kind, layer=layer.number): (kind, at) for at, layer in enumerate(found)
            }
        controls = [made("layer", self.words["choose"], layers)]
        longest = max(lengths_of(self.attention).values())
        if longest > WINDOW:
            parts: dict[str, Window] = {self.words["all_tokens"]: None}
            for begin in range(0, longest, WINDOW):
                end = min(begin + WINDOW, longest)
                parts[f"{begin}–{end - 1}"] = (begin, end)
            controls += [made(name, self.words[name], parts) for name in ("queries", "keys")]
        return controls

    def named(self, what: str, kind: str, **places: int) -> str:
        """The name of a layer or a head, with the kind of attention if the model has several."""
        name = self.words[what].format(**places)
        if len(self.attention.layers) == 1:
            return name
        return self.words["of_kind"].format(kind=self.words["kinds"][kind], name=name)

    def __call__(self, layer: tuple[str, int | None], queries: Window = None, keys: Window = None) -> Picture:
        kind, number = layer
        layers = self.attention.layers[kind]
        which = [*range(len(layers))] if number is None else [number]
        row, column = self.sequences[kind]
        rows = self.checked(queries, row)
        columns = self.checked(keys, column)
        whole = most_for_a_page(self.attention) if self.is_for_a_page else WHOLE
        most = SMALL if number is None else whole
        heads = [(at, head) for at in which for head in range(len(layers[at].weights))]
        has_sink = any("sink" in measures for measures in self.measures[kind])
        shown = [in_blocks(layers[at], rows, columns, most, has_sink=has_sink) for at in which]
        places = [{"layer": layers[at].number, "head": head} for at, head in heads]
        return Picture(
            torch.cat([weights for weights, _ in shown]),
            torch.cat([allowed for _, allowed in shown])[None],
            query_labels=block_labels(self.labels[row], rows, most),
            key_labels=block_labels(self.labels[column], columns, most) + [self.words["sink"]] * has_sink,
            head_labels=[self.named("head", kind, **place) for place in places],
            short_labels=[self.words["short"].format(**place) for place in places],
            measures=self.measures_here(kind, which),
            note=self.note(rows, columns, most),
            overview=self.overview(kind, heads) if number is None else None,
            call="" if number is None else self.call(kind, layers[number].number, queries, keys),
        )

    def call(self, kind: str, layer: int, queries: Window, keys: Window) -> str:
        """The call that shows a layer again, with a gap for a head."""
        several = {"kind": kind} if len(self.attention.layers) > 1 else {}
        parts = {name: part for name, part in (("queries", queries), ("keys", keys)) if part}
        more = "".join(f", {name}={value!r}" for name, value in (several | parts).items())
        return f"explorer.show(layer={layer}{{head}}{more})"

    def weights(self, layer: tuple[str, int | None], queries: Window = None, keys: Window = None) -> Tensor:
        """The weights (H, Q, K) of a setting, as the model gives them."""
        kind, number = layer
        row, column = self.sequences[kind]
        layers = self.attention.layers[kind]
        part = (slice(None), slice(*self.checked(queries, row)), slice(*self.checked(keys, column)))
        return torch.cat([each.weights[part] for each in (layers if number is None else [layers[number]])])

    def checked(self, window: Window, sequence: str) -> tuple[int, int]:
        """The part of a sequence. The chosen one may lie beyond its end, if another sequence is longer."""
        length = len(self.labels[sequence])
        if window is None:
            return 0, length
        begin, end = window
        if begin >= length:
            raise ValueError(self.words["beyond"].format(count=length, begin=begin, end=end - 1))
        return begin, min(end, length)

    def measures_here(self, kind: str, which: list[int]) -> dict[str, list[float]]:
        first = self.measures[kind][which[0]]
        return {
            self.words["measures"][name]: torch.cat([self.measures[kind][at][name] for at in which]).tolist()
            for name in first
        }

    def note(self, rows: tuple[int, int], columns: tuple[int, int], most: int) -> str:
        sizes = [block_size(part, most) for part in (rows, columns)]
        blocks = self.words["blocks"].format(queries=sizes[0], keys=sizes[1]) if max(sizes) > 1 else ""
        return " ".join(filter(None, (blocks, self.no_induction)))

    def overview(self, kind: str, heads: list[tuple[int, int]]) -> Overview:
        layers = self.attention.layers[kind]
        counts = {len(layer.weights) for layer in layers}
        is_grid = len(counts) == 1
        return Overview(
            rows=[self.words["layer"].format(layer=layer.number) for layer in layers] if is_grid else [],
            columns=[str(head) for head in range(max(counts))],
            corner=self.words["corner"],
            opens=[({"layer": (kind, at)}, head) for at, head in heads],
        )


def most_for_a_page(attention: ModelAttention) -> int:
    """The blocks along a side, so many that a page, which computes nothing, carries all layers."""
    shapes = [layer.weights.shape for layers in attention.layers.values() for layer in layers]

    def size(most: int) -> int:
        """In bytes, of all layers in float16."""
        return sum(2 * heads * min(most, queries) * min(most, keys) for heads, queries, keys in shapes)

    fitting = (most for most in range(WHOLE, SMALL, -1) if size(most) + size(SMALL) <= BUDGET)
    return next(fitting, SMALL)


def made(name: str, label: str, options: Mapping[str, Any]) -> Control:
    """A choice that is shown under another name than its argument has."""
    return replace(make_control(name, options, next(iter(options.values()))), label=label)


def block_size(part: tuple[int, int], most: int) -> int:
    """How many tokens make a block, so that a part of the text has at most so many blocks."""
    begin, end = part
    return -(-(end - begin) // most)


def in_blocks(
    layer: Layer, rows: tuple[int, int], columns: tuple[int, int], most: int, *, has_sink: bool = False
) -> tuple[Tensor, Tensor]:
    """Weights and mask of a part, in at most ``most`` × ``most`` blocks, and a column for a sink behind them.

    A block shows how much weight its queries give to all of its keys, on average: rows still sum to 1.
    """
    part = (slice(None), slice(*rows), slice(*columns))
    weights, allowed = layer.weights[part], layer.allowed[part]
    down, across = block_size(rows, most), block_size(columns, most)
    if across > 1:
        weights = torch.stack([block.sum(-1) for block in weights.split(across, -1)], -1)
        allowed = torch.stack([block.any(-1) for block in allowed.split(across, -1)], -1)
    if has_sink:  # in one of the layers, of which this one may have none
        sink = layer.sink
        given = torch.zeros_like(layer.weights[..., 0]) if sink is None else sink
        weights = torch.cat([weights, given[:, slice(*rows), None]], -1)
        of_sink = torch.full_like(allowed[..., :1], sink is not None)
        allowed = torch.cat([allowed, of_sink], -1)
    if down > 1:
        weights = torch.stack([block.mean(-2) for block in weights.split(down, -2)], -2)
        allowed = torch.stack([block.any(-2) for block in allowed.split(down, -2)], -2)
    return weights, allowed


def block_labels(labels: list[str], part: tuple[int, int], most: int) -> list[str]:
    """The label of each token of a part, or of each block: where it begins and ends."""
    begin, end = part
    size = block_size(part, most)
    if size == 1:
        return labels[begin:end]
    blocks = range(begin, end, size)
    return [f"{at}–{min(at + size, end) - 1} {' '.join(labels[at : min(at + size, end)])}" for at in blocks]
