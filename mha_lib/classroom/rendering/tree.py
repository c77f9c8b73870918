"""HTML as a tree of elements, and back: what is read and written again is closed within itself."""

import warnings
from collections.abc import Iterable
from typing import Any

from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning, Tag, XMLParsedAsHTMLWarning
from bs4.dammit import EntitySubstitution
from bs4.element import PreformattedString
from bs4.formatter import HTMLFormatter


class Verbatim(PreformattedString):
    """HTML that is known to be whole: it stands in a tree as one piece, and is written as it is."""


class InOrder(HTMLFormatter):
    """Writes HTML with the attributes in the order in which they were given."""

    def attributes(self, tag: Tag) -> Iterable[tuple[str, Any]]:
        return tag.attrs.items()


AS_HTML = InOrder(EntitySubstitution.substitute_xml, void_element_close_prefix="")


def parse(html: str) -> BeautifulSoup:
    """The tree of a piece of HTML. What is left open ends with the piece; what closes nothing is dropped."""
    with warnings.catch_warnings():  # a piece may well be a single word or begin like XML
        warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        return BeautifulSoup(html, "html.parser")


def inside(element: Tag) -> str:
    """What stands in an element (or in a whole tree) as HTML."""
    return element.decode_contents(formatter=AS_HTML)


def closed(html: str) -> str:
    """The same HTML with nothing left open, so that it can stand within another element."""
    return inside(parse(html))


def plain(html: str) -> str:
    """The words of a piece of HTML; a formula gives its letters."""
    return " ".join(parse(html).get_text().split())
