"""Files that a reader finds whole, even while they are written."""

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write beside and rename: a reader finds the old file or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.part")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)
