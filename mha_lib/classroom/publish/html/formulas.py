"""Turn TeX into MathML, which every browser draws by itself, with one font for all browsers."""

import html
import re
from pathlib import Path

from mha_lib.classroom import look
from mha_lib.classroom.publish.html.conversation import Conversation
from mha_lib.classroom.publish.html.fonts import font_face

# The colours of Q, K, V and O change their shade with the theme: the page's style sheet defines both.
THEMED = {colour.upper(): f"var(--{letter})" for letter, colour in look.LIGHT.items()}
LONGEST = 50_000  # characters in a formula
DEEPEST = 50  # groups within groups: the converter and browsers recurse once for each
MOST_IN_A_ROW = 150  # commands in direct succession: each may be the argument of the one before it
STYLE = Path(__file__).with_suffix(".css")
STEP = re.compile(
    r"(?P<open>\\(?:begin|left)\b|\{)|(?P<close>\\(?:end|right)\b|\})|(?P<command>\\[A-Za-z]+|[\^_])|(?P<space>\s+)|\\?.",
    re.DOTALL,
)
LABEL = re.compile(r'id="(equation-[^"]*)"><mtext>([^<]*)</mtext>')
LAST_RULE = re.compile(
    r"(<mtr>(?:(?!<mtr>).)*</mtr>)<mtr><mtd style=\"(border-top:[^;]*;)[^\"]*\"></mtd></mtr></mtable>"
)
BESIDE = (
    (' style="width: 100%"', ""),
    ('<mtd style="width: 50%"></mtd>', '<mtd style="padding:0"></mtd>'),
    ("width: 50%;", "padding-left:2em;"),
)
REFERENCE = re.compile(r'<a href="#(equation-[^"]*)">\(\?\?\)</a>')


class FormulaError(ValueError):
    """TeX that cannot be set. ``sentence`` is the key of the sentence that says why; ``about`` fills it in.
    If there is no sentence for the reason, ``about`` holds the converter's own message."""

    def __init__(self, sentence: str, about: str = ""):
        super().__init__(about or sentence)
        self.sentence, self.about = sentence, about


class Formulas:
    """Sets the formulas of one page. A definition or label in a formula holds for all later ones."""

    def __init__(self) -> None:
        self.conversation = Conversation()
        self.numbers: dict[str, str] = {}  # the label of an equation -> its number
        self.letters: set[str] = set()

    def set(self, tex: str, display: bool) -> str:
        """The formula as MathML, or "" if it only defines commands."""
        if len(tex) > LONGEST or is_deep(tex):
            raise FormulaError("too_long")
        answer = self.conversation.ask(tex, display)
        if "mathml" not in answer:
            raise FormulaError(answer["sentence"], answer.get("about", ""))
        start, _, content = answer["mathml"].removesuffix("</math>").partition(">")
        content = mended(content)
        self.numbers |= LABEL.findall(content)
        self.letters.update(html.unescape(re.sub("<[^>]*>", "", content)))
        return f'{start} alttext="{html.escape(tex)}">{content}</math>' if content else ""

    def with_references(self, mathml: str) -> str:
        """The formula with the numbers of the equations it refers to, which may stand before or after it."""

        def link(reference: re.Match[str]) -> str:
            if reference[1] not in self.numbers:
                raise FormulaError("no_label", reference[1].removeprefix("equation-"))
            return f'<a href="#{reference[1]}">{self.numbers[reference[1]]}</a>'

        return REFERENCE.sub(link, mathml)

    def style(self) -> str:
        """The style sheet for all formulas that were set so far, with their font."""
        return STYLE.read_text(encoding="utf-8") + (font_face(self.letters) if self.letters else "")


def is_deep(tex: str) -> bool:
    """Whether a formula is nested so deeply that the converter or a browser might run out of stack."""
    depth = in_a_row = 0
    for step in STEP.finditer(tex):
        if step["open"]:
            depth += 1
        elif step["close"]:
            depth -= 1
        in_a_row = in_a_row + 1 if step["command"] else in_a_row if step["space"] else 0
        if depth > DEEPEST or in_a_row > MOST_IN_A_ROW:
            return True
    return False


def mended(mathml: str) -> str:
    """The converter's MathML, changed where browsers would draw it wrongly."""
    mathml = re.sub(
        "color:(#[0-9A-F]{6})", lambda colour: f"color:{THEMED.get(colour[1], colour[1])}", mathml
    )
    mathml = re.sub(r'<mrow class="menclose-[^"]*"></mrow>', "", mathml).replace("</menclose>", "</mrow>")
    mathml = re.sub(
        r'<menclose notation="([^"]*)">', r'<mrow class="\1">', mathml
    )  # not all browsers draw <menclose>
    for wide, beside in BESIDE:  # a number stands beside its formula, not at the far end of a line
        mathml = mathml.replace(wide, beside)
    mathml = mathml.replace(
        'stretchy="true">~<', 'stretchy="true">˜<'
    )  # browsers stretch only this one of the two tildes
    return LAST_RULE.sub(across_all_columns, mathml)


def across_all_columns(rows: re.Match[str]) -> str:
    r"""The last ``\hline`` of an array is a row with one cell. Make it as wide as the row before it."""
    columns = rows[1].count("<mtd")
    return f'{rows[1]}<mtr><mtd columnspan="{columns}" style="{rows[2]}padding:0"></mtd></mtr></mtable>'
