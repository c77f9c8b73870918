"""Reads which lesson a file is, by its own word, and which roles its cells have, by their tags.

``grammar.json`` is the table: the roles that a cell can have, each with its tag. For scripts, ``grammar.js``
of the deck reads the same table. Nobody else reads a tag. Which lesson a file is, in which language, and
which kind of copy, stands in ``metadata.mha``: nobody learns it from a path.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

Cell = Mapping[str, Any]  # of a notebook's JSON

BLOCK = "mha"  # in the notebook's metadata
SOURCE, STUDENT, DECK = KINDS = ("source", "student", "deck")
NAME = re.compile(r"[^/\\]{1,60}")  # of a lesson or a language: it names a file, and never one elsewhere
TABLE = json.loads(Path(__file__).with_name("grammar.json").read_text(encoding="utf-8"))
ROLES = {role: str(about["tag"]) for role, about in TABLE.items()}


@dataclass(frozen=True)
class Identity:
    """Says which lesson a file is, in which language, and which kind of copy.

    lesson    such as ``03_multi_head_attention``, under whatever name the file lies
    kind      ``source``; or the copy of a ``student``, or of a ``deck``
    edition   of a copy: the fingerprint of the lesson from which it was made
    """

    lesson: str
    language: str
    kind: str = SOURCE
    edition: str = ""

    def block(self) -> dict[str, str]:
        """The block ``metadata.mha``."""
        return {name: value for name, value in asdict(self).items() if value}


def identity_of(notebook: Mapping[str, Any]) -> Identity | None:
    """The identity that a notebook names; None for one that is no lesson."""
    block = notebook.get("metadata", {}).get(BLOCK)
    try:
        identity = Identity(**block)
    except TypeError:  # no block, or an entry that nobody knows
        return None
    are_texts = all(isinstance(value, str) for value in block.values())
    is_lesson = are_texts and NAME.fullmatch(identity.lesson) and NAME.fullmatch(identity.language)
    return identity if is_lesson and identity.kind in KINDS else None


def identified(notebook: dict[str, Any], **changes: str) -> None:
    """Change entries of a lesson's identity, where it has one."""
    if identity := identity_of(notebook):
        notebook["metadata"][BLOCK] = replace(identity, **changes).block()


def identity_in(file: Path) -> Identity | None:
    """The identity that the notebook in a file names."""
    with suppress(OSError, ValueError, AttributeError):
        return identity_of(json.loads(file.read_bytes()))
    return None


def tags(cell: Cell) -> list[str]:
    return list(cell["metadata"].get("tags", []))


def has_role(cell: Cell, *roles: str) -> bool:
    """Whether a cell has one of these roles, which ``grammar.json`` explains."""
    return not {ROLES[role] for role in roles}.isdisjoint(tags(cell))
