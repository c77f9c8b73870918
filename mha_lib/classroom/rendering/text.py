"""Markdown to HTML: formulas drawn, code coloured, pictures inlined, headings that can be linked to."""

import base64
import html
import mimetypes
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from bs4 import BeautifulSoup
from mistune import HTMLRenderer
from nbconvert.filters.markdown_mistune import MarkdownWithMath, MathBlockParser, MathInlineParser
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from mha_lib.classroom.rendering.formulas import FormulaError, Formulas

REMOTE = re.compile(r"^\s*(?:https?:)?//", re.IGNORECASE)


class InlineParser(MathInlineParser):
    """A dollar opens a formula only before a non-space and closes one only after a non-space and
    before a non-digit, so that "from $5 to $10" and `$HOME` in code stay what they are."""

    SPECIFICATION = MathInlineParser.SPECIFICATION | {
        "inline_math_tex": r"(?<![\\$])\$(?![\s$])(?P<math_inline_tex>(?:\\.|[^$\\`])+?)(?<!\s)\$(?![\d$])"
    }


class BlockParser(MathBlockParser):
    """A displayed formula begins a line: a `$$` within a sentence is the inline parser's business."""

    SPECIFICATION = MathBlockParser.SPECIFICATION | {
        "multiline_math": r"^ {0,3}(?:(?s:\$\$.+?(?<!\\)\$\$)|(?s:\\\\\[.*?\\\\\])"
        r"|(?s:\\begin\{(?P<math_env_name>[a-z]+\*?)\}.*?\\end\{(?P=math_env_name)\}))[ \t]*$"
    }


class Renderer(HTMLRenderer):
    def __init__(self, page: "Text", attachments: dict[str, dict[str, str]], escape: bool):
        super().__init__(escape=escape)
        self.page = page
        self.attachments = attachments

    def inline_math(self, body: str) -> str:
        return self.page.formula(body, display=False)

    def block_math(self, body: str) -> str:
        return self.page.formula(body, display=True)

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")

    def block_code(self, code: str, info: str | None = None) -> str:
        return code_block(code.rstrip("\n"), (info or "").split(maxsplit=1)[0] if info else "text")

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        return self.page.heading(text, level)

    def paragraph(self, text: str) -> str:
        if re.fullmatch(r"<img [^>]*>", text.strip()):
            return f'<figure class="picture">{text.strip()}</figure>\n'
        # a displayed formula may not stand within a <p>
        parts = re.split(r'(<div class="formula".*?</div>)', text, flags=re.DOTALL)
        return "".join(
            part if part.startswith("<div") else f"<p>{part.strip()}</p>\n" for part in parts if part.strip()
        )

    def table(self, text: str) -> str:
        return f'<div class="table"><table>\n{text}</table></div>\n'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        return self.page.image(html.unescape(url), text, title, self.attachments)

    def block_html(self, html: str) -> str:
        return super().block_html(html if self.escape_enabled else self.page.self_contained(html))

    def inline_html(self, html: str) -> str:
        return super().inline_html(html if self.escape_enabled else self.page.self_contained(html))


