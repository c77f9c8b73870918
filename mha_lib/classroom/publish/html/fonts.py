"""The font of the formulas: a page carries the smallest of those in fonts/ that has all its letters.

``tools/make_fonts.py`` makes the smaller ones, and lists the letters of each in ``fonts/letters.json``.
"""

import base64
import json
from collections.abc import Set
from functools import cache
from pathlib import Path

FONTS = Path(__file__).parent / "fonts"


@cache
def letters_of_fonts() -> dict[str, Set[str]]:
    """The letters of each font, from the smallest font to the whole one."""
    letters = json.loads((FONTS / "letters.json").read_text(encoding="utf-8"))
    return {name: frozenset(of_font) for name, of_font in letters.items()}


def font_for(letters: Set[str]) -> Path:
    """The smallest font that has as many of these letters as the whole one; that has no Chinese ones."""
    *_, whole = letters_of_fonts().values()
    wanted = letters & whole
    return FONTS / next(name for name, has in letters_of_fonts().items() if wanted <= has)


def font_face(letters: Set[str]) -> str:
    """The rule of a style sheet that brings a page a font with these letters."""
    data = base64.b64encode(font_for(letters).read_bytes()).decode()
    return f"@font-face {{ font-family: Formulas; src: url(data:font/woff2;base64,{data}); }}\n"
