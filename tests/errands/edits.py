"""Lines that an errand adds to a file, above or below the first line that holds a text, or changes."""

from pathlib import Path


def add_below(file: Path, text: str, added: str) -> None:
    insert(file, text, added, 1)


def add_above(file: Path, text: str, added: str) -> None:
    insert(file, text, added, 0)


def add_at_end(file: Path, added: str) -> None:
    file.write_text(file.read_text(encoding="utf-8").rstrip() + "\n" + added, encoding="utf-8")


def insert(file: Path, text: str, added: str, down: int) -> None:
    rows = file.read_text(encoding="utf-8").splitlines(keepends=True)
    place = next((number for number, row in enumerate(rows) if text in row), None)
    assert place is not None, f"{file} has no line with {text!r}: the recipe and its errand must follow it"
    rows.insert(place + down, added)
    file.write_text("".join(rows), encoding="utf-8")


def replace(file: Path, former: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert former in text, f"{file} does not hold {former!r}: the recipe and its errand must follow it"
    file.write_text(text.replace(former, new, 1), encoding="utf-8")
