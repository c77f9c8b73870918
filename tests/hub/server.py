"""The real hub, as ``make hub`` starts it, but on ports and in folders of its own."""

import grp
import os
import pwd
import secrets
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.hub.client import PATIENCE, Student

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "hub" / "jupyterhub_config.py"
PROXY = ROOT / ".venv/hub/node_modules/.bin/configurable-http-proxy"
CLASS_GROUP = "mha-class"
SETTINGS = """
c.JupyterHub.bind_url = "http://127.0.0.1:{0}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{1}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{2}"
c.LocalAuthenticator.add_user_cmd.extend(["--base-dir", "{homes}"])
"""


def what_is_missing() -> str | None:
    """Why the hub can't be tried on this machine; None where it can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "it starts each server as another user, which needs Linux and root"
    try:
        import jupyterhub  # noqa: F401 - whether it is there
    except ImportError:
        return "JupyterHub is not installed (pip install -c constraints.txt -e .[hub])"
    if not PROXY.exists() and not shutil.which("configurable-http-proxy"):
        return "its proxy is not installed (make hub-proxy, which needs npm)"
    for needed in ("useradd", "prlimit", "choom"):
        if not shutil.which(needed):
            return f"there is no {needed}"
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
        return "mounts of its own are forbidden here"
    return None


def show_to_all(*needed: Path) -> str:
    """Commands that let every user enter these folders, in a mount namespace of their own.

    A developer's clone, or Python, may lie in a folder that is theirs alone; a course for a class does not.
    """
    closed: dict[Path, list[Path]] = {}
    for path in needed:
        for folder in reversed(path.parents):
            if not folder.stat().st_mode & 0o001:
                closed.setdefault(folder, []).append(path)
                break
    commands = ["set -e", "umask 022"]
    for folder, paths in closed.items():
        stages = [(f"/mnt/stage{number}", shlex.quote(str(path))) for number, path in enumerate(paths)]
        commands.append("mount -t tmpfs tmpfs /mnt")
        commands += [f"mkdir {stage} && mount --bind {path} {stage}" for stage, path in stages]
        commands.append(f"mount -t tmpfs -o mode=755 tmpfs {shlex.quote(str(folder))}")
        commands += [f"mkdir -p {path} && mount --bind {stage} {path}" for stage, path in stages]
    return "\n".join(commands)


class Hub:
    """A running hub. The accounts that it makes begin with a name of their own, and go with it."""

    def __init__(self, folder: Path, url: str, pid: int):
        self.folder, self.url, self.pid = folder, url, pid
        self.prefix = f"t{secrets.token_hex(3)}-"
        self.visitors: list[Student] = []

    @property
    def log(self) -> str:
        return (self.folder / "hub.log").read_text(errors="replace")

    @property
    def password(self) -> str:
        return (self.folder / "state" / "class-password").read_text().strip()

    @property
    def instructor_password(self) -> str:
        return (self.folder / "state" / "instructor-password").read_text().strip()

    def student(self, name: str) -> Student:
        return self.visitor(self.prefix + name)

    def visitor(self, name: str, password: str = "") -> Student:
        """Somebody who tries the class password, or another one."""
        self.visitors.append(Student(self.url, name, password or self.password))
        return self.visitors[-1]

    def home(self, student: Student) -> Path:
        return self.folder / "homes" / student.name


def free_ports(count: int) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [int(probe.getsockname()[1]) for probe in probes]
    for probe in probes:
        probe.close()
    return ports


@contextmanager
def running_hub(settings: str = "") -> Iterator[Hub]:
    """A hub with an empty class; ``settings`` come after its own, as those of an instructor do."""
    folder = Path(tempfile.mkdtemp(prefix="mha-hub-"))
    folder.chmod(0o755)  # every student has a home in it
    (folder / "homes").mkdir()
    ports = free_ports(3)
    own = SETTINGS.format(*ports, homes=folder / "homes")
    (folder / "settings.py").write_text(own + settings)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MHA_LANGUAGE": "en"}
    environment |= {"MHA_HUB_STATE": str(folder / "state"), "MHA_HUB_SETTINGS": str(folder / "settings.py")}
    had_group = any(group.gr_name == CLASS_GROUP for group in grp.getgrall())
    start = f'{show_to_all(ROOT, Path(sys.prefix), Path(sys.base_prefix))}\nexec "$@"'
    command = ["unshare", "--mount", "sh", "-c", start, "sh"]
    command += [sys.executable, "-P", "-m", "jupyterhub", "-f", str(CONFIGURATION)]
    with (folder / "hub.log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    hub = Hub(folder, f"http://127.0.0.1:{ports[0]}", process.pid)
    try:
        wait_until_it_answers(process, hub)
        yield hub
    finally:
        for visitor in hub.visitors:
            visitor.close()
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)
        process.kill()
        for account in pwd.getpwall():
            if account.pw_dir.startswith(f"{folder}/"):
                subprocess.run(["userdel", "--force", account.pw_name], check=True, capture_output=True)
        if not had_group:
            subprocess.run(["groupdel", CLASS_GROUP], capture_output=True)
        for left in (folder, *Path(tempfile.gettempdir()).glob(f"jupyter-{hub.prefix}*")):
            shutil.rmtree(left, ignore_errors=True)


def wait_until_it_answers(process: subprocess.Popen[bytes], hub: Hub) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with (
            suppress(urllib.error.URLError, OSError),
            urllib.request.urlopen(f"{hub.url}/hub/health", timeout=10),
        ):
            return
        assert process.poll() is None, hub.log
        time.sleep(0.2)
    raise TimeoutError(hub.log)
