"""The fonts of the formulas: which of them a page carries."""

import base64
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
