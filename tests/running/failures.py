"""Keeps a picture and the console of each open page where a test failed, as a person would see them.

They lie in ``build/test-failures/``, in a folder for each failed test, until the next run of the tests. The
last lines of the console, and of the log of the page's server, stand in the report of the test.
"""

import re
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page

FOLDER = Path("build", "test-failures")  # below pytest's own folder
browsers: list[Browser] = []  # those that are open now
consoles: defaultdict[Page, list[str]] = defaultdict(list)
logs: dict[str, Path] = {}  # of servers, by their addresses
LAST = 15  # lines


def keep(page: Page | None, said: str) -> None:
    if page:  # it may be closed
        consoles[page].append(said)


def watch(browser: Browser) -> None:
    """Keep what the pages of this browser say on their consoles, and show the pages where a test fails."""
    new_context = browser.new_context

    def new_watched_context(**options: Any) -> BrowserContext:
        context = new_context(**options)
        context.on("console", lambda said: keep(said.page, said.text))
        context.on("weberror", lambda error: keep(error.page, str(error.error)))
        return context

    browser.new_context = new_watched_context  # type: ignore[method-assign]
    browser.new_page = lambda **options: new_watched_context(**options).new_page()  # type: ignore[method-assign]
    browsers.append(browser)
    browser.on("disconnected", lambda closed: browsers.remove(closed))


def pages_now() -> list[Page]:
    return [page for browser in browsers for context in browser.contexts for page in context.pages]


def show(test: str, root: Path) -> Iterator[str]:
    """Write what is on the pages now into the folder of this test; tell where, a line for each page."""
    folder = FOLDER / re.sub(r"[^\w.-]+", "_", test.removeprefix("tests/"))[-150:]
    for number, page in enumerate(pages_now(), start=1):
        (root / folder).mkdir(parents=True, exist_ok=True)
        picture = folder / f"page-{number}.png"
        said = "\n".join([page.url, *consoles[page]])
        (root / picture).with_suffix(".txt").write_text(f"{said}\n", encoding="utf-8")
        try:
            page.screenshot(path=root / picture, timeout=10_000)
        except Error as error:  # a page that hangs or has crashed
            yield f"{page.url}: no picture: {error.message.splitlines()[0]}"
        else:
            yield f"{page.url}: {picture}, its console beside it"
        of_server = [log.read_text(errors="replace") for url, log in logs.items() if page.url.startswith(url)]
        for name, text in [("console", said), *(("server", log) for log in of_server)]:
            yield from (f"  {name}: {line}" for line in text.splitlines()[-LAST:])


def pytest_sessionstart(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):  # one of several processes finds it empty
        shutil.rmtree(session.config.rootpath / FOLDER, ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    if report.failed and call.when != "teardown" and (lines := list(show(item.nodeid, item.config.rootpath))):
        report.sections.append(("What was on the page", "\n".join(lines)))
    return report
