"""The pages of the site: the front page of each language, the root that leads to one, and framed handouts."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from mha_lib.classroom.course.hosted import links_to
from mha_lib.classroom.course.language import name_of_language, words_in
from mha_lib.classroom.course.slides import core_minutes, optional_minutes, read_lesson, read_slides
from mha_lib.classroom.publish.handout import page as handout_page
from mha_lib.classroom.publish.handout.notebook import STUDENT, Description, describe, read_notebook
from mha_lib.classroom.publish.html.tree import parse

HERE = Path(__file__).parent
TEMPLATES = Environment(loader=FileSystemLoader(HERE), autoescape=True)
HEAD_ENDS = "</head>\n<body>\n"  # as the template of a handout has it
# Whose explorer the front page shows, where the site has it: a lesson's number, and the cell.
BEST_LESSON, BEST_CELL = "3", "explorer"


@dataclass
class Lesson:
    """One lesson in one language, and the files of the site that belong to it."""

    source: Path
    written: Path  # its handout
    slides: Path | None
    description: Description
    minutes: str
    hosted: dict[str, str]  # where it opens without being installed

    @property
    def page(self) -> str:
        return f"{self.source.stem}.html"

    @property
    def notebook(self) -> str:
        return self.source.name

    @property
    def slides_name(self) -> str:
        return f"{self.source.stem}.pdf"


@dataclass
class Edition:
    """The course in one language."""

    language: str
    words: dict[str, Any]  # all that the software says in it
    lessons: list[Lesson]

    @property
    def name(self) -> str:
        return name_of_language(self.language)


@dataclass
class Switch:
    """A link to what a reader sees, in one of the languages."""

    language: str
    name: str
    address: str
    is_here: bool


def read_edition(
    lessons: list[Path], page_of: Callable[[Path], Path], slides_of: Callable[[Path], Path | None]
) -> Edition:
    """The lessons that have a handout, and what their notebooks say of them."""
    language = lessons[0].parent.name
    words = words_in(language)
    there = [lesson for lesson in lessons if page_of(lesson).exists()]
    read = [read_one(lesson, page_of(lesson), slides_of(lesson), words["site"]) for lesson in there]
    return Edition(language, words, read)


def read_one(lesson: Path, page: Path, slides: Path | None, words: dict[str, str]) -> Lesson:
    cut = read_slides(read_lesson(lesson)["cells"])
    core, optional = core_minutes(cut), optional_minutes(cut)
    sentence = words["minutes_with_optional" if optional else "minutes"] if core else ""
    description = describe(read_notebook(lesson, lesson), lesson.stem, STUDENT)
    minutes = sentence.format(core=f"{core:g}", optional=f"{optional:g}")
    return Lesson(lesson, page, slides, description, minutes, links_to(lesson))


def root_page(editions: list[Edition]) -> str:
    """The page at the site's own address: it leads to the language of the reader's browser."""
    return TEMPLATES.get_template("root.html").render(
        editions=editions, style=style(), script=read("root.js"), words=editions[0].words["site"]
    )


def front_page(edition: Edition, editions: list[Edition]) -> str:
    spoken = {
        name: edition.words["site"][name]
        for name in ("found", "found_more", "nothing", "no_index", "needs_server")
    }
    return TEMPLATES.get_template("front.html").render(
        edition=edition,
        words=edition.words["site"],
        bar=bar("index.html", edition, editions),
        explorer=best_explorer(edition.lessons),
        spoken=spoken | {"failed": edition.words["handout"]["failed"]},
        style=style(),
        script=handout_page.read("widgets.js") + read("search.js"),
    )


def framed_handout(lesson: Lesson, edition: Edition, editions: list[Edition]) -> str:
    """The handout as it is, with the site's bar above it; the search finds what is in it."""
    head, body = lesson.written.read_text(encoding="utf-8").split(HEAD_ENDS, 1)
    added = f"{TEMPLATES.get_template('icon.html').render()}\n<style>\n{read('bar.css')}</style>\n"
    body = body.replace("<main>", "<main data-pagefind-body>", 1)
    return f"{head}{added}{HEAD_ENDS}{bar(lesson.page, edition, editions)}\n{body}"


def bar(page: str, edition: Edition, editions: list[Edition]) -> Markup:
    """What stands above every page: the way home, and the same page in the other languages."""
    switches = []
    for one in editions:
        there = page if page in ("index.html", *(lesson.page for lesson in one.lessons)) else "index.html"
        address = f"../{one.language}/{quote(there)}"
        switches.append(Switch(one.language, one.name, address, one is edition))
    template = TEMPLATES.get_template("bar.html")
    is_front = page == "index.html"
    return Markup(template.render(words=edition.words["site"], switches=switches, is_front=is_front))


@dataclass
class Explorer:
    """A widget of a lesson, as the script of the handouts brings it alive."""

    name: str
    stored: dict[str, Any]
    lesson: Lesson
    cell: str  # its anchor in the handout

    @property
    def address(self) -> str:
        return f"{self.lesson.page}#{self.cell}"

    @property
    def data(self) -> Markup:
        """JSON that cannot end its own element."""
        return Markup(json.dumps(self.stored, separators=(",", ":")).replace("<", "\\u003c"))


def best_explorer(lessons: list[Lesson]) -> Explorer | None:
    """The explorer of the front page, out of a handout: lesson 03's, or else the first one there is."""
    for lesson in sorted(lessons, key=lambda lesson: lesson.description.number != BEST_LESSON):
        page = parse(lesson.written.read_text(encoding="utf-8"))
        data = page.select_one("body > #widgets")
        if data is None:
            continue
        figure = page.select_one(f"#{BEST_CELL} [data-widget]") or page.select_one("[data-widget]")
        assert figure is not None
        stored, name = json.loads(data.get_text()), str(figure["data-widget"])
        model = stored["models"][name]
        sources = {source: stored["sources"][source] for source in (model["module"], model["style"])}
        cell = figure.find_parent(class_="cell")
        assert cell is not None
        return Explorer(name, {"sources": sources, "models": {name: model}}, lesson, str(cell["id"]))
    return None


def style() -> Markup:
    return handout_page.style() + handout_page.read("index.css") + read("bar.css", "front.css")


def read(*names: str) -> Markup:
    """Style sheets or scripts from this folder, to stand in a page."""
    return Markup("\n".join((HERE / name).read_text(encoding="utf-8") for name in names))
