"""The outputs of a notebook's cells as HTML: each is shown, or the page says that it is missing."""

import html
import json
import re
from collections.abc import Callable
from functools import partial
from optparse import Values
from typing import Any
from urllib.parse import quote

import scour.scour
from nbconvert.filters.ansi import ansi2html, strip_ansi
from nbconvert.preprocessors import CoalesceStreamsPreprocessor

from offline_notebook.clean import Cleaner
from offline_notebook.markdown import to_html, with_formulas
from offline_notebook.sanitise import escaped, sanitised
from offline_notebook.tree import entry, parse, plain
from offline_notebook.widgets import VIEW, Widgets

PICTURES = ("image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp")
SHOWN = {*PICTURES, "text/html", "text/markdown", "text/latex", "application/json", "text/plain", VIEW}
VISIBLE = ["img", "hr", "math", "progress", "table"]
LONGEST_TEXT = 200  # characters of the text that stands for a figure: a longer one lists all its data


class Outputs:
    """The outputs of one notebook as HTML."""

    def __init__(
        self,
        metadata: dict[str, Any],
        cleaner: Cleaner,
        is_print: Callable[[dict[str, Any]], bool] = lambda metadata: False,
    ):
        """``is_print``: whether a result with these metadata looks like text that a program prints."""
        self.cleaner = cleaner
        self.sentences = cleaner.sentences
        self.is_print = is_print
        self.widgets = Widgets(metadata, cleaner)
        self.cell = ""  # the id of the cell whose outputs are rendered now

    def of(self, cell: Any) -> str:
        self.cell = str(cell.get("id", ""))
        whole, _ = CoalesceStreamsPreprocessor().preprocess_cell(cell, {}, 0)  # each stream is one text
        return "".join(map(self.render, whole.outputs))

    def render(self, output: dict[str, Any]) -> str:
        if output["output_type"] == "stream":
            text = output["text"]  # blank where a line of progress was written over at its end
            return terminal(text, str(output["name"])) if text.strip() else ""
        if output["output_type"] == "error":
            lines = output.get("traceback") or [f"{output['ename']}: {output['evalue']}"]
            return terminal("\n".join(lines), "error")
        return self.bundle(entry(dict, output, "data"), entry(dict, output, "metadata"))

    def bundle(self, data: dict[str, Any], metadata: dict[str, Any]) -> str:
        """The richest form of a result that needs neither a kernel nor a network."""
        if VIEW in data:
            rest = {kind: content for kind, content in data.items() if kind != VIEW}
            return self.widgets.render(entry(str, data, VIEW, "model_id"), self.bundle(rest, metadata))
        if source := joined(data.get("text/html", "")):
            content, missing = sanitised(source)
            note = partial(self.not_shown, "program", elements=", ".join(missing))
            if plain(content) or parse(content).find(VISIBLE):
                shown = f'<div class="html">{with_formulas(content)}</div>\n'
                return shown + (note() if missing else "")
            if missing:
                rest = {kind: form for kind, form in data.items() if kind != "text/plain"}
                return self.plainer(rest, metadata) or note()
        return self.plainer(data, metadata) or self.unknown(data)

    def plainer(self, data: dict[str, Any], metadata: dict[str, Any]) -> str:
        """A result in one of the forms that run no program; its bare text only if there is nothing else."""
        if source := data.get("text/markdown"):  # a program printed it: HTML in it is text
            return to_html(joined(source), escape=True)
        for kind in PICTURES:
            if kind in data:
                return picture(kind, joined(data[kind]), self.sentences["figure"], metadata)
        if source := joined(data.get("text/latex", "")):
            return f'<div class="html">{with_formulas(escaped(source))}</div>\n'
        if "application/json" in data:
            return terminal(json.dumps(data["application/json"], indent=2, ensure_ascii=False), "result")
        if "text/plain" in data and data.keys() <= SHOWN:
            return terminal(joined(data["text/plain"]), "stdout" if self.is_print(metadata) else "result")
        return ""

    def unknown(self, data: dict[str, Any]) -> str:
        """A note for each form that only Jupyter shows, with what text there is."""
        kinds = [kind for kind in data if kind not in SHOWN]
        texts = [joined(data[kind]) for kind in kinds if kind.startswith("text/")]
        short = joined(data.get("text/plain", ""))
        if not texts and not short.startswith("<") and len(short) <= LONGEST_TEXT:
            texts = [short]
        notes = self.not_shown("unknown_type", type=", ".join(kinds)) if kinds else ""
        return notes + "".join(terminal(text, "result") for text in texts)

    def not_shown(self, reason: str, **about: str) -> str:
        """Say on the terminal and on the page that an output is missing."""
        why = self.sentences[reason].format(**about)
        self.cleaner.complain(self.sentences["not_shown"].format(cell=self.cell, reason=why))
        sentence = self.sentences["not_shown_here"].format(reason=why)
        return f'<p class="note">{html.escape(sentence)}</p>\n'


def joined(text: object) -> str:
    """A text, or its lines; empty where it is neither."""
    lines = text if isinstance(text, list) else [text]
    return "".join(line for line in lines if isinstance(line, str))


def terminal(text: str | list[str], kind: str) -> str:
    """Printed text with its terminal colours where they can be read."""
    text = joined(text).rstrip("\n")
    try:
        coloured = ansi2html(text)
    except (IndexError, ValueError):
        coloured = html.escape(strip_ansi(text))
    start = "\n" if coloured.startswith("\n") else ""  # a browser leaves out the first line end
    return f'<pre class="{html.escape(kind)}">{start}{coloured}</pre>\n' if text else ""


def picture(kind: str, data: str, alt: str, metadata: dict[str, Any]) -> str:
    """A picture that a cell has drawn, with the text and the width that the cell gave it."""
    given = {"alt": alt} | metadata | entry(dict, metadata, kind)
    is_drawing = kind == "image/svg+xml"
    address = f"data:{kind},{quote(shorter(data))}" if is_drawing else f"data:{kind};base64,{data}"
    attributes = {"src": address, "alt": str(given["alt"])}
    if re.fullmatch(r"\d{1,5}(\.\d*)?", width := str(given.get("width"))):
        attributes["width"] = str(round(float(width)))
    text = " ".join(f'{name}="{html.escape(value)}"' for name, value in attributes.items())
    return f'<figure class="picture"><img {text}></figure>\n'


def shorter(drawing: str) -> str:
    """The same drawing in two thirds of the letters that matplotlib writes; what is no drawing stays."""
    options = {"newlines": False, "indent_type": "none", "strip_comments": True, "remove_metadata": True}
    try:
        return str(
            scour.scour.scourString(drawing, Values(options | {"strip_xml_prolog": True, "quiet": True}))
        )
    except Exception:  # of any kind, for mistakes that browsers forgive
        return drawing
