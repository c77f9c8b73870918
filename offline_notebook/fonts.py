"""The font of the formulas: a page carries the smallest of those in fonts/ that has all its letters.

``tools/make_fonts.py`` makes the smaller ones, and lists the letters of each in ``fonts/letters.json``.
"""

import base64
import json
from pathlib import Path

FONTS = Path(__file__).parent / "fonts"


def font_face(letters: set[str]) -> str:
    """The rule of a style sheet that brings a page the smallest font with these letters.

    Letters that the whole font lacks, such as Chinese ones, do not count.
    """
    fonts: dict[str, str] = json.loads((FONTS / "letters.json").read_text(encoding="utf-8"))
    *_, whole = fonts.values()
    wanted = letters.intersection(whole)
    name = next(name for name, has in fonts.items() if wanted.issubset(has))
    data = base64.b64encode((FONTS / name).read_bytes()).decode()
    return f"@font-face {{ font-family: Formulas; src: url(data:font/woff2;base64,{data}); }}\n"
