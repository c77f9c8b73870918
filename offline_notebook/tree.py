"""A page as a tree of elements, and back. Only HTML that this package has written or sanitised comes here."""

from itertools import chain

from bs4 import BeautifulSoup, PageElement, Tag
from bs4.dammit import EntitySubstitution
from bs4.element import PreformattedString
from bs4.formatter import HTMLFormatter

AS_HTML = HTMLFormatter(EntitySubstitution.substitute_xml, void_element_close_prefix="")


class Verbatim(PreformattedString):
    """HTML that is known to be complete: one node of a tree, written unchanged."""


class Element(Tag):
    """An element that looks for a child near the one that it found last.

    bs4 looks from the first child on, each time that one is replaced: n of them would take n² steps.
    """

    last_place = 0

    def index(self, element: PageElement) -> int:
        before = max(0, min(self.last_place, len(self.contents)) - 2)  # one may have been removed since
        for place in chain(range(before, len(self.contents)), range(before)):
            if self.contents[place] is element:
                self.last_place = place
                return place
        raise ValueError("Tag.index: element not in tag")


class Page(Element, BeautifulSoup):
    pass


def parse(html: str) -> Tag:
    return Page(html, "html.parser", element_classes={Tag: Element})


def inside(element: Tag) -> str:
    """The content of an element (or of a whole tree) as HTML."""
    return element.decode_contents(formatter=AS_HTML)


def plain(html: str) -> str:
    """The text of a piece of HTML without markup. Of a formula, its letters remain."""
    return " ".join(parse(html).get_text().split())
