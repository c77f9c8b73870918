"""One notebook as one page: its cells become HTML, the page is cleaned, and a template frames it."""

import html
from collections.abc import Callable, Set
from itertools import groupby
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from nbformat import NotebookNode

from mha_lib.classroom import look
from mha_lib.classroom.course.hosted import links_to
from mha_lib.classroom.course.language import ENGLISH, TAG, words_in
from mha_lib.classroom.course.slides import slide_type, tags
from mha_lib.classroom.publish.handout.contents import add_anchors, say_where_figures_are
from mha_lib.classroom.publish.handout.links import lead_links, mend_anchors
from mha_lib.classroom.publish.handout.notebook import (
    describe,
    is_folded_setup,
    is_on_the_page,
    without_open_exercises,
)
from mha_lib.classroom.publish.handout.outputs import Outputs, terminal
from mha_lib.classroom.publish.html import Cleaner, closed, code_block, to_html, with_formulas
from mha_lib.classroom.publish.html.tree import inside, parse, writable

HERE = Path(__file__).parent
TEMPLATES = Environment(loader=FileSystemLoader(HERE), autoescape=True)


def read(*names: str) -> Markup:
    """Style sheets or scripts from this folder, to stand in a page."""
    return Markup("\n".join((HERE / name).read_text(encoding="utf-8") for name in names))


def style() -> Markup:
    """The style sheet of every page in this room."""
    return Markup(look.CSS) + read("code.css", "page.css", "others.css", "paper.css")


class Page:
    """One notebook, for one audience, on its way to one page."""

    def __init__(
        self,
        notebook: NotebookNode,
        folder: Path,
        language: str,
        audience: str,
        complain: Callable[[str], object],
        handouts: Set[str] = frozenset(),
    ):
        self.notebook = notebook
        self.language = language
        self.audience = audience
        code = notebook.metadata.get("language_info", {})
        self.programming_language = str(code.get("pygments_lexer") or code.get("name") or "ipython3")
        words = words_in(language)
        self.words, self.hosted_words = words["handout"], words["hosted"]
        self.folder = folder
        self.complain = complain
        self.cleaner = Cleaner(folder, language, complain)
        self.handouts = handouts
        self.outputs = Outputs(notebook.metadata, self.words, complain)

    def render(self, name: str) -> str:
        body = parse(self.cells())
        lead_links(body, self.handouts, self.words, self.complain)
        self.cleaner.clean_tree(body)
        if count := self.outputs.widgets.not_stored:
            self.complain(self.words["not_stored"].format(count=count))
        say_where_figures_are(body, self.words)
        headings = add_anchors(body, self.words["link"])
        mend_anchors(body, self.words, self.complain)
        description = describe(self.notebook, name, self.audience)
        page = TEMPLATES.get_template("page.html").render(
            language=self.language if TAG.fullmatch(self.language) else ENGLISH,
            audience=self.audience,
            words=self.words,
            hosted=links_to(self.folder / f"{name}.ipynb"),
            hosted_words=self.hosted_words,
            description=description,
            says_title=any(h.level == 1 or h.words == description.title for h in headings),
            contents=[heading for heading in headings if heading.level in (2, 3)],
            body=Markup(inside(body)),
            widgets=Markup(self.outputs.widgets.data()),
            style=style() + Markup(self.cleaner.formulas.style()),
            guard=read("guard.js"),
            script=read("widgets.js", "page.js"),
        )
        return writable(page)

    def cells(self) -> str:
        """All cells; those that set up one after the other are folded into one."""
        cells = [cell for cell in self.notebook.cells if is_on_the_page(cell)]
        shown = without_open_exercises(cells, words_in(self.language)["checks"])
        parts = []
        for is_setup, group in groupby(shown, key=is_folded_setup):
            content = "".join(map(self.cell, group))
            parts.append(self.folded("setup", content) if is_setup and content else content)
        return "".join(parts)

    def cell(self, cell: NotebookNode) -> str:
        content = getattr(self, f"{cell.cell_type}_cell")(cell)
        if not content:
            return ""
        kinds = ["cell"]
        if slide_type(cell) == "notes":
            kinds.append("notes")
            content = f'<p class="label">{self.words["notes"]}</p>\n{content}'
        elif "exercise" in tags(cell):
            kinds.append("exercise")
        if slide_type(cell) == "subslide":
            kinds.append("subslide")
        if "why" in tags(cell):
            kinds.append("why")
            content = content.replace("<details>", "<details open>", 1)  # folded in the notebook
        if "solution" in tags(cell):
            content = self.folded("solution", content)
        name = html.escape(str(cell.get("id", "cell")))
        return f'<div class="{" ".join(kinds)}" data-cell="{name}">\n{content}</div>\n'

    def markdown_cell(self, cell: NotebookNode) -> str:
        return closed(to_html(cell.source, cell.get("attachments")))

    def raw_cell(self, cell: NotebookNode) -> str:
        """What its format says it is; JupyterLab shows one without a format as it is."""
        kind = str(cell.metadata.get("format") or cell.metadata.get("raw_mimetype") or "text/plain")
        if kind == "text/html":
            return closed(with_formulas(cell.source))
        if kind == "text/markdown":
            return self.markdown_cell(cell)
        if kind == "text/plain" and not cell.source.startswith("---\n"):  # what a converter wants to know
            return terminal(cell.source, "raw")
        self.complain(self.words["raw_left"].format(cell=cell.get("id", ""), type=kind))
        return ""

    def code_cell(self, cell: NotebookNode) -> str:
        code = code_block(cell.source, self.programming_language) if cell.source.strip() else ""
        hidden = cell.metadata.get("jupyter", {}).get("source_hidden")
        if code and hidden and "solution" not in tags(cell):
            code = self.folded("code", code)
        outputs = self.outputs.of(cell)
        return code + (f'<div class="outputs">\n{outputs}</div>\n' if outputs else "")

    def folded(self, kind: str, content: str) -> str:
        return (
            f'<details class="fold fold-{kind}"><summary>{self.words[kind]}</summary>\n{content}</details>\n'
        )
