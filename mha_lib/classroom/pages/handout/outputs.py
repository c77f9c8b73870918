"""The outputs of a notebook's cells as HTML: each is shown, or the page says that it is missing."""

import html
import json
import math
import re
from collections.abc import Callable
from optparse import Values
from typing import Any
from urllib.parse import quote

import scour.scour
from nbconvert.filters.ansi import ansi2html, strip_ansi

from mha_lib.classroom.lesson.outputs import CHECK, PROGRESS
from mha_lib.classroom.pages.handout.widgets import VIEW, Widgets, with_whole_streams
from mha_lib.classroom.pages.html import closed, displayed_formula, to_html, with_formulas
from mha_lib.classroom.pages.html.markdown import formulas_in
from mha_lib.classroom.pages.html.tree import inside, parse_piece

PICTURES = ("image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp")
MEDIA = re.compile(r"(audio|video)/[\w.+-]+")  # types of sound and film, which browsers play
SHOWN = {*PICTURES, "text/html", "text/markdown", "text/latex", "application/json", "text/plain", VIEW}
# A string in a program that is the address of another program or a style sheet in the network.
LOADED = re.compile(
    r"[\"'`](?P<address>(?:https?:)?//(?:[^\"'`\s]+\.(?:m?js|css)\b|[^\"'`\s/]*"
    r"(?:cdn|unpkg\.com|esm\.(?:sh|run)|skypack|jspm))[^\"'`\s]*)[\"'`]"
)
LONGEST_LOADER = 200_000  # characters; a longer program is itself a library that others load
VISIBLE = ["img", "svg", "canvas", "table", "video", "audio", "input", "math", "hr", "script"]
VISIBLE += ["iframe", "object", "embed"]
# An operating system command of a terminal (OSC); the eighth sets the address of the text that follows.
ELSEWHERE = re.compile("https?://|mailto:")
COMMAND = re.compile(r"\x1b\](?:8;[^;\x07\x1b]*;(?P<address>[^\x07\x1b]*)|[^\x07\x1b]*)(?:\x07|\x1b\\)")
LINK_BEGINS, LINK_ENDS = "\ue000", "\ue001"  # mark a link in text whose colours are not yet read
LONGEST_TEXT = 200  # characters of the text that stands for a figure: a longer one lists all its data


class Outputs:
    """The outputs of one notebook as HTML."""

    def __init__(self, metadata: dict[str, Any], words: dict[str, str], complain: Callable[[str], object]):
        self.words = words
        self.complain = complain
        self.widgets = Widgets(metadata, words, self.render, complain)
        self.cell = ""  # the id of the cell whose outputs are rendered now

    def of(self, cell: Any) -> str:
        self.cell = str(cell.get("id", ""))
        return "".join(map(self.render, with_whole_streams(cell.outputs)))

    def render(self, output: dict[str, Any]) -> str:
        if output["output_type"] == "stream":
            text = output["text"]  # blank where a line of progress was written over at its end
            return terminal(text, str(output["name"])) if text.strip() else ""
        if output["output_type"] == "error":
            lines = output.get("traceback") or [f"{output['ename']}: {output['evalue']}"]
            return terminal("\n".join(lines), "error")
        return self.bundle(output["data"], output.get("metadata", {}))

    def bundle(self, data: dict[str, Any], metadata: dict[str, Any]) -> str:
        """The richest form of a result that needs neither a kernel nor a network."""
        if PROGRESS in metadata:  # of a training that was stopped amid its steps
            return ""
        if view := data.get(VIEW):
            rest = {kind: content for kind, content in data.items() if kind != VIEW}
            return self.widgets.render(str(view.get("model_id")), self.bundle(rest, metadata))
        if source := joined(data.get("text/html", "")):
            content, address = without_network(source)
            if content:
                note = self.not_shown("fetches", address=address) if address else ""
                return f'<div class="html">{with_formulas(content)}</div>\n{note}'
            if address:
                rest = {kind: form for kind, form in data.items() if kind != "text/plain"}
                return self.plainer(rest, metadata) or self.not_shown("fetches", address=address)
        return self.plainer(data, metadata) or self.unknown(data)

    def plainer(self, data: dict[str, Any], metadata: dict[str, Any]) -> str:
        """A result in one of the forms that run no program; its bare text only if there is nothing else."""
        if source := data.get("text/markdown"):  # a program printed it: HTML in it is text
            return closed(to_html(joined(source), escape=True))
        for kind in PICTURES:
            if kind in data:
                return picture(kind, joined(data[kind]), self.words["figure"], metadata)
        for kind in filter(MEDIA.fullmatch, data):
            return player(kind, joined(data[kind]))
        if source := data.get("text/latex"):
            return latex(joined(source))
        if "application/json" in data:
            return terminal(json.dumps(data["application/json"], indent=2, ensure_ascii=False), "result")
        if "text/plain" in data and data.keys() <= SHOWN:
            return terminal(joined(data["text/plain"]), "stdout" if CHECK in metadata else "result")
        return ""

    def unknown(self, data: dict[str, Any]) -> str:
        """A note for each form that only Jupyter shows, with what text there is."""
        kinds = [kind for kind in data if kind not in SHOWN]
        texts = [joined(data[kind]) for kind in kinds if kind.startswith("text/")]
        plain = joined(data.get("text/plain", ""))
        if not texts and not plain.startswith("<") and len(plain) <= LONGEST_TEXT:
            texts = [plain]
        notes = self.not_shown("unknown_type", type=", ".join(kinds)) if kinds else ""
        return notes + "".join(terminal(text, "result") for text in texts)

    def not_shown(self, reason: str, **about: str) -> str:
        """Say on the terminal and on the page that an output is missing."""
        why = self.words[reason].format(**about)
        self.complain(self.words["not_shown"].format(cell=self.cell, reason=why))
        sentence = self.words["not_shown_here"].format(reason=why)
        return f'<p class="note">{html.escape(sentence)}</p>\n'


