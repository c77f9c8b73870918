"""Tables of results by part and measure, with a result for each seed: small JSON files in ``results/``."""

import json
from pathlib import Path
from typing import Any

Table = dict[str, dict[str, Any]]


def read_table(file: Path) -> Table:
    return json.loads(file.read_text(encoding="utf-8"))


def write_table(file: Path, table: Table) -> None:
    """Write a measure to a line, so that a change of one number is a change of one line."""
    parts = []
    for part, measures in table.items():
        lines = [f"    {as_text(name)}: {as_text(numbers)}" for name, numbers in measures.items()]
        parts.append(f"  {as_text(part)}: {{\n" + ",\n".join(lines) + "\n  }")
    file.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def as_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
