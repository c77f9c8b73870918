"""A page as a tree of elements, and back. Only HTML that this package has written or sanitised comes here.
And the entries of a notebook, whose metadata may be of any form.
"""

from typing import Any, TypeVar

from bs4 import BeautifulSoup, Tag
from bs4.dammit import EntitySubstitution
from bs4.element import PreformattedString
from bs4.formatter import HTMLFormatter

Form = TypeVar("Form", dict[str, Any], list[Any], str, int, bool)
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


def entry(form: type[Form], table: object, *names: str) -> Form:
    """The entry in tables within tables where it is of this form, such as ``dict``; else an empty one."""
    for name in names:
        table = table.get(name) if isinstance(table, dict) else None
    return table if isinstance(table, form) else form()
