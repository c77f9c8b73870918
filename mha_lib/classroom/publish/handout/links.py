"""Links that a notebook's reader can follow and a handout's cannot: they are led elsewhere, or it is said."""

import re
from collections.abc import Callable, Set
from pathlib import PurePosixPath
from urllib.parse import quote, unquote

from bs4 import Tag

from mha_lib.classroom.publish.handout.contents import anchor_for

ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|$", re.IGNORECASE)  # what no file beside the notebook is


def lead_links(
    page: Tag, handouts: Set[str], words: dict[str, str], complain: Callable[[str], object]
) -> None:
    """Lead links to other notebooks to their handouts; links to what nobody hands out become plain words."""
    for link in page.find_all("a", href=True):
        address = str(link["href"]).strip()
        if ELSEWHERE.match(address):
            continue
        path, _, anchor = address.partition("#")
        file = PurePosixPath(unquote(path.partition("?")[0]))
        if file.suffix == ".ipynb" and str(file.parent) == "." and file.stem in handouts:
            link["href"] = f"{quote(file.stem)}.html" + (f"#{anchor_for(unquote(anchor))}" if anchor else "")
        else:
            complain(words["link_left"].format(address=address))
            link.name = "span"
            link.attrs = {"class": "beyond", "title": words["not_among"].format(address=address)}


def mend_anchors(page: Tag, words: dict[str, str], complain: Callable[[str], object]) -> None:
    """Links within the notebook name headings as Jupyter does: ``#Part-one``, here ``#part-one``."""
    known = {str(element["id"]) for element in page.find_all(id=True)}
    for link in page.find_all("a", href=re.compile("^#.")):
        anchor = unquote(str(link["href"])[1:])
        if anchor in known:
            continue
        if anchor_for(anchor) in known:
            link["href"] = f"#{anchor_for(anchor)}"
        else:
            complain(words["link_nowhere"].format(address=f"#{anchor}"))
