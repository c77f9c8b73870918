"""The addresses of the site below a path, as on GitHub Pages: languages; and its search, from a file."""

import functools
import re
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Page, expect

from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.pages.site import whole_site
from tests.browser.pages import expect_accessible, new_page
from tests.browser.waiting import box_of, measure
from tests.classroom.pages.site.course import small_course

pytestmark = pytest.mark.ci


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("course")
    assert whole_site.write_site(root, small_course(root), "en") == 0
    return root / "build" / "site"


@pytest.fixture(scope="module")
def site(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site, below the path /repo/."""
    served = tmp_path_factory.mktemp("served")
    (served / "repo").symlink_to(folder)
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(served))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/repo/"
        server.shutdown()


@pytest.mark.parametrize(
    ("locale", "language"),
    [("zh-CN", "zh"), ("zh-HK", "zh-Hant"), ("fr", "en")],
)
def test_the_root_leads_to_the_readers_language_and_stays_there(browser, site, locale, language):
    with new_page(browser, locale=locale) as page:
        page.goto(f"{site}#lessons")
        expect(page).to_have_url(f"{site}{language}/index.html#lessons")
        page.get_by_role("list", name=words_in(language)["site"]["languages"]).get_by_text("English").click()
        expect(page).to_have_url(f"{site}en/index.html")
        expect(page.locator("html")).to_have_attribute("lang", "en")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(("name", "shown"), [("index", ".opening"), ("03_multi", "#opening")])
def test_the_first_screen_says_its_title_once_and_a_picture_lives_on_it(browser, site, width, name, shown):
    with new_page(browser, viewport={"width": width, "height": 720}) as page:
        page.goto(f"{site}en/{name}.html")
        canvas = box_of(page.locator(f"{shown} .alive canvas"))
        assert canvas["y"] + 150 < 720, "at least its first rows"
        assert measure(page, "document.body.innerText").count(page.title()) == 1


def test_without_its_script_the_root_is_a_page_for_a_phone(page: Page, folder: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    html = (folder / "index.html").read_text(encoding="utf-8")
    page.set_content(re.sub("<script.*?</script>", "", html, flags=re.DOTALL))
    expect(page.locator("html")).to_have_js_property("scrollWidth", 390)
    expect(page.locator("body")).to_have_css("background-color", "rgb(21, 23, 27)")
    expect_accessible(page)


@pytest.mark.parametrize(
    ("language", "asked", "found", "title", "marked"),
    [
        ("en", "ＭＡＳＫ  padd", 3, "Why a mask?", ["mask", "mask", "padd"]),
        ("zh-Hant", "遮罩 注意", 3, "為什麼要遮罩？", ["遮罩", "遮罩", "注意"]),
        ("en", "ask", 0, "", []),
        ("en", "answer", 0, "", []),  # it stands in a solution alone
    ],
)
def test_a_search_from_the_front_page_finds_steps_by_all_its_words(
    browser, folder, language, asked, found, title, marked
):
    with new_page(browser, viewport={"width": 390, "height": 844}, color_scheme="dark") as page:
        page.goto(f"{folder.as_uri()}/{language}/index.html")
        page.get_by_role("searchbox").fill(asked)
        page.get_by_role("searchbox").press("Enter")
        places = page.locator(".found > li")
        expect(places).to_have_count(found)
        said = words_in(language)["search"]
        expect(page.get_by_role("status")).to_have_text(
            said["found"].format(count=found) if found else said["none"]
        )
        expect(page.locator("html")).to_have_js_property("scrollWidth", 390)
        expect_accessible(page)
        if found:
            expect(places.first.locator("mark")).to_have_text(marked)
            places.first.get_by_role("link", name=title).click()
            expect(page).to_have_url(re.compile(r"/01_single\.html#1\.1\.1$"))
            expect(page.locator("[id='1.1.1']")).to_be_in_viewport()