def joined(text: str | list[str]) -> str:
    return "".join(text)


def without_network(source: str) -> tuple[str, str]:
    """The part of a piece of HTML that needs no network, and the first address that the piece would fetch.

    Programs that need a fetched one would only fail, some of them in red.
    """
    tree = parse_piece(source)
    programs = tree.find_all("script")
    addresses = [address for program in programs if (address := loaded_by(program))]
    for frame in tree.find_all("iframe", srcdoc=True):
        if loaded := LOADED.search(str(frame["srcdoc"])):
            addresses.append(loaded["address"])
            frame.decompose()
    if addresses:
        for program in programs:
            program.decompose()
    shows = tree.get_text().strip() or tree.find(VISIBLE)
    return inside(tree) if shows else "", addresses[0] if addresses else ""


def loaded_by(program: Any) -> str:
    address = str(program.get("src") or "")
    if address and not address.startswith("data:"):
        return address
    text = program.string or ""
    loaded = LOADED.search(text) if len(text) < LONGEST_LOADER else None
    return loaded["address"] if loaded else ""


def latex(source: str) -> str:
    """LaTeX that is one formula as IPython and others print it, or else words with formulas between them."""
    tex = source.strip()
    whole = re.fullmatch(r"(\$\$?)((?:\\.|[^$\\])*)\1|(\\begin\{([a-z]+\*?)\}.*\\end\{\4\})", tex, re.DOTALL)
    if whole or "$" not in tex:
        return displayed_formula(
            re.sub(r"\\displaystyle\b", "", (whole[2] or whole[3] or "") if whole else tex)
        )
    return f"<p>{formulas_in(html.escape(tex, quote=False))}</p>\n"


def terminal(text: str | list[str], kind: str) -> str:
    """Printed text, its terminal colours and its links kept where they can be read."""
    text, addresses = without_commands(joined(text).rstrip("\n"))
    try:
        coloured = ansi2html(text)
    except (IndexError, ValueError):
        coloured = html.escape(strip_ansi(text))
    for address in addresses:
        coloured = coloured.replace(LINK_BEGINS, f'<a href="{html.escape(address)}">', 1)
    coloured = coloured.replace(LINK_ENDS, "</a>")
    return f'<pre class="{html.escape(kind)}">{coloured}</pre>\n' if text else ""


def without_commands(text: str) -> tuple[str, list[str]]:
    """Text without the commands that set a terminal's links, title and the like. Two letters mark where each
    of the links, whose addresses come along, begins and ends."""
    addresses: list[str] = []
    parts, end, is_open = [], 0, False
    text = re.sub(f"[{LINK_BEGINS}{LINK_ENDS}]", "", text)
    for command in COMMAND.finditer(text):
        parts.append(text[end : command.start()])
        end = command.end()
        if (address := command["address"]) is None:  # not about a link
            continue
        parts.append(LINK_ENDS if is_open else "")
        is_open = ELSEWHERE.match(address) is not None
        if is_open:
            addresses.append(address)
            parts.append(LINK_BEGINS)
    return "".join([*parts, text[end:], LINK_ENDS if is_open else ""]), addresses


def player(kind: str, data: str) -> str:
    element = kind.split("/")[0]
    return f'<{element} controls src="data:{kind};base64,{html.escape(data)}"></{element}>\n'


def picture(kind: str, data: str, alt: str, metadata: dict[str, Any]) -> str:
    """A picture that a cell has drawn, with the text and the width that the cell gave it."""
    given = {"alt": alt} | metadata | (metadata.get(kind) or {})
    is_drawing = kind == "image/svg+xml"
    address = f"data:{kind},{quote(shorter(data))}" if is_drawing else f"data:{kind};base64,{data}"
    width = given.get("width")
    attributes = {"src": address, "alt": str(given["alt"])}
    if isinstance(width, int | float) and math.isfinite(width):
        attributes["width"] = str(round(width))
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
