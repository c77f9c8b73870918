"""The cells in which a lesson runs: IPython's shell, and text that a cell shows."""

import sys
from collections.abc import Mapping
from typing import Any


def shell_here() -> Any:
    """The shell of IPython that runs this code; None in plain Python, which need not have IPython."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def show_text(text: str, metadata: Mapping[str, Any]) -> None:
    """Print the text; in IPython show it as an output of the cell, which carries the metadata."""
    if shell := shell_here():
        shell.display_pub.publish({"text/plain": text}, dict(metadata))
    else:
        print(text)
