"""Turn a notebook's cells into inert, offline HTML with live widgets; README.md shows how.

Nothing here knows the course. Others import from here, not from the modules below.
"""

from pathlib import Path

from offline_notebook.clean import Cleaner
from offline_notebook.links import (
    AddressOf,
    Heading,
    add_anchors,
    among,
    lead_links,
    mend_anchors,
)
from offline_notebook.markdown import code_block, to_html
from offline_notebook.outputs import Outputs, terminal
from offline_notebook.pictures import Picture, Pictures
from offline_notebook.tree import entry, inside, parse, plain

WIDGETS_SCRIPT = Path(__file__).with_name("widgets.js")

__all__ = [
    "WIDGETS_SCRIPT",
    "AddressOf",
    "Cleaner",
    "Heading",
    "Outputs",
    "Picture",
    "Pictures",
    "add_anchors",
    "among",
    "code_block",
    "entry",
    "inside",
    "lead_links",
    "mend_anchors",
    "parse",
    "plain",
    "terminal",
    "to_html",
]
