"""Read the pictures of a notebook: files beside it, and pictures that it holds."""

import base64
import mimetypes
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote
from urllib.request import urlopen

REMOTE = re.compile(r"\s*(?:https?:)?//", re.IGNORECASE)
SVG = "image/svg+xml"
PLAIN = " !$&'()*+,/:;<=>?@[]^{|}"  # letters that stand for themselves there
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,2})?"
LENGTH = re.compile(rf"\s*({NUMBER})\s*([a-zA-Z]*)\s*")
PIXELS = {"": 1, "px": 1, "in": 96, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "q": 2.4 / 2.54, "pt": 4 / 3, "pc": 16}
PIXELS |= {"em": 16, "rem": 16, "ex": 8}  # in the letters of a drawing that stands alone


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
        return width_of_svg(self.data) if self.kind == SVG else 0


def width_of_svg(drawing: bytes) -> int:
    """The width of a drawing: its own, or the one that its height and its proportions give, or else the
    width of its view box, which has no unit; 0 if none of them is a length."""
    root: Any = ET.XMLPullParser(["start"])  # nothing behind the first tag matters
    try:
        root.feed(drawing)
        start: Any = next(iter(root.read_events()), None)
    except (ET.ParseError, ValueError):  # no XML, or in letters that are not known
        return 0
    attributes = start[1].attrib if start else {}
    width, height = (pixels(attributes.get(side, "")) for side in ("width", "height"))
    box = [pixels(number) for number in re.split(r"[\s,]+", attributes.get("viewBox", "").strip())]
    if not width and len(box) == 4 and box[2] and box[3]:
        width = height * box[2] / box[3] or box[2]
    return max(1, round(width)) if width else 0


def pixels(length: str) -> float:
    """A length such as ``6.5in`` in pixels; 0 if it is none, or a share of the page such as ``100%``."""
    found = LENGTH.fullmatch(length)
    return max(0.0, float(found[1]) * PIXELS.get(found[2].lower(), 0)) if found else 0.0


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
