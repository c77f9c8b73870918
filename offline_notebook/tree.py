"""A page as a tree of elements, and back. Only HTML that this package has written or sanitised comes here."""

from bs4 import BeautifulSoup, Tag
from bs4.dammit import EntitySubstitution
from bs4.element import PreformattedString
from bs4.formatter import HTMLFormatter

AS_HTML = HTMLFormatter(EntitySubstitution.substitute_xml, void_element_close_prefix="")


class Verbatim(PreformattedString):
    """HTML that is known to be complete: one node of a tree, written unchanged."""


def parse(html: str) -> Tag:
    return BeautifulSoup(html, "html.parser")


def inside(element: Tag) -> str:
    """The content of an element (or of a whole tree) as HTML."""
    return element.decode_contents(formatter=AS_HTML)


def plain(html: str) -> str:
    """The text of a piece of HTML without markup. Of a formula, its letters remain."""
    return " ".join(parse(html).get_text().split())
