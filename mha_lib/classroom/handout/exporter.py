"""The nbconvert exporter: a notebook in, one self-contained HTML page out."""

import base64
import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import nbformat.validator
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from nbconvert.exporters import Exporter
from nbconvert.filters.ansi import ansi2html
from nbconvert.utils.exceptions import ConversionException
from nbformat import NotebookNode
from traitlets import Enum, default

from mha_lib.classroom.handout.widgets import VIEW, Widgets
from mha_lib.classroom.language import language_of, words_in
from mha_lib.classroom.rendering.text import Text, code_block, picture_tag, plain

HERE = Path(__file__).parent
PICTURES = ("image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp")


class HandoutExporter(Exporter):
    """One HTML file that asks for nothing: ``jupyter nbconvert --to handout lesson.ipynb``."""

    export_from_notebook = "Handout (one offline HTML file)"
    output_mimetype = "text/html"
    edition = Enum(
        ["student", "instructor"],
        default_value="student",
        help="the student's edition leaves out solutions and notes; the instructor's keeps them",
    ).tag(config=True)

    @default("file_extension")
    def _file_extension_default(self) -> str:
        return ".html"

    def from_file(self, file_stream: Any, resources: Any = None, **kw: Any) -> Any:
        name = getattr(file_stream, "name", "the input")
        return self.from_notebook_node(read_notebook(file_stream, name), resources, **kw)

    def from_notebook_node(self, nb: NotebookNode, resources: Any = None, **kw: Any) -> Any:
        nb, resources = super().from_notebook_node(nb, resources, **kw)
        metadata = resources["metadata"]
        page = Page(nb, Path(metadata.get("path") or "."), self.edition, self.log.warning)
        return page.render(metadata.get("name") or "notebook"), resources


def read_notebook(source: Any, name: str) -> NotebookNode:
    try:
        _, notebook = nbformat.validator.normalize(nbformat.read(source, as_version=4))
        nbformat.validate(notebook, relax_add_props=True)
        return notebook
    except OSError as error:
        raise ConversionException(f"{name}: {error.strerror}") from None
    except Exception as error:  # nbformat raises a dozen kinds
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise ConversionException(f"{name} is not a notebook this can read: {reason[:200]}") from None


