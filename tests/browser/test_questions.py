"""The questions before and after the lessons: on paper and in a browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from mha_lib.classroom.pages.questions import ADDRESSES, key_page, students_pages
from tests.browser.pages import expect_accessible, new_page
from tests.lessons import ROOT

pytestmark = pytest.mark.ci

BEFORE, AFTER, KEY = *ADDRESSES.values(), "key.html"
PAGE_OF_PDF = re.compile(rb"/Type\s*/Page\b")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("questions")
    for language in ("en", "zh"):
        (folder / language).mkdir()
        for name, content in (*students_pages(ROOT, language), (KEY, key_page(ROOT, language).encode())):
            (folder / language / name).write_bytes(content)
    return folder


def choice(page: Page, question: int, letter: str) -> Locator:
    return page.locator(f"input[name='q{question}'][value={letter}]")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_form_is_one_page_of_paper_and_the_key_at_most_three(page, folder, language):
    for name, most in ((BEFORE, 1), (AFTER, 1), (KEY, 3)):
        page.goto((folder / language / name).as_uri())
        assert len(PAGE_OF_PDF.findall(page.pdf(prefer_css_page_size=True))) <= most, name


def test_the_key_is_for_everybody_and_not_wider_than_a_phone(browser, folder):
    with new_page(browser, viewport={"width": 390, "height": 844}, color_scheme="dark") as page:
        page.goto((folder / "en" / KEY).as_uri())
        expect(page.locator("html")).to_have_js_property("scrollWidth", 390)
        expect_accessible(page)


def test_choices_stay_in_the_browser_until_they_are_cleared_and_on_their_page(page, folder, watch):
    address = (folder / "en" / BEFORE).as_uri()
    page.goto(address)
    choice(page, 1, "c").check()
    choice(page, 10, "a").check()
    choice(page, 1, "b").focus()
    page.keyboard.press("Enter")  # submits nothing
    page.goto(address)
    expect(page.locator("input:checked")).to_have_count(2)
    expect(choice(page, 1, "c")).to_be_checked()
    expect(choice(page, 10, "a")).to_be_checked()
    expect(page.get_by_text("are kept in this browser")).to_be_visible()
    for other in (folder / "en" / AFTER, folder / "zh" / BEFORE):
        page.goto(other.as_uri())
        expect(page.locator("input:checked")).to_have_count(0)
    page.goto(address)
    page.get_by_role("button", name="Clear my choices").click()
    expect(page.locator("input:checked")).to_have_count(0)
    page.goto(address)
    expect(page.locator("input:checked")).to_have_count(0)
    assert watch.requests_beyond((folder).as_uri()) == []
    assert watch.errors == []


def test_without_scripts_one_chooses_and_clears(browser: Browser, folder: Path) -> None:
    with new_page(browser, java_script_enabled=False) as page:
        page.goto((folder / "zh" / AFTER).as_uri())
        for letter in "ad":  # the second takes the place of the first
            choice(page, 3, letter).check()
        expect(page.locator("input:checked")).to_have_count(1)
        expect(choice(page, 3, "d")).to_be_checked()
        page.get_by_role("button", name="清除我的选择").click()
        expect(page.locator("input:checked")).to_have_count(0)
        expect(page.get_by_text("保存在这个浏览器里")).to_be_hidden()
