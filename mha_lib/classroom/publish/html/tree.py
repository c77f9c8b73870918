"""HTML as a tree of elements, and back: what is read and written again is closed within itself."""

import re
import warnings
from collections.abc import Iterable
from typing import Any

from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning, Tag, XMLParsedAsHTMLWarning
from bs4.dammit import EntitySubstitution
from bs4.element import CData, Declaration, Doctype, NavigableString, PreformattedString
from bs4.formatter import HTMLFormatter


class Verbatim(PreformattedString):
    """HTML that is known to be whole: it stands in a tree as one piece, and is written as it is."""


class InOrder(HTMLFormatter):
    """Writes HTML with the attributes in the order in which they were given."""

    def attributes(self, tag: Tag) -> Iterable[tuple[str, Any]]:
        return tag.attrs.items()


AS_HTML = InOrder(EntitySubstitution.substitute_xml, void_element_close_prefix="")


HALVES = re.compile("[\ud800-\udfff]")
# Elements in which a browser sees text alone, up to their own end; "plaintext" has none.
TEXT_ONLY = "script|style|textarea|title|xmp|iframe|noembed|noframes|plaintext"
TEXT_OR_COMMENT = re.compile(
    r"<!--(?P<comment>>|->|.*?--!?>)"
    rf"|(?P<start><(?P<name>{TEXT_ONLY})\b[^>]*>)(?P<text>.*?)</(?P=name)\b[^>]*>"
    r"|<(?P<open>!--|(?:style|script|title|xmp|iframe|noembed|noframes|plaintext)\b)",
    re.DOTALL | re.IGNORECASE,
)


def parse(html: str) -> BeautifulSoup:
    """The tree of a piece of HTML. What is left open ends with the piece; what closes nothing is dropped."""
    with warnings.catch_warnings():  # a piece may well be a single word or begin like XML
        warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        tree = BeautifulSoup(TEXT_OR_COMMENT.sub(as_browsers_read_it, writable(html)), "html.parser")
    nodes: list[Any] = list(tree.descendants)
    for node in nodes:
        if isinstance(node, CData):
            node.replace_with(NavigableString(node))
        elif isinstance(node, Declaration | Doctype):
            node.extract()
    for element in tree.select("svg :is(style, script), math :is(style, script)"):
        text: Any = element.string
        if text:  # there, and there alone, browsers read tags in them
            text.replace_with(EntitySubstitution.substitute_xml(text))
    return tree


def writable(text: str) -> str:
    """The text without halves of letters, which JSON can hold and no file."""
    return HALVES.sub("\ufffd", text)


def as_browsers_read_it(found: re.Match[str]) -> str:
    """Comments and elements of text alone, ended where browsers end them, whatever the parser knows of that.

    What is never ended would swallow all that follows: its beginning becomes text.
    """
    if found["comment"]:
        return ""
    if found["open"]:
        return f"&lt;{found['open']}"
    text = found["text"]
    if found["name"].lower() == "script" and "<script" in text.lower():
        text = text.replace("<!--", r"<\!--")  # after both of them browsers look for a second end
    return f"{found['start']}{text}</{found['name']}>"


def inside(element: Tag) -> str:
    """What stands in an element (or in a whole tree) as HTML."""
    return element.decode_contents(formatter=AS_HTML)


def parse_piece(html: str) -> BeautifulSoup:
    """The tree of a piece that is to stand in a page which runs scripts."""
    tree = parse(html)
    for element in tree.find_all("noscript"):  # browsers read it differently there, and show nothing of it
        element.unwrap()
    return tree


def closed(html: str) -> str:
    """The same HTML with nothing left open, so that it can stand within another element."""
    return inside(parse_piece(html))


def plain(html: str) -> str:
    """The words of a piece of HTML; a formula gives its letters."""
    return " ".join(parse(html).get_text().split())
