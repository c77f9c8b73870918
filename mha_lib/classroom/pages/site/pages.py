"""The pages of the site: the root, and by language front and search page, lessons, documents with a bar."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mha_lib.classroom.lesson import language_in
from mha_lib.classroom.lesson.language import name_of_language, words_in
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.lesson.slides import core_minutes
from mha_lib.classroom.pages import page
from mha_lib.classroom.pages.handout.handout_page import POLICY, STYLES, HandoutPage
from mha_lib.classroom.pages.notes import total
from mha_lib.classroom.pages.site.documents import Document
from offline_notebook import WIDGETS_SCRIPT

FRONT = "index.html"
SEARCH = "search.html"
ASK = "pages/site/ask.js"
BAR = "pages/site/bar.css"
FRONT_STYLES = [*STYLES, "pages/handout/index.css", BAR, "pages/site/front.css", "pages/site/search.css"]
OWN_SCRIPTS = {"script-src": "'unsafe-inline'", **page.OWN_STYLES, "img-src": "data:"}


@dataclass
class LessonRow:
    """A lesson as the front page shows it, and the files of the site that belong to it."""

    lesson: Path
    page: HandoutPage
    slides: Path | None

    @property
    def address(self) -> str:
        return f"{self.lesson.stem}.html"

    @property
    def minutes(self) -> str:
        slides = read_lesson(self.lesson).slides
        return total(slides, words_in(language_in(self.lesson))["notes"]) if core_minutes(slides) else ""


@dataclass
class SiteInLanguage:
    language: str
    rows: list[LessonRow]
    documents: list[Document]
    solutions: bool  # whether the notebooks hold them

    def __post_init__(self) -> None:
        self.name = name_of_language(self.language)
        self.words = words_in(self.language)

    def nearest(self, address: str) -> str:
        """The page at this address where this language has one, or else its front page."""
        pages = {row.address for row in self.rows} | {document.address for document in self.documents}
        return address if address in pages | {SEARCH} else FRONT


def root_page(sites: list[SiteInLanguage]) -> str:
    """The page at the site's own address: it leads to the language of the reader's browser."""
    return render("root", sites[0], sites, policy=OWN_SCRIPTS, scripts=["pages/site/root.js"])


def front_page(site: SiteInLanguage, sites: list[SiteInLanguage]) -> str:
    # Of the last lesson that has one.
    opening = next(((row, found) for row in reversed(site.rows) if (found := row.page.opening)), None)
    return render(
        "front",
        site,
        sites,
        policy=POLICY,
        scripts=[str(WIDGETS_SCRIPT), ASK],
        spoken={"failed": site.words["handout"]["failed"]},
        opening=opening,
        widgets=opening and opening[0].page.outputs.widgets.data(opening[1].widget),
        address=FRONT,
    )


def search_page(
    site: SiteInLanguage, sites: list[SiteInLanguage], entries: Iterable[Mapping[str, Any]]
) -> str:
    return render(
        "search",
        site,
        sites,
        title=site.words["search"]["title"],
        policy=OWN_SCRIPTS,
        scripts=[ASK, "pages/site/search.js"],
        spoken={name: site.words["search"][name] for name in ("found", "none")},
        entries=list(entries),
        address=SEARCH,
    )


def render(
    template: str, site: SiteInLanguage, sites: list[SiteInLanguage], title: str = "", **content: Any
) -> str:
    """A page about the whole site, in the language of ``site``."""
    words = site.words["site"]
    return page.render(
        f"pages/site/{template}.html",
        language=site.language,
        title=title or words["title"],
        description=words["lead"],
        icon=True,
        styles=FRONT_STYLES,
        words=words,
        site=site,
        sites=sites,
        **content,
    )


def framed(
    template: str, framed: LessonRow | Document, site: SiteInLanguage, sites: list[SiteInLanguage]
) -> str:
    """The page of a lesson or a document below the site's bar."""
    return framed.page.render(
        template, styles=[BAR], icon=True, site=site, sites=sites, address=framed.address
    )
