"""Firefox and WebKit as Debian builds them, which Playwright does not drive: a small driver for each.

Both take WebDriver's commands: Firefox over a socket (Marionette), WebKit over HTTP (WebKitWebDriver).
"""

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from mha_lib.classroom.pages.slides.server import free_port
from tests.waiting import eventually

NEEDED = {
    "chromium": "no Chromium or Chrome: apt install chromium, or set CHROMIUM=/path/to/it",
    "firefox": "no Firefox: apt install firefox-esr",
    "webkit": "no WebKit: apt install webkit2gtk-driver xvfb",
}
DARK = {"GTK_THEME": "Adwaita:dark"}  # the system that WebKit asks
ENDS = 30  # seconds for a browser to end


class Engine(Protocol):
    """A browser with one page."""

    def command(self, name: str, method: str, path: str, **given: Any) -> Any:
        """Give a command of WebDriver, by its name for Firefox and its address for WebKit."""


class Firefox:
    def __init__(self, port: int):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.stream = self.socket.makefile("rwb")
        self.count = 0
        self.read()  # its greeting
        self.command("NewSession", "", "")

    def close(self) -> None:
        self.stream.close()
        self.socket.close()

    def read(self) -> Any:
        size = b""
        while (letter := self.stream.read(1)) != b":":
            size += letter
        return json.loads(self.stream.read(int(size)))

    def command(self, name: str, method: str, path: str, **given: Any) -> Any:
        self.count += 1
        message = json.dumps([0, self.count, f"WebDriver:{name}", given]).encode()
        self.stream.write(b"%d:%s" % (len(message), message))
        self.stream.flush()
        _, _, error, answer = self.read()
        assert not error, f"{name}: {error}"
        return answer.get("value") if isinstance(answer, dict) else answer


class WebKit:
    def __init__(self, port: int, browser: Path):
        self.address = f"http://127.0.0.1:{port}/session"
        options = {"binary": str(browser), "args": ["--automation"]}
        wanted = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        self.address += "/" + self.command("NewSession", "POST", "", capabilities=wanted)["sessionId"]

    def command(self, name: str, method: str, path: str, **given: Any) -> Any:
        body = json.dumps(given).encode() if method == "POST" else None
        request = urllib.request.Request(self.address + path, body, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{name}: {error.read().decode()}") from None

    def close(self) -> None:
        self.command("DeleteSession", "DELETE", "")


class EnginePage:
    """A page in either engine, as the walks use it."""

    def __init__(self, engine: Engine):
        self.engine = engine

    def goto(self, address: str) -> None:
        self.engine.command("Navigate", "POST", "/url", url=address)

    def answer_of(self, function: str, *arguments: Any) -> Any:
        """Return the answer of a function in the page."""
        script = f"return ({function})(...arguments)"
        given = {"script": script, "args": list(arguments)}
        return self.engine.command("ExecuteScript", "POST", "/execute/sync", **given)

    def until(self, function: str, *arguments: Any) -> Any:
        """Wait until a function in the page returns something true, and return it."""
        return eventually(lambda: self.answer_of(function, *arguments), function)

    def resize(self, width: int, height: int) -> None:
        self.engine.command("SetWindowRect", "POST", "/window/rect", width=width, height=height)

    def pdf(self) -> bytes | None:
        """The page on paper; WebKit's driver can't print."""
        if isinstance(self.engine, WebKit):
            return None
        return base64.b64decode(self.engine.command("Print", "POST", "/print"))


def find_firefox() -> str | None:
    return os.environ.get("FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")


def find_webkit() -> Path | None:
    """WebKit's small browser, if its driver and a display without a screen are there too."""
    has_both = shutil.which("WebKitWebDriver") and shutil.which("xvfb-run")
    return next(Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"), None) if has_both else None


@contextmanager
def running(folder: Path, *command: str, **variables: str) -> Iterator[None]:
    """Run a program in a folder that is its home, and end it with all that it has started."""
    environment = os.environ | {"HOME": str(folder)} | variables
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(ENDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def is_open(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def opened(name: str, folder: Path, theme: str = "light") -> Iterator[EnginePage]:
    """A page in "firefox" or "webkit" on a light or dark system; ``folder`` is its home."""
    port = free_port()
    with ExitStack() as stack:
        if name == "firefox":
            settings = {"marionette.port": port, "ui.systemUsesDarkTheme": int(theme == "dark")}
            lines = "".join(
                f"user_pref({json.dumps(one)}, {json.dumps(settings[one])});\n" for one in settings
            )
            (folder / "user.js").write_text(lines, encoding="utf-8")
            command = [str(find_firefox()), "--headless", "--marionette", "--profile", str(folder)]
        else:
            command = ["xvfb-run", "-a", "WebKitWebDriver", f"--port={port}"]
        stack.enter_context(running(folder, *command, **DARK if theme == "dark" else {}))
        eventually(lambda: is_open(port), lambda: (folder / "log").read_text(errors="replace"))
        browser = find_webkit() or Path()
        engine = Firefox(port) if name == "firefox" else WebKit(port, browser)
        stack.callback(engine.close)
        yield EnginePage(engine)


def require(name: str) -> None:
    """Skip the test if the engine is not installed; in CI that is a failure."""
    found = find_firefox() if name == "firefox" else find_webkit()
    if not found and os.environ.get("MHA_REQUIRE_BROWSER"):
        pytest.fail(NEEDED[name])
    if not found:
        pytest.skip(NEEDED[name])
