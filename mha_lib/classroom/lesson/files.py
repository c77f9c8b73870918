"""Writes files so that a reader always finds them whole, even while several processes write them."""

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any


def write_whole(path: Path, content: str | bytes, mode: int = 0o666) -> None:
    """Write beside and rename: a reader finds the old file or the new one, never half of it.

    The file beside has a name of its own, so two processes that write at once don't mix their content. It is
    created with ``mode``, less what the umask takes away.
    """
    data = content.encode() if isinstance(content, str) else content
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(beside, "wb", opener=partial(os.open, mode=mode)) as file:
            file.write(data)
        os.replace(beside, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        with suppress(OSError):
            beside.unlink()


def write_changed(contents: Mapping[Path, bytes]) -> list[Path]:
    """Write the files that have another content, or none; return them. The others stay untouched."""
    changed = [file for file in contents if not file.exists() or file.read_bytes() != contents[file]]
    for file in changed:
        write_whole(file, contents[file])
    return changed


def digest(files: Iterable[Path]) -> str:
    """A hash of the names and the contents of files, in whatever order they come."""
    found = sorted((file.name.encode(), hashlib.sha256(file.read_bytes()).digest()) for file in files)
    return hashlib.sha256(b"".join(part for pair in found for part in pair)).hexdigest()


def as_json(tree: Any) -> str:
    """A notebook or other tree as the repository holds JSON: one entry a line, a line break at the end."""
    return json.dumps(tree, indent=1, ensure_ascii=False) + "\n"


def require_writable(folder: Path) -> None:
    """Raise now the error that writing into the folder would raise after minutes of work."""
    probe = folder / ".probe"
    write_whole(probe, "")
    with suppress(OSError):
        probe.unlink()
