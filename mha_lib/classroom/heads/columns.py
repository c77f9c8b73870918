"""Columns of numbers that a caller hands over, to sort the heads by."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from mha_lib.classroom.heads.attention import ModelAttention
from mha_lib.classroom.heads.changes import Head, checked_heads

PLACE = ("kind", "layer", "head")


def columns_of(attention: ModelAttention, table: Any) -> dict[str, dict[str, dict[Head, float]]]:
    """For each kind of attention the columns of a table by name: a number for each head.

    ``table`` is a list of rows, each a mapping with kind, layer, head and columns, or a table of pandas. A
    column is there for a kind if all heads of that kind have a finite number in it.

    Raises TypeError for rows of another form, and ValueError for an unknown head and for no column at all.
    """
    rows = table.to_dict("records") if hasattr(table, "to_dict") else list(table)
    for row in rows:
        if not isinstance(row, Mapping) or any(name not in row for name in PLACE):
            got = ", ".join(map(str, row)) if isinstance(row, Mapping) else type(row).__name__
            raise TypeError(f"table must be rows with kind, layer, head and columns of numbers, got {got}")
    places = checked_heads((tuple(row[name] for name in PLACE) for row in rows), attention.heads)
    values = dict(zip(places, rows, strict=True))
    found: dict[str, dict[str, dict[Head, float]]] = {}
    for name in dict.fromkeys(name for row in rows for name in row if name not in PLACE):
        for kind in attention.layers:
            heads = [head for head in attention.heads if head.attention == kind]
            column = {head: values.get(head, {}).get(name) for head in heads}
            if all(map(is_number, column.values())):
                found.setdefault(kind, {})[str(name)] = {head: float(column[head]) for head in heads}
    if not found:
        raise ValueError(
            "table must have a column with a number for each head of one kind of attention, got "
            f"{len(rows)} rows for {len(attention.heads)} heads"
        )
    return found


def is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
