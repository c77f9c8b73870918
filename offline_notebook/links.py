"""Headings and cells get anchors; links lead to them, to another page, or become plain words."""

import re
from collections.abc import Callable, Set
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import quote, unquote

from bs4 import Tag
from markupsafe import Markup

from offline_notebook.tree import inside, plain

HEADINGS = re.compile(r"^h[1-6]$")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|$", re.IGNORECASE)  # not a file beside the notebook


@dataclass
class Heading:
    level: int
    anchor: str
    html: Markup
    words: str  # without any markup


def add_anchors(page: Tag, link: str, lowered_in: str = "") -> list[Heading]:
    """Give each heading an anchor and a link to it, and each cell (``data-cell``) its name as an anchor.

    Returns the headings; within an element of the class ``lowered_in`` they stand at level 3 or below, and
    those that a program printed are none. Headings come first: where a cell has the name of a heading, a
    link leads to the heading.
    """
    taken = dict.fromkeys((str(element["id"]) for element in page.find_all(id=True)), 1)
    headings = []
    for element in page.find_all(HEADINGS):
        if not element.find_parent(class_="outputs"):
            headings.append(make_heading(element, taken, lowered_in))
            href = f"#{headings[-1].anchor}"
            anchor = Tag(name="a", attrs={"class": "anchor", "href": href, "aria-label": link})
            anchor.string = "#"
            element.append(anchor)
    for cell in page.select("[data-cell]"):
        cell["id"] = free_anchor(str(cell.attrs.pop("data-cell")), taken)
    return headings


def make_heading(element: Tag, taken: dict[str, int], lowered_in: str) -> Heading:
    content = inside(element)
    words = plain(content)
    element.attrs.setdefault("id", free_anchor(words, taken))
    level = int(element.name[1])
    if lowered_in and element.find_parent(class_=lowered_in):
        level = max(level, 3)
    return Heading(level, str(element["id"]), Markup(content), words)


def anchor_for(words: str) -> str:
    return re.sub(r"[^\w]+", "-", words.lower()).strip("-") or "section"


def free_anchor(words: str, taken: dict[str, int]) -> str:
    """The words as an anchor, with a number where several say the same.

    ``taken`` holds the anchors of the page, each with the last number that was tried for it.
    """
    base = anchor = anchor_for(words)
    while anchor in taken:
        taken[base] += 1
        anchor = f"{base}-{taken[base]}"
    taken[anchor] = 1
    return anchor


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
