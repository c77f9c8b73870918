"""One notebook as one page: its cells become HTML, the page is cleaned, and a template frames it."""

import html
import json
import re
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from nbconvert.filters.ansi import ansi2html
from nbformat import NotebookNode

from mha_lib.classroom import palette
from mha_lib.classroom.handout.contents import add_anchors, say_where_figures_are
from mha_lib.classroom.handout.notebook import (
    describe,
    is_folded_setup,
    is_on_the_page,
    without_open_exercises,
)
from mha_lib.classroom.handout.widgets import VIEW, Widgets
from mha_lib.classroom.language import ENGLISH, TAG, language_with_words, words_in
from mha_lib.classroom.lessons.slides import slide_type, tags
from mha_lib.classroom.rendering import Cleaner, closed, code_block, displayed_formula, to_html
from mha_lib.classroom.rendering.tree import inside

HERE = Path(__file__).parent
TEMPLATES = Environment(loader=FileSystemLoader(HERE), autoescape=True)
PICTURES = ("image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp")


def read(*names: str) -> Markup:
    """Style sheets or scripts from this folder, to stand in a page."""
    return Markup("\n".join((HERE / name).read_text(encoding="utf-8") for name in names))


def style() -> Markup:
    """The style sheet of every page in this room."""
    return Markup(palette.CSS) + read("code.css", "page.css", "paper.css")


class Page:
    """One notebook, for one audience, on its way to one page."""

    def __init__(
        self,
        notebook: NotebookNode,
        folder: Path,
        language: str,
        audience: str,
        complain: Callable[[str], object],
    ):
        self.notebook = notebook
        self.language = language
        self.audience = audience
        code = notebook.metadata.get("language_info", {})
        self.programming_language = str(code.get("pygments_lexer") or code.get("name") or "ipython3")
        self.words = words_in(language_with_words(language))["handout"]
        self.complain = complain
        self.cleaner = Cleaner(folder, language, complain)
        self.widgets = Widgets(notebook.metadata, self.words, self.output)

    def render(self, name: str) -> str:
        body = self.cleaner.clean(self.cells())
        if count := self.widgets.not_stored:
            self.complain(self.words["not_stored"].format(count=count))
        say_where_figures_are(body, self.words)
        headings = add_anchors(body, self.words["link"])
        description = describe(self.notebook, name, self.audience)
        return TEMPLATES.get_template("page.html").render(
            language=self.language if TAG.fullmatch(self.language) else ENGLISH,
            audience=self.audience,
            words=self.words,
            description=description,
            says_title=any(h.level == 1 or h.words == description.title for h in headings),
            contents=[heading for heading in headings if heading.level in (2, 3)],
            body=Markup(inside(body)),
            widgets=Markup(self.widgets.data()),
            style=style() + Markup(self.cleaner.formulas.style()),
            guard=read("guard.js"),
            script=read("widgets.js", "page.js"),
        )

    def cells(self) -> str:
        """All cells; those that set up one after the other are folded into one."""
        cells = [cell for cell in self.notebook.cells if is_on_the_page(cell)]
        shown = without_open_exercises(cells, words_in(language_with_words(self.language))["checks"])
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
        return closed(cell.source) if cell.metadata.get("format") == "text/html" else ""

    def code_cell(self, cell: NotebookNode) -> str:
        code = code_block(cell.source, self.programming_language) if cell.source.strip() else ""
        hidden = cell.metadata.get("jupyter", {}).get("source_hidden")
        if code and hidden and "solution" not in tags(cell):
            code = self.folded("code", code)
        outputs = "".join(map(self.output, cell.outputs))
        return code + (f'<div class="outputs">\n{outputs}</div>\n' if outputs else "")

    def folded(self, kind: str, content: str) -> str:
        return (
            f'<details class="fold fold-{kind}"><summary>{self.words[kind]}</summary>\n{content}</details>\n'
        )

    def output(self, output: dict[str, Any]) -> str:
        if output["output_type"] == "stream":
            return terminal(output["text"], str(output["name"]))
        if output["output_type"] == "error":
            lines = output.get("traceback") or [f"{output['ename']}: {output['evalue']}"]
            return terminal("\n".join(lines), "error")
        return self.bundle(output["data"], output.get("metadata", {}))

    def bundle(self, data: dict[str, Any], metadata: dict[str, Any]) -> str:
        """The richest form of a result that needs no kernel."""
        if view := data.get(VIEW):
            rest = {kind: content for kind, content in data.items() if kind != VIEW}
            return self.widgets.render(str(view.get("model_id")), self.bundle(rest, metadata))
        if source := data.get("text/html"):
            return f'<div class="html">{closed(joined(source))}</div>\n'
        if source := data.get("text/markdown"):  # a program printed it: HTML in it is text
            return closed(to_html(joined(source), escape=True))
        for kind in PICTURES:
            if kind in data:
                return picture(kind, joined(data[kind]), self.words["figure"], metadata)
        if source := data.get("text/latex"):
            return displayed_formula(bare_formula(joined(source)))
        if "application/json" in data:
            return terminal(json.dumps(data["application/json"], indent=2, ensure_ascii=False), "result")
        return terminal(joined(data["text/plain"]), "result") if "text/plain" in data else ""


def joined(text: str | list[str]) -> str:
    return "".join(text)


def bare_formula(tex: str) -> str:
    """A formula without the dollars and the command with which IPython surrounds it."""
    return re.sub(r"^\$+|\$+$|\\displaystyle", "", tex.strip())


def terminal(text: str | list[str], kind: str) -> str:
    """Printed text, its terminal colours kept."""
    text = joined(text).rstrip("\n")
    return f'<pre class="{html.escape(kind)}">{ansi2html(text)}</pre>\n' if text else ""


def picture(kind: str, data: str, alt: str, metadata: dict[str, Any]) -> str:
    """A picture that a cell has drawn, with the text and the width that the cell gave it."""
    given = {"alt": alt} | metadata | metadata.get(kind, {})
    address = f"data:{kind},{quote(data)}" if kind == "image/svg+xml" else f"data:{kind};base64,{data}"
    width = given.get("width")
    attributes = {"src": address, "alt": str(given["alt"])}
    if isinstance(width, int | float):
        attributes["width"] = str(round(width))
    text = " ".join(f'{name}="{html.escape(value)}"' for name, value in attributes.items())
    return f'<figure class="picture"><img {text}></figure>\n'
