"""A table of a model's heads, measured over texts: one row a head."""

import csv
import io
import math
from collections.abc import Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from torch import Tensor

from mha_lib.classroom.heads.changes import Head
from mha_lib.classroom.lesson.language import words_here

FLOOR = 0.4  # the least weight on a place by which a head is named after it
SPREADS = 3  # a head's score stands so many standard deviations above chance
SHOWN = 20  # rows, in a cell's output
CONTROLS = {"previous": "even", "first": "even", "same": "even", "induction": "induction_control"}


class HeadTable(list[dict[str, Any]]):
    """Rows of heads, a dictionary each, in the order of the model.

    texts, induction_texts  on how many texts the means and spreads of a row rest; induction on texts of
                            random tokens
    loss                    of all heads together, in nats a token, the mean over the texts; NaN without one
    left_out                says which columns are missing, and why
    """

    def __init__(
        self,
        rows: Sequence[dict[str, Any]],
        texts: int,
        induction_texts: int = 0,
        loss: float = math.nan,
        left_out: Sequence[str] = (),
    ):
        super().__init__(rows)
        self.texts, self.induction_texts = texts, induction_texts
        self.loss, self.left_out = loss, [*left_out]

    @property
    def columns(self) -> list[str]:
        return [*self[0]]

    def sorted_by(self, column: str, *, descending: bool = True) -> "HeadTable":
        """The same table in the order of a column, the highest first; heads without a value come last."""
        if column not in self.columns:
            raise ValueError(f"column must be one of {', '.join(self.columns)}, got {column!r}")
        known = [row for row in self if not is_missing(row[column])]
        rest = [row for row in self if is_missing(row[column])]
        rows = [*sorted(known, key=lambda row: row[column], reverse=descending), *rest]
        return HeadTable(rows, self.texts, self.induction_texts, self.loss, self.left_out)

    def patterns(self) -> dict[str, list[Head]]:
        """For each pattern of attention the heads that show it, [] where none is found.

        A head shows a pattern if its weight there is more than 0.4, and more than 3 standard deviations above
        chance: that of a head that looks evenly at all it may, or for induction of the same place in texts
        that repeat nothing. One text alone has no spread, so no head is named by it.
        """
        found: dict[str, list[Head]] = {}
        for name, control in CONTROLS.items():
            if name not in self.columns:
                continue
            above = 0 if name == "induction" else 1  # induction is less its control already
            found[name] = [
                Head(row["kind"], row["layer"], row["head"])
                for row in self
                if row[name] > FLOOR and row[name] - above * row[control] > SPREADS * row[f"{name}_std"]
            ]
        return found

    def to_csv(self, path: str | Path | None = None) -> str:
        """The rows as comma-separated values, in full precision; also written to ``path`` if there is one."""
        file = io.StringIO()
        writer = csv.DictWriter(file, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self)
        if path is not None:
            Path(path).write_text(file.getvalue(), encoding="utf-8")
        return file.getvalue()

    def to_pandas(self) -> Any:
        """The rows as a DataFrame; raises ImportError without pandas."""
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas; to_csv does without it") from error
        return pandas.DataFrame([*self])

    def said(self) -> list[str]:
        """Say on what the numbers rest, which heads show a pattern, and what was left out."""
        words = words_here()["models"]["table"]
        lines = [words["rests_on"].format(texts=self.texts, random=self.induction_texts)]
        for name, heads in self.patterns().items():
            places = [words["head"].format(layer=head.layer, head=head.head) for head in heads]
            lines.append(
                words["pattern"].format(name=name, heads=words["between"].join(places) or words["none"])
            )
        if len(self) > SHOWN:
            lines.append(words["shown"].format(shown=SHOWN, heads=len(self)))
        return lines + self.left_out

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """The names of the columns and the first rows as texts, a mean and its spread in one cell."""
        names = [name for name in self.columns if not name.endswith("_std")]
        return names, [[shown(row, name) for name in names] for row in self[:SHOWN]]

    def __repr__(self) -> str:
        names, rows = self.cells()
        widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        lines = ["  ".join(map(str.rjust, cells, widths)) for cells in (names, *rows)]
        return "\n".join([*lines, *self.said()])

    def _repr_html_(self) -> str:
        names, rows = self.cells()
        lines = [line_of("th", names), *(line_of("td", row) for row in rows)]
        said = "".join(f"<p>{escape(line)}</p>" for line in self.said())
        return f'<table style="font-size: 80%">{"".join(lines)}</table>{said}'


def line_of(kind: str, cells: Sequence[str]) -> str:
    """A row of a table, each cell in one line, the spread smaller than the mean."""
    line = ""
    for cell in cells:
        mean, _, spread = cell.partition(" ± ")
        text = escape(mean) + (f" <small>± {spread}</small>" if spread else "")
        line += f'<{kind} style="text-align: right; white-space: nowrap">{text}</{kind}>'
    return f"<tr>{line}</tr>"


def mean_and_spread(name: str, values: Tensor) -> dict[str, float]:
    """Two columns of a row: the mean of one value for each text, and the standard deviation."""
    spread = float(values.std()) if len(values) > 1 else math.nan
    return {name: float(values.mean()), f"{name}_std": spread}


def is_missing(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def shown(row: dict[str, Any], name: str) -> str:
    value, spread = row[name], row.get(f"{name}_std")
    if not isinstance(value, float):
        return str(value)
    if is_missing(value):
        return ""
    return f"{value:.3f}" if is_missing(spread) else f"{value:.3f} ± {spread:.3f}"
