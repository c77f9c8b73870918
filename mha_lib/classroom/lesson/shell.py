"""Where a lesson's code shows text: in IPython's shell as an output of the cell, or else in a terminal."""

import codecs
import io
import sys
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

# In place of a mark that a terminal lacks: GBK, the encoding of Chinese Windows, lacks the first two.
STAND_INS = {"✓": "[v]", "✗": "[x]", "○": "[ ]"}


def stand_in(error: UnicodeError) -> tuple[str | bytes, int]:
    """Handle a character that an encoding lacks: a stand-in, or else its number in Unicode."""
    assert isinstance(error, UnicodeEncodeError)
    error.end = error.start + 1
    mark = STAND_INS.get(error.object[error.start])
    return (mark, error.end) if mark else codecs.backslashreplace_errors(error)


codecs.register_error("stand_in", stand_in)


def show_everything() -> None:
    """Let the output and the errors of a program go through whatever its terminal lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="stand_in")


def shell_here() -> Any:
    """The shell of IPython that runs this code; None in plain Python, which need not have IPython."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def show_text(text: str, metadata: Mapping[str, Any]) -> None:
    """Print the text; in IPython show it as an output of the cell, which carries the metadata."""
    if shell := shell_here():
        shell.display_pub.publish({"text/plain": text}, dict(metadata))
    else:
        show_everything()
        print(text)


def show_folded(label: str, markdown: str, metadata: Mapping[str, Any]) -> None:
    """Show Markdown below a label that opens it; where nothing can be folded, print both."""
    if shell := shell_here():
        data = {
            "text/markdown": f"<details><summary>{label}</summary>\n\n{markdown}\n\n</details>",
            "text/plain": f"{label}\n{markdown}",
        }
        shell.display_pub.publish(data, dict(metadata))
    else:
        show_text(f"{label}\n{markdown}", metadata)


class Line:
    """A line that is written over: an output of a cell, or else the last line of a terminal."""

    def __init__(self) -> None:
        self.text, self.display_id = "", uuid4().hex

    def write(self, text: str, metadata: Mapping[str, Any]) -> None:
        """Show the text in the place of the one before; the output of a cell carries the metadata."""
        shell = shell_here()
        before, self.text = self.text, text  # first, so that an interrupt leaves no line that nobody removes
        if shell and not sys.stdout.isatty():
            data = {"text/plain": text} if text else {}  # without data an output takes no room
            where = {"display_id": self.display_id}
            shell.display_pub.publish(data, dict(metadata), transient=where, update=bool(before))
        else:
            print("\r" + text.ljust(len(before)), end="" if text else "\r", flush=True)

    def remove(self) -> None:
        """Remove the line; nothing is seen of it any more."""
        if self.text:
            self.write("", {})
