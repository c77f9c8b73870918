"""Reads a figure of matplotlib by the grammar of pictures, and says what is not in it."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

from mha_lib.classroom import look
from mha_lib.classroom.lesson.language import words_here
from mha_lib.classroom.pictures import theme
from mha_lib.classroom.pictures.grammar import INK, SHADES
from mha_lib.classroom.pictures.numbers import ON_BRIGHT, ON_DARK
from mha_lib.classroom.pictures.theme import LETTER, LETTERS

KINDS = ("queries", "keys", "values", "outputs")
NEUTRAL = {look.LIGHT[name] for name in look.LIGHT if name not in "qkvo"} | {INK}
LETTERING = NEUTRAL | {ON_BRIGHT, ON_DARK}
VIRIDIS = {to_hex(colour) for colour in colormaps["viridis"](np.arange(256))}


def faults_of(figure: Figure) -> list[str]:
    """A sentence for each part of the figure that is not in the grammar."""
    figure.draw_without_rendering()
    shown = [axes for axes in figure.axes if axes.get_visible()]
    texts = list(_texts(figure))
    faults = [fault for text in texts for fault in _faults_of_text(text)]
    boxes = [(text.get_text(), text.get_window_extent().padded(-1)) for text in texts]
    for (one, here), (other, there) in itertools.combinations(boxes, 2):
        if here.overlaps(there):
            faults.append(f"{one!r} lies on {other!r}")
    for axes in shown:
        if axes.get_label() != "<colorbar>":
            faults += [*_unnamed(axes), *_faults_of_colours(axes)]
    return faults


def read_pictures() -> list[str]:
    """From now on, faults of each figure that is shown come into the list that this returns."""
    faults: list[str] = []
    draw = theme.to_svg

    def to_svg(figure: Figure) -> str | None:
        named = [axes.get_title() or axes.get_title(loc="left") for axes in figure.axes]
        faults.extend(f"{named}: {fault}" for fault in faults_of(figure))
        return draw(figure)

    theme.to_svg = to_svg
    return faults


def _faults_of_text(text: Text) -> Iterator[str]:
    said, size, colour = text.get_text(), float(text.get_fontsize()), to_hex(text.get_color())
    words = words_here()["plots"]
    kinds = {words[kind]: look.LIGHT[kind[0]] for kind in KINDS}
    if colour not in LETTERING and colour != kinds.get(said):
        yield f"{said!r} is {colour}"
    if size < LETTERS:
        yield f"{said!r} has {size:.0f} points, fewer than {LETTERS}"
    if said[:1] in "-−" and not said.strip("-−0.,"):
        yield f"{said!r} is a zero with a sign"


def _texts(figure: Figure) -> Iterator[Text]:
    """The texts that are drawn: no ticks outside the picture, and none of an axis that is off."""
    hidden: list[Text] = []
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            hidden += [] if axes.axison and axes.get_visible() else axis.findobj(Text)
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                hidden += [] if low <= tick.get_loc() <= high else tick.findobj(Text)
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and text not in hidden:
            yield text


def _unnamed(axes: Axes) -> Iterator[str]:
    """The axes whose ticks are numbers or signs, without a name; a title may say what the numbers are."""
    place = axes.get_subplotspec()
    for axis, is_outer in (
        (axes.yaxis, not place or place.is_first_col()),
        (axes.xaxis, not place or place.is_last_row()),
    ):
        ticks = [tick.get_text().replace(r"\mathdefault", "") for tick in axis.get_ticklabels()]
        are_words = all(LETTER.search(tick) for tick in ticks)
        if axes.axison and is_outer and not (axis.get_label_text() or are_words or axes.get_title()):
            yield f"the {axis.axis_name} axis has no name"


def _faults_of_colours(axes: Axes) -> Iterator[str]:
    words = words_here()["plots"]
    are_weights = [axes.get_ylabel(), axes.get_xlabel()] == [words["queries"], words["keys"]]
    for name in {image.get_cmap().name for image in axes.images} - {SHADES.name}:
        if name != "viridis" or not are_weights:
            yield f"an image is in {name}, and its axes are {axes.get_ylabel()!r} and {axes.get_xlabel()!r}"
    for colour in _colours(axes) - NEUTRAL - VIRIDIS:
        yield f"something is {colour}, which the table lacks or keeps for {KINDS}"


def _colours(axes: Axes) -> set[str]:
    drawn: list[Any] = [line.get_color() for line in axes.lines]
    for patch in axes.patches:
        drawn += [patch.get_facecolor(), patch.get_edgecolor()]
    for collection in axes.collections:
        drawn += list(collection.get_facecolor())
    return {to_hex(colour) for colour in drawn if to_hex(colour, keep_alpha=True)[-2:] != "00"}
