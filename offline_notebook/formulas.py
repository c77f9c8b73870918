"""Turn TeX into MathML, which every browser draws by itself, with one font for all browsers."""

import html
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from offline_notebook import converter
from offline_notebook.fonts import font_face

STYLE = Path(__file__).with_suffix(".css")
# Chromium shows what a menclose holds, but neither box nor strike: formulas.css draws them.
ENCLOSED = r'<menclose notation="([a-z ]+)">'
END_OF_ENCLOSED = r'(?:<mrow class="menclose-[a-z]+"></mrow>)*</menclose>'
Formula = tuple[str, bool]  # its TeX, and whether it is displayed
LONGEST_WAIT = 10  # seconds; the slowest of a thousand formulas that were tried took half a second


@dataclass(frozen=True)
class Refusal:
    """The reason why TeX cannot be set. ``sentence`` is the key of a sentence; ``about`` fills it in.
    If there is no sentence for the reason, ``about`` holds the converter's own message."""

    sentence: str
    about: str = ""


class Formulas:
    """Sets the formulas of one page. A definition in a formula holds for all later ones."""

    def __init__(self, colours: Mapping[str, str]):
        self.colours = {colour.upper(): written for colour, written in colours.items()}
        self.known: list[Formula] = []  # earlier formulas, which may define commands
        self.letters: set[str] = set()

    def set(self, formulas: Sequence[Formula]) -> list[str | Refusal]:
        """Each formula as MathML ("" if it only defines commands), or the reason why it cannot be set."""
        answers = zip(formulas, self.converted(formulas), strict=True)
        return [self.finished(tex, answer) for (tex, _), answer in answers]

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
        content = re.sub("(?<=color:)#[0-9A-F]{6}", self.colour, content)
        content = re.sub(ENCLOSED, r'<mrow class="enclosed \1">', content)
        content = re.sub(END_OF_ENCLOSED, "</mrow>", content)
        self.letters.update(html.unescape(re.sub("<[^>]*>", "", content)))
        return f'{start} alttext="{html.escape(tex)}">{content}</math>' if content else ""

    def style(self) -> str:
        """The style sheet for all formulas that were set so far, with their font."""
        return STYLE.read_text(encoding="utf-8") + (font_face(self.letters) if self.letters else "")

    def colour(self, written: re.Match[str]) -> str:
        return self.colours.get(written[0], written[0])
