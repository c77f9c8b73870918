"""Pages that a test opens beside the one of its fixture, and what axe finds on a page."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

from playwright.sync_api import Browser, Page

from tests.browser.conftest import PATIENCE
from tests.browser.waiting import act, answer_of

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
