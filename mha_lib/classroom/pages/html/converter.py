"""A program that turns the TeX of one page into MathML, in a process of its own (formulas.py starts it).

A formula may run for ever or crash its process by deep nesting. Then only this process ends. It reads a list
of formulas as JSON (each with whether it is displayed) and answers each with a line. It imports little, so
that it starts in 20 ms of processor time; ``multiprocessing`` would first import this package: 3 s.
"""

import faulthandler
import json
import re
import sys
from itertools import cycle

from math_core import LatexToMathML

LONGEST_TEX = 50_000  # characters in a formula
DEEPEST_TEX = 50  # groups within groups: math-core recurses once for each
MOST_IN_A_ROW = 150  # commands in direct succession: each may be the argument of the one before it
LONGEST = 5_000_000  # characters in a formula's MathML
DEEPEST = 400  # elements within elements: a browser recurses once for each
GROUP = r"\{((?:\\.|[^{}\\]|\{(?:\\.|[^{}\\]|\{(?:\\.|[^{}\\]|\{[^{}]*\})*\})*\})*)\}"
# Commands that math-core does not know, in terms of commands that it knows. tests/…/formulas.txt uses each.
MACROS = {
    "dotsc": r"\ldots",
    "dotso": r"\ldots",
    "hbox": r"\text{#1}",
    "mathds": r"\mathbb{#1}",
    "mathbbm": r"\mathbb{#1}",
    "mbox": r"\text{#1}",
    "pmb": r"\boldsymbol{#1}",
    "substack": r"\begin{subarray}{c}#1\end{subarray}",
    "textnormal": r"\text{#1}",
    "textup": r"\text{#1}",
}
# math-core has no links and no coloured boxes, and its references always have parentheses. These letters in
# a text mark where a link or box begins (with its kind, and its address or style in hexadecimal digits),
# where it ends, and a reference without parentheses. formulas.py reads them in the MathML.
BEGINS, ENDS, BARE = "\ue000", "\ue001", "\ue002"
COLOUR = r"\{\s*([A-Za-z]+|#[0-9A-Fa-f]{3,8})\s*\}\s*"
LINK = rf"\\href\s*\{{\s*((?:https?://|mailto:)[^{{}}]*?)\s*\}}\s*{GROUP}"
BOX = rf"\\colorbox\s*{COLOUR}{GROUP}"
FRAME = rf"\\fcolorbox\s*{COLOUR}{COLOUR}{GROUP}"
# Patterns that math-core refuses or sets wrongly. Each has a formula in tests/…/formulas.txt that needs it.
REWRITES = (
    # A second definition replaces the first, as in Jupyter, where a cell may be run twice.
    (
        rf"\\DeclareMathOperator(\*?)\s*\{{(\\[A-Za-z]+)\}}\s*{GROUP}",
        r"\\newcommand{\2}{\\operatorname\1{\3}}",
    ),
    (r"\\(?:re)?newcommand\*?\s*(?:\{\s*)?(\\[A-Za-z]+)\s*\}?", r"\\providecommand{\1}{}\\renewcommand{\1}"),
    # A colour given as a number, for one argument or for the rest of a group.
    (rf"\\(?:text)?color\s*\{{#([0-9A-Fa-f]{{6}})\}}\s*{GROUP}", r"{\\color[HTML]{\1}{\2}}"),
    (r"\\color\s*\{#([0-9A-Fa-f]{6})\}", r"\\color[HTML]{\1}"),
    (rf"\\mathop\s*\{{\s*\\(?:mathrm|rm|text|operatorname)\s*{GROUP}\s*\}}", r"\\operatorname*{\1}"),
    (r"\\(begin|end)\{split\}", r"\\\1{aligned}"),
    (r"\\begin\{smallmatrix\}", r"{\\scriptstyle\\begin{matrix}"),
    (r"\\end\{smallmatrix\}", r"\\end{matrix}}"),
    (r"\\(begin|end)\{(?:alignat|flalign)(\*?)\}(?:\s*\{\d+\})?", r"\\\1{align\2}"),
    (r"(\\begin\{(?:aligned|gathered|split|array)\})\s*\[[tbc]\]", r"\1"),
    (r"\\cfrac\s*\[[lcr]\]", r"\\cfrac"),
    # A line end with a star (no page ends there) or with the distance to the next line.
    (r"\\\\(?:\s*\*)?(?:\s*\[\s*-?[\d.]+\s*[a-z]{2}\s*\])?", r"\\\\"),
    (r"\\smash\s*(?:\[[tb]\])?(?=\s*\{)", ""),  # it changes the distance between lines alone
    (r"\\(begin|end)\{alignedat\}(?:\s*\{\d+\})?", r"\\\1{aligned}"),
    (r"\\ref(?=\s*\{)", rf"\\text{{{BARE}}}\\eqref"),
    (r"\\require\s*\{[a-z]+\}", ""),  # MathJax loads an extension by this; math-core needs none
    (r"\\(left|right|middle)\s*<", r"\\\1\\langle "),
    (r"\\(left|right|middle)\s*>", r"\\\1\\rangle "),
    (r"(?<=\d),(?=\d{3}(?!\d))", "{,}"),  # 1,050,624 is one number: no space after its commas
)
# The same environments without equation numbers.
LINES = {"align": "aligned", "gather": "gathered", "multline": "multline*", "equation": ""}
MATRIX = r"\\(begin|end)\{([pbBvV]?)matrix\*\}(?:\s*\[([lcr])\])?"
FENCES = {"": "..", "p": "()", "b": "[]", "B": (r"\{", r"\}"), "v": "||", "V": (r"\|", r"\|")}
MOST_COLUMNS = 30  # of such a matrix
STEP = re.compile(
    r"(?P<open>\\(?:begin|left)\b|\{)|(?P<close>\\(?:end|right)\b|\})|(?P<command>\\[A-Za-z]+|[\^_])|(?P<space>\s+)|\\?.",
    re.DOTALL,
)
TAG = re.compile(r"<(/?)\w[^>]*>")


