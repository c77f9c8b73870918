"""Still heatmaps of attention weights, for paper and slides; they look like the explorer's."""

import math
import re
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from mha_lib.classroom import look
from mha_lib.classroom.lesson.chinese import is_traditional
from mha_lib.classroom.lesson.language import language_here, words_here
from mha_lib.classroom.pictures.grammar import (
    COLOUR_MAP,
    SHADES,
    colours_of_heads,
    hatching,
    name_axis,
    name_of_head,
)
from mha_lib.classroom.pictures.theme import LETTERS
from mha_lib.classroom.pictures.weights import as_weights, to_numpy

MAX_COLUMNS, MAX_LETTERS = 4, 18  # heads side by side in a figure, and letters of a label
CJK_FAMILIES = (
    "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN", "PingFang SC",
    "Hiragino Sans GB", "Heiti SC", "Microsoft YaHei", "SimHei", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei",
    "Noto Serif CJK SC", "Noto Sans CJK TC", "Noto Sans TC", "Source Han Sans TC", "PingFang TC", "Heiti TC",
    "Microsoft JhengHei", "Droid Sans Fallback", "Noto Sans CJK JP", "Noto Serif CJK JP", "Arial Unicode MS",
)  # fmt: skip
CHINESE = re.compile("[\u3400-\u9fff]+")


def show_heads(
    weights: Any,
    mask: Any = None,
    *,
    query_labels: Sequence | None = None,
    key_labels: Sequence | None = None,
    head_labels: Sequence[str] | None = None,
    ylabel: str = "",
    xlabel: str = "",
    to_max: bool = False,
) -> Figure:
    """One heatmap for each head of ``weights`` (Q,K), (H,Q,K) or (B,H,Q,K), as the explorer draws them.

    ``mask`` is boolean, True = may attend, of shape (Q,K), (B,Q,K), (B,1,K) or (B,H,Q,K); cells that it
    forbids are hatched. The scale is 0-1, or ends at the largest weight with ``to_max``. Each sample has a
    row of its own. ``head_labels`` name the heads of a model with layers, as 1.0; up to eight heads have a
    line of their colour above the map. ``ylabel`` and ``xlabel`` name the axes where they are no queries and
    keys: such numbers are neutral, since they are no weights.
    """
    maps, allowed = as_weights(weights, mask)
    samples, heads = maps.shape[:2]
    columns = math.ceil(heads / math.ceil(heads / MAX_COLUMNS)) if samples == 1 else heads
    names = {(True, True): "head_of_sample", (True, False): "sample", (False, True): "head"}
    words = words_here()["plots"]
    title = words.get(names.get((samples > 1, heads > 1)), "")  # none for what is alone
    if head_labels is not None and len(head_labels) != heads:
        raise ValueError(f"head_labels must hold {heads} names, got {len(head_labels)}")
    heads_named = [name_of_head(str(label)) for label in head_labels or range(heads)]
    titles = [title.format(sample=sample, head=head) for sample in range(samples) for head in range(heads)]
    if head_labels and samples == 1:
        titles = heads_named
    are_numbers = bool(xlabel or ylabel) or to_numpy(weights).dtype == bool
    colours = {} if are_numbers or (heads == 1 and not head_labels) else colours_of_heads(heads_named)
    queries, keys = maps.shape[2:]
    panels = maps.reshape(-1, queries, keys)
    rows = math.ceil(len(panels) / columns)
    side = min(1.9 / max(queries, keys), 0.5)
    room = max(1.3, keys * side + 0.3), max(1.0, queries * side + 0.7)  # of a map, in inches
    size = columns * room[0] + 1.4, rows * room[1] + 0.6  # with titles, names and the colour bar
    side = min(room[0] / keys, room[1] / queries)  # of a cell
    figure, grid = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="compressed")
    plt.close(figure)  # else a cell that ends with the figure would show it twice
    largest = float(panels.max())
    top = (largest or 1.0) if to_max else max(1.0, largest)
    forbidden = np.zeros_like(panels, bool) if allowed is None else ~allowed.reshape(panels.shape)
    for i, axes in enumerate(grid.flat):
        if i >= len(panels):
            axes.set_visible(False)
            continue
        shown = np.ma.array(panels[i], mask=forbidden[i] & (panels[i] == 0))  # the ground shows there
        image = axes.imshow(shown, SHADES if are_numbers else COLOUR_MAP, vmin=0, vmax=top)
        axes.set_facecolor(look.LIGHT["forbidden"] if forbidden[i].any() else "white")
        axes.set_title(titles[i], fontsize=LETTERS, loc="left", family=_families())
        if colour := colours.get(heads_named[i % heads]):
            axes.spines["top"].set(color=colour, linewidth=5)
        if forbidden[i].any():
            _hatch(axes, image, forbidden[i])
        _set_tokens(axes.yaxis, "query_labels", query_labels, queries, side)
        _set_tokens(axes.xaxis, "key_labels", key_labels, keys, side)
        for axis, name, is_inner in (
            (axes.yaxis, ylabel or words["queries"], i % columns > 0),
            (axes.xaxis, xlabel or words["keys"], i + columns < len(panels)),
        ):
            if is_inner:  # the outer one holds for the whole row or column
                axis.set_ticks([])
            else:
                name_axis(axis, name, family=_families())
    length = max(3, 8 * rows * queries * side)  # of the colour bar: it makes all bars equally wide
    bar = figure.colorbar(image, ax=grid, aspect=length)
    bar.set_label("" if are_numbers else words["weight"], family=_families(), fontsize=LETTERS)
    bar.ax.tick_params(labelsize=LETTERS)
    return figure


