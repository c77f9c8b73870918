"""Headings that can be linked to, and the page's contents, which link to them."""

import re
from dataclasses import dataclass

from bs4 import Tag
from markupsafe import Markup

from mha_lib.classroom.publish.html import plain
from mha_lib.classroom.publish.html.tree import inside

HEADINGS = re.compile(r"^h[1-6]$")


@dataclass
class Heading:
    level: int
    anchor: str
    html: Markup
    words: str  # without any markup


def add_anchors(page: Tag, link: str) -> list[Heading]:
    """Give each heading an anchor and a link to it, and each cell its name as an anchor; return the headings.

    Headings come first: where a cell has the name of a heading, a link leads to the heading.
    """
    taken = {str(element["id"]) for element in page.find_all(id=True)}
    headings = []
    for element in page.find_all(HEADINGS):
        if not element.find_parent(class_="outputs"):
            headings.append(make_heading(element, taken))
            element.append(link_to_itself(headings[-1].anchor, link))
    for cell in page.select("[data-cell]"):
        cell["id"] = free_anchor(str(cell.attrs.pop("data-cell")), taken)
    return headings


def say_where_figures_are(page: Tag, words: dict[str, str]) -> None:
    """Name each figure that a program drew without a text of its own after the heading above it."""
    for picture in page.find_all("img", alt=words["figure"]):
        if heading := picture.find_previous(HEADINGS):
            picture["alt"] = words["figure_below"].format(heading=plain(inside(heading)))


def make_heading(element: Tag, taken: set[str]) -> Heading:
    content = inside(element)
    words = plain(content)
    element.attrs.setdefault("id", free_anchor(words, taken))
    level = int(element.name[1])
    if element.find_parent(class_="subslide"):  # it stands below its slide's heading in the contents
        level = max(level, 3)
    return Heading(level, str(element["id"]), Markup(content), words)


def link_to_itself(anchor: str, label: str) -> Tag:
    link = Tag(name="a", attrs={"class": "anchor", "href": f"#{anchor}", "aria-label": label})
    link.string = "#"
    return link


def anchor_for(words: str) -> str:
    return re.sub(r"[^\w]+", "-", words.lower()).strip("-") or "section"


def free_anchor(words: str, taken: set[str]) -> str:
    """The words as an anchor, with a number where several say the same."""
    base = anchor_for(words)
    anchor, number = base, 1
    while anchor in taken:
        number += 1
        anchor = f"{base}-{number}"
    taken.add(anchor)
    return anchor
