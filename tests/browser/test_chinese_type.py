"""Chinese letters on every page: upright where they are emphasized, with marks as wide as they are."""

import pytest
from playwright.sync_api import Page

from mha_lib.classroom.look import CSS
from tests.browser.waiting import box_of, each_of, picture_of

pytestmark = pytest.mark.ci

PAGE = """<html lang="{lang}"><style>{css}
p, ul {{ font: 40px var(--marks,) "DejaVu Sans", sans-serif }}</style>
<p><em>键 1</em></p><p><span>键 1</span></p><p><b>“</b></p>
<p class="cm-line"><i>键 1</i></p>
<ul><li><em>键</em></li><li><span>键</span></li></ul><ul><li><em>a</em></li><li><span>a</span></li></ul>"""


@pytest.mark.parametrize(("lang", "is_chinese"), [("zh-Hant", True), ("en", False)])
def test_emphasis_is_upright_and_marks_are_wide_in_chinese_alone(page: Page, lang, is_chinese):
    page.set_content(PAGE.format(lang=lang, css=CSS))
    for tag, what in (("em", "an emphasized sentence"), ("i", "a comment in code")):
        here, plain = (picture_of(page.locator(f"p {one}").first) for one in (tag, "span"))
        assert (here == plain) is is_chinese, f"{what} is upright, with its numbers"
    slanted, upright = (each_of(page.locator(f"ul {tag}")) for tag in ("em", "span"))
    same = [picture_of(one) == picture_of(other) for one, other in zip(slanted, upright, strict=True)]
    assert same == [is_chinese, False], "in a list, what is slanted has italics"
    assert (box_of(page.locator("b"))["width"] == pytest.approx(40, abs=1)) is is_chinese