class Text:
    """The text of one page: its headings and formulas are collected as it is rendered."""

    def __init__(self, folder: Path, words: dict[str, str], complain: Any):
        self.folder = folder
        self.words = words
        self.formulas = Formulas()
        self.headings: list[tuple[int, str, str]] = []  # level, anchor, text as HTML
        self.anchors: set[str] = set()
        self.below = False  # within a sub-slide: its headings stand below the slide's in the contents
        self.complain = complain

    def markdown(self, source: str, attachments: dict[str, dict[str, str]] | None = None) -> str:
        """The author's text: HTML in it stays HTML."""
        renderer = Renderer(self, attachments or {}, escape=False)
        return MarkdownWithMath(renderer, BlockParser(), InlineParser()).render(source)

    def printed_markdown(self, source: str) -> str:
        """Markdown that a program printed: HTML in it is shown as text."""
        quiet = Text(self.folder, self.words, self.complain)
        quiet.formulas = self.formulas
        return MarkdownWithMath(Renderer(quiet, {}, escape=True), BlockParser(), InlineParser()).render(
            source
        )

    def formula(self, tex: str, display: bool) -> str:
        try:
            return self.formulas.render(tex, display)
        except FormulaError as error:
            self.complain(str(error))
            return f'<code class="tex">{html.escape(tex.strip())}</code>'

    def anchor(self, name: str) -> str:
        base = re.sub(r"[^\w]+", "-", name.lower()).strip("-") or "section"
        anchor, n = base, 1
        while anchor in self.anchors:
            n += 1
            anchor = f"{base}-{n}"
        self.anchors.add(anchor)
        return anchor

    def heading(self, text: str, level: int) -> str:
        anchor = self.anchor(plain(text))
        self.headings.append((max(level, 3) if self.below else level, anchor, text))
        link = f'<a class="anchor" href="#{anchor}" aria-label="{self.words["link"]}">#</a>'
        return f'<h{level} id="{anchor}">{text}{link}</h{level}>\n'

    def image(
        self, url: str, alt: str, title: str | None = None, attachments: dict[str, Any] | None = None
    ) -> str:
        alt = plain(alt)
        if (found := self.find(url, attachments or {})) is None:
            self.complain(f"picture left out, it is not beside the notebook: {url}")
            return f'<a class="missing" href="{html.escape(url)}">{html.escape(alt or url)}</a>'
        return picture_tag(*found, alt, title)

    def find(self, url: str, attachments: dict[str, Any]) -> tuple[str, bytes] | None:
        """The kind and the bytes of a picture that lies beside the notebook or in it."""
        if data := re.match(r"data:(image/[\w.+-]+);base64,(.*)", url, re.DOTALL):
            return data[1], base64.b64decode(data[2])
        if url.startswith("attachment:"):
            for mime, content in attachments.get(unquote(url[len("attachment:") :]), {}).items():
                return mime, base64.b64decode(content)
        path = self.folder / unquote(url.split("?")[0].split("#")[0])
        mime, _ = mimetypes.guess_type(path.name)
        if REMOTE.match(url) or not (mime or "").startswith("image/") or not path.is_file():
            return None
        return str(mime), path.read_bytes()

    def self_contained(self, source: str) -> str:
        """HTML with its pictures inlined and without what would be fetched."""
        if not re.search(r"<(?:img|script|iframe|link|video|audio|object|embed|source)\b", source, re.I):
            return source
        soup = BeautifulSoup(source, "html.parser")
        for tag in soup.find_all(["img", "script", "iframe", "link", "video", "audio", "object", "embed"]):
            address = str(tag.get("src") or tag.get("href") or tag.get("data") or "")
            if tag.name == "img" and not address.startswith("data:"):
                picture = BeautifulSoup(self.image(address, str(tag.get("alt", ""))), "html.parser")
                new = picture.find()
                assert new is not None
                for name in set(tag.attrs) - {"src", "srcset", "alt", "class"}:
                    new[name] = tag[name]  # width and the like
                tag.replace_with(new)
            elif tag.name != "img" and address and not address.startswith(("data:", "#")):
                self.complain(f"<{tag.name}> left out, it would be fetched: {address}")
                if tag.name in ("script", "link"):
                    tag.decompose()
                else:
                    link = soup.new_tag("a", href=address)
                    link.string = address
                    tag.replace_with(link)
        return str(soup)


def picture_tag(mime: str, data: bytes, alt: str, title: str | None = None, width: float = 0) -> str:
    """An <img> that holds its picture; white behind it where the picture doesn't know dark pages."""
    width = width or natural_width(mime, data)
    attributes = {
        "class": "" if b"prefers-color-scheme" in data else "paper",
        "src": f"data:{mime};base64,{base64.b64encode(data).decode()}",
        "alt": alt,
        "title": title,
        "width": round(width) or None,
        "style": f"--natural:{round(width)}" if width else None,
    }
    text = "".join(
        f' {name}="{html.escape(str(value))}"' for name, value in attributes.items() if value is not None
    )
    return f"<img{text}>"


def natural_width(mime: str, data: bytes) -> float:
    """In pixels, as the file's header says; 0 if it doesn't."""
    if mime == "image/png":
        return int.from_bytes(data[16:20], "big")
    box = re.search(rb"<svg[^>]*\bviewBox=[\"'][-\d.]+[ ,]+[-\d.]+[ ,]+([\d.]+)", data)
    return float(box[1]) if mime == "image/svg+xml" and box else 0


def plain(source: str) -> str:
    """The words of a piece of HTML; a formula gives its letters."""
    return " ".join(BeautifulSoup(source, "html.parser").get_text().split())


def code_block(code: str, language: str) -> str:
    try:
        lexer = get_lexer_by_name(language, stripnl=False)
        coloured = highlight(code, lexer, HtmlFormatter(nowrap=True)).rstrip("\n")
    except ClassNotFound:
        coloured = html.escape(code)
    return f'<div class="code"><pre><code>{coloured}</code></pre></div>\n'
