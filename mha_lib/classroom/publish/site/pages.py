"""The pages of the site: the root, a front page for each language, and lessons and documents with a bar."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from mha_lib.classroom.course.language import language_with_words, name_of_language, words_in
from mha_lib.classroom.course.slides import core_minutes, optional_minutes, read_lesson, read_slides
from mha_lib.classroom.publish import page
from mha_lib.classroom.publish.handout.page import STYLES, HandoutPage
from mha_lib.classroom.publish.site.documents import Document

FRONT = "index.html"
BAR = "publish/site/bar.css"
FRONT_STYLES = [*STYLES, "publish/handout/index.css", BAR, "publish/site/front.css"]
ROOT_POLICY = {"script-src": "'unsafe-inline'", **page.OWN_STYLES, "img-src": "data:"}
# Pagefind's index is read by a program in WebAssembly, from this site.
FRONT_POLICY = {
    "script-src": "'self' 'unsafe-inline' 'wasm-unsafe-eval' blob:",
    "worker-src": "'self'",
    "connect-src": "'self'",
    **page.OWN_STYLES,
    "img-src": "data: blob:",
    "font-src": "data:",
}
# The front page shows the explorer of this lesson and this cell, where the site has it.
BEST_LESSON, BEST_CELL = "3", "explorer"
SPOKEN = ("found", "found_more", "nothing", "no_index", "needs_server")  # the words of the search


@dataclass
class LessonRow:
    """A lesson as the front page shows it, and the files of the site that belong to it."""

    lesson: Path
    page: HandoutPage
    slides: Path | None
    minutes: str

    @property
    def address(self) -> str:
        return f"{self.lesson.stem}.html"

    @property
    def notebook(self) -> str:
        return self.lesson.name

    @property
    def slides_name(self) -> str:
        return f"{self.lesson.stem}.pdf"


@dataclass
class SiteInLanguage:
    language: str
    rows: list[LessonRow]
    documents: list[Document]

    @property
    def name(self) -> str:
        return name_of_language(self.language)

    @property
    def words(self) -> dict[str, Any]:
        return words_in(language_with_words(self.language))

    @property
    def addresses(self) -> set[str]:
        return {FRONT, *(row.address for row in self.rows), *(one.address for one in self.documents)}


@dataclass
class LanguageLink:
    """A link to the same page in one of the languages."""

    language: str
    name: str
    address: str
    is_here: bool


@dataclass
class FrontExplorer:
    """The interactive widget of the front page, and where its lesson shows it."""

    name: str
    row: LessonRow
    cell: str  # its anchor in the lesson

    @property
    def address(self) -> str:
        return f"{self.row.address}#{self.cell}"


def row_of(lesson: Path, page: HandoutPage, slides: Path | None) -> LessonRow:
    cut = read_slides(read_lesson(lesson)["cells"])
    core, optional = core_minutes(cut), optional_minutes(cut)
    words = words_in(language_with_words(lesson.parent.name))["site"]
    sentence = words["minutes_with_optional" if optional else "minutes"] if core else ""
    return LessonRow(lesson, page, slides, sentence.format(core=f"{core:g}", optional=f"{optional:g}"))


def root_page(sites: list[SiteInLanguage]) -> str:
    """The page at the site's own address: it leads to the language of the reader's browser."""
    words = sites[0].words["site"]
    return page.render(
        "publish/site/root.html",
        language=sites[0].language,
        title=words["title"],
        description=words["lead"],
        icon=True,
        policy=ROOT_POLICY,
        styles=FRONT_STYLES,
        scripts=["publish/site/root.js"],
        sites=sites,
    )


def front_page(site: SiteInLanguage, sites: list[SiteInLanguage]) -> str:
    words, explorer = site.words["site"], best_explorer(site.rows)
    return page.render(
        "publish/site/front.html",
        language=site.language,
        title=words["title"],
        description=words["lead"],
        icon=True,
        policy=FRONT_POLICY,
        styles=FRONT_STYLES,
        scripts=["publish/handout/widgets.js", "publish/site/search.js"],
        spoken={name: words[name] for name in SPOKEN} | {"failed": site.words["handout"]["failed"]},
        site=site,
        words=words,
        bar=bar(FRONT, site, sites),
        explorer=explorer,
        widgets=explorer.row.page.widgets(explorer.name) if explorer else "",
    )


def lesson_page(row: LessonRow, site: SiteInLanguage, sites: list[SiteInLanguage]) -> str:
    """The lesson's handout below the site's bar; the search finds what is in it."""
    return framed("lesson", row, site, sites)


def document_page(document: Document, site: SiteInLanguage, sites: list[SiteInLanguage]) -> str:
    return framed("document", document, site, sites)


def framed(
    template: str, one: LessonRow | Document, site: SiteInLanguage, sites: list[SiteInLanguage]
) -> str:
    above = bar(one.address, site, sites)
    return one.page.render(f"publish/site/{template}.html", styles=[BAR], icon=True, bar=above)


def bar(address: str, site: SiteInLanguage, sites: list[SiteInLanguage]) -> Markup:
    """The bar above every page: the way home, and the same page in the other languages."""
    links = []
    for one in sites:
        there = address if address in one.addresses else FRONT
        links.append(LanguageLink(one.language, one.name, f"../{one.language}/{quote(there)}", one is site))
    template = page.TEMPLATES.get_template("publish/site/bar.html")
    return Markup(template.render(words=site.words["site"], links=links, is_front=address == FRONT))


def best_explorer(rows: list[LessonRow]) -> FrontExplorer | None:
    """The explorer of the front page: that of lesson 03, or else the first one there is."""
    for row in sorted(rows, key=lambda row: row.page.description.number != BEST_LESSON):
        if explorers := row.page.explorers:
            cell = BEST_CELL if BEST_CELL in explorers else next(iter(explorers))
            return FrontExplorer(explorers[cell], row, cell)
    return None
