"""Turn Markdown into inert HTML, as Jupyter does: formulas are taken out before anything else reads the text.

A formula becomes an element that holds its TeX, and a picture keeps its address; ``clean.py`` finishes both.
"""

import html
import re
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from itertools import groupby

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.tasklists import tasklists_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from offline_notebook.sanitise import Attachments, escaped, sanitised

FORMULA = "data-formula"  # the attribute of an element whose text is TeX; "display" for one with its own line

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
WORDS = re.compile(r"(?<![\\\w{])[A-Za-z]{2,}[,.;:]?\s+[A-Za-z]|[A-Za-z],\s+[A-Za-z]{2}")


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
    content, missing = sanitised(parser(escape).render(text), attachments)
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

    With a space at an end it is none if it is an amount of money or has two words beside each other. So
    "a day $ 5 or 7$ more" and "costs $ a lot and $b" stay text.
    """
    has_space = tex[0].isspace() or tex[-1].isspace()
    return not has_space or (tex.strip() != "" and not MONEY.match(tex) and not WORDS.search(tex))


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


def parser(escape: bool) -> MarkdownIt:
    """A parser of GitHub's Markdown; nh3, which reads what it writes, decides on addresses."""
    markdown = MarkdownIt("gfm-like", {"html": not escape}).use(tasklists_plugin)
    assert markdown.linkify  # "gfm-like" has it
    markdown.linkify.set({"fuzzy_link": False, "fuzzy_email": False})  # setup.py is no address
    markdown.validateLink = lambda url: True  # type: ignore[method-assign]
    markdown.normalizeLink = lambda url: url  # type: ignore[method-assign]
    markdown.add_render_rule("fence", block_of_code)
    markdown.add_render_rule("code_block", block_of_code)
    markdown.add_render_rule("table_open", lambda *_: '<div class="table"><table>\n')
    markdown.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return markdown


def block_of_code(_: object, tokens: Sequence[Token], index: int, *rest: object) -> str:
    language, *_others = tokens[index].info.split() or ["text"]
    return code_block(tokens[index].content.rstrip("\n"), language)
