"""A real browser and a real Jupyter server for the tests in this folder.

A machine without Chromium or Chrome skips these tests and says so in one line; with
``MHA_REQUIRE_BROWSER=1`` (as in CI) the missing browser is a failure.
"""

import os
import secrets
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from mha_lib.classroom.explorer import Explorer
from mha_lib.classroom.jupyter import SETTINGS
from mha_lib.classroom.pages.browser import find_browser
from mha_lib.classroom.pages.slides.server import Server, free_port, start, wait_for
from tests.browser.engines import NEEDED
from tests.lessons import copy_course
from tests.running import failures

ROOT = Path(__file__).parents[2]
# Long, since a busy machine may take its time; a test that passes never waits so long.
PATIENCE = 120_000
expect.set_options(timeout=PATIENCE)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    mine = [item for item in items if here in item.path.parents]
    for item in mine:
        item.add_marker(pytest.mark.browser)
    if mine and find_browser() is None and not os.environ.get("MHA_REQUIRE_BROWSER"):
        for item in mine:
            item.add_marker(pytest.mark.skip(reason=NEEDED["chromium"]))


@dataclass
class Watch:
    """Records the requests of a page and its errors."""

    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def attach(self, page: Page) -> None:
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", self.hear)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def requests_beyond(self, *allowed: str) -> list[str]:
        """The requests that go to none of the allowed beginnings (data: and blob: never leave the page)."""
        allowed += ("data:", "blob:")
        return [url for url in self.requests if not url.startswith(allowed)]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = find_browser()
    assert path, "the browser tests need Chromium or Chrome: install one, or set CHROMIUM=/path/to/it"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--disable-component-update",
            ],
        )
        failures.watch(browser)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, watch: Watch) -> Iterator[Page]:
    """A page of a slide's size; ``watch`` sees what it does."""
    from tests.browser.pages import new_page

    with new_page(browser) as page:
        watch.attach(page)
        yield page


@pytest.fixture
def watch() -> Watch:
    return Watch()


@dataclass
class JupyterServer(Server):
    """A running server on ``folder``; ``home`` has its log and what it finds of the course's extension."""

    home: Path

    @property
    def folder(self) -> Path:
        return self.course

    @property
    def extension(self) -> Path:
        """The files of the extension that this server hands out."""
        return self.home / "path" / "labextensions" / "mha-deck"

    def address(self, page: str, path: str) -> str:
        """The address of a file in 'lab' or 'rise'."""
        route = "lab/tree" if page == "lab" else page
        return f"{self.url}/{route}/{path}?token={self.token}"


def install_deck(jupyter_path: Path, library: Path = ROOT) -> None:
    """Lay the deck's extension out as the wheel does, but with the files of the working tree or a copy."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    shared = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    for source, target in shared.items():
        place = jupyter_path / Path(target).relative_to("share/jupyter")
        place.parent.mkdir(parents=True, exist_ok=True)
        if (library / source).is_dir():
            shutil.copytree(library / source, place, dirs_exist_ok=True)
        else:
            shutil.copy(library / source, place)


def start_server(
    folder: Path, home: Path, python: str = sys.executable, library: Path = ROOT
) -> tuple[subprocess.Popen[bytes], JupyterServer]:
    """Jupyter on ``folder``, with nothing of the user's own settings; the caller ends the process."""
    own = {"JUPYTER_DATA_DIR": str(home / "data"), "PYTHONPATH": str(library)}
    own["JUPYTER_CONFIG_PATH"] = str(library / SETTINGS.relative_to(ROOT))
    if python == sys.executable:  # the deck of the working tree, not the copy that was installed
        own["JUPYTER_PATH"] = str(home / "path")
        install_deck(home / "path", library)
    server = JupyterServer(f"http://127.0.0.1:{free_port()}", secrets.token_hex(16), folder, home)
    return start(server, home, python, **own), server


def end(*processes: subprocess.Popen[bytes]) -> None:
    """End servers, at the same time."""
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(PATIENCE / 1000)
        except subprocess.TimeoutExpired:  # its kernels are slow to end, and nothing here waits for them
            process.kill()
            process.wait()


Serve = Callable[..., JupyterServer]


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Starts servers: ``serve(folder, python=…, library=…)``; they end with the tests."""
    processes = []

    def serve(folder: Path, python: str = sys.executable, library: Path = ROOT) -> JupyterServer:
        process, server = start_server(folder, tmp_path_factory.mktemp("home"), python, library)
        processes.append(process)
        failures.logs[server.url] = server.home / "log"
        wait_for(server, process, failures.logs[server.url])
        return server

    yield serve
    end(*processes)


@pytest.fixture(scope="session")
def jupyter(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> JupyterServer:
    """A server on a folder with ``notebooks/`` and ``img/`` as the repository has them, and trusts them."""
    server = serve(copy_course(tmp_path_factory.mktemp("course")))
    for lesson in server.folder.glob("notebooks/*/*.ipynb"):
        server.trust(lesson)
    return server


@pytest.fixture(scope="module")
def opened(request: pytest.FixtureRequest, browser: Browser, jupyter: JupyterServer) -> Iterator[Page]:
    """The deck of the CELLS of a file, for all its tests."""
    from tests.browser.new_lesson import lay_lesson, open_deck
    from tests.browser.pages import new_page

    file = request.module
    with new_page(browser) as page:
        open_deck(page, lay_lesson(jupyter, f"{file.__name__}.ipynb", file.CELLS))
        yield page


@pytest.fixture
def deck(opened: Page) -> Page:
    """The deck that a file has opened for all its tests, on its first slide."""
    from tests.browser.decks import begin

    return begin(opened)


@pytest.fixture
def show(page: Page, tmp_path: Path) -> Callable[..., None]:
    """Opens a handout with an explorer in it."""
    from tests.browser.explorers import HEADS, handout_page

    def show(explorer: Explorer, page: Page = page) -> None:
        page.goto(handout_page(explorer, tmp_path / "lesson.html"))
        drawn = page.locator(f"{HEADS}:visible, .arcs svg:visible")  # arcs may have no map beside them
        expect(drawn.first).to_be_visible()

    return show
