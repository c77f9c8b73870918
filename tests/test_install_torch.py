"""Without an NVIDIA GPU, set-up takes PyTorch's build for the CPU: tried with made-up indices and GPUs."""

import http.server
import io
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import threading
import zipfile
from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest

ROOT = Path(__file__).parents[1]
LOAD = 1_500_000  # bytes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere PyPI has one build")


class Indices(http.server.SimpleHTTPRequestHandler):
    """PyTorch's index under /cpu, PyPI under /pypi: folders of wheels. Each has a pip newer than any."""

    asked: ClassVar[list[str]] = []

    def do_GET(self):
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, *_):
        pass


def wheel(name, version, requires=(), files=()):
    """The name and the bytes of a wheel; ``files`` are pairs of a path and its content."""
    lines = [f"Name: {name}", f"Version: {version}", "Provides-Extra: classroom"]
    lines += [f"Requires-Dist: {needed}" for needed in requires]
    info = f"{name}-{version}.dist-info"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for path, content in files:
            packed.writestr(path, content)
        packed.writestr(f"{info}/METADATA", "\n".join(["Metadata-Version: 2.1", *lines, ""]))
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")
    return f"{name}-{version}-py3-none-any.whl", file.getvalue()


@pytest.fixture
def wheels(tmp_path):
    """The folder of the two indices. Torch needs numpy."""
    for place, suffix in (("cpu", "+cpu"), ("pypi", "")):
        for name, version in (("torch", f"2.13.0{suffix}"), ("pip", "99.0"), ("numpy", "99.0")):
            needed = ["numpy"] if name == "torch" else []
            file, content = wheel(name, version, requires=needed, files=[(f"{name}_load", bytes(LOAD))])
            (tmp_path / "wheels" / place / name).mkdir(parents=True)
            (tmp_path / "wheels" / place / name / file).write_bytes(content)
    return tmp_path / "wheels"


@pytest.fixture
def indices(wheels):
    """The address of the two indices."""
    Indices.asked = []
    handler = partial(Indices, directory=wheels)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def machine(tmp_path, indices):
    """A course whose .venv holds pip alone; pip of this Python, to save the time of installing it."""
    return Machine(tmp_path, indices)


class Machine:
    def __init__(self, folder, indices):
        self.folder = folder
        self.python = folder / ".venv/bin/python"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / ".venv"], check=True)
        borrowed = folder / "borrowed"
        borrowed.mkdir()
        packages = Path(sysconfig.get_path("purelib"))
        for lent in (packages / "pip", *packages.glob("pip-*.dist-info")):
            (borrowed / lent.name).symlink_to(lent)
        (folder / "constraints.txt").write_text("numpy==99.0\ntorch==2.13.0\n")
        (folder / "tools").mkdir()
        shutil.copy(ROOT / "tools/install_torch.py", folder / "tools")
        self.environment = {name: text for name, text in os.environ.items() if not name.startswith("PIP_")}
        self.environment |= {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "no_proxy": "127.0.0.1"}
        self.environment |= {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": f"{indices}/pypi"}
        self.environment |= {"PIP_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(borrowed)}
        self.environment["TORCH_INDEX"] = f"{indices}/cpu"
        self.has_gpu(False)

    def has_gpu(self, found):
        file = self.folder / "nvidia-smi"
        file.write_text(f"#!/bin/sh\nexit {0 if found else 9}\n")
        file.chmod(0o755)

    def run(self, *command):
        return subprocess.run(
            [self.python, *command], cwd=self.folder, env=self.environment, capture_output=True, text=True
        )

    def set_up(self, *wish):
        """Run the script, then pip for all the rest, as the Makefile does; return what a student reads."""
        done = self.run("tools/install_torch.py", *wish)
        assert not done.returncode, done.stderr
        rest = self.run("-m", "pip", "install", "-c", "constraints.txt", "torch")
        assert not rest.returncode, rest.stderr
        return done.stdout

    @property
    def build(self):
        (info,) = (self.folder / ".venv/lib").glob("python*/site-packages/torch-*.dist-info")
        return info.name.removeprefix("torch-").removesuffix(".dist-info")


FOR_CPU = (
    "PyTorch: the build for the CPU, 1.5 MB to download, because no NVIDIA GPU was found "
    "(TORCH=cuda takes the build for GPUs).\n"
)
FOR_GPU = (
    "PyTorch: the build for NVIDIA GPUs, up to 3.1 GB to download, because nvidia-smi finds one "
    "(TORCH=cpu takes the build for the CPU).\n"
)


def test_without_a_gpu_it_is_the_build_for_the_cpu_and_its_size_is_said(machine):
    machine.environment["PIP_EXTRA_INDEX_URL"] = machine.environment["PIP_INDEX_URL"]
    assert machine.set_up() == FOR_CPU
    assert machine.build == "2.13.0+cpu"
    assert {path.split("/")[2] for path in Indices.asked if path.startswith("/cpu")} == {"torch"}


def test_with_a_gpu_it_is_the_build_that_pypi_has(machine):
    machine.has_gpu(True)
    assert machine.set_up() == FOR_GPU
    assert machine.build == "2.13.0"
    assert not [path for path in Indices.asked if path.startswith("/cpu")]


@pytest.mark.parametrize("is_silent", [False, pytest.param(True, marks=pytest.mark.ci)])
def test_an_index_that_cannot_be_had_is_said_and_pypi_is_asked(machine, is_silent):
    """A silent one takes a connection and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        machine.environment["TORCH_INDEX"] = f"http://127.0.0.1:{server.getsockname()[1]}/cpu"
        if not is_silent:
            server.close()
        said = machine.set_up()
    assert "can't be reached, or has no build for this Python, so PyPI's is taken: up to 3.1 GB" in said
    assert machine.build == "2.13.0"
    assert "ERROR" not in (machine.folder / ".venv/setup.log").read_text(), "make would print it"


@pytest.mark.ci
def test_a_download_that_fails_says_what_helps_and_installs_nothing(machine, wheels):
    for file in wheels.rglob("*.whl"):
        file.write_bytes(file.read_bytes()[:1000])
    done = machine.run("tools/install_torch.py")
    assert done.returncode
    assert done.stderr.startswith("Set-up failed: ERROR: ")
    assert "TORCH=cuda takes the build that PyPI has" in done.stderr
