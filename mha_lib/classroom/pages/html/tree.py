"""HTML as a tree of elements, and back: a piece that was read and written again leaves nothing open."""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

from bs4 import BeautifulSoup, Comment, PageElement, Tag
from bs4.builder._html5lib import HTML5TreeBuilder, TreeBuilderForHtml5lib
from bs4.dammit import EntitySubstitution
from bs4.element import NavigableString, PreformattedString, Script, Stylesheet
from bs4.formatter import HTMLFormatter
from html5lib import HTMLParser
from html5lib._tokenizer import HTMLTokenizer
from html5lib.constants import tokenTypes
from html5lib.treebuilders.base import ActiveFormattingElements

# Elements in which a browser sees text alone, up to their own end.
TEXT_ONLY = {"script", "style", "title", "xmp", "iframe", "noembed", "noframes", "plaintext"}
WRITTEN_AS_IT_IS = TEXT_ONLY - {"title"}
LOSES_A_LINE_END = {"pre", "listing", "textarea"}  # browsers drop a line end right after their start tag
FOREIGN = {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"}
SILENT: dict[str, type[NavigableString]] = {"script": Script, "style": Stylesheet}  # no text for get_text()
HALVES = re.compile("[\ud800-\udfff]")
END = "end of this piece of HTML"


class Tokenizer(HTMLTokenizer):
    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Join neighbouring texts. A script gives two for each "<" in it, and adding one to the tree copies
        all that was there before: 1 MB of such a script took 8 seconds."""
        for kind, tokens in groupby(super().__iter__(), key=itemgetter("type")):
            if kind == tokenTypes["Characters"]:
                yield {"type": kind, "data": "".join(map(itemgetter("data"), tokens))}
            else:
                yield from tokens


class Parser(HTMLParser):
    def mainLoop(self) -> None:
        self.tokenizer.__class__ = Tokenizer  # html5lib offers no other way to choose it
        super().mainLoop()


class Formatting(ActiveFormattingElements):
    def nodesEqual(self, one: Any, other: Any) -> bool:
        """Compare attributes by their values. A browser opens at most three equal elements again in a new
        paragraph, but bs4's attributes are never equal: 800 times ``<p><b>`` became 321,200 elements."""
        return bool(one.nameTuple == other.nameTuple and one.tag.attrs == other.tag.attrs)


class ElementBuilder(TreeBuilderForHtml5lib):
    def reset(self) -> None:
        super().reset()
        self.activeFormattingElements = Formatting()


class TreeBuilder(HTML5TreeBuilder):
    def feed(self, markup: Any) -> None:
        Parser(tree=partial(ElementBuilder, soup=self.soup, store_line_numbers=False)).parse(markup)


class Verbatim(PreformattedString):
    """HTML that is known to be complete: one node of a tree, written unchanged."""


class AsHTML(HTMLFormatter):
    """Writes a tree so that a browser reads the same tree again, with the attributes in their order."""

    def attributes(self, tag: Tag) -> Iterable[tuple[str, Any]]:
        return tag.attrs.items()

    def substitute(self, ns: str) -> str:
        element = ns.parent if isinstance(ns, NavigableString) else None
        if element and element.name in WRITTEN_AS_IT_IS and element.namespace not in FOREIGN:
            return ns
        text = EntitySubstitution.substitute_xml(ns)
        is_first = element and element.name in LOSES_A_LINE_END and element.contents[0] is ns
        return f"\n{text}" if is_first and text.startswith("\n") else text


AS_HTML = AsHTML(EntitySubstitution.substitute_xml, void_element_close_prefix="")


def parse(html: str) -> Tag:
    """The body of a page that holds the piece of HTML, as browsers read it; comments are left out.

    A comment, a style sheet or a script without an end would swallow all that follows: it becomes text.
    """
    source = f"<!DOCTYPE html><body>{writable(html)}<!--{END}-->"
    page = BeautifulSoup(source, builder=TreeBuilder())
    comments: list[Any] = page.find_all(string=lambda text: isinstance(text, Comment))
    if END not in comments:
        let_out_what_was_swallowed(page)
    for comment in comments:
        comment.extract()
    body = page.body
    assert body is not None
    for element in body.find_all(list(SILENT)):
        text: Any = element.string
        if text:
            text.replace_with(SILENT[element.name](text))
    return body


def let_out_what_was_swallowed(page: BeautifulSoup) -> None:
    """Mend a page whose end stands within something that was left open."""
    for unfinished in page.find_all(lambda tag: END in f"{tag.name}{tag.attrs}"):
        unfinished.decompose()  # a tag without its ">", which browsers leave out too
    texts: list[Any] = page.find_all(string=re.compile(END))
    for text in texts:
        words = re.sub(f"<!--{END}(-->)?$", "", text)
        element = text.parent
        if isinstance(text, Comment):
            text.replace_with("<!--", *read_on(words, "!--"))
        elif element and element.name in TEXT_ONLY:
            element.clear()
            start = str(element).removesuffix(f"</{element.name}>")
            element.replace_with(start, *read_on(words, element.name))
        else:
            text.replace_with(words)


def read_on(words: str, opened: str) -> list[PageElement]:
    """The words as HTML. Before them something was opened; it is not opened a second time in them."""
    return list(parse(re.sub(f"<(?={opened})", "&lt;", words, flags=re.IGNORECASE)).contents)


def writable(text: str) -> str:
    """The text without lone surrogates, which JSON can hold but no file."""
    return HALVES.sub("\ufffd", text)


def inside(element: Tag) -> str:
    """The content of an element (or of a whole tree) as HTML."""
    return element.decode_contents(formatter=AS_HTML)


def parse_piece(html: str) -> Tag:
    """The tree of a piece of a page that runs scripts."""
    tree = parse(html)
    for element in tree.find_all("noscript"):  # browsers show nothing of it there
        element.unwrap()
    return tree


def closed(html: str) -> str:
    """The same HTML with every element closed, so that it can stand within another element."""
    return inside(parse_piece(html))


def plain(html: str) -> str:
    """The text of a piece of HTML without markup. Of a formula, its letters remain."""
    return " ".join(parse(html).get_text().split())
