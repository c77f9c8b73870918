"""The grammar of all pictures: which colour stands for what, and the names that each axis must have.

Weights, and only weights, are in viridis. What a mask forbids is hatched. The colours of queries, keys,
values and outputs stand for these alone, also on the axes that hold them. All other numbers are in one
neutral colour, and the one that a picture is about is in the accent. Heads, named *layer.head*, keep a colour
of their own. A scale begins at zero, and zero has no sign.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap

from mha_lib.classroom import look
from mha_lib.classroom.lesson.language import words_here
from mha_lib.classroom.pictures.theme import LETTER, LETTERS

WEIGHTS, NUMBERS, SHARES = "weights", "numbers", "shares"
COLOUR_MAP = "viridis"  # of weights
NUMBER, THIS, INK = look.LIGHT["number"], look.LIGHT["this"], "#000000"
SHADES = LinearSegmentedColormap.from_list("shades", [NUMBER + "00", NUMBER])  # of a number, on any paper
HEADS_A_LAYER, NUM_COLOURS = 4, 8  # two layers of four heads have colours, or one of eight


def role_in(role: Any, roles: Sequence[str]) -> str:
    """The role, if it is one of the ``roles``; a ValueError if it isn't."""
    if role not in roles:
        raise ValueError(f"role must be one of {', '.join(map(repr, roles))}, got {role!r}")
    return role


def of_panel(given: Any, title: str) -> Any:
    """Return the part of an argument for the panel of this title: one for all panels, or a {title: …}."""
    return given.get(title) if isinstance(given, Mapping) else given


def kind_of_axis(name: str) -> str:
    """The colour, by its name in the palette, of an axis of queries, keys, values or outputs; else "ink"."""
    words = words_here()["plots"]
    kinds = {words[kind]: kind[0] for kind in ("queries", "keys", "values", "outputs")}
    return kinds.get(name, "ink")


def colours_of_heads(names: Sequence[str]) -> dict[str, str]:
    """{name: colour} of the heads named as "1.0" or "head 1.0", layer 1's head 0, or as "head 3", layer 0's.

    A head has the same colour in all pictures. Empty if one of them is beyond the eight that have a colour.
    """
    prefix = re.escape(words_here()["plots"]["head"].partition("{")[0])
    found = {name: re.fullmatch(rf"(?:{prefix})?(\d+)\.(\d+)|{prefix}(\d+)", name) for name in names}
    places = {
        name: int(parts[3]) if parts[3] else HEADS_A_LAYER * int(parts[1]) + int(parts[2])
        for name, parts in found.items()
        if parts
    }
    if len({*places.values()}) < len(places) or max(places.values(), default=0) >= NUM_COLOURS:
        return {}
    return {name: look.LIGHT[f"head{place}"] for name, place in places.items()}


def name_of_head(label: str) -> str:
    """A head by its number or as layer.head, in the lesson's words; any other label is a name already."""
    return words_here()["plots"]["head"].format(head=label) if re.fullmatch(r"[\d.]+", label) else label


def name_axis(axis: Axis, name: str, **options: Any) -> None:
    """Write the name of an axis, in the colour of what it holds."""
    axis.set_label_text(
        name, color=look.LIGHT.get(kind_of_axis(name), INK), fontsize=LETTERS, parse_math=False, **options
    )


def check_names(argument: str, labels: Sequence[str] | None, axis: str, name: str) -> None:
    """A ValueError if an axis has neither a name nor labels that are words."""
    if not name and not (labels and all(LETTER.search(label) for label in labels)):
        got = "no labels" if not labels else f"labels without words, {[*labels]}"
        raise ValueError(
            f"{axis} must name the axis of {argument}, since it has {got}; such as {axis}='head'"
        )


def hatching() -> dict[str, Any]:
    """How matplotlib hatches a patch that the mask forbids, as the palette says, but for its face."""
    gap = look.HATCH["gap"] * LETTERS  # points; matplotlib divides 12 √2 of them by the number of characters
    hatch = ("/" if look.HATCH["angle"] > 0 else "\\") * max(1, round(12 * math.sqrt(2) / gap))
    return {"hatch": hatch, "edgecolor": look.LIGHT["hatching"], "linewidth": 0}


def said(number: float, digits: int) -> str:
    """The number with so many digits after the point, and none where it is whole by its type; never −0."""
    is_whole = "int" in str(getattr(number, "dtype", type(number).__name__))
    text = f"{number:,.{0 if is_whole else digits}f}"
    return (text if text.strip("-0.") else text.lstrip("-")).replace("-", "−")
