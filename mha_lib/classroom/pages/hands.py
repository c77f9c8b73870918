"""The shows of hands that an instructor has counted in a deck, as ``work/hands-<language>.json`` keeps them.

``jupyter/deck/hands_file.js`` writes that file, and says what is in it.
"""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Show:
    """One show of hands: the choices of a guess, and how many hands there were for each on that day."""

    date: str
    choices: list[str]
    counts: list[int]

    @property
    def total(self) -> int:
        return sum(self.counts)

    @property
    def bars(self) -> list[tuple[str, int, int, float]]:
        """For each choice its text, its count, its share in percent, and its bar's length, from 0 to 1."""
        total, most = max(self.total, 1), max(*self.counts, 1)
        rows = zip(self.choices, self.counts, strict=True)
        return [(choice, count, int(100 * count / total + 0.5), count / most) for choice, count in rows]


def hands_file(root: Path, language: str) -> Path:
    return root / "work" / f"hands-{language}.json"


def newest_shows(file: Path) -> dict[str, dict[str, Show]]:
    """The newest show of each cell, by lesson and by the cell's id."""
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return {
        lesson: {cell: Show(**entries[-1]) for cell, entries in cells.items() if entries}
        for lesson, cells in kept.items()
    }