def answer_all(longest_wait: float) -> None:
    """Answer until all formulas are converted, or one of them takes longer."""
    page = make_converter()
    for tex, display in json.load(sys.stdin):
        faulthandler.dump_traceback_later(longest_wait, exit=True)  # works even within math-core's own code
        answer = converted(page, tex, display)
        faulthandler.cancel_dump_traceback_later()
        print(json.dumps(answer), flush=True)


def converted(page: LatexToMathML, tex: str, display: bool) -> dict[str, str]:
    if len(tex) > LONGEST_TEX or is_deep(tex):
        return {"sentence": "too_long"}
    try:
        mathml = page.convert_with_global_state(prepared(tex, display), displaystyle=display)
    except Exception as error:
        return explained(error)
    return {"mathml": mathml} if is_moderate(mathml) else {"sentence": "too_long"}


def make_converter() -> LatexToMathML:
    """A converter for one page. A definition or label in a formula holds for all later ones."""
    return LatexToMathML(
        macros=MACROS,
        global_group=True,
        fancy_error=False,
        allow_unreliable_rendering=True,
        id_prefix="equation-",
    )


def prepared(tex: str, display: bool) -> str:
    """The same formula, written in commands that math-core knows."""
    tex = with_boxes_and_links(re.sub(f"[{BEGINS}{ENDS}{BARE}]", "", tex))
    tex = re.sub(rf"\\(text(?:rm|bf|it|sf|tt|up|normal)?|[mh]box)\s*{GROUP}", text_with_formulas, tex)
    tex = re.sub(MATRIX, aligned_matrix, tex)
    tex = re.sub(r"\\begin\{eqnarray(\*?)\}(.*?)\\end\{eqnarray\1\}", equations, tex, flags=re.DOTALL)
    for pattern, replacement in REWRITES:
        tex = re.sub(pattern, replacement, tex)
    if not re.search(r"\\(tag|label)\b", tex):
        for name, lines in LINES.items():
            wanted = (rf"\\begin{{{lines}}}", rf"\\end{{{lines}}}") if lines else ("", "")
            tex = re.sub(rf"\\begin\{{{name}\*?\}}", wanted[0], tex)
            tex = re.sub(rf"\\end\{{{name}\*?\}}", wanted[1], tex)
        outside = re.sub(r"\\begin\{(\w+\*?)\}.*\\end\{\1\}|" + GROUP, "", tex, flags=re.DOTALL)
        if display and r"\\" in outside:
            return rf"\begin{{gathered}}{tex}\end{{gathered}}"
    elif display and not re.search(r"\\begin\{(equation|align|gather|multline)\*?\}", tex):
        return rf"\begin{{equation}}{tex}\end{{equation}}"
    return tex


