"""A program that turns the TeX of one page into MathML, in a process of its own (formulas.py starts it).

A formula may run for ever or crash its process by deep nesting. Then only this process ends. It reads a list
of formulas as JSON (each with whether it is displayed) and answers each with a line. It imports little, so
that it starts in 20 ms of processor time; ``multiprocessing`` would first import this package: 3 s.
"""

import faulthandler
import json
import re
import sys

from math_core import LatexToMathML

LONGEST = 5_000_000  # characters in a formula's MathML
DEEPEST = 400  # elements within elements: a browser recurses once for each
GROUP = r"\{((?:\\.|[^{}\\]|\{(?:\\.|[^{}\\]|\{(?:\\.|[^{}\\]|\{[^{}]*\})*\})*\})*)\}"
COLOURED = rf"\\(?:text)?color\s*\{{#([0-9A-Fa-f]{{6}})\}}\s*{GROUP}"
DEFINED = r"\\(?:re)?newcommand\*?\s*(?:\{\s*)?(\\[A-Za-z]+)\s*\}?"
SIZES = r"\\(?:tiny|scriptsize|footnotesize|small|large|Large|LARGE|huge|Huge)(?![A-Za-z])"
DISTANCES = r"(?<=\\\\)\[[\d.]+(?:em|ex|pt)\]"
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
    try:
        mathml = page.convert_with_global_state(with_known_commands(tex), displaystyle=display)
    except Exception as error:
        return explained(error)
    return {"mathml": mathml} if is_moderate(mathml) else {"sentence": "too_long"}


def make_converter() -> LatexToMathML:
    """A converter for one page. A definition in a formula holds for all later ones."""
    return LatexToMathML(
        global_group=True,
        fancy_error=False,
        allow_unreliable_rendering=True,
        id_prefix="equation-",
    )


def with_known_commands(tex: str) -> str:
    r"""The same formula in commands that math-core knows.

    It knows no ``#`` in ``\textcolor{#0067A5}{Q}``, and refuses ``\newcommand{\R}``, for it has an ``\R``.
    It refuses sizes, such as ``\Huge``, and shows the ``[1em]`` below a row; a page can do without both.
    """
    tex = re.sub(f"{SIZES}|{DISTANCES}", " ", tex)
    tex = re.sub(DEFINED, r"\\providecommand{\1}{}\\renewcommand{\1}", tex)
    return re.sub(COLOURED, r"{\\color[HTML]{\1}{\2}}", tex)


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
