"""Links that work in a notebook and not on a page: they lead to another page, or become plain words."""

import re
from collections.abc import Callable, Set
from pathlib import PurePosixPath
from urllib.parse import quote, unquote

from bs4 import Tag

from mha_lib.classroom.publish.handout.contents import anchor_for

ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|$", re.IGNORECASE)  # not a file beside the notebook


# The page of a file that a link names: "" for a file that needs none, None for one that is missing.
AddressOf = Callable[[PurePosixPath], str | None]


def among(handouts: Set[str]) -> AddressOf:
    """Lead a link to a notebook beside this one to its handout."""

    def address_of(file: PurePosixPath) -> str | None:
        is_handout = file.suffix == ".ipynb" and str(file.parent) == "." and file.stem in handouts
        return f"{quote(file.stem)}.html" if is_handout else None

    return address_of


def lead_links(
    page: Tag, address_of: AddressOf, words: dict[str, str], complain: Callable[[str], object]
) -> None:
    """Lead links between files to their pages; a link to a file without a page becomes plain words."""
    for link in page.find_all("a", href=True):
        address = str(link["href"]).strip()
        if ELSEWHERE.match(address):
            continue
        path, _, anchor = address.partition("#")
        file = PurePosixPath(unquote(path.partition("?")[0]))
        target = address_of(file)
        if target:
            link["href"] = target + (f"#{anchor_for(unquote(anchor))}" if anchor else "")
        elif target == "":
            link.unwrap()
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
