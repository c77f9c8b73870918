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
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mha_lib.classroom.jupyter import SETTINGS
from mha_lib.classroom.lesson import CourseError, language_in, make_deck_copy
from mha_lib.classroom.lesson.language import source_root
from mha_lib.classroom.pages.execution import threads_of_kernels

LONGEST_START = 120  # seconds
TRAININGS = Path("work", "trainings")  # what lessons have trained and kept: they need not again
OWN_FOLDERS = ("JUPYTER_CONFIG_DIR", "IPYTHONDIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")


@dataclass
class Server:
    """A running server on a copy of the course."""

    url: str
    token: str
    course: Path

    def deck_of(self, lesson: Path) -> str:
        """The address of a lesson's deck; running it changes neither the lesson nor a working copy."""
        folder, _ = make_deck_copy(self.course, language_in(lesson), lesson.name)
        deck = (folder / lesson.name).relative_to(self.course).as_posix()
        return f"{self.url}/rise/{deck}?token={self.token}"


@contextmanager
def serve_copy(root: Path, kernels_at_once: int = 1) -> Iterator[Server]:
    """Serve a copy of the lessons, with nothing of the user's own settings of Jupyter."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        course, home = Path(folder, "course"), Path(folder, "home")
        for part in ("notebooks", "img"):  # all languages: traditional Chinese is made from two others
            if (source_root(root) / part).is_dir():
                shutil.copytree(source_root(root) / part, course / part)
        for routes in root.glob("build/route-*"):
            shutil.copytree(routes, course / "build" / routes.name)
        if (root / TRAININGS).is_dir():
            shutil.copytree(root / TRAININGS, course / TRAININGS)
        home.mkdir()
        server = Server(f"http://127.0.0.1:{free_port()}", secrets.token_hex(16), course)
        process = start(server, home, **threads_of_kernels(kernels_at_once))
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
    options = {
        "--ServerApp.port": server.url.split(":")[-1],
        "--ServerApp.port_retries": 0,
        "--IdentityProvider.token": server.token,
        "--ServerApp.root_dir": server.course,
    }
    command = [python, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"{name}={value}" for name, value in options.items()]
    with (home / "log").open("w") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | own | environment)


def wait_for(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + LONGEST_START
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/api?token={server.token}", timeout=10):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    raise CourseError("no_server", reason=lines[-1] if lines else "")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
