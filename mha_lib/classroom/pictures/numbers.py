"""Still pictures of a few numbers that a slide compares: bars, tables of shaded cells, and lines.

Each is one call, and looks alike in deck, JupyterLab and handout. A figure is as wide as a slide.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from mha_lib.classroom import look
from mha_lib.classroom.pictures.theme import LETTERS
from mha_lib.classroom.pictures.weights import to_numpy

WIDTH, HEIGHT = 9.2, 2.8  # inches: the proportions of the room below two lines of text and above two ticks
COLOURS = [look.LIGHT[name] for name in ("q", "k", "v", "o")]
MARKERS = "osD^"
DEEPEST = 0.6  # the opacity of the largest number's cell


def show_bars(
    panels: Mapping[str, Any], labels: Sequence[str], *, highest: float | None = None, digits: int = 2
) -> Figure:
    """Bars for each of the ``panels``, {title: numbers}, side by side on one scale, each with its number.

    ``labels`` name the bars of every panel. The scale ends at ``highest``, or at the largest number.
    """
    named = {title: _numbers(title, numbers, 1) for title, numbers in _filled(panels).items()}
    for title, numbers in named.items():
        if len(numbers) != len(labels):
            raise ValueError(
                f"panel {title!r} must hold {len(labels)} numbers, as labels does, got {len(numbers)}"
            )
    top = highest or max(float(numbers.max()) for numbers in named.values())
    figure, grid = _figure([1] * len(named), HEIGHT)
    for axes, (title, numbers) in zip(grid, named.items(), strict=True):
        bars = axes.bar(range(len(labels)), numbers, color=COLOURS[0], width=0.7)
        axes.bar_label(bars, [said(number, digits) for number in numbers], fontsize=LETTERS, padding=2)
        lowest = float(numbers.min())
        axes.set(ylim=(lowest - 0.15 * top if lowest < 0 else 0.0, 1.15 * top), yticks=[])
        axes.set_xticks(range(len(labels)), list(labels), fontsize=LETTERS)
        axes.tick_params(length=0)
        axes.spines[["left", "right", "top"]].set_visible(False)
        axes.set_title(title, fontsize=LETTERS + 1)
    return figure


def show_cells(
    panels: Mapping[str, Any],
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    *,
    digits: int = 2,
) -> Figure:
    """Tables of the ``panels``, {title: matrix}, side by side: each number in a cell, the deeper the larger.

    Positive numbers are blue, negative ones orange. ``rows`` name the rows of the first panel, and
    ``columns`` those of each panel with as many columns.
    """
    named = {title: _numbers(title, matrix, 2) for title, matrix in _filled(panels).items()}
    figure, grid = _figure([matrix.shape[1] for matrix in named.values()], HEIGHT)
    for place, (axes, (title, matrix)) in enumerate(zip(grid, named.items(), strict=True)):
        largest = float(np.abs(matrix).max()) or 1.0
        for (row, column), number in np.ndenumerate(matrix):
            shade = {"facecolor": COLOURS[int(number < 0)], "alpha": DEEPEST * abs(number) / largest}
            axes.add_patch(Rectangle((column, row), 1, 1, linewidth=0, **shade))
            axes.text(
                column + 0.5, row + 0.5, said(number, digits), ha="center", va="center", fontsize=LETTERS + 2
            )
        count = matrix.shape[1]
        axes.set(xlim=(0, count), ylim=(len(matrix), 0))
        _name(axes, "x", columns if columns and len(columns) == count else [])
        _name(axes, "y", rows if rows and not place else [])
        axes.set_title(title, fontsize=LETTERS + 1)
    return figure


def show_lines(
    x: Sequence[float], lines: Mapping[str, Any], *, xlabel: str, ylabel: str = "", logarithmic: bool = False
) -> Figure:
    """A line over ``x`` for each of ``lines``, {name: numbers}, with its name; ``logarithmic``: both axes."""
    named = {name: _numbers(name, numbers, 1) for name, numbers in _filled(lines).items()}
    figure, (axes,) = _figure([1], HEIGHT)
    for place, (name, numbers) in enumerate(named.items()):
        if len(numbers) != len(x):
            raise ValueError(f"line {name!r} must hold {len(x)} numbers, as x does, got {len(numbers)}")
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        axes.plot(x, numbers, f"{marker}-", color=colour, linewidth=2, markersize=8, label=name)
    if logarithmic:
        axes.set(xscale="log", yscale="log")
    axes.set_xticks(x, [f"{each:g}" for each in x], fontsize=LETTERS)
    axes.minorticks_off()
    axes.set_xlabel(xlabel, fontsize=LETTERS)
    axes.set_ylabel(ylabel, fontsize=LETTERS)
    axes.spines[["right", "top"]].set_visible(False)
    axes.legend(frameon=False, fontsize=LETTERS)
    return figure


def said(number: float, digits: int) -> str:
    """The number with so many digits after the point, and none where it is whole by its type."""
    is_whole = np.issubdtype(np.asarray(number).dtype, np.integer)
    return f"{number:,.{0 if is_whole else digits}f}".replace("-", "−")


def _figure(widths: Sequence[int], height: float) -> tuple[Figure, list[Axes]]:
    spacing = {"width_ratios": list(widths), "wspace": 0.05}
    figure, grid = plt.subplots(
        1, len(widths), figsize=(WIDTH, height), squeeze=False, layout="constrained", gridspec_kw=spacing
    )
    plt.close(figure)  # else a cell that ends with the figure would show it twice
    return figure, list(grid[0])


def _filled(panels: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(panels, Mapping) or not panels:
        raise ValueError(f"wanted numbers by their titles, as in {{'weights': [.7, .3]}}, got {panels!r}")
    return panels


def _numbers(title: str, given: Any, dimensions: int) -> np.ndarray:
    numbers = to_numpy(given)
    kind = ("a list of numbers", "a matrix")[dimensions - 1]
    if numbers.ndim != dimensions or numbers.size == 0 or numbers.dtype.kind not in "biuf":
        raise ValueError(f"{title!r} must be {kind}, got shape {numbers.shape} of {numbers.dtype}")
    if not np.isfinite(numbers).all():
        raise ValueError(f"{title!r} must be finite, got NaN or infinity")
    return numbers.astype(int) if numbers.dtype.kind == "b" else numbers


def _name(axes: Axes, axis: Literal["x", "y"], names: Sequence[str]) -> None:
    places = [place + 0.5 for place in range(len(names))]
    getattr(axes, f"set_{axis}ticks")(places, list(names), fontsize=LETTERS)
    axes.tick_params(axis=axis, length=0)
    axes.spines[:].set_visible(False)
