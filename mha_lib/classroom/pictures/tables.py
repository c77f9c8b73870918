"""A table with letters that a hall can read, in deck, JupyterLab and handout."""

import re
import unicodedata
from collections.abc import Sequence
from html import escape
from typing import Any

from IPython.display import HTML

MARKS = {"✓": "#008a5e", "✗": "#d6453d"}  # their colours show on white paper and on black
NUMBER = r"[-−]?[\d.,]+(e[-−]?\d+)?"
# Letters are as large as the longest cells allow: pixels of a slide of 1024 x 768, and of letters at 100 %.
# The name of the first column has one line, those of the others a line for each word where they need it.
ROOM, LETTER, PADDING = 928, 12, 36  # the padding of a column, as deck.css has it
SMALLEST, LARGEST = 125, 170  # percent; what does not fit then has several lines
TWICE_AS_WIDE = "WF"  # as Unicode says of Chinese letters and marks


def show_table(names: Sequence[Any], rows: Sequence[Sequence[Any]]) -> HTML:
    """Rows below the ``names`` of their columns; ✓ and ✗ have colours, and a zero no sign.

    A column of numbers ends at its right edge, one of ✓ and ✗ stands in the middle, any other is text.
    """
    texts = [[str(cell) for cell in row] for row in rows]
    for row in texts:
        if len(row) != len(names):
            raise ValueError(f"each row must have {len(names)} cells, as names does, got {row}")
    columns = [*zip(*texts, strict=True)]
    sides = [_side(column) for column in columns] or ["left"] * len(names)
    head = _line("th", [str(name) for name in names], sides)
    body = "".join(_line("td", row, sides) for row in texts)
    lines = [[str(name)] if at == 0 else str(name).split() for at, name in enumerate(names)]
    parts = [[*name, *column] for name, column in zip(lines, columns or [()] * len(names), strict=True)]
    longest = sum(max(map(_width, part), default=0) for part in parts)
    fitting = 100 * ROOM // (LETTER * longest + PADDING * len(names))
    letters = max(SMALLEST, min(LARGEST, fitting))
    style = f"width: 100%; table-layout: auto; font-size: {letters}%"
    return HTML(f'<table style="{style}"><thead>{head}</thead><tbody>{body}</tbody></table>')


def _side(column: Sequence[str]) -> str:
    if all(re.fullmatch(NUMBER, text) for text in column):
        return "right"
    return "center" if {*column} <= {*MARKS} else "left"


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in TWICE_AS_WIDE else 1 for letter in text)


def _line(kind: str, texts: Sequence[str], sides: Sequence[str]) -> str:
    cells = (
        f'<{kind} style="text-align: {side}">{_marked(text)}</{kind}>'
        for text, side in zip(texts, sides, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"


def _marked(text: str) -> str:
    if re.fullmatch(NUMBER, text):
        is_zero = not text.strip("-−0.,")
        return text.lstrip("-−") if is_zero else text.replace("-", "−")  # no line ends behind a minus
    return f'<b class="mark" style="color: {MARKS[text]}">{text}</b>' if text in MARKS else escape(text)
