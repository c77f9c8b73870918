"""The fonts of the formulas, which tools/make_fonts.py has made, and which of them a page carries."""

import base64
import io
import json
import re

import pytest

from offline_notebook.fonts import FONTS

LETTERS = json.loads((FONTS / "letters.json").read_text(encoding="utf-8"))
CORE, COMMON, WHOLE = LETTERS


@pytest.mark.parametrize(
    ("formula", "font"),
    [
        (r"\mathrm{softmax}(QK^\top / \sqrt{d}) \text{ 注意力}", CORE),
        (r"\mu, \sigma, \widetilde{x}", COMMON),
        (r"\mathfrak{g}", WHOLE),
    ],
)
def test_a_page_carries_the_smallest_font_with_all_its_letters(clean, formula, font):
    clean.markdown(f"${formula}$")
    assert clean.complaints == []
    style = clean.cleaner.formulas.style()
    assert base64.b64decode(re.search(r"base64,([^)]+)", style)[1]) == (FONTS / font).read_bytes()
    sizes = [(FONTS / name).stat().st_size for name in LETTERS]
    assert sizes == sorted(sizes)
    assert sizes[0] < 34_000, "a lesson's page stays below .75 MB"


@pytest.fixture(scope="module")
def make():
    """The script that makes the fonts."""
    for needed in ("fontTools", "brotli", "tools.make_fonts"):
        module = pytest.importorskip(needed, reason=f"{needed} is not installed: pip install -e .[dev]")
    return module


def font_of(data):
    from fontTools.ttLib import TTFont

    return TTFont(io.BytesIO(data))


def tables(font):
    return {name: font.getTableData(name) for name in font.keys() if name != "GlyphOrder"}  # noqa: SIM118


@pytest.mark.ci
@pytest.mark.parametrize("name", [CORE, COMMON])
def test_the_fonts_are_what_their_script_makes(make, name):
    font, letters = make.make(make.FONTS[name])
    assert letters == LETTERS[name]
    assert tables(font_of(font)) == tables(font_of((FONTS / name).read_bytes()))


@pytest.mark.parametrize("name", LETTERS)
def test_each_letter_is_there_upright_and_slanted_with_what_grows(make, name):
    font = font_of((FONTS / name).read_bytes())
    wanted = {0x210E, 0x1D703, 0x1D465, *map(ord, "d2√(∑"), *map(ord, LETTERS[name])}
    assert wanted <= font.getBestCmap().keys()
    growing = font["MATH"].table.MathVariants.VertGlyphCoverage.glyphs
    assert {font.getBestCmap()[ord(letter)] for letter in "([{|√"} <= set(growing)
