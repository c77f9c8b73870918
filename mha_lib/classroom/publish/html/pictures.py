"""Read the pictures of a notebook: files beside it, and pictures that it holds."""

import base64
import mimetypes
import os
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote
from urllib.request import urlopen

from mha_lib.classroom.course.figures import read_figure
from mha_lib.classroom.course.language import course_of

REMOTE = re.compile(r"\s*(?:https?:)?//", re.IGNORECASE)
SVG = "image/svg+xml"


class Picture(NamedTuple):
    kind: str  # such as image/png
    data: bytes

    @property
    def address(self) -> str:
        """The picture as a data: address."""
        return f"data:{self.kind};base64,{base64.b64encode(self.data).decode()}"

    @property
    def knows_dark_pages(self) -> bool:
        return b"prefers-color-scheme" in self.data

    @property
    def width(self) -> int:
        """The width in pixels from the file's header, or 0 if it gives none."""
        if self.kind == "image/png":
            return int.from_bytes(self.data[16:20], "big")
        box = re.search(rb"<svg[^>]*\bviewBox=[\"'][-\d.]+[ ,]+[-\d.]+[ ,]+([\d.]+)", self.data)
        return round(float(box[1])) if self.kind == SVG and box else 0


def read_picture(address: str, folder: Path, language: str) -> Picture | None:
    """The picture at an address that a notebook in the folder names, or None if there is none.

    Only files in this folder and below it are read, and for a lesson also the course's ``img/``, so that no
    handout carries other files of the author's disk. A figure has its words in the language if they are
    translated (``course/figures.py``).
    """
    if REMOTE.match(address):
        return None
    try:
        if address.startswith("data:image/"):
            with urlopen(address) as data:
                return Picture(data.headers.get_content_type(), data.read())
        file = folder / unquote(re.split(r"[?#]", address)[0])
        kind, _ = mimetypes.guess_type(file.name)
        is_readable = file.is_file() and is_within_reach(file, folder)  # reading a pipe would never end
        if kind and kind.startswith("image/") and is_readable:
            return Picture(kind, read_figure(file, language))
    except (OSError, ValueError):  # no such file, no valid file name, or no valid data
        pass
    return None


def is_within_reach(file: Path, folder: Path) -> bool:
    course = course_of(folder)
    places = [folder, course / "img"] if course else [folder]
    where = Path(os.path.realpath(file))  # symbolic links resolved
    return any(where.is_relative_to(os.path.realpath(place)) for place in places)
