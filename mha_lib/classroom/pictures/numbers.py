"""Still pictures of a few numbers that a slide compares: bars, tables of shaded cells, and lines.

Each is one call, and looks alike in deck, JupyterLab and handout, by the grammar of pictures. A figure is as
wide as a slide.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from mha_lib.classroom import look
from mha_lib.classroom.lesson.language import words_here
from mha_lib.classroom.pictures.grammar import (
    COLOUR_MAP,
    INK,
    NUMBER,
    NUMBERS,
    SHADES,
    SHARES,
    THIS,
    WEIGHTS,
    check_names,
    colours_of_heads,
    hatching,
    name_axis,
    of_panel,
    role_in,
    said,
)
from mha_lib.classroom.pictures.theme import LETTER, LETTERS
from mha_lib.classroom.pictures.weights import to_numpy

WIDTH, HEIGHT = 9.2, 2.8  # inches: the proportions of the room below two lines of text and above two ticks
MARKERS = "osD^"
MOST_TICKS = 12
DEEPEST = 0.6  # the opacity of the largest number's cell
ROUNDING = 1e-6  # shares may be below 0 or above 1 by this
FRAME = 5  # points, around the cell of a negative number
ON_DARK, ON_BRIGHT = "#fffffe", "#000001"  # letters on viridis; no greys, which would turn in a dark theme
Names = Sequence[str] | Mapping[str, Sequence[str]] | None
Of = str | Mapping[str, str]  # for all panels, or {title: …}
Cell = tuple[str | int, str | int | None]  # its row and its column; None: the whole row


def show_bars(
    panels: Mapping[str, Any],
    labels: Sequence[str],
    *,
    role: Of = NUMBERS,
    this: str = "",
    xlabel: str = "",
    digits: int = 2,
) -> Figure:
    """Bars for each of the ``panels``, {title: numbers}, side by side on one scale, each with its number.

    ``labels`` name the bars of every panel; where they are no words, ``xlabel`` says what they are. If that
    is "head", bars named as 1.0 have the colours of heads. The bar named ``this`` has the accent.

    The ``role`` is "numbers": neutral, and the scale ends at the largest; "shares": it ends at 1;
    "weights": it ends at 1, and bars are in viridis. A {title: role} gives each panel its own.
    """
    roles = {title: _role(role, title, (NUMBERS, SHARES, WEIGHTS)) for title in _filled(panels)}
    named = {title: _numbers(title, numbers, 1, roles[title]) for title, numbers in panels.items()}
    for title, numbers in named.items():
        if len(numbers) != len(labels):
            raise ValueError(
                f"panel {title!r} must hold {len(labels)} numbers, as labels does, got {len(numbers)}"
            )
    check_names("labels", labels, "xlabel", xlabel)
    _check_this(this, labels)
    heads = colours_of_heads(labels) if xlabel == words_here()["plots"]["heads"] else {}
    ends_at_1 = {SHARES, WEIGHTS} & {*roles.values()}
    top = max([1.0] * bool(ends_at_1) + [float(numbers.max()) for numbers in named.values()] + [0.0]) or 1.0
    lowest = min([0.0, *(float(numbers.min()) for numbers in named.values())])
    room = 0.15 * (top - lowest)  # for the numbers above and below the bars
    figure, grid = _figure([1] * len(named), HEIGHT)
    for axes, (title, numbers) in zip(grid, named.items(), strict=True):
        numbers = np.where(np.abs(numbers) < 0.5 * 10**-digits, 0, numbers)  # what reads as 0 is 0
        bars = axes.bar(np.arange(len(labels)), numbers, 0.63)
        for bar, number, label in zip(bars, numbers, labels, strict=True):
            colour = THIS if label == this else heads.get(label, NUMBER)
            if roles[title] == WEIGHTS:
                colour = colormaps[COLOUR_MAP](float(number))
            bar.set(facecolor=colour, edgecolor=THIS if label == this else "none", linewidth=2)
        axes.bar_label(bars, [said(number, digits) for number in numbers], fontsize=LETTERS, padding=2)
        axes.axhline(0, color=INK, linewidth=1)
        axes.set(ylim=(lowest - room * (lowest < 0), top + room), yticks=[])
        axes.set_xticks(range(len(labels)), list(labels), fontsize=LETTERS)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_title(title, fontsize=LETTERS + 1)
        name_axis(axes.xaxis, xlabel)
    return figure


def show_cells(
    panels: Mapping[str, Any],
    rows: Names = None,
    columns: Names = None,
    *,
    role: Of = NUMBERS,
    mask: Any = None,
    this: Cell | Mapping[str, Cell] | None = None,
    ylabel: Of = "",
    xlabel: Of = "",
    digits: int | None = 2,
) -> Figure:
    """Tables of the ``panels``, {title: matrix}, side by side: each number in a cell, the deeper the larger.

    The ``role`` is "numbers": neutral, negative numbers in a frame; or "weights": in viridis from 0 to 1,
    with queries as rows and keys as columns. ``rows`` and ``columns`` name the cells of all panels, those of
    the rows once; where they are no words, ``ylabel`` and ``xlabel`` say what they are. ``mask``, True = may
    attend, hatches the other cells, whose numbers are not drawn and may be −∞. ``this`` is the (row, column)
    of the cell with the accent, by name or number, or (row, None) for a row. Names, roles, masks and ``this``
    may differ between panels, as {title: …}. Where ``digits`` is None, for many cells, they have no numbers,
    and negative ones no frame.
    """
    named, masks, roles = {}, {}, {}
    for title, given in _filled(panels).items():
        roles[title] = _role(role, title, (NUMBERS, WEIGHTS))
        masks[title] = _mask(title, of_panel(mask, title), np.shape(given))
        named[title] = _numbers(title, given, 2, roles[title], masks[title])
    figure, grid = _figure([matrix.shape[1] for matrix in named.values()], HEIGHT)
    words = words_here()["plots"]
    for place, (axes, (title, matrix)) in enumerate(zip(grid, named.items(), strict=True)):
        are_weights = roles[title] == WEIGHTS
        for axis, argument, names, count, label, default in (
            (axes.yaxis, "rows", rows, len(matrix), ylabel, words["queries"]),
            (axes.xaxis, "columns", columns, matrix.shape[1], xlabel, words["keys"]),
        ):
            own = of_panel(names, title)
            name = of_panel(label, title) or (default if are_weights else "")
            if own is not None and len(own) != count:
                raise ValueError(f"{argument} of {title!r} must hold {count} names, got {len(own)}")
            check_names(f"{argument} of {title!r}", own, f"{axis.axis_name}label", name)
            is_named_before = place > 0 and axis is axes.yaxis and not isinstance(names, Mapping)
            _name_cells(axis, [] if own is None or is_named_before else own, "" if is_named_before else name)
        if digits is None:
            shown = np.ma.array(matrix, mask=~masks[title])
            top = 1.0 if are_weights else float(matrix.max()) or 1.0
            end = matrix.shape[1], len(matrix)
            colours = COLOUR_MAP if are_weights else SHADES
            axes.imshow(shown, colours, vmin=0, vmax=top, aspect="auto", extent=(0, end[0], end[1], 0))
        else:
            _paint_cells(axes, matrix, masks[title], are_weights, digits)
        if accent := of_panel(this, title):
            row, column = _place(of_panel(rows, title), accent[0]), 0
            width = matrix.shape[1]  # of a whole row
            if accent[1] is not None:
                column, width = _place(of_panel(columns, title), accent[1]), 1
            if row >= len(matrix) or column >= matrix.shape[1]:
                raise ValueError(f"this={accent!r} must be in {title!r}, which has shape {matrix.shape}")
            frame = {"fill": False, "edgecolor": THIS, "linewidth": 3, "zorder": 3}
            axes.add_patch(Rectangle((column, row), width, 1, **frame))
        axes.set(xlim=(0, matrix.shape[1]), ylim=(len(matrix), 0))
        axes.set_title(title, fontsize=LETTERS + 1)
    return figure


def show_lines(
    x: Sequence[float],
    lines: Mapping[str, Any],
    *,
    xlabel: str,
    ylabel: str,
    role: str = NUMBERS,
    this: str = "",
    logarithmic: bool = False,
) -> Figure:
    """A line over ``x`` for each of ``lines``, {name: numbers}, with its name; ``logarithmic``: both axes.

    Numbers may also be (3, N), the least, the median and the most: the line has a band around it.
    The ``role`` is "numbers" or "shares": the scale then goes from 0 to 1. Lines are neutral with markers of
    their own; the one named ``this`` has the accent, and lines named as "head 1.0" have the colours of heads.
    """
    named = {
        name: _numbers(name, numbers, 2 if np.ndim(numbers) == 2 else 1, NUMBERS)
        for name, numbers in _filled(lines).items()
    }
    role_in(role, (NUMBERS, SHARES))
    _check_this(this, [*named])
    for argument, label in (("xlabel", xlabel), ("ylabel", ylabel)):
        check_names(argument.removesuffix("label"), None, argument, label)
    figure, (axes,) = _figure([1], HEIGHT)
    heads = colours_of_heads([*named])
    for place, (name, numbers) in enumerate(named.items()):
        if numbers.shape[-1] != len(x) or len(numbers) not in (len(x), 3):
            raise ValueError(f"line {name!r} must hold {len(x)} numbers, as x does, got {numbers.shape[-1]}")
        colour, marker = THIS if name == this else heads.get(name, NUMBER), MARKERS[place % len(MARKERS)]
        if numbers.ndim == 2:
            axes.fill_between(x, numbers[0], numbers[2], color=colour, alpha=0.15, linewidth=0)
            numbers = numbers[1]
        axes.plot(x, numbers, f"{marker}-", color=colour, linewidth=2, markersize=8, label=name)
    if logarithmic:
        axes.set(xscale="log", yscale="log")
    else:
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, 0), 1.05 if role == SHARES else max(high, 0))
        axes.axhline(0, color=INK, linewidth=1)
        axes.spines["bottom"].set_visible(False)
    shown = list(x)[:: -(-len(x) // MOST_TICKS)]
    axes.set_xticks(shown, [f"{each:g}" for each in shown], fontsize=LETTERS)
    axes.tick_params(axis="y", labelsize=LETTERS)
    axes.minorticks_off()
    name_axis(axes.xaxis, xlabel)
    name_axis(axes.yaxis, ylabel)
    axes.spines[["right", "top"]].set_visible(False)
    axes.legend(frameon=False, fontsize=LETTERS, loc="upper left", bbox_to_anchor=(1, 1))  # on no line
    return figure


def show_dots(
    panels: Mapping[str, Mapping[str, Any]],
    *,
    this: Mapping[str, float] | None = None,
    pair: Sequence[str] = (),
    xlabel: str = "",
) -> Figure:
    """For each of the ``panels``, {title: {name: numbers}}, a row for each name with a dot for each number.

    The title, or ``xlabel``, says what the numbers are. ``this`` is {name: number}: a diamond in the accent,
    such as our own model's number beside those of many seeds. With ``pair``, the names of two numbers, each
    row has these two, a dot and a ring, and all panels have one scale.
    """
    ours = this or {}
    if pair and (ours or len(pair) != 2):
        raise ValueError(
            f"pair must name two numbers, and stand without this, got {pair!r} and this={this!r}"
        )
    figure, grid = _figure([1] * len(_filled(panels)), HEIGHT)
    for axes, (title, rows) in zip(grid, panels.items(), strict=True):
        for place, (name, given) in enumerate(_filled(rows).items()):
            numbers = _numbers(name, given, 1, NUMBERS)
            if pair:
                if len(numbers) != 2:
                    raise ValueError(f"{name!r} must hold two numbers, {[*pair]}, got {len(numbers)}")
                axes.plot(numbers, [place] * 2, color=NUMBER, linewidth=1)
                axes.plot(numbers[:1], [place], "o", color=NUMBER, markersize=8)
                axes.plot(numbers[1:], [place], "o", color=INK, markerfacecolor="none", markersize=15)
                continue
            axes.plot(numbers, [place] * len(numbers), "o", color=NUMBER, alpha=0.5, markersize=8)
            if name in ours:
                axes.plot(ours[name], place, "D", color=THIS, markersize=8)
        axes.axvline(0, color=INK, linewidth=1)
        lowest = min(float(to_numpy(given).min()) for given in rows.values())
        axes.set_xlim(left=None if lowest < 0 else 0)
        axes.locator_params(axis="x", nbins=4)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_yticks(range(len(rows)), list(rows), fontsize=LETTERS)
        axes.tick_params(axis="x", labelsize=LETTERS)
        axes.tick_params(axis="y", length=0)
        axes.spines[["left", "right", "top"]].set_visible(False)
        axes.set_title(title, fontsize=LETTERS + 1)
        name_axis(axes.xaxis, xlabel)
    if pair:
        ends = [end for axes in grid for end in axes.dataLim.intervalx]  # one scale, so that panels compare
        room = 0.1 * (max(ends) - min(ends))  # for the rings at its ends
        for axes in grid:
            axes.set_xlim(min(ends) - room, max(ends) + room)
        _, dot, ring, *_ = grid[-1].lines
        grid[-1].legend(
            [dot, ring], list(pair), frameon=False, fontsize=LETTERS, loc="upper left", bbox_to_anchor=(1, 1)
        )
    if missing := {*ours} - {name for rows in panels.values() for name in rows}:
        raise ValueError(f"this must be numbers by names of the panels, got {sorted(missing)}")
    return figure


def _paint_cells(axes: Axes, matrix: np.ndarray, mask: np.ndarray, are_weights: bool, digits: int) -> None:
    largest = float(np.abs(matrix).max()) or 1.0
    for (row, column), number in np.ndenumerate(matrix):
        square = (column, row), 1, 1
        cell = axes.add_patch(Rectangle(*square, linewidth=0, facecolor="none"))
        if not mask[row, column]:
            cell.set_facecolor(look.LIGHT["forbidden"])
            with rc_context({"hatch.linewidth": look.HATCH["line"] * LETTERS}):
                axes.add_patch(Rectangle(*square, facecolor="none", **hatching()))
            continue
        ink, depth = INK, DEEPEST * abs(number) / largest
        if are_weights:
            red, green, blue, _ = colormaps[COLOUR_MAP](float(number))
            cell.set_facecolor((red, green, blue))
            ink = ON_BRIGHT if 0.3 * red + 0.6 * green + 0.1 * blue > 0.4 else ON_DARK
        elif number >= 0:
            cell.set(facecolor=NUMBER, alpha=depth)
        else:
            cell.set(edgecolor=NUMBER, alpha=depth, linewidth=2 * FRAME)
            cell.set_clip_path(Rectangle(*square, transform=axes.transData))
        middle = column + 0.5, row + 0.5
        axes.text(*middle, said(number, digits), color=ink, ha="center", va="center", fontsize=LETTERS + 2)


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
    if nameless := [title for title in panels if not LETTER.search(title)]:
        raise ValueError(f"a title must say in words what the numbers are, got {nameless[0]!r}")
    return panels


def _role(given: Of, title: str, roles: Sequence[str]) -> str:
    return role_in(of_panel(given, title) or NUMBERS, roles)


def _check_this(this: str, labels: Sequence[str]) -> None:
    if this and this not in labels:
        raise ValueError(f"this={this!r} must be one of {[*labels]}")


def _place(names: Sequence[str] | None, which: str | int) -> int:
    if isinstance(which, int):
        return which
    if which not in (names or []):
        raise ValueError(f"this must name one of {[*(names or [])]}, got {which!r}")
    return list(names or []).index(which)


def _numbers(
    title: str, given: Any, dimensions: int, role: str, mask: np.ndarray | None = None
) -> np.ndarray:
    numbers = to_numpy(given)
    kind = ("a list of numbers", "a matrix")[dimensions - 1]
    if numbers.ndim != dimensions or numbers.size == 0 or numbers.dtype.kind not in "biuf":
        raise ValueError(f"{title!r} must be {kind}, got shape {numbers.shape} of {numbers.dtype}")
    if mask is not None and numbers.dtype.kind == "f":
        numbers = np.where(mask, numbers, 0)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{title!r} must be finite where a mask doesn't hide it, got NaN or infinity")
    if role in (WEIGHTS, SHARES) and (numbers.min() < -ROUNDING or numbers.max() > 1 + ROUNDING):
        raise ValueError(
            f"{title!r} must be from 0 to 1, as {role} are, got {numbers.min():.3g} to {numbers.max():.3g}; "
            f"role='numbers' takes all"
        )
    return numbers.astype(int) if numbers.dtype.kind == "b" else numbers


def _mask(title: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
    mask = np.ones(shape, bool) if given is None else to_numpy(given)
    if mask.dtype != bool or mask.shape != shape:
        raise ValueError(
            f"mask of {title!r} must be boolean (True = may attend) of shape {shape}, "
            f"got {mask.shape} of {mask.dtype}"
        )
    return mask


def _name_cells(axis: Axis, names: Sequence[str], name: str) -> None:
    axis.set_ticks([place + 0.5 for place in range(len(names))], list(names), fontsize=LETTERS)
    axis.set_tick_params(length=0)
    axis.axes.spines[:].set_visible(False)
    name_axis(axis, name)
