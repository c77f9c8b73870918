"""The font of the formulas: a page carries those of its glyphs that it shows, and the sizes they grow to.

The font is STIX Two Math (fonts/OFL.txt is its licence), without what is no part of formulas:
``pyftsubset STIXTwoMath-Regular.ttf --flavor=woff --layout-features=ssty,dtls --unicodes=…``.
"""

import base64
import io
import unicodedata
from collections.abc import Set
from functools import cache
from pathlib import Path
from typing import Any

FONT = Path(__file__).parent / "fonts" / "stix-two-math.woff"
# A letter alone is set as the slanted one of mathematics, which has a place of its own in a font.
SLANTED = {"h": 0x210E}
for code in (*range(0x1D434, 0x1D468), *range(0x1D6A4, 0x1D71C)):
    if upright := unicodedata.decomposition(chr(code)).removeprefix("<font> "):
        SLANTED[chr(int(upright, 16))] = code
RADICAL = "√"  # an element draws it: it stands in no text
COMBINING = (ord("˜"), *range(0x300, 0x339), *range(0x20D0, 0x20F0))
ARROWS = range(0x2190, 0x2200)


def font_face(letters: Set[str]) -> str:
    """The rule of a style sheet that brings a page the font with these letters."""
    data = base64.b64encode(font_with(frozenset(letters))).decode()
    return f"@font-face {{ font-family: Formulas; src: url(data:font/woff;base64,{data}); }}\n"


@cache
def font_with(letters: frozenset[str]) -> bytes:
    from fontTools import subset  # here, because nbconvert imports every exporter only to list their names

    options = subset.Options(flavor="woff", layout_features=["ssty", "dtls"], notdef_outline=True)
    font = subset.load_font(io.BytesIO(FONT.read_bytes()), options)
    for table in font["cmap"].tables:  # a tilde grows as an accent, but browsers let grow what has this code
        if 0x303 in table.cmap:
            table.cmap[ord("˜")] = table.cmap[0x303]
    letters |= {RADICAL}
    slanted = {SLANTED[letter] for letter in letters & SLANTED.keys()}
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes={*map(ord, letters), *slanted})
    subsetter.subset(font)
    mend_accents(font)
    mend_arrows(font)
    file = io.BytesIO()
    subset.save_font(font, file, options)
    return file.getvalue()


def mend_accents(font: Any) -> None:
    """An accent hangs to the left of its place, over the letter before it. Chromium lets it hang there over
    a letter of MathML too: it is moved to the right, but for where it is a part of a letter with an accent.
    """
    glyphs, names = font["glyf"], font.getBestCmap()
    moved = {names[code]: glyphs[names[code]].xMin for code in COMBINING if code in names}
    for name, distance in moved.items():
        glyphs[name].coordinates.translate((-distance, 0))
        glyphs[name].recalcBounds(glyphs)
        font["hmtx"][name] = (glyphs[name].xMax, 0)
    for name in font.getGlyphOrder():
        for part in glyphs[name].components if glyphs[name].isComposite() else []:
            part.x += moved.get(part.glyphName, 0)
    if places := font["MATH"].table.MathGlyphInfo.MathTopAccentAttachment:
        for name, place in zip(places.TopAccentCoverage.glyphs, places.TopAccentAttachment, strict=True):
            place.Value -= moved.get(name, 0)


def mend_arrows(font: Any) -> None:
    """An arrow that Chromium puts together of pieces may lose its tip; one that does not grow is whole."""
    arrows = {name for code, name in font.getBestCmap().items() if code in ARROWS}
    growing = font["MATH"].table.MathVariants
    if growing.HorizGlyphCoverage:
        for name, pieces in zip(
            growing.HorizGlyphCoverage.glyphs, growing.HorizGlyphConstruction, strict=True
        ):
            if name in arrows and pieces.GlyphAssembly:
                pieces.GlyphAssembly = None
