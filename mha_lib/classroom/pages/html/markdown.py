"""Turn Markdown into HTML that ``clean.py`` finishes.

A formula becomes an element that holds its TeX, a picture keeps its address, and HTML within the
Markdown stays as it is, even if its elements are not closed.
"""

import hashlib
import html
import re
from collections.abc import Container
from itertools import groupby
from typing import Any
from urllib.parse import unquote

from mistune import HTMLRenderer, import_plugin
from mistune.directives import Admonition, FencedDirective, Figure
from mistune.util import unikey
from nbconvert.filters.markdown_mistune import MarkdownWithMath, MathBlockParser, MathInlineParser
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from mha_lib.classroom.pages.html.tables import INLINE_TEX, PIECE, tables
from mha_lib.classroom.pages.html.tree import plain

FORMULA = "data-formula"  # the attribute of an element whose text is TeX
DIAGRAM = "data-diagram"  # the attribute of code that Jupyter draws as a diagram: the language of the code
CALLOUT = "data-callout"  # the attribute of a callout's title: the kind of the callout
ATTACHMENT = "attachment:"  # the start of the address of a picture that is stored in the notebook's cell

PLUGINS = ("strikethrough", "url", "task_lists", "def_list", "footnotes")
# The parts of HTML in which no formula is looked for.
MARKUP = re.compile(
    r"<!--.*?-->|<(script|style|pre|code|textarea|title|svg|math)\b.*?</\1\s*>|</?[a-z][^>]*>|<[!?][^>]*>",
    re.DOTALL | re.IGNORECASE,
)
ENVIRONMENT = r"\\begin\{(?P<name>[a-z]+\*?)\}.*?\\end\{(?P=name)\}"
TEX = re.compile(rf"(?<!\\)\$\$(?P<block>.+?)(?<!\\)\$\$|(?P<lines>{ENVIRONMENT})|{INLINE_TEX}", re.DOTALL)
# An amount of money between two dollar signs: "$ 300 $", "a day $ 5 or 7$ more", "$5 or 7 $".
MONEY = re.compile(r"\s*[\d.,]+\s*(?:$|[A-Za-z]{2})")

# The callouts of MyST, :::{note} or ```{note}, and the look of each.
CALLOUTS = dict.fromkeys(("note", "important", "seealso", "admonition"), "info")
CALLOUTS |= dict.fromkeys(("tip", "hint"), "success")
CALLOUTS |= dict.fromkeys(("warning", "caution", "attention"), "warning")
CALLOUTS |= dict.fromkeys(("danger", "error"), "danger")

Footnotes = dict[str, str]  # the name of a footnote -> its text
NOTE_BEGINS = re.compile(r"^ {0,4}\[\^", re.MULTILINE)
NOTE_NAMED = re.compile(r"\[\^([^\[\]\s]+)\](?!:)")
Attachments = dict[str, dict[str, str]]  # the name of a picture in a cell -> its type -> base64


def to_html(
    source: str,
    attachments: Attachments | None = None,
    escape: bool = False,
    footnotes: Footnotes | None = None,
) -> str:
    """The HTML of a piece of Markdown. With ``escape``, HTML in it is shown as text. Its own footnotes go
    before the ``footnotes`` of other pieces."""
    place = hashlib.sha256(source.encode(errors="replace")).hexdigest()[:8]
    renderer = Renderer(attachments or {}, escape, place)

    def add_footnotes(_: Any, state: Any) -> None:
        state.env["ref_footnotes"] = {**(footnotes or {}), **state.env.get("ref_footnotes", {})}

    return str(markdown(renderer, add_footnotes).render(source))


def markdown(renderer: "Renderer", before_render: Any) -> MarkdownWithMath:
    plugins: Any = [tables, *map(import_plugin, PLUGINS), DIRECTIVES]
    parser = MarkdownWithMath(renderer, BlockParser(), InlineParser(), plugins)
    parser.before_render_hooks.append(before_render)
    return parser


def footnotes_in(source: str) -> Footnotes:
    """The footnotes that a piece of Markdown defines."""
    found: Footnotes = {}
    if NOTE_BEGINS.search(source):
        renderer = Renderer({}, escape=False, place="")
        markdown(renderer, lambda _, state: found.update(state.env.get("ref_footnotes", {}))).render(source)
    return found


def footnotes_named(source: str) -> set[str]:
    """The names of the footnotes to which a piece of Markdown refers."""
    return set(map(unikey, NOTE_NAMED.findall(source)))


def with_formulas(source: str) -> str:
    """The same HTML, with an element around each formula in its text."""
    parts, end = [], 0
    for markup in MARKUP.finditer(source):
        parts += [formulas_in(source[end : markup.start()]), markup[0]]
        end = markup.end()
    return "".join([*parts, formulas_in(source[end:])])


def formulas_in(text: str) -> str:
    """Text (it may hold entities) as HTML with an element around each formula."""

    def element(found: re.Match[str]) -> str:
        if tex := found["block"] or found["lines"]:
            return displayed_formula(html.unescape(tex))
        tex = html.unescape(found["math_inline_tex"])
        return "".join(map(inline_formula, apart(tex))) if is_formula(tex) else found[0]

    return TEX.sub(element, text)


def is_formula(tex: str) -> bool:
    """Whether the text between two dollar signs is a formula.

    It is none with a space at only one end, and none if it has spaces and is an amount of money. So
    "from $5 to $10" and `$HOME` stay text.
    """
    spaces = tex[0].isspace(), tex[-1].isspace()
    return spaces == (False, False) or (spaces == (True, True) and tex.strip() != "" and not MONEY.match(tex))


def apart(tex: str) -> list[str]:
    """Formulas that touch each other, one by one."""
    return re.findall(f"{PIECE}+", tex)


