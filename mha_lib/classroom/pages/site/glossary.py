"""The glossary of each language: the terms of its lessons, each with a link to its definition."""

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from urllib.parse import quote

from mha_lib.classroom.lesson.chinese import is_chinese
from mha_lib.classroom.lesson.glossary import Definition, glossary, pairs
from mha_lib.classroom.pages.build import Build
from mha_lib.classroom.pages.site.documents import document_of
from mha_lib.classroom.pages.site.pages import SiteInLanguage

Glossaries = Mapping[str, list[Definition]]  # by language


def add_glossaries(root: Path, sites: list[SiteInLanguage], build: Build) -> None:
    """Add the page to the site of each language whose lessons define terms."""
    glossaries = {site.language: glossary(row.lesson for row in site.rows) for site in sites}
    for site in sites:
        file = root / "docs" / site.language / "glossary.md"  # as if it were a document
        lessons = {row.lesson.stem for row in site.rows}
        if glossaries[site.language]:
            with build.attempt(file):
                text = "\n\n".join(blocks_of(site, glossaries))
                site.documents.append(document_of(file, text, root, lessons, build))


def blocks_of(site: SiteInLanguage, glossaries: Glossaries) -> Iterator[str]:
    """The page as Markdown, in alphabetical order. Chinese terms stand in the order of the lessons."""
    titles = {row.lesson.stem: escape(row.page.description.title) for row in site.rows}
    terms = glossaries[site.language]
    if not is_chinese(site.language):
        terms = sorted(terms, key=lambda one: one.term.casefold())
    yield f"# {site.words['glossary']['title']}"
    yield site.words["glossary"]["lead"]
    yield "<dl>"
    for one in terms:
        address = f"../../notebooks/{site.language}/{quote(one.lesson)}.ipynb#{one.anchor}"
        yield f"<dt>{escape(one.term)}{''.join(elsewhere(one, glossaries))}</dt>\n<dd>"
        yield f'{one.sentence} <a class="note" href="{address}">{titles[one.lesson]}</a>'
        yield "</dd>"
    yield "</dl>"


def elsewhere(one: Definition, glossaries: Glossaries) -> Iterator[str]:
    """The same term in the other languages, but for those that write it in the same way."""
    said = {one.term}
    for language, terms in glossaries.items():
        for _, other in pairs([one], terms):
            if other.term not in said:
                yield f' <span lang="{language}">{escape(other.term)}</span>'
            said.add(other.term)