def show_overview(maps: np.ndarray, rows: list[str], columns: list[str], corner: str) -> Figure:
    """Small heatmaps of ``maps`` (H,Q,K) in rows and columns of these names, as the explorer draws them.

    Without names of rows they stand one after the other, in as many rows as they need.
    """
    count, queries, keys = maps.shape
    rows = rows or [""] * -(-count // len(columns))
    gap, missing = max(1, queries // 8), len(rows) * len(columns) - count
    tiles = np.pad(maps, ((0, missing), (0, gap), (0, gap)), constant_values=np.nan)
    tiles = tiles.reshape(len(rows), len(columns), queries + gap, keys + gap)
    sheet = tiles.swapaxes(1, 2).reshape(len(rows) * (queries + gap), -1)
    figure, axes = plt.subplots(
        figsize=(1.4 + 0.5 * len(columns), 0.6 + 0.5 * len(rows)), layout="compressed"
    )
    plt.close(figure)
    axes.imshow(sheet, COLOUR_MAP, vmin=0, vmax=1)
    axes.set_frame_on(False)
    for axis, names, size in ((axes.yaxis, rows, queries), (axes.xaxis, columns, keys)):
        axis.set_ticks(np.arange(len(names)) * (size + gap) + size / 2, names, family=_families())
        axis.set_tick_params(length=0)
    axes.set_xlabel(corner, family=_families())
    return figure


def _hatch(axes: Axes, image: AxesImage, forbidden: np.ndarray) -> None:
    """Hatch the whole map, and lay the allowed cells over it: a patch for each cell would take seconds."""
    queries, keys = forbidden.shape
    with plt.rc_context({"hatch.linewidth": look.HATCH["line"] * LETTERS}):
        axes.add_patch(Rectangle((-0.5, -0.5), keys, queries, facecolor="none", **hatching()))
    allowed: np.ma.MaskedArray = np.ma.array(image.get_array(), mask=forbidden)
    low, top = image.get_clim()
    axes.imshow(allowed, image.get_cmap().with_extremes(bad="none"), vmin=low, vmax=top, zorder=2)


def _set_tokens(axis: Axis, argument: str, labels: Any, count: int, side: float) -> None:
    """Label as many cells as there is room for, with their tokens or else with numbers."""
    if labels is not None and len(labels) != count:
        raise ValueError(f"{argument} must hold {count} labels, got {len(labels)}")
    tokens = [_on_one_line(str(label)) for label in (range(count) if labels is None else labels)]
    width = 0.01 * LETTERS * max(1, *map(len, tokens))  # of the widest, in inches
    is_level = isinstance(axis, XAxis)
    is_turned = is_level and labels is not None and width > side
    step = math.ceil((width if is_level and not is_turned else 0.016 * LETTERS) / side)
    if is_turned and all(CHINESE.fullmatch(token) for token in tokens):  # Chinese can be written downwards
        tokens, is_turned = ["\n".join(token) for token in tokens], False
    axis.set_ticks(range(0, count, step))
    axis.set_ticklabels(tokens[::step], fontsize=LETTERS, family=_families(), parse_math=False)
    axis.set_tick_params(length=0, labelrotation=90 if is_turned else 0)


def write_chinese() -> None:
    """Let every figure of matplotlib use Chinese letters, also figures that a lesson draws itself.

    Without a Chinese font on the system, one warning names the way out.
    """
    plt.rcParams["font.family"] = _families()
    if len(_families()) == 1:
        warnings.warn(words_here()["plots"]["no_font"], stacklevel=2)
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)  # it comes for every letter


@cache
def _families() -> list[str]:
    """matplotlib's own font, and the first Chinese one that this system has."""
    wanted = list(CJK_FAMILIES)
    if is_traditional(language_here()):  # it writes some characters with strokes of its own
        wanted.sort(key=lambda family: not family.endswith(("TC", "JhengHei")))
    if not set(wanted) & set(font_manager.get_font_names()):
        _look_for_new_fonts()
    known = set(font_manager.get_font_names())
    return ["DejaVu Sans", *[family for family in wanted if family in known][:1]]


def _look_for_new_fonts() -> None:
    """Add fonts that were installed after matplotlib made its list, which it keeps between runs."""
    known = {font.fname for font in font_manager.fontManager.ttflist}
    for file in set(font_manager.findSystemFonts()) - known:
        with suppress(OSError, RuntimeError):  # matplotlib cannot read this font
            font_manager.fontManager.addfont(file)


def _on_one_line(label: str) -> str:
    label = " ".join(label.split())
    return label if len(label) <= MAX_LETTERS else label[: MAX_LETTERS - 1] + "…"
