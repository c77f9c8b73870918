"""Turn TeX into MathML, which every browser draws by itself, with one font for all browsers."""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from math_core import LatexToMathML

from offline_notebook.fonts import font_face

STYLE = Path(__file__).with_suffix(".css")
LONGEST_TEX = 50_000  # characters in a formula
DEEPEST_TEX = 50  # groups within groups: math-core recurses once for each, and ends the process if too often
MOST_IN_A_ROW = 150  # commands in direct succession: each may be the argument of the one before it
GROUP = r"\{((?:\\.|[^{}\\]|\{(?:\\.|[^{}\\]|\{(?:\\.|[^{}\\]|\{[^{}]*\})*\})*\})*)\}"
COLOURED = rf"\\(?:text)?color\s*\{{#([0-9A-Fa-f]{{6}})\}}\s*{GROUP}"
# Commands that an author defines may make a formula far larger and deeper than its TeX.
DEFINES = re.compile(r"\\(?:[egx]?def|(?:re|provide)?newcommand|let|DeclareMathOperator)(?![A-Za-z])")
STEP = re.compile(
    r"(?P<open>\\(?:begin|left)\b|\{)|(?P<close>\\(?:end|right)\b|\})|(?P<command>\\[A-Za-z]+|[\^_])|(?P<space>\s+)|\\?.",
    re.DOTALL,
)


@dataclass(frozen=True)
class Refusal:
    """The reason why TeX cannot be set. ``sentence`` is the key of a sentence; ``about`` fills it in.
    If there is no sentence for the reason, ``about`` holds the converter's own message."""

    sentence: str
    about: str = ""


class Formulas:
    """Sets the formulas of one page."""

    def __init__(self, colours: Mapping[str, str]):
        self.colours = {colour.upper(): written for colour, written in colours.items()}
        self.letters: set[str] = set()
        self.converter = LatexToMathML(
            fancy_error=False, allow_unreliable_rendering=True, id_prefix="equation-"
        )

    def set(self, tex: str, is_displayed: bool) -> str | Refusal:
        """The formula as MathML, or the reason why it cannot be set."""
        if defined := DEFINES.search(tex):
            return Refusal("unknown_command", defined[0])
        if len(tex) > LONGEST_TEX or is_deep(tex):
            return Refusal("too_long")
        coloured = re.sub(COLOURED, r"{\\color[HTML]{\1}{\2}}", tex)  # math-core knows no # in a colour
        try:
            mathml = self.converter.convert_with_global_state(coloured, displaystyle=is_displayed)
        except Exception as error:
            return explained(error)
        start, _, content = mathml.removesuffix("</math>").partition(">")
        content = re.sub("(?<=color:)#[0-9A-F]{6}", self.colour, content)
        self.letters.update(html.unescape(re.sub("<[^>]*>", "", content)))
        return f'{start} alttext="{html.escape(tex)}">{content}</math>'

    def style(self) -> str:
        """The style sheet for all formulas that were set so far, with their font."""
        return STYLE.read_text(encoding="utf-8") + (font_face(self.letters) if self.letters else "")

    def colour(self, written: re.Match[str]) -> str:
        return self.colours.get(written[0], written[0])


def is_deep(tex: str) -> bool:
    """Whether a formula is nested so deeply that the converter or a browser might run out of stack."""
    depth = in_a_row = 0
    for step in STEP.finditer(tex):
        if step["open"]:
            depth += 1
        elif step["close"]:
            depth -= 1
        in_a_row = in_a_row + 1 if step["command"] else in_a_row if step["space"] else 0
        if depth > DEEPEST_TEX or in_a_row > MOST_IN_A_ROW:
            return True
    return False


def explained(error: Exception) -> Refusal:
    """The sentence for an error, or else math-core's own message."""
    reason = re.sub(r"^\d+: ", "", str(error)) or type(error).__name__
    if unknown := re.search(r'Unknown (?:command|environment) "([^"]+)"', reason):
        return Refusal("unknown_command", unknown[1])
    return Refusal("", reason)
