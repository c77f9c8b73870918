"""A Jupyter server on a copy of the course, for as long as the slides are written."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mha_lib.classroom.jupyter import SETTINGS
from mha_lib.classroom.lesson import CourseError, language_in, make_deck_copy
from mha_lib.classroom.lesson.language import source_root

LONGEST_START = 120  # seconds
# The server is on this machine: no proxy of the user's lies between.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
OWN_FOLDERS = ("JUPYTER_CONFIG_DIR", "IPYTHONDIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")


@dataclass
class Server:
    """A running server on a copy of the course."""

    url: str
    token: str
    course: Path

    def deck_of(self, lesson: Path) -> Path:
        """The file of a lesson's deck in the copy of the course."""
        folder, _ = make_deck_copy(self.course, language_in(lesson), lesson.name)
        return folder / lesson.name

    def trust(self, deck: Path) -> None:
        """Trust a deck, so that its page shows the widgets it has stored."""
        trust = f"{self.url}/api/contents/{self.place_of(deck)}/trust?token={self.token}"
        DIRECT.open(urllib.request.Request(trust, method="POST"), timeout=LONGEST_START).close()

    def address_for_paper(self, deck: Path) -> str:
        return f"{self.url}/rise/{self.place_of(deck)}?paper&token={self.token}"

    def place_of(self, deck: Path) -> str:
        return urllib.parse.quote(deck.relative_to(self.course).as_posix())


def copy_course(root: Path, course: Path) -> None:
    for part in ("notebooks", "img"):  # all languages: traditional Chinese is made from two others
        if (source_root(root) / part).is_dir():
            shutil.copytree(source_root(root) / part, course / part)
    for routes in root.glob("build/route-*"):
        shutil.copytree(routes, course / "build" / routes.name)


def copy_notebook(file: Path, folder: Path) -> None:
    """Lay a copy of a notebook into the folder, beside links to what lies beside it, such as its pictures."""
    shutil.copy(file, folder)
    for beside in file.parent.iterdir():
        if beside.name != file.name and not beside.name.startswith("."):
            (folder / beside.name).symlink_to(beside.resolve())


@contextmanager
def serve_copy(fill: Callable[[Path], None]) -> Iterator[Server]:
    """Serve a folder that ``fill`` fills, with nothing of the user's own settings of Jupyter."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        course, home = Path(folder, "course"), Path(folder, "home")
        course.mkdir()
        home.mkdir()
        fill(course)
        server = Server(f"http://127.0.0.1:{free_port()}", secrets.token_hex(16), course)
        process = start(server, home)
        try:
            wait_for(server, process, home / "log")
            yield server
        finally:
            process.terminate()
            process.wait()


def start(
    server: Server, home: Path, python: str = sys.executable, **environment: str
) -> subprocess.Popen[bytes]:
    paths = [str(SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    own = {name: str(home / name) for name in OWN_FOLDERS}
    own["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    own["JUPYTER_TOKEN"] = server.token  # everybody on the machine can read the arguments of a process
    options = {
        "--ServerApp.port": server.url.split(":")[-1],
        "--ServerApp.port_retries": 0,
        "--ServerApp.root_dir": server.course,
    }
    # -P: Python imports no file of the folder in which the command was given.
    command = [python, "-P", "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"{name}={value}" for name, value in options.items()]
    with (home / "log").open("w") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | own | environment)


def wait_for(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + LONGEST_START
    while time.monotonic() < end and process.poll() is None:
        try:
            with DIRECT.open(f"{server.url}/api?token={server.token}", timeout=10):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    raise CourseError("no_server", reason=lines[-1] if lines else "")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
