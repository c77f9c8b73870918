"""Pages that a test opens beside the one of its fixture, in any engine, and what axe finds on a page."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from tests.browser import engines
from tests.browser.conftest import PATIENCE
from tests.browser.waiting import act, answer_of, until

ENGINES = ["chromium", "firefox", "webkit"]
AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
FOUND = "async (part) => (await axe.run(part)).violations.map(({ id }) => id)"


@contextmanager
def new_page(browser: Browser, **options: Any) -> Iterator[Page]:
    """A page of a slide's size, 1280x720, unless the options say otherwise, such as those of a phone."""
    with browser.new_context(**options) as context:
        context.set_default_timeout(PATIENCE)
        yield context.new_page()


def expect_accessible(page: Page, part: str = "html") -> None:
    """Let axe look for what keeps people from a part of the page."""
    act(page, AXE)
    found = answer_of(page, FOUND, part)
    assert found == [], found


class ChromiumTab:
    """Chromium's page, as `engines.EnginePage` offers the others."""

    def __init__(self, page: Page):
        self.page = page
        self.goto = page.goto

    def answer_of(self, function: str, *given: Any) -> Any:
        return answer_of(self.page, f"async (given) => ({function})(...given)", list(given))

    def until(self, function: str, *given: Any) -> Any:
        return until(self.page, f"(given) => ({function})(...given)", list(given))

    def resize(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})

    def pdf(self) -> bytes:
        return self.page.pdf(prefer_css_page_size=True)


@contextmanager
def tab_in(name: str, browser: Browser, folder: Path, theme: str = "light") -> Iterator[Any]:
    """A page in an engine that this machine has; ``folder`` becomes the home of the others than Chromium."""
    if name == "chromium":
        with new_page(browser, color_scheme=theme) as page:
            yield ChromiumTab(page)
    else:
        engines.require(name)
        folder.mkdir()
        with engines.opened(name, folder, theme) as tab:
            yield tab
