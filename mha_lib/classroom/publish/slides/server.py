"""A Jupyter server on a copy of the course, for as long as the slides are written."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_server.serverapp import list_running_servers

from mha_lib.classroom.course import CourseError, make_deck_copy

LONGEST_START = 120  # seconds
SETTINGS = Path(__file__).parents[2] / "course" / "jupyter"  # as `present` has them
OWN_FOLDERS = (
    "IPYTHONDIR",
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_RUNTIME_DIR",
    "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR",
)
LOG = "log"


@dataclass
class Server:
    """A running server on a copy of the course."""

    url: str  # ends with a slash
    token: str
    course: Path

    def deck_of(self, lesson: Path) -> str:
        """The address of a lesson's deck; running it changes neither the lesson nor a working copy."""
        folder, _ = make_deck_copy(self.course, lesson.parent.name, lesson.name)
        deck = (folder / lesson.name).relative_to(self.course).as_posix()
        return f"{self.url}rise/{deck}?token={self.token}"


@contextmanager
def serve_copy(root: Path) -> Iterator[Server]:
    """Serve a copy of the lessons, with nothing of the user's own settings of Jupyter."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        course, home = Path(folder, "course"), Path(folder, "home")
        for part in ("notebooks", "img"):  # all languages: traditional Chinese is made from two others
            if (root / part).is_dir():
                shutil.copytree(root / part, course / part)
        for trained in (root / "work").glob("*.pt"):  # what a lesson has trained and kept: it need not again
            (course / "work").mkdir(exist_ok=True)
            shutil.copy(trained, course / "work")
        home.mkdir()
        process = start(course, home)
        try:
            about = wait_for(process, home)
            yield Server(about["url"], about["token"], course)
        finally:
            process.terminate()
            process.wait()


def start(course: Path, home: Path) -> subprocess.Popen[bytes]:
    paths = [str(SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    own = {name: str(home / name) for name in OWN_FOLDERS}
    own["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--ServerApp.root_dir={course}"]
    with (home / LOG).open("w") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | own)


def wait_for(process: subprocess.Popen[bytes], home: Path) -> dict[str, Any]:
    """What the server tells of itself, its address for instance, as soon as it listens."""
    end = time.monotonic() + LONGEST_START
    while time.monotonic() < end and process.poll() is None:
        for about in list_running_servers(str(home / "JUPYTER_RUNTIME_DIR")):
            return about
        time.sleep(0.2)
    lines = (home / LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    raise CourseError("no_server", reason=lines[-1] if lines else "")
