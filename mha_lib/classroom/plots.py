"""Still heatmaps of attention weights, for paper and for a still slide; they look like the explorer's."""

import math
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from mha_lib.classroom.weights import as_mask, as_weights, to_numpy

QUERIES, KEYS, FORBIDDEN, HATCH = "#0067A5", "#B04500", "#ececec", "#8c8c8c"
MAX_COLUMNS, MAX_LETTERS = 4, 18
CJK_FAMILIES = (
    "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN", "PingFang SC",
    "Hiragino Sans GB", "Heiti SC", "Microsoft YaHei", "SimHei", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei",
    "Noto Serif CJK SC", "Droid Sans Fallback", "Arial Unicode MS",
)  # fmt: skip


def show_heatmaps(
    matrices: Any,
    xlabel: str = "keys",
    ylabel: str = "queries",
    titles: Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    cmap: str = "viridis",
    *,
    mask: Any = None,
    query_labels: Sequence | None = None,
    key_labels: Sequence | None = None,
    to_max: bool = False,
) -> Figure:
    """Heatmaps of ``matrices`` (rows, columns, Q, K) on one scale with one colour bar; d2l's call.

    ``titles`` are those of the columns, ``figsize`` that of the whole figure. ``mask`` is boolean, True =
    may attend, and as in the explorer: (Q,K), (rows,Q,K), (rows,1,K) or (rows,columns,Q,K); what it
    forbids is hatched. The scale is 0-1, or ends at the largest value with ``to_max``.

    A cell shows the Figure it ends with; anywhere else, ``display`` it.
    """
    maps = to_numpy(matrices)
    if maps.ndim != 4 or maps.size == 0:
        raise ValueError(f"matrices must be (rows, columns, Q, K) and not empty, got shape {maps.shape}")
    allowed = None if mask is None else as_mask(mask, maps.shape)
    names = (list(titles) if titles else [""] * maps.shape[1]) * maps.shape[0]
    if len(names) != maps.shape[0] * maps.shape[1]:
        raise ValueError(f"titles must name the {maps.shape[1]} columns, got {len(titles or ())}")
    axis_names, labels = (ylabel, xlabel), (query_labels, key_labels)
    return _draw(maps, allowed, names, maps.shape[1], axis_names, labels, to_max, figsize, cmap)


def show_heads(
    weights: Any,
    mask: Any = None,
    *,
    query_labels: Sequence | None = None,
    key_labels: Sequence | None = None,
    to_max: bool = False,
) -> Figure:
    """One heatmap a head of ``weights`` (Q,K), (H,Q,K) or (B,H,Q,K), as the explorer draws them.

    ``mask``: boolean, True = may attend, (Q,K), (B,Q,K), (B,1,K) or (B,H,Q,K); what it forbids is hatched.
    The scale is 0-1, or ends at the largest weight with ``to_max``. Of several samples, each has its rows.
    """
    maps, allowed = as_weights(weights, mask)
    samples, heads = maps.shape[:2]
    columns = math.ceil(heads / math.ceil(heads / MAX_COLUMNS)) if samples == 1 else heads
    prefixes = [f"sample {b}, " for b in range(samples)] if samples > 1 else [""]
    titles = [f"{prefix}head {h}" for prefix in prefixes for h in range(heads)]
    return _draw(maps, allowed, titles, columns, ("queries", "keys"), (query_labels, key_labels), to_max)


