"""The site in a browser, below a path as on GitHub Pages: languages, explorer, phone, keyboard."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, Page, expect

from mha_lib.classroom.pages.site import build
from tests.browser.conftest import Watch
from tests.browser.explorers import HEADS
from tests.browser.pages import expect_accessible, new_page
from tests.browser.waiting import measure
from tests.classroom.pages.site.course import small_course

pytestmark = pytest.mark.ci


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("course")
    assert build.write_site(root, small_course(root), "en") == 0
    return root / "build" / "site"


@pytest.fixture(scope="module")
def site(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site, below the path /repo/."""
    served = tmp_path_factory.mktemp("served")
    (served / "repo").symlink_to(folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(served)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/repo/"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("locale", "language"),
    [("zh-CN", "zh"), ("zh-HK", "zh-Hant"), ("fr", "en")],
)
def test_the_root_leads_to_the_readers_language_and_stays_there(browser, site, locale, language):
    with new_page(browser, locale=locale) as page:
        page.goto(f"{site}#lessons")
        expect(page).to_have_url(f"{site}{language}/index.html#lessons")
        page.locator(".bar").get_by_role("link", name="English").click()
        expect(page).to_have_url(f"{site}en/index.html")
        expect(page.locator("html")).to_have_attribute("lang", "en")


def test_a_former_address_leads_to_the_place_in_the_lesson(browser: Browser, page: Page, site: str) -> None:
    page.goto(f"{site}en/00_multi.html#why-a-mask")
    expect(page).to_have_url(re.compile(re.escape(f"{site}en/03_multi.html#why-a-mask")))
    expect(page.get_by_role("heading", name="Why a mask?")).to_be_in_viewport()
    with new_page(browser, java_script_enabled=False) as without_scripts:
        without_scripts.goto(f"{site}en/00_multi.html")
        without_scripts.get_by_role("link").click()
        expect(without_scripts).to_have_url(f"{site}en/03_multi.html")


@pytest.mark.parametrize(
    ("name", "theme"), [("index.html", "dark"), ("en/index.html", "light"), ("zh/03_multi.html", "dark")]
)
def test_on_a_phone_nothing_is_too_wide_and_axe_finds_nothing(page, site, name, theme):
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    is_root = name == "index.html"
    if is_root:  # as it is where scripts are off
        page.add_init_script("delete Intl.Locale")
    page.goto(site + name)
    if not is_root:
        expect(page.locator(HEADS).first).to_be_visible()
    assert measure(page, "document.documentElement.scrollWidth") == 390
    paper = {"light": "rgb(253, 252, 249)", "dark": "rgb(21, 23, 27)"}[theme]
    expect(page.locator("body")).to_have_css("background-color", paper)
    expect_accessible(page)


def test_opened_as_a_file_all_is_there(page: Page, watch: Watch, folder: Path) -> None:
    page.goto((folder / "index.html").as_uri())
    expect(page).to_have_url(re.compile("/en/index.html$"))
    expect(page.locator(HEADS)).to_have_count(2)
    page.get_by_role("link", name="Several heads").first.click()
    expect(page.locator("main h1")).to_be_visible()
    assert watch.requests_beyond(folder.as_uri()) == []
    assert watch.errors == []
