"""A page in Chromium, Firefox or WebKit, with the same few commands in each."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from tests.browser import engines
from tests.browser.pages import new_page
from tests.browser.waiting import answer_of, until

ENGINES = ["chromium", "firefox", "webkit"]


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
