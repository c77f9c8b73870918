"""Turn TeX into MathML, which every browser draws by itself, with one font for all browsers."""

import html
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mha_lib.classroom import look
from mha_lib.classroom.pages.html import converter
from mha_lib.classroom.pages.html.fonts import font_face

# The colours of Q, K, V and O change their shade with the theme: the page's style sheet defines both.
THEMED = {colour.upper(): f"var(--{letter})" for letter, colour in look.LIGHT.items()}
STYLE = Path(__file__).with_suffix(".css")
LABEL = re.compile(r'id="(equation-[^"]*)"><mtext>([^<]*)</mtext>')
LAST_RULE = re.compile(
    r"(<mtr>(?:(?!<mtr>).)*</mtr>)<mtr><mtd style=\"(border-top:[^;]*;)[^\"]*\"></mtd></mtr></mtable>"
)
REPLACED = (
    # A number stands beside its formula, not at the far end of a line.
    (' style="width: 100%"', ""),
    ('<mtd style="width: 50%"></mtd>', '<mtd style="padding:0"></mtd>'),
    ("width: 50%;", "padding-left:2em;"),
    ('stretchy="true">~<', 'stretchy="true">˜<'),  # browsers stretch only the second one of these two tildes
    ("</menclose>", "</mrow>"),
)
REFERENCE = re.compile(
    rf"(?P<bare><mtext>{converter.BARE}</mtext>)?"
    r'<mtext><a href="#(?P<label>equation-[^"]*)">(?P<number>[^<]*)</a></mtext>'
)
UNKNOWN = "(??)"  # the converter's number for an equation that it has not seen
BEGINS = re.compile(rf"<mtext>{converter.BEGINS}(\w+){converter.BEGINS}([0-9a-f]*)</mtext>")
ENDS = re.compile(rf"<mtext>{converter.ENDS}(\w+)</mtext>")
# How a link and a coloured box begin and end. MathML has no links, but its texts may hold HTML.
PIECES = {
    "link": ('<mtext><a href="{}"><math>', "</math></a></mtext>"),
    "box": ('<mrow class="coloured" style="{}">', "</mrow>"),
}
Formula = tuple[str, bool]  # its TeX, and whether it is displayed
LONGEST_WAIT = 10  # seconds; the slowest of a thousand formulas that were tried took half a second


@dataclass(frozen=True)
class Refusal:
    """The reason why TeX cannot be set. ``sentence`` is the key of a sentence; ``about`` fills it in.
    If there is no sentence for the reason, ``about`` holds the converter's own message."""

    sentence: str
    about: str = ""


class Formulas:
    """Sets the formulas of one page. A definition or label in a formula holds for all later ones."""

    def __init__(self) -> None:
        self.known: list[Formula] = []  # earlier formulas, which may define commands and labels
        self.numbers: dict[str, str] = {}  # the label of an equation -> its number
        self.letters: set[str] = set()

    def set(self, formulas: Sequence[Formula]) -> list[str | Refusal]:
        """Each formula as MathML ("" if it only defines commands), or the reason why it cannot be set."""
        answers = zip(formulas, self.converted(formulas), strict=True)
        done = [self.finished(tex, answer) for (tex, _), answer in answers]
        return [self.with_references(mathml) if isinstance(mathml, str) else mathml for mathml in done]

    def converted(self, formulas: Sequence[Formula]) -> Iterator[dict[str, str]]:
        """The converter's answers. A formula at which it hangs or crashes is too long: a new converter is
        told all that was known before, and goes on after that formula."""
        while formulas:
            program = subprocess.run(
                [sys.executable, "-P", converter.__file__, str(LONGEST_WAIT)],
                input=json.dumps([*self.known, *formulas]),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
            )
            answers = [json.loads(line) for line in program.stdout.splitlines()[len(self.known) :]]
            if len(answers) < len(formulas):
                answers.append({"sentence": "too_long"})
            pairs = zip(formulas, answers, strict=False)
            self.known += [formula for formula, answer in pairs if "mathml" in answer]
            yield from answers
            formulas = formulas[len(answers) :]

    def finished(self, tex: str, answer: dict[str, str]) -> str | Refusal:
        if "mathml" not in answer:
            return Refusal(**answer)
        start, _, content = answer["mathml"].removesuffix("</math>").partition(">")
        content = mended(content)
        self.numbers |= LABEL.findall(content)
        self.letters.update(html.unescape(re.sub("<[^>]*>", "", content)))
        return f'{start} alttext="{html.escape(tex)}">{content}</math>' if content else ""

    def with_references(self, mathml: str) -> str | Refusal:
        """The formula with the numbers of the equations it refers to, which may stand before or after it."""
        for reference in REFERENCE.finditer(mathml):
            if self.number_of(reference) == UNKNOWN:
                return Refusal("no_label", reference["label"].removeprefix("equation-"))
        return REFERENCE.sub(self.link_to_equation, mathml)

    def number_of(self, reference: re.Match[str]) -> str:
        """The number that the converter knew, or the one of an equation that came later."""
        number = reference["number"]
        return self.numbers.get(reference["label"], number) if number == UNKNOWN else number

    def link_to_equation(self, reference: re.Match[str]) -> str:
        number = self.number_of(reference)
        shown = number.strip("()") if reference["bare"] else number
        return f'<mtext><a href="#{reference["label"]}">{shown}</a></mtext>'

    def style(self) -> str:
        """The style sheet for all formulas that were set so far, with their font."""
        return STYLE.read_text(encoding="utf-8") + (font_face(self.letters) if self.letters else "")


def mended(mathml: str) -> str:
    """The converter's MathML, changed where browsers would draw it wrongly."""
    mathml = re.sub(
        "color:(#[0-9A-F]{6})", lambda colour: f"color:{THEMED.get(colour[1], colour[1])}", mathml
    )
    mathml = re.sub(r'<mrow class="menclose-[^"]*"></mrow>', "", mathml)
    # Not all browsers draw <menclose>.
    mathml = re.sub(r'<menclose notation="([^"]*)">', r'<mrow class="\1">', mathml)
    for written, drawn in REPLACED:
        mathml = mathml.replace(written, drawn)
    mathml = BEGINS.sub(
        lambda found: PIECES[found[1]][0].format(html.escape(bytes.fromhex(found[2]).decode())), mathml
    )
    mathml = ENDS.sub(lambda found: PIECES[found[1]][1], mathml)
    return LAST_RULE.sub(across_all_columns, mathml)


def across_all_columns(rows: re.Match[str]) -> str:
    r"""The last ``\hline`` of an array is a row with one cell. Make it as wide as the row before it."""
    columns = rows[1].count("<mtd")
    return f'{rows[1]}<mtr><mtd columnspan="{columns}" style="{rows[2]}padding:0"></mtd></mtr></mtable>'
