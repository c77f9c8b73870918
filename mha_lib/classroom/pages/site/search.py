"""Makes the index of the site's search page: the steps of the lessons, and the sections of the documents."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any
from urllib.parse import quote

from bs4 import NavigableString, Tag
from nbformat import NotebookNode

from mha_lib.classroom.lesson.terms import bold_terms
from mha_lib.classroom.pages.site.pages import SiteInLanguage
from offline_notebook import parse, to_html

HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
BLOCKS = [*HEADINGS, "p", "li", "dt", "dd", "tr", "pre", "figcaption", "summary", "details", "div"]


@dataclass
class Place:
    """A step or a section, where a reader may find a word."""

    anchor: str
    title: str = ""
    number: str = ""  # of a step, such as 3.9
    terms: list[str] = field(default_factory=list)  # that it defines, in bold
    lines: list[str] = field(default_factory=list)  # a line for each paragraph, item or row


def entries_of(site: SiteInLanguage) -> Iterator[dict[str, Any]]:
    """All places of a language, each with its link and with the title of its page."""
    for row in site.rows:
        for step in steps_in(row.page.shown_cells(), row.page.addresses):
            yield entry(step, row.address, row.page.description.title)
    for document in site.documents:
        for section in sections_in(document.page.body):
            yield entry(section, document.address, document.page.description.title)


def entry(place: Place, address: str, page: str) -> dict[str, Any]:
    return {**asdict(place), "href": f"{quote(address)}#{quote(place.anchor)}", "page": page}


def steps_in(cells: Iterable[NotebookNode], addresses: Mapping[str, str]) -> Iterator[Place]:
    """The steps to which the cells belong, with what their texts and whys say. Formulas stay TeX."""
    texts: dict[str, list[str]] = {}
    address = ""
    for cell in cells:
        address = addresses.get(cell.get("id", ""), address)
        if address and cell.cell_type == "markdown":
            texts.setdefault(address, []).append(cell.source)
    for number, sources in texts.items():
        text = "\n\n".join(sources)
        step = Place(number, number=number, terms=[term for term, _ in bold_terms(text)])
        for block, line in lines_in(parse(to_html(text))):
            if block and block.name in HEADINGS and not step.title:
                step.title = line
            else:
                step.lines.append(line)
        yield step


def sections_in(body: Tag) -> Iterator[Place]:
    """The sections of a document's page, one for each heading."""
    sections: list[Place] = []
    for block, line in lines_in(body):
        if block and block.name in HEADINGS:
            sections.append(Place(str(block["id"]), line))
        elif sections:
            sections[-1].lines.append(line)
    yield from sections


def lines_in(tree: Tag) -> Iterator[tuple[Tag | None, str]]:
    """The text of each block, with the block: the innermost one, so that no text comes twice."""
    read = (text for text in tree.strings if not text.find_parent(class_="anchor"))
    for _, texts in groupby(((block_of(text), text) for text in read), key=lambda pair: id(pair[0])):
        pairs = list(texts)
        if line := " ".join("".join(text for _, text in pairs).split()):
            yield pairs[0][0], line


def block_of(text: NavigableString) -> Tag | None:
    return text.find_parent(BLOCKS)