def _draw(
    maps: np.ndarray,
    allowed: np.ndarray | None,
    titles: list[str],
    columns: int,
    axis_names: tuple[str, str],
    labels: tuple[Sequence | None, Sequence | None],
    to_max: bool,
    figsize: tuple[float, float] | None = None,
    cmap: str = "viridis",
) -> Figure:
    queries, keys = maps.shape[2:]
    panels = maps.reshape(-1, queries, keys)
    rows = math.ceil(len(panels) / columns)
    side = min(2.4 / max(queries, keys), 0.5)  # of a cell, in inches
    width, height = max(1.3, keys * side + 0.3), max(1.0, queries * side + 0.6)
    figsize = figsize or (columns * width + 1.2, rows * height + 0.5)
    side = min((figsize[0] - 1.2) / columns / keys, (figsize[1] - 0.5) / rows / queries)
    figure, grid = plt.subplots(rows, columns, figsize=figsize, squeeze=False, layout="compressed")
    plt.close(figure)  # so that the cell which ends with it shows it once
    low, largest = min(0.0, float(panels.min())), float(panels.max())
    top = (largest or 1.0) if to_max else max(1.0, largest)
    colours = plt.get_cmap(cmap).with_extremes(bad=FORBIDDEN)
    for i, axes in enumerate(grid.flat):
        if i >= len(panels):
            axes.set_visible(False)
            continue
        forbidden = np.zeros_like(panels[i], bool) if allowed is None else ~allowed.reshape(panels.shape)[i]
        image = axes.imshow(
            np.ma.array(panels[i], mask=forbidden & (panels[i] == 0)), colours, vmin=low, vmax=top
        )
        axes.set_title(titles[i], fontsize=9, loc="left", family=_families())
        _hatch(axes, forbidden)
        leftmost, lowest = i % columns == 0, i + columns >= len(panels)
        _label(axes.yaxis, axis_names[0], QUERIES, labels[0], queries, side, leftmost)
        _label(axes.xaxis, axis_names[1], KEYS, labels[1], keys, side, lowest)
    figure.colorbar(
        image, ax=grid, label="weight", aspect=max(3, 8 * rows * queries * side)
    )  # as wide in all
    return figure


def _hatch(axes: Axes, forbidden: np.ndarray) -> None:
    """A hatched rectangle on each run of forbidden cells in a row."""
    for query, row in enumerate(forbidden):
        edges = np.flatnonzero(np.diff(np.concatenate(([False], row, [False])).astype(int)))
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            place = (start - 0.5, query - 0.5), end - start, 1
            axes.add_patch(Rectangle(*place, facecolor="none", edgecolor=HATCH, hatch="/////", linewidth=0))


def _label(axis: Axis, name: str, colour: str, labels: Any, count: int, side: float, outer: bool) -> None:
    """Name the outer axes, and as many of their tokens as there is room for."""
    if labels is not None and len(labels) != count:
        raise ValueError(f"{name} must have {count} labels, got {len(labels)}")
    words = [_drawable(str(label)) for label in (range(count) if labels is None else labels)]
    width = 0.08 * max(map(len, words))  # of the widest, in inches
    turned = isinstance(axis, XAxis) and labels is not None and width > side
    step = math.ceil((width if isinstance(axis, XAxis) and not turned else 0.13) / side)
    axis.set_ticks(range(0, count, step) if outer else [])
    axis.set_ticklabels(words[::step] if outer else [], fontsize=8, family=_families(), parse_math=False)
    axis.set_tick_params(length=0, labelrotation=90 if turned else 0)
    axis.set_label_text(name if outer else "", color=colour, family=_families(), parse_math=False)


@cache
def _families() -> list[str]:
    """matplotlib's own font, and the first Chinese one that this system has."""
    known = set(font_manager.get_font_names())
    return ["DejaVu Sans", *[family for family in CJK_FAMILIES if family in known][:1]]


@cache
def _charmaps() -> set[int]:
    paths = [font_manager.findfont(family) for family in _families()]
    return {code for path in paths for code in font_manager.get_font(path).get_charmap()}


@cache
def _hint_once() -> None:
    warnings.warn(
        "Some labels need characters that no font here has; they are drawn as □. For Chinese install a font "
        "such as Noto Sans CJK (Debian: apt install fonts-noto-cjk) and restart the kernel.",
        stacklevel=2,
    )


def _drawable(label: str) -> str:
    """The label on one line, shortened, without characters that would be missing."""
    label = " ".join(label.split())
    label = label if len(label) <= MAX_LETTERS else label[: MAX_LETTERS - 1] + "…"
    if missing := {letter for letter in label if ord(letter) not in _charmaps()}:
        _hint_once()
        label = "".join("□" if letter in missing else letter for letter in label)
    return label