def with_boxes_and_links(tex: str) -> str:
    tex = re.sub(LINK, lambda link: marked("link", re.sub(r"\\([%#&_~])", r"\1", link[1]), link[2]), tex)
    tex = re.sub(BOX, lambda box: marked("box", f"background:{box[1]}", rf"\text{{{box[2]}}}"), tex)
    style = "border:0.06em solid {};background:{}"
    return re.sub(FRAME, lambda box: marked("box", style.format(box[1], box[2]), rf"\text{{{box[3]}}}"), tex)


def marked(kind: str, about: str, tex: str) -> str:
    return rf"{{\text{{{BEGINS}{kind}{BEGINS}{about.encode().hex()}}}{{{tex}}}\text{{{ENDS}{kind}}}}}"


def text_with_formulas(text: re.Match[str]) -> str:
    r"""``\text{if $x$}`` as ``\text{if }{x}``: math-core allows no formula within text.

    It also takes the space after ``\%`` for the end of a command, as after ``\alpha``; TeX shows it.
    """
    command, content = text[1], text[2]
    parts = re.split(r"(?<!\\)\$", content)
    if len(parts) % 2 == 0:
        return text[0]
    parts[::2] = [re.sub(r"(\\[^A-Za-z\s]) ", r"\1{} ", part) for part in parts[::2]]
    if len(parts) == 1:
        return rf"\{command}{{{parts[0]}}}"
    kinds = cycle((rf"\{command}{{%s}}", "{%s}"))
    return "".join(kind % part for part, kind in zip(parts, kinds, strict=False) if part)


def aligned_matrix(matrix: re.Match[str]) -> str:
    r"""The begin or the end of ``\begin{pmatrix*}[r]``, whose columns stand at the right."""
    begins, ends = FENCES[matrix[2]]
    if matrix[1] == "end":
        return rf"\end{{array}}\right{ends}"
    return rf"\left{begins}\begin{{array}}{{{(matrix[3] or 'c') * MOST_COLUMNS}}}"


def equations(lines: re.Match[str]) -> str:
    """An ``eqnarray``, which has a ``&`` on both sides of each relation, as an ``align``, which has one."""
    rows = [re.sub(r"(?<!\\)&((?:\\.|[^&\\])*)&", r"&\1 ", row) for row in lines[2].split(r"\\")]
    content = r"\\".join(rows)
    return rf"\begin{{align{lines[1]}}}{content}\end{{align{lines[1]}}}"


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


def is_moderate(mathml: str) -> bool:
    """Whether a browser can draw it: macros may have made it far larger and deeper than its TeX."""
    depth = deepest = 0
    for tag in TAG.finditer(mathml):
        depth += -1 if tag[1] else 0 if tag[0].endswith("/>") else 1
        deepest = max(deepest, depth)
    return len(mathml) <= LONGEST and deepest <= DEEPEST


def explained(error: Exception) -> dict[str, str]:
    """The key of the sentence for an error and the words for it, or else math-core's own message."""
    reason = re.sub(r"^\d+: ", "", str(error)) or type(error).__name__
    if unknown := re.search(r'Unknown (?:command|environment) "([^"]+)"', reason):
        return {"sentence": "unknown_command", "about": unknown[1]}
    return {"sentence": "", "about": reason}


if __name__ == "__main__":
    answer_all(float(sys.argv[1]))