def inline_formula(tex: str) -> str:
    return f"<span {FORMULA}>{html.escape(tex)}</span>"


def code_block(code: str, language: str, asserts: Container[int] = ()) -> str:
    """Code with the syntax colours of its language, or without colours if the language is not known.

    The lines ``asserts``, counted from 1, are of the class ``result``.
    """
    try:
        lexer = get_lexer_by_name(language, stripnl=False)
        coloured = highlight(code, lexer, HtmlFormatter(nowrap=True)).rstrip("\n")
    except ClassNotFound:
        coloured = html.escape(code)
    lines = enumerate(re.findall(r"[^\n]*\n|[^\n]+", coloured), 1)
    groups = groupby(lines, lambda line: line[0] in asserts)
    pieces = [("".join(line for _, line in group), is_result) for is_result, group in groups]
    if all(is_result or not text.strip() for text, is_result in pieces):
        return f'<div class="code result"><pre><code>{coloured}</code></pre></div>\n'
    marked = (f'<span class="result">{text}</span>' if is_result else text for text, is_result in pieces)
    return f'<div class="code"><pre><code>{"".join(marked)}</code></pre></div>\n'


def displayed_formula(tex: str) -> str:
    return f"<div {FORMULA}>{html.escape(tex)}</div>\n"


class InlineParser(MathInlineParser):
    """Finds formulas by ``is_formula``."""

    SPECIFICATION = MathInlineParser.SPECIFICATION | {"inline_math_tex": INLINE_TEX}

    def parse_inline_math_tex(self, m: re.Match[str], state: Any) -> int:
        if not is_formula(m["math_inline_tex"]):
            return 0
        for tex in apart(m["math_inline_tex"]):
            state.append_token({"type": "inline_math", "raw": tex})
        return m.end()


class BlockParser(MathBlockParser):
    """Finds displayed formulas that begin a line. The inline parser finds a `$$` within a sentence."""

    SPECIFICATION = MathBlockParser.SPECIFICATION | {
        "multiline_math": r"^ {0,3}(?:(?s:\$\$.+?(?<!\\)\$\$)|(?s:\\\\\[.*?\\\\\])"
        r"|(?s:\\begin\{(?P<math_env_name>[a-z]+\*?)\}.*?\\end\{(?P=math_env_name)\}))[ \t]*$"
    }


class Callout(Admonition):
    def __init__(self) -> None:
        super().__init__()
        self.SUPPORTED_NAMES = set(CALLOUTS)

    def parse(self, block: Any, m: re.Match[str], state: Any) -> dict[str, Any]:
        token = super().parse(block, m, state)
        kind = self.parse_type(m)
        token["children"][0] |= {"text": self.parse_title(m), "attrs": {"kind": kind}}
        return token


DIRECTIVES = FencedDirective([Callout(), Figure()], markers="`~:")
# Others stay what Jupyter shows: text, or code.
DIRECTIVES.directive_pattern = (
    rf"^(?P<fenced_directive_mark>[`~:]{{3,}})\{{(?:{'|'.join([*CALLOUTS, 'figure'])})\}}"
)


class Renderer(HTMLRenderer):
    def __init__(self, attachments: Attachments, escape: bool, place: str):
        super().__init__(escape=escape)
        self.place = place  # keeps the footnotes of this cell apart from those of other cells
        self.attachments = attachments

    def block_html(self, html: str) -> str:
        return super().block_html(html if self._escape else with_formulas(html))

    inline_math = staticmethod(inline_formula)
    block_math = staticmethod(displayed_formula)

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")

    def block_code(self, code: str, info: str | None = None) -> str:
        language = info.split(maxsplit=1)[0] if info and info.strip() else "text"
        block = code_block(code.rstrip("\n"), language)
        if language.strip("{}") == "mermaid":
            return block.replace("<div ", f'<div {DIAGRAM}="mermaid" ', 1)
        return block

    def table(self, text: str) -> str:
        return f'<div class="table"><table>\n{text}</table></div>\n'

    def footnote_ref(self, key: str, index: int) -> str:
        number = f'<a href="#note-{self.place}-{index}">{index}</a>'
        return f'<sup id="noted-{self.place}-{index}">{number}</sup>'

    def footnote_item(self, text: str, key: str, index: int) -> str:
        back = f'<a href="#noted-{self.place}-{index}">↩</a>'
        return f'<li id="note-{self.place}-{index}">{text.rstrip().removesuffix("</p>")} {back}</p></li>\n'

    def admonition(self, text: str, name: str, **_: str) -> str:
        return f'<div class="alert alert-{CALLOUTS[name]}">\n{text}</div>\n'

    def admonition_title(self, text: str, kind: str) -> str:
        return f'<p class="callout" {CALLOUT}="{kind}">{text}</p>\n'

    def figure(self, text: str, **_: str) -> str:
        return f'<figure class="picture">\n{text}</figure>\n'

    def block_image(self, src: str, alt: str = "", width: str = "", **_: str) -> str:
        picture = self.image(html.escape(alt), src)
        width = width.removesuffix("px")
        is_known = width.isdecimal() or width.endswith("%")
        return picture.replace("<img ", f'<img width="{width}" ', 1) if is_known else picture

    def image(self, text: str, url: str, title: str | None = None) -> str:
        address = html.unescape(url)
        if address.startswith(ATTACHMENT):
            name = unquote(address.removeprefix(ATTACHMENT))
            for kind, data in self.attachments.get(name, {}).items():
                address = f"data:{kind};base64,{data}"
        attributes = {"src": address, "alt": plain(text)} | ({"title": title} if title else {})
        text = " ".join(f'{name}="{html.escape(value)}"' for name, value in attributes.items())
        return f"<img {text}>"
