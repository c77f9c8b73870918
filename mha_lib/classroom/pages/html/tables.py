"""Parse Markdown tables as Jupyter does: a formula may hold a "|", and rows may be too short or too long."""

import re
from itertools import zip_longest
from typing import Any

from mistune import import_plugin

PIECE = r"(?>\\.|\{(?>\\.|[^{}\\`]|\{(?>\\.|[^{}\\`])*\})*\}|[^$\\`])"  # of a formula: a letter or a group
# One formula, or several that touch each other: $n$$\times$$m$.
INLINE_TEX = (
    rf"(?<![\\$])\$(?!\$)(?P<math_inline_tex>{PIECE}+?(?:(?<!\s)\$\$(?![\s$]){PIECE}+?)*?)"
    r"(?:(?<!\s)\$(?![\d$])|(?<=\s)\$(?![\w$]))"
)
ROW = re.compile(rf"{INLINE_TEX}|\\.|(?P<edge>\|)|[^|\\$]+|\$")
TABLE = (
    r"^ {0,3}(?P<table_head>\S[^\n]*)\n"
    r" {0,3}(?P<table_rule>\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?)[ \t]*(?:\n|$)"
)
SIDES = {(True, True): "center", (True, False): "left", (False, True): "right"}  # where a rule has its colons


def tables(markdown: Any) -> None:
    """A plugin for mistune that writes tables as its own plugin does, which can read neither."""
    import_plugin("table")(markdown)
    markdown.block.rules.remove("nptable")  # its tables without outer edges
    markdown.block.register("table", TABLE, parse_table)


def parse_table(block: Any, match: re.Match[str], state: Any) -> int | None:
    head, rule = cells(match["table_head"]), cells(match["table_rule"])
    if "|" not in match["table_head"] + match["table_rule"] or len(head) != len(rule):
        return None
    sides = [SIDES.get((dashes.startswith(":"), dashes.endswith(":"))) for dashes in rule]
    end, rows = match.end(), []
    while end < state.cursor_max and "|" in (line := state.get_line(end)):
        rows.append(row(cells(line), sides, is_head=False))
        end += len(line)
    top = row(head, sides, is_head=True) | {"type": "table_head"}
    state.append_token({"type": "table", "children": [top, {"type": "table_body", "children": rows}]})
    return end


def cells(line: str) -> list[str]:
    """The cells of a row. Cells beyond the last column of the table are kept."""
    found = [""]
    for piece in ROW.finditer(line.strip()):
        if piece["edge"]:
            found.append("")
        else:
            found[-1] += "|" if piece[0] == r"\|" else piece[0]
    if len(found) > 1 and not found[0].strip():
        found = found[1:]
    return [cell.strip() for cell in (found[:-1] if len(found) > 1 and not found[-1].strip() else found)]


def row(texts: list[str], sides: list[str | None], is_head: bool) -> dict[str, Any]:
    children = [
        {"type": "table_cell", "text": text or "", "attrs": {"align": side, "head": is_head}}
        for text, side in zip_longest(texts, sides)
    ]
    return {"type": "table_row", "children": children}
