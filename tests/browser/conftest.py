"""A real browser and a real Jupyter server for the tests in this folder.

A machine without Chromium or Chrome skips these tests and says so in one line; with
``MHA_REQUIRE_BROWSER=1`` (as in CI) the missing browser is a failure.
"""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from mha_lib.classroom.browser import find_browser

ROOT = Path(__file__).parents[2]
expect.set_options(timeout=60_000)  # a kernel on a busy machine may take its time


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    mine = [item for item in items if here in item.path.parents]
    # Last: Playwright's event loop goes on in this thread, and what runs a notebook wants its own.
    items[:] = [item for item in items if item not in mine] + mine
    for item in mine:
        item.add_marker(pytest.mark.browser)
    if mine and find_browser() is None and not os.environ.get("MHA_REQUIRE_BROWSER"):
        for item in mine:
            item.add_marker(pytest.mark.skip(reason="no Chromium or Chrome"))
        config.stash[missing_browser] = len(mine)


missing_browser = pytest.StashKey[int]()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if count := config.stash.get(missing_browser, 0):
        terminalreporter.write_line(
            f"Left out {count} browser tests: no Chromium or Chrome was found. "
            "Install one (Debian: apt install chromium) or set CHROMIUM=/path/to/it."
        )


@dataclass
class Watch:
    """What a page asked for and complained about."""

    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def attach(self, page: Page) -> None:
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def requests_beyond(self, *allowed: str) -> list[str]:
        """The requests that go to none of the allowed beginnings (data: and blob: never leave the page)."""
        allowed += ("data:", "blob:")
        return [url for url in self.requests if not url.startswith(allowed)]


@pytest.fixture(scope="session")
def browser():
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
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, watch: Watch):
    """A page of a slide's size, 1280x720; ``watch`` sees what it does."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    watch.attach(page)
    yield page
    context.close()


@pytest.fixture
def watch() -> Watch:
    return Watch()


@dataclass
class JupyterServer:
    """A running server; ``folder`` has ``notebooks/`` and ``img/`` as the repository has them."""

    url: str
    token: str
    folder: Path

    def address(self, page: str, path: str) -> str:
        """The address of a file in 'lab' or 'rise'."""
        route = "lab/tree" if page == "lab" else page
        return f"{self.url}/{route}/{path}?token={self.token}"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def install_deck(jupyter_path: Path) -> None:
    """Lay the deck's extension out as the wheel does, from the working tree."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    shared = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    for source, target in shared.items():
        place = jupyter_path / Path(target).relative_to("share/jupyter")
        place.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, place, dirs_exist_ok=True)
        else:
            shutil.copy(ROOT / source, place)


def start_server(
    folder: Path, home: Path, python: str = sys.executable
) -> tuple[subprocess.Popen, JupyterServer]:
    """Jupyter on ``folder``, with nothing of the user's own settings; the caller ends the process."""
    port, token = free_port(), secrets.token_hex(16)
    own = {name: str(home / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    own |= {f"JUPYTERLAB_{name}_DIR": str(home / name) for name in ("SETTINGS", "WORKSPACES")}
    own["JUPYTER_CONFIG_PATH"] = str(ROOT / "mha_lib" / "classroom" / "jupyter")  # as `lab` and `present` do
    if python == sys.executable:  # the bridge of the working tree, not the copy that was installed
        own["JUPYTER_PATH"] = str(home / "path")
        install_deck(home / "path")
    options = {
        "--ServerApp.port": port,
        "--ServerApp.port_retries": 0,
        "--IdentityProvider.token": token,
        "--ServerApp.root_dir": folder,
    }
    command = [python, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"{name}={value}" for name, value in options.items()]
    home.mkdir(parents=True, exist_ok=True)
    log = (home / "jupyter.log").open("w")
    environment = os.environ | own | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    url = f"http://127.0.0.1:{port}"
    for _ in range(300):
        try:
            urllib.request.urlopen(f"{url}/api?token={token}", timeout=2)
            return process, JupyterServer(url, token, folder)
        except (urllib.error.URLError, OSError):
            assert process.poll() is None, (home / "jupyter.log").read_text()
            time.sleep(0.2)
    process.kill()
    raise TimeoutError(f"Jupyter did not answer in 60 s: {(home / 'jupyter.log').read_text()}")


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory):
    """Starts Jupyter servers on folders: ``serve(folder, python=...)``; they end with the tests."""
    processes = []

    def start(folder: Path, python: str = sys.executable) -> JupyterServer:
        process, server = start_server(folder, tmp_path_factory.mktemp("home"), python)
        processes.append(process)
        return server

    yield start
    for process in processes:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="session")
def jupyter(serve, tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("course")
    for name in ("notebooks", "img"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    return serve(folder)
