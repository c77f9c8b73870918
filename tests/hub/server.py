"""The real hub, as ``make hub`` starts it, with podman and the image of ``hub/Dockerfile``.

No registry is asked: debootstrap makes the base, and the steps of the Dockerfile run on top. Names, ports,
networks and folders are the tests' own.
"""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from ast import literal_eval
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import requests
from filelock import FileLock

from tests.hub.client import PATIENCE, Student
from tests.waiting import eventually

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "hub/jupyterhub_config.py"
PROXY = ROOT / ".venv/hub/node_modules/.bin/configurable-http-proxy"
BASE, IMAGE = "localhost/mha-test-base:bookworm", "localhost/mha-test"
DOMAIN = "hub.test"  # its names lead to this machine: tests.hub.client says so
INSTRUCTOR = "lin"
OF_PODMAN = os.environ | {"CONTAINERS_CONF": str(Path(__file__).with_name("containers.conf"))}
SETTINGS = """
c.JupyterHub.bind_url = "{bound}:{0}"
c.JupyterHub.subdomain_host = "http://{domain}:{0}"
c.JupyterHub.hub_port = {1}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{2}"
c.Authenticator.admin_users = {{"{instructor}"}}
c.DockerSpawner.image = "{image}"
c.DockerSpawner.prefix = "{prefix}"
c.ClassSpawner.subnets = "{subnets}"
c.Spawner.poll_interval = 2
c.JupyterHub.active_server_limit = 40
"""


def what_is_missing() -> str | None:
    """Why the hub can't be tried on this machine; None where it can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "podman starts containers as root here, which needs Linux and root"
    for needed in ("podman", "runc", "debootstrap", "nft"):
        if not shutil.which(needed):
            return f"there is no {needed}"
    with tempfile.TemporaryDirectory() as folder:  # this machine's programs, as the system of a container
        for name in ("bin", "lib", "lib64"):
            Path(folder, name).symlink_to(f"usr/{name}")
        options = ["--rm", "--network=none", "--volume=/usr:/usr:ro"]
        probe = run("podman", "run", *options, "--rootfs", folder, "true")
    if probe.returncode:
        return f"containers don't start: {probe.stderr.strip().splitlines()[-1]}"
    try:
        import dockerspawner  # noqa: F401 - whether it is there
    except ImportError:
        return "JupyterHub is not installed (pip install -c constraints.txt -e .[hub])"
    return None if PROXY.exists() else "its proxy is not installed (make hub-proxy, which needs npm)"


def run(*command: str, check: bool = False) -> subprocess.CompletedProcess[str]:
    said = subprocess.run(command, env=OF_PODMAN, capture_output=True, text=True)
    assert not check or not said.returncode, f"{command}: {said.stdout[-3000:]}{said.stderr[-3000:]}"
    return said


@FileLock(Path(tempfile.gettempdir(), "mha-hub-image.lock"))
def build_image() -> None:
    """Make the base once on a machine, and the image from the working tree; podman keeps unchanged layers."""
    if run("podman", "image", "exists", BASE).returncode:
        with tempfile.TemporaryDirectory() as folder:
            run("debootstrap", "--variant=minbase", "bookworm", f"{folder}/base", check=True)
            pack = f"tar --create --directory={folder}/base --exclude=./var/cache/apt/archives/*.deb ."
            run("sh", "-ec", f"{pack} | podman import - {BASE}", check=True)
    with tempfile.TemporaryDirectory() as folder:
        mounts = pip_as_here(Path(folder))
        options = ["--network=host", f"--file={ROOT}/hub/Dockerfile", f"--build-arg=BASE={BASE}"]
        options += ["--build-arg=PIP_EXTRA_INDEX_URL=", *mounts, str(ROOT)]
        for name, target in ((IMAGE, "student"), (f"{IMAGE}-instructor", "instructor")):
            known = ("podman", "image", "ls", "--quiet", "--no-trunc", name)
            former = run(*known).stdout
            run("nice", "podman", "build", f"--tag={name}", f"--target={target}", *options, check=True)
            if former and former != run(*known).stdout:
                run("podman", "image", "rm", former.strip())  # it has no name any more


def pip_as_here(folder: Path) -> list[str]:
    """The mounts by which pip in a build finds packages as it does here."""
    listed = run(sys.executable, "-m", "pip", "config", "list", check=True).stdout.splitlines()
    settings, mounts = {}, {f"{folder}/pip.conf:/etc/pip.conf"}
    for line in listed:
        name, _, value = line.partition("=")
        words = literal_eval(value).split()
        for place, word in enumerate(words):
            path = Path(word.removeprefix("file://"))
            if path.is_absolute() and path.exists():
                words[place] = word.replace(str(path), f"/mnt{path}")  # in its own place a package may write
                path = path.parent if "file://" in word else path  # an index links to files beside it
                mounts.add(f"{path}:/mnt{path}")
        settings[name.rpartition(".")[2]] = " ".join(words)
    lines = [f"{name} = {value}" for name, value in settings.items()]
    (folder / "pip.conf").write_text("\n".join(["[global]", *lines]))
    return [f"--volume={mount}:ro" for mount in sorted(mounts)]


class Hub:
    """A hub with a class of its own, which can be killed and started again."""

    def __init__(self, folder: Path):
        self.folder, self.prefix = folder, f"mt{secrets.token_hex(3)}"
        ports = free_ports(3)
        self.url, self.port, self.proxy_port = f"http://{DOMAIN}:{ports[0]}", ports[1], ports[2]
        self.wall = f"mha_hub_{self.port}"
        subnets = f"10.{100 + secrets.randbelow(100)}.{16 * secrets.randbelow(16)}.0/20"  # of this hub alone
        bound = CONFIGURATION.read_text().partition('bind_url = "')[2].partition(":8000")[0]
        named = {"bound": bound, "subnets": subnets, "image": IMAGE, "prefix": self.prefix}
        self.settings = SETTINGS.format(*ports, domain=DOMAIN, instructor=INSTRUCTOR, **named)
        self.visitors: list[Student] = []
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, settings: str = "", mode: int = 0o600) -> None:
        """Until it answers; ``settings`` come after its own, as those of an instructor do."""
        file = self.folder / "settings.py"
        file.write_text(self.settings + settings)
        file.chmod(mode)
        environment = os.environ | {"MHA_LANGUAGE": "en", "MHA_HUB_STATE": str(self.folder / "state")}
        environment |= {"MHA_HUB_SETTINGS": str(file)}
        environment |= {"DOCKER_HOST": f"unix://{self.folder}/podman.sock"}
        command = [sys.executable, "-P", "-m", "jupyterhub", "-f", str(CONFIGURATION)]
        with (self.folder / "hub.log").open("a") as log:
            process = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=log, stderr=log)
        self.process = process
        eventually(lambda: self.answers() or process.poll() is not None, lambda: self.log, PATIENCE)
        assert process.poll() is None, self.log

    def answers(self) -> bool:
        with suppress(requests.RequestException):
            return requests.get(f"{self.url}/hub/health", timeout=10).ok
        return False

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.process:
            self.process.send_signal(how)
            self.process.wait(PATIENCE)

    @property
    def proxy(self) -> int:
        """The number of the proxy's process; 0 where none is known, as while it is started."""
        with suppress(FileNotFoundError, IndexError):
            return int((self.folder / "state/proxy.pid").read_text().split()[0])
        return 0

    def kill_proxy(self) -> int:
        """Kill the proxy, where there is one; returns the number of its process."""
        if killed := self.proxy:
            with suppress(ProcessLookupError):  # a hub that stops takes its proxy with it
                os.kill(killed, signal.SIGKILL)
        return killed

    @property
    def log(self) -> str:
        return (self.folder / "hub.log").read_text(errors="replace")

    def secret(self, name: str) -> str:
        return (self.folder / "state" / name).read_text().strip()

    def student(self, name: str, password: str = "") -> Student:
        """Somebody who tries the class password, or another one."""
        self.visitors.append(Student(self.url, name, password or self.secret("class-password")))
        return self.visitors[-1]

    def instructor(self, name: str = INSTRUCTOR) -> Student:
        return self.student(name, self.secret("instructor-password"))


