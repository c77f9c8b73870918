"""Scripts and styles of a page keep to what browsers of 2022 know: Safari 15.4, Chrome 99, Firefox 100."""

import re

import pytest

from mha_lib.classroom.explorer import Explorer
from mha_lib.classroom.explorer.typed_text import SCRIPTS as TYPED_TEXT
from mha_lib.classroom.heads.who_said import WhoSaid
from mha_lib.classroom.pages import page
from mha_lib.classroom.pages.handout.handout_page import SCRIPTS, STYLES
from mha_lib.classroom.pages.site.pages import FRONT_STYLES
from mha_lib.classroom.translator.typed_number import SCRIPTS as TYPED_NUMBER
from torch_in_page import INTERPRETER
from torch_in_page.function import WORKER

OLDER = str(page.read("pages/handout/older.js"))
NEWER_SCRIPT = re.compile(
    r"""\.(?:findLast(?:Index)?|toReversed|toSorted|toSpliced|with|requestSubmit|checkVisibility|getHTML|setHTML
    |intersection|union|difference|isSubsetOf|isWellFormed|toWellFormed|showPopover|moveBefore|roundRect)\(
    |\b(?:structuredClone|DecompressionStream|CompressionStream|OffscreenCanvas|scheduler)\b
    |\b(?:groupBy|fromAsync|withResolvers|canParse|fromBase64|RegExp\.escape|AbortSignal\.\w+|Promise\.try)\b
    |\.style\.(?:scale|rotate|translate)\b|\(\?<[=!]|\bstatic\s*\{""",
    re.VERBOSE,
)
NEWER_STYLE = re.compile(
    r":has\(|color-mix\(|oklch\(|oklab\(|\blch\(|\d[dsl]v[hw]\b|\dcq\w+\b|subgrid|@(?:container|layer|scope|property)"
    r"|(?<![-\w])(?:scale|rotate|translate):|\((?:width|height) *[<>]"
)
FOR_NEWER = re.compile(r"@supports (?!not)[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
BLOCK = re.compile(r"([^{};\0]*)\{([^{}]*)\}")


def newer_in_style(style):
    """Newer forms outside blocks for browsers that support them, and rules inside of rules."""
    style = re.sub(r"/\*.*?\*/|\"[^\"]*\"", "", style, flags=re.DOTALL)
    style = FOR_NEWER.sub("", style)
    found = []

    def note(block):
        selector, body = block[1].strip(), block[2]
        found.extend(NEWER_STYLE.findall(selector + body))
        if "\0" in body and not selector.startswith("@"):
            found.append(f"a rule inside of {selector}")
        return "\0"

    while BLOCK.search(style):
        style = BLOCK.sub(note, style)  # the innermost ones first
    return found


SOURCES = [*TYPED_TEXT, *TYPED_NUMBER, INTERPRETER, WORKER]
PAGE_SCRIPTS = {
    "the page": str(page.read(*SCRIPTS, "pages/site/root.js")),
    "the explorer": Explorer._esm,
    "who_said": WhoSaid._esm,
    "the model in the page": "\n".join(file.read_text(encoding="utf-8") for file in SOURCES),
}
PAGE_STYLES = {
    "handouts and site": str(page.read("pages/page.css", *STYLES, *FRONT_STYLES)),
    "the explorer": Explorer._css,
    "who_said": WhoSaid._css,
}


@pytest.mark.parametrize("name", PAGE_SCRIPTS)
def test_no_script_of_a_page_needs_a_newer_browser(name):
    script = re.sub(r"(?m)^ *//.*|^/\*\*.*\*/", "", PAGE_SCRIPTS[name])
    assert NEWER_SCRIPT.findall(script) == []
    reflected = set(re.findall(r"\baria[A-Z]\w+", script))
    assert reflected <= set(re.findall(r'"(aria\w+)"', OLDER)), "Firefox 119 has more than older.js gives"


@pytest.mark.parametrize("name", PAGE_STYLES)
def test_no_style_of_a_page_needs_a_newer_browser(name):
    assert newer_in_style(PAGE_STYLES[name]) == []


def test_a_page_has_every_colour_in_light_and_in_dark_for_browsers_without_light_dark():
    more = 'a > b { content: "<"; color: light-dark(#123456, #abcdef) }'
    text = page.render(
        "pages/handout/index.html",
        styles=STYLES,
        more_style=more,
        language="en",
        title="",
        listed={},
        words={},
    )
    own, _, older = text.partition("@supports not (color: light-dark(red, red)) {")
    assert more in own
    assert '"Chinese marks"' in own
    light, _, dark = older.partition("@media screen and (prefers-color-scheme: dark)")
    pairs = re.findall(r"([\w-]+): light-dark\((#\w+), (#\w+)\)", own)
    assert len(pairs) > 15
    for name, in_light, in_dark in pairs:
        assert f"{name}: {in_light}" in light
        assert f"{name}: {in_dark}" in dark