class Page:
    """One notebook on its way to one page."""

    def __init__(self, nb: NotebookNode, folder: Path, edition: str, complain: Callable[[str], object]):
        self.nb = nb
        self.edition = edition
        self.complain = complain
        code = nb.metadata.get("language_info", {})
        self.lexer = str(code.get("pygments_lexer") or code.get("name") or "ipython3")
        self.language = str(nb.metadata.get("lang") or language_of(folder))
        self.words = words_in(self.language)["handout"]
        self.text = Text(folder, self.words, complain)
        self.widgets = Widgets(nb.metadata, self.words, self.output)

    def render(self, name: str) -> str:
        body = "".join(map(self.cell, self.nb.cells))
        headings = self.text.headings
        titles = [plain(text) for level, _, text in headings if level == 1]
        environment = Environment(loader=FileSystemLoader(HERE), autoescape=True)
        return environment.get_template("page.html").render(
            language=self.language,
            edition=self.edition,
            words=self.words,
            title=titles[0] if titles else str(self.nb.metadata.get("title") or name),
            has_title=bool(titles),
            summary=str(self.nb.metadata.get("summary") or first_paragraph(body)),
            contents=[(level, anchor, Markup(text)) for level, anchor, text in headings if level in (2, 3)],
            body=Markup(body),
            outlines=Markup(self.text.formulas.outlines()),
            widgets=Markup(self.widgets.data()),
            style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
            script=Markup((HERE / "page.js").read_text(encoding="utf-8")),
        )

    def cell(self, cell: NotebookNode) -> str:
        slide, tags = slide_type(cell), cell.metadata.get("tags", [])
        if not is_for(self.edition, cell) or (slide == "skip" and "solution" not in tags):
            return ""
        self.text.below = slide == "subslide"
        content = getattr(self, f"{cell.cell_type}_cell")(cell)
        if not content:
            return ""
        kind = "notes" if slide == "notes" else "exercise" if "exercise" in tags else ""
        if kind == "notes":
            content = f'<p class="label">{self.words["notes"]}</p>\n{content}'
        if "solution" in tags:
            content = self.folded("solution", content)
        anchor = self.text.anchor(cell.get("id", "cell"))
        return f'<div class="{f"cell {kind}".strip()}" id="{anchor}">\n{content}</div>\n'

    def markdown_cell(self, cell: NotebookNode) -> str:
        return self.text.markdown(cell.source, cell.get("attachments"))

    def raw_cell(self, cell: NotebookNode) -> str:
        return self.text.self_contained(cell.source) if cell.metadata.get("format") == "text/html" else ""

    def code_cell(self, cell: NotebookNode) -> str:
        code = code_block(cell.source, self.lexer) if cell.source.strip() else ""
        hidden = cell.metadata.get("jupyter", {}).get("source_hidden")
        if code and hidden and "solution" not in cell.metadata.get("tags", []):
            code = self.folded("code", code)
        outputs = "".join(map(self.output, merged(cell.outputs)))
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
            rest = {mime: content for mime, content in data.items() if mime != VIEW}
            return self.widgets.render(str(view.get("model_id")), self.bundle(rest, metadata))
        if source := data.get("text/html"):
            return f'<div class="html">{self.text.self_contained(joined(source))}</div>\n'
        if source := data.get("text/markdown"):
            return self.text.printed_markdown(joined(source))
        for mime in PICTURES:
            if mime in data:
                return picture(
                    mime, data[mime], {"alt": self.words["figure"]} | metadata | metadata.get(mime, {})
                )
        if source := data.get("text/latex"):
            tex = re.sub(r"^\$+|\$+$|\\displaystyle", "", joined(source).strip())
            return self.text.formula(tex, display=True)
        if "application/json" in data:
            return terminal(json.dumps(data["application/json"], indent=2, ensure_ascii=False), "result")
        return terminal(data["text/plain"], "result") if "text/plain" in data else ""


def slide_type(cell: NotebookNode) -> str:
    return str(cell.metadata.get("slideshow", {}).get("slide_type", ""))


def is_for(edition: str, cell: NotebookNode) -> bool:
    """Solutions and speaker's notes are for instructors alone."""
    for_instructors = slide_type(cell) == "notes" or "solution" in cell.metadata.get("tags", [])
    return edition == "instructor" or not for_instructors


def first_paragraph(body: str) -> str:
    paragraph = re.search(r"<p>(.*?)</p>", body, re.DOTALL)
    return plain(paragraph[1]) if paragraph else ""


def joined(text: Any) -> str:
    return text if isinstance(text, str) else "".join(text)


def merged(outputs: list[Any]) -> list[dict[str, Any]]:
    """Neighbouring prints to one stream as one text."""
    result: list[dict[str, Any]] = []
    for output in outputs:
        last = result[-1] if result else {}
        if output["output_type"] == "stream" and last.get("name") == output["name"]:
            last["text"] = joined(last["text"]) + joined(output["text"])
        else:
            result.append(dict(output))
    return result


def terminal(text: Any, kind: str) -> str:
    """Printed text, its terminal colours kept; a line that was overwritten shows its last state."""
    text = re.sub(r"^.*\r(?=[^\n])", "", joined(text), flags=re.MULTILINE).rstrip("\n")
    return f'<pre class="{html.escape(kind)}">{ansi2html(text)}</pre>\n' if text else ""


def picture(mime: str, data: Any, metadata: dict[str, Any]) -> str:
    data = joined(data)
    try:
        content = data.encode() if mime == "image/svg+xml" else base64.b64decode(data)
    except ValueError:
        return ""
    width = metadata.get("width")
    tag = picture_tag(
        mime, content, str(metadata["alt"]), width=width if isinstance(width, int | float) else 0
    )
    return f'<figure class="picture">{tag}</figure>\n'
