"""Turn Markdown into inert HTML, as Jupyter does: formulas are taken out before anything else reads the text.

A formula becomes an element that holds its TeX, and a picture keeps its address; ``clean.py`` finishes both.
"""

import html
import re
from collections.abc import Callable, Container
from contextlib import suppress
from itertools import groupby
from typing import Any
from urllib.parse import unquote

from mistune import HTMLRenderer, create_markdown
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from offline_notebook.sanitise import escaped, sanitised
from offline_notebook.tree import plain

FORMULA = "data-formula"  # the attribute of an element whose text is TeX; "display" for one with its own line
ATTACHMENT = "attachment:"  # the start of the address of a picture that is stored in the notebook's cell
PLUGINS = ["strikethrough", "table", "task_lists", "url"]
Attachments = dict[str, dict[str, str]]  # the name of a picture in a cell -> its type -> base64

PIECE = r"(?>\\.|\{(?>\\.|[^{}\\`]|\{(?>\\.|[^{}\\`])*\})*\}|[^$\\`])"  # of a formula: a letter or a group
# One formula, or several that touch each other: $n$$\times$$m$.
INLINE = (
    rf"(?<![\\$])\$(?!\$)(?P<inline>{PIECE}+?(?:(?<!\s)\$\$(?![\s$]){PIECE}+?)*?)"
    r"(?:(?<!\s)\$(?![\d$])|(?<=\s)\$(?![\w$]))"
)
CODE = (
    r"^[ ]{0,3}(?P<fence>```+|~~~+).*?^[ ]{0,3}(?P=fence)"
    r"|(?<![`\\])(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)(?P=ticks)(?!`)"
)
FORMULAS = (
    r"(?<!\\)\$\$(?P<block>.+?)(?<!\\)\$\$"
    r"|(?P<lines>\\begin\{(?P<name>[a-z]+\*?)\}.*?\\end\{(?P=name)\})"
    rf"|{INLINE}"
)
TEX = re.compile(FORMULAS, re.DOTALL)
TEX_IN_MARKDOWN = re.compile(f"(?P<code>{CODE})|{FORMULAS}", re.DOTALL | re.MULTILINE)
# The parts of HTML in which no formula is looked for.
MARKUP = re.compile(r"<(pre|code|math)\b.*?</\1\s*>|</?[a-z][^>]*>", re.DOTALL | re.IGNORECASE)
BEGINS, ENDS = "\ue000", "\ue001"  # around the number of a formula that was taken out
# An amount of money between two dollar signs: "$ 300 $", "a day $ 5 or 7$ more", "$5 or 7 $".
MONEY = re.compile(r"\s*[\d.,]+\s*(?:$|[A-Za-z]{2})")


def ignore(_: list[str]) -> None:
    pass


def to_html(
    source: str,
    attachments: Attachments | None = None,
    escape: bool = False,
    report: Callable[[list[str]], object] = ignore,
) -> str:
    """The HTML of a piece of Markdown. With ``escape``, HTML in it is shown as text; else ``report`` is told
    which elements of it are missing."""
    taken_out: list[tuple[str, str]] = []  # each formula as it stood there, and as an element

    def take_out(found: re.Match[str]) -> str:
        element = found[0] if found["code"] else element_of(found)
        if element == found[0]:
            return element
        taken_out.append((found[0], element))
        return f"{BEGINS}{len(taken_out) - 1}{ENDS}"

    text = TEX_IN_MARKDOWN.sub(take_out, re.sub(f"[{BEGINS}{ENDS}]", "", source))
    render: Any = create_markdown(renderer=Renderer(attachments or {}, escape=escape), plugins=PLUGINS)
    content, missing = sanitised(render(text))
    if missing:
        report(missing)

    def put_back(text: str, is_markup: bool) -> str:
        def whole(mark: re.Match[str]) -> str:
            written, element = taken_out[int(mark[1])]
            return html.escape(written) if is_markup else element

        return re.sub(f"{BEGINS}([0-9]+){ENDS}", whole, text)

    return in_markup_and_text(content, put_back)


def with_formulas(source: str) -> str:
    """The same sanitised HTML, with an element around each formula in its text."""
    return in_markup_and_text(
        source, lambda text, is_markup: text if is_markup else TEX.sub(element_of, text)
    )


def in_markup_and_text(source: str, change: Callable[[str, bool], str]) -> str:
    """The same HTML with its parts changed; ``change`` is told whether a part is markup or code."""
    parts, end = [], 0
    for markup in MARKUP.finditer(source):
        parts += [change(source[end : markup.start()], False), change(markup[0], True)]
        end = markup.end()
    return "".join([*parts, change(source[end:], False)])


def element_of(found: re.Match[str]) -> str:
    """The element of a formula, or the text itself if it is none."""
    if tex := found["block"] or found["lines"]:
        return f'<span {FORMULA}="display">{escaped(html.unescape(tex))}</span>'
    tex = html.unescape(found["inline"])
    pieces = (
        re.findall(f"{PIECE}+", tex) if is_formula(tex) else []
    )  # those that touch each other, one by one
    return "".join(f"<span {FORMULA}>{escaped(piece)}</span>" for piece in pieces) or found[0]


def is_formula(tex: str) -> bool:
    """Whether the text between two dollar signs is a formula.

    It is none with a space at only one end, and none if it has spaces and is an amount of money. So
    "from $5 to $10" and `$HOME` stay text.
    """
    spaces = tex[0].isspace(), tex[-1].isspace()
    return spaces == (False, False) or (spaces == (True, True) and tex.strip() != "" and not MONEY.match(tex))


def code_block(code: str, language: str, results: Container[int] = ()) -> str:
    """Code with the syntax colours of its language; without colours if the language is not known.

    The lines ``results``, counted from 1, are of the class ``result``.
    """
    coloured = html.escape(code)
    with suppress(ClassNotFound):
        lexer = get_lexer_by_name(language, stripnl=False)
        coloured = highlight(code, lexer, HtmlFormatter(nowrap=True)).rstrip("\n")
    lines = enumerate(re.findall(r"[^\n]*\n|[^\n]+", coloured), 1)
    groups = groupby(lines, lambda line: line[0] in results)
    pieces = [("".join(line for _, line in group), is_result) for is_result, group in groups]
    if all(is_result or not text.strip() for text, is_result in pieces):
        return f'<div class="code result"><pre><code>{coloured}</code></pre></div>\n'
    marked = (f'<span class="result">{text}</span>' if is_result else text for text, is_result in pieces)
    return f'<div class="code"><pre><code>{"".join(marked)}</code></pre></div>\n'


class Renderer(HTMLRenderer):
    def __init__(self, attachments: Attachments, escape: bool):
        super().__init__(escape=escape)
        self.attachments = attachments

    def block_code(self, code: str, info: str | None = None) -> str:
        language = info.split(maxsplit=1)[0] if info and info.strip() else "text"
        return code_block(code.rstrip("\n"), language)

    def table(self, text: str) -> str:
        return f'<div class="table"><table>\n{text}</table></div>\n'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        address = html.unescape(url)
        if address.startswith(ATTACHMENT):
            name = unquote(address.removeprefix(ATTACHMENT))
            for kind, data in self.attachments.get(name, {}).items():
                address = f"data:{kind};base64,{data}"
        attributes = {"src": address, "alt": plain(text)} | ({"title": title} if title else {})
        text = " ".join(f'{name}="{html.escape(value)}"' for name, value in attributes.items())
        return f"<img {text}>"
