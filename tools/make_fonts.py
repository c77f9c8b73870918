"""Make the smaller fonts of the formulas from the whole one: ``.venv/bin/python tools/make_fonts.py``.

It needs fontTools and brotli, which exporting a page does not. The whole font is STIX Two Math (OFL.txt is
its licence) without what is no part of formulas: ``pyftsubset STIXTwoMath-Regular.ttf --flavor=woff2
--layout-features=ssty,dtls --unicodes=…``. A new edition of it takes the old one's place before this runs.
"""

import io
import json
import string
import unicodedata
from pathlib import Path
from typing import Any

from fontTools import subset

FOLDER = Path(__file__).parents[1] / "offline_notebook" / "fonts"
WHOLE = "stix-two-math.woff2"
# Each font holds the letters of the one before it, and all sizes of its delimiters: browsers look for those
# in the first font alone, so one font for letters and another one for what grows would not do.
CORE = (
    f"{string.ascii_letters}{string.digits} !%'()*+,-./:;<=>[]|{{}}~\xa0\u2061\u2062\u2063\u2064\ufe00"
    "×αβθωλ‖…′ℝ←→∂∈∑−√∞≈≤≥⊤⋅¯ˆ𝐀𝐂𝐈𝐊𝐌𝐏𝐐𝐑𝐕𝐖𝐗𝐚𝐤𝐦𝐩𝐪𝐭𝐮𝐰𝐱𝐲"
)
COMMON = (
    "".join(
        map(
            chr,
            (
                *range(0x21, 0x7F),
                0xA0,
                0xAD,
                *range(0x2000, 0x2010),
                *range(0x391, 0x3CA),
                *range(0x300, 0x30D),
                0x332,
                0x338,
                *range(0x20D6, 0x20DD),
            ),
        )
    )
    + "ϑϕϖϱϵ¨¬±·†‡˙˜˚ˇ˘⋮⋱″⁀ℏℑℓℜ℘ℵ∀∃∄∅∇∉∏∋∖∗∓∘∝∠∣∥∧∨∩∪∫∬∭∮∴∵∼≃≅≔≠≡≪≫≺≻⊂⊃⊆⊇⊕⊖⊗⊙⊢⊥⊨⊺⋯⋀⋁⋂⋃⋆⟂⟨⟩⟵⟶⟷⟸⟹⟺⟼⌈⌉⌊⌋⏞⏟□△✓⩽⩾"
    "↑↓↔↕↦⇐⇒⇔↪⇝𝐁𝐃𝐄𝐅𝐆𝐇𝐉𝐋𝐍𝐎𝐒𝐓𝐔𝐘𝐙𝐛𝐜𝐝𝐞𝐟𝐠𝐡𝐢𝐣𝐥𝐧𝐨𝐫𝐬𝐯𝐳𝟎𝟏𝚺𝛉𝛍𝛴𝜃𝜽𝑾𝑿𝒘𝒙𝒚𝒛𝑑𝑓𝑖𝖳ℂ𝔼ℕℙℚℤ𝟙𝒟ℱℋℒ𝒩𝒪𝒳𝒴ℐℳ"
)
FONTS = {
    "stix-two-math-core.woff2": CORE,
    "stix-two-math-common.woff2": CORE + COMMON,
    WHOLE: "",
}
# A letter alone is set as the slanted one of mathematics, which has a place of its own in a font.
SLANTED = {"h": "\u210e"}
for code in (*range(0x1D434, 0x1D468), *range(0x1D6A4, 0x1D71C)):
    if upright := unicodedata.decomposition(chr(code)).removeprefix("<font> "):
        SLANTED[chr(int(upright, 16))] = chr(code)
RADICAL = "√"  # an element draws it: it stands in no text
COMBINING = (ord("˜"), *range(0x300, 0x339), *range(0x20D0, 0x20F0))
ARROWS = range(0x2190, 0x2200)


def make(letters: str) -> tuple[bytes, str]:
    """A font with these letters (with all where none are given), and the letters of text that it can show."""
    options = subset.Options(flavor="woff2", layout_features=["ssty", "dtls"], notdef_outline=True)
    font = subset.load_font(io.BytesIO((FOLDER / WHOLE).read_bytes()), options)
    for table in font["cmap"].tables:  # a tilde grows as an accent, but browsers let grow what has this code
        if 0x303 in table.cmap:
            table.cmap[ord("˜")] = table.cmap[0x303]
    has = set(map(chr, font.getBestCmap()))
    wanted = set(letters) & has or has
    if letters:  # the forms for scripts of scripts are a quarter of the file; the letters of scripts do
        for lookup in font["GSUB"].table.LookupList.Lookup:
            for table in lookup.SubTable:
                for forms in getattr(table, "alternates", {}).values():
                    del forms[1:]
    subsetter = subset.Subsetter(options)
    subsetter.populate(text="".join(wanted | {RADICAL} | {SLANTED.get(letter, letter) for letter in wanted}))
    subsetter.subset(font)
    mend_accents(font)
    mend_arrows(font)
    file = io.BytesIO()
    subset.save_font(font, file, options)
    return file.getvalue(), "".join(sorted(wanted))


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


if __name__ == "__main__":
    letters = {}
    for name, wanted in FONTS.items():
        font, letters[name] = make(wanted)
        (FOLDER / name).write_bytes(font)
    (FOLDER / "letters.json").write_text(json.dumps(letters, ensure_ascii=False, indent=2) + "\n", "utf-8")
