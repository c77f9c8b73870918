"""Read the pictures of a notebook: files beside it, and pictures that it holds."""

import base64
import mimetypes
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote
from urllib.request import urlopen

REMOTE = re.compile(r"\s*(?:https?:)?//", re.IGNORECASE)
SVG = "image/svg+xml"
PLAIN = " !$&'()*+,/:;<=>?@[]^{|}"  # letters that stand for themselves there
# The width of a drawing, or else that of its view box, which has no unit.
WIDTH = re.compile(rb"""<svg\b[^>]*?\swidth\s*=\s*["']\s*(\d{1,5}(?:\.\d*)?)(px|pt)?\s*["']""")
VIEW_BOX = re.compile(rb"""<svg\b[^>]*?\sviewBox\s*=\s*["']\s*\S+\s+\S+\s+(\d{1,5}(?:\.\d*)?)\s""")


class Picture(NamedTuple):
    kind: str  # such as image/png
    data: bytes

    @property
    def address(self) -> str:
        """The picture as a data: address that is an address everywhere, in Markdown too."""
        return f"data:{self.kind};base64,{base64.b64encode(self.data).decode()}"

    @property
    def address_in_html(self) -> str:
        """The same for an attribute in HTML, where a drawing stays text: a quarter shorter than base64."""
        if self.kind != SVG:
            return self.address
        text = self.data.strip()
        text = text if b"'" in text else text.replace(b'"', b"'")  # a " is longer in an address
        return f"data:{SVG},{quote(text, safe=PLAIN)}"

    @property
    def knows_dark_pages(self) -> bool:
        return b"prefers-color-scheme" in self.data

    @property
    def width(self) -> int:
        """The width in pixels from the file's header, or 0 if it gives none."""
        if self.kind == "image/png":
            return int.from_bytes(self.data[16:20], "big")
        if self.kind == SVG and (found := WIDTH.search(self.data)):
            return round(float(found[1]) * (4 / 3 if found[2] == b"pt" else 1))
        box = VIEW_BOX.search(self.data) if self.kind == SVG else None
        return round(float(box[1])) if box else 0


class Pictures:
    """Reads the pictures that a notebook in a folder names.

    Only files in this folder and in ``others``, and below these, are read, so that no page carries other
    files of the author's disk. ``read_file`` may change what a file holds, for example translate a drawing.
    """

    def __init__(
        self, folder: Path, others: Iterable[Path] = (), read_file: Callable[[Path], bytes] = Path.read_bytes
    ):
        self.folder = folder
        self.places = [os.path.realpath(place) for place in (folder, *others)]  # symbolic links resolved
        self.read_file = read_file

    def read(self, address: str) -> Picture | None:
        """The picture at an address in the notebook, or None if there is none."""
        if REMOTE.match(address):
            return None
        try:
            if address.startswith("data:image/"):
                with urlopen(address) as data:
                    return Picture(data.headers.get_content_type(), data.read())
            file = self.folder / unquote(re.split(r"[?#]", address)[0])
            kind, _ = mimetypes.guess_type(file.name)
            is_readable = file.is_file() and self.is_within_reach(file)  # reading a pipe would never end
            if kind and kind.startswith("image/") and is_readable:
                return Picture(kind, self.read_file(file))
        except (OSError, ValueError, ET.ParseError):  # no such file, no valid file name, or no valid data
            pass
        return None

    def is_within_reach(self, file: Path) -> bool:
        where = Path(os.path.realpath(file))
        return any(where.is_relative_to(place) for place in self.places)
