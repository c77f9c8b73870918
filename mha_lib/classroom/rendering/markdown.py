"""Markdown to HTML as the author wrote it: what is not ready for a page yet, ``clean.py`` makes ready.

A formula becomes an element that holds its TeX, a picture keeps its address, and HTML within the
Markdown stays as it is, closed or not.
"""

import html
from urllib.parse import unquote

from mistune import HTMLRenderer
from nbconvert.filters.markdown_mistune import MarkdownWithMath, MathBlockParser, MathInlineParser
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from mha_lib.classroom.rendering.tree import plain

FORMULA = "data-formula"  # the attribute of an element whose text is TeX
ATTACHMENT = "attachment:"  # the address of a picture that is kept in the notebook's cell

Attachments = dict[str, dict[str, str]]  # of a cell: the name of a picture -> its type -> base64


def to_html(source: str, attachments: Attachments | None = None, escape: bool = False) -> str:
    """The HTML of a piece of Markdown; with ``escape``, HTML that stands in it is shown as text."""
    renderer = Renderer(attachments or {}, escape)
    return str(MarkdownWithMath(renderer, BlockParser(), InlineParser()).render(source))


def code_block(code: str, language: str) -> str:
    """A program in the colours of its language; without colours where the language is not known."""
    try:
        lexer = get_lexer_by_name(language, stripnl=False)
        coloured = highlight(code, lexer, HtmlFormatter(nowrap=True)).rstrip("\n")
    except ClassNotFound:
        coloured = html.escape(code)
    return f'<div class="code"><pre><code>{coloured}</code></pre></div>\n'


def displayed_formula(tex: str) -> str:
    return f"<div {FORMULA}>{html.escape(tex)}</div>\n"


class InlineParser(MathInlineParser):
    """A dollar opens a formula only before a character that is not a space, and closes one only after
    such a character and before one that is not a digit. So "from $5 to $10" and `$HOME` in code stay
    what they are."""

    SPECIFICATION = MathInlineParser.SPECIFICATION | {
        "inline_math_tex": r"(?<![\\$])\$(?![\s$])(?P<math_inline_tex>(?:\\.|[^$\\`])+?)(?<!\s)\$(?![\d$])"
    }


class BlockParser(MathBlockParser):
    """A displayed formula begins a line; a `$$` within a sentence is left to the inline parser."""

    SPECIFICATION = MathBlockParser.SPECIFICATION | {
        "multiline_math": r"^ {0,3}(?:(?s:\$\$.+?(?<!\\)\$\$)|(?s:\\\\\[.*?\\\\\])"
        r"|(?s:\\begin\{(?P<math_env_name>[a-z]+\*?)\}.*?\\end\{(?P=math_env_name)\}))[ \t]*$"
    }


class Renderer(HTMLRenderer):
    def __init__(self, attachments: Attachments, escape: bool):
        super().__init__(escape=escape)
        self.attachments = attachments

    def inline_math(self, body: str) -> str:
        return f"<span {FORMULA}>{html.escape(body)}</span>"

    def block_math(self, body: str) -> str:
        return displayed_formula(body)

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")

    def block_code(self, code: str, info: str | None = None) -> str:
        return code_block(code.rstrip("\n"), (info or "").split(maxsplit=1)[0] if info else "text")

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