def free_ports(count: int) -> list[int]:
    with ExitStack() as held:
        probes = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [int(probe.getsockname()[1]) for probe in probes]


@contextmanager
def running_hub() -> Iterator[Hub]:
    """A hub with an empty class; its containers, volumes and networks go with it."""
    folder = Path(tempfile.mkdtemp(prefix="mha-hub-"))
    hub = Hub(folder)
    command = ["podman", "system", "service", "--time=0", f"unix://{folder}/podman.sock"]
    with (folder / "podman.log").open("w") as log:
        service = subprocess.Popen(command, cwd=folder, env=OF_PODMAN, stdout=log, stderr=log)
    try:
        eventually((folder / "podman.sock").exists, (folder / "podman.log").read_text, PATIENCE)
        hub.start()
        yield hub
    finally:
        for visitor in hub.visitors:
            visitor.close()
        hub.stop()
        for kind, *remove in (("container", "-f", "-t0"), ("network", "-f"), ("volume", "-f")):
            all_of_them = ["--all"] if kind == "container" else []
            listed = run("podman", kind, "ls", *all_of_them, f"--filter=name={hub.prefix}", "--quiet")
            for name in listed.stdout.split():
                run("podman", kind, "rm", *remove, name)
        run("nft", "delete", "table", "inet", hub.wall)
        service.terminate()
        service.wait(PATIENCE)
        for left in psutil.process_iter(["cwd"]):  # by hubs that were killed: proxy and culler
            if left.info["cwd"] == str(folder):
                left.kill()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if missing := what_is_missing():
        sys.exit(f"The server for a class is not tested: {missing}.")
