"""Without an NVIDIA GPU, set-up takes PyTorch's build for the CPU: tried with made-up indices and GPUs."""

import http.server
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import threading
from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest
import yaml

from tests.wheels import wheel

ROOT = Path(__file__).parents[1]
INDEX = "https://download.pytorch.org/whl/cpu"
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


def lay_wheel(place, name, version, tag="py3-none-any"):
    """Add a wheel to an index, which is a folder. Torch needs numpy."""
    needed = ["numpy"] if name == "torch" else []
    file, content = wheel(name, version, tag, needed, [(f"{name}_load", bytes(LOAD))])
    (place / name).mkdir(parents=True, exist_ok=True)
    (place / name / file).write_bytes(content)


@pytest.fixture
def wheels(tmp_path):
    """The folder of the two indices."""
    for place, suffix in (("cpu", "+cpu"), ("pypi", "")):
        for name, version in (("torch", f"2.13.0{suffix}"), ("pip", "99.0"), ("numpy", "99.0")):
            lay_wheel(tmp_path / "wheels" / place, name, version)
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
        self.ask(f"{indices}/cpu")
        self.has_gpu(False)

    def ask(self, index):
        """Another address takes the place of PyTorch's index."""
        self.environment["TORCH_INDEX"] = index

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
    assert machine.set_up() == FOR_CPU
    assert machine.build == "2.13.0+cpu"


def test_with_a_gpu_it_is_the_build_that_pypi_has(machine):
    machine.has_gpu(True)
    assert machine.set_up() == FOR_GPU
    assert machine.build == "2.13.0"
    assert not [path for path in Indices.asked if path.startswith("/cpu")]


def test_pytorchs_index_is_asked_for_torch_alone(machine):
    machine.environment["PIP_EXTRA_INDEX_URL"] = machine.environment["PIP_INDEX_URL"]
    assert machine.set_up() == FOR_CPU
    assert machine.build == "2.13.0+cpu"
    asked = [path for path in Indices.asked if path.startswith("/cpu")]
    assert asked
    assert all(path.startswith("/cpu/torch/") for path in asked)


@pytest.mark.parametrize("kind", ["closed", "empty", pytest.param("silent", marks=pytest.mark.ci)])
def test_an_index_that_cannot_be_had_is_said_and_pypi_is_asked(machine, indices, kind):
    """A silent one takes a connection and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        closed = f"http://127.0.0.1:{server.getsockname()[1]}/cpu"
        address = f"{indices}/nothing" if kind == "empty" else closed
        if kind == "closed":
            server.close()
        machine.ask(address)
        said = machine.set_up()
    assert said == (
        f"PyTorch: {address} can't be reached, or has no build for this Python, so PyPI's is taken: "
        "up to 3.1 GB to download.\n"
    )
    assert machine.build == "2.13.0"
    assert "ERROR" not in (machine.folder / ".venv/setup.log").read_text(), "make would print it"


@pytest.mark.ci
def test_by_hand_either_build_replaces_the_other(machine):
    assert "because TORCH=cuda asks for it." in machine.set_up("cuda")
    assert machine.build == "2.13.0"
    machine.has_gpu(True)
    assert "1.5 MB to download, because TORCH=cpu asks for it." in machine.set_up("cpu")
    assert machine.build == "2.13.0+cpu"
    assert "up to 3.1 GB to download, because TORCH=cuda" in machine.set_up("cuda")
    assert machine.build == "2.13.0"


@pytest.mark.ci
def test_what_is_installed_stays_without_a_word_until_its_version_changes(machine, wheels):
    machine.set_up("cuda")
    Indices.asked.clear()
    assert machine.set_up() == machine.set_up("cuda") == ""
    assert machine.build == "2.13.0"
    assert not Indices.asked
    (machine.folder / "constraints.txt").write_text("torch==2.14.0\n")
    lay_wheel(wheels / "cpu", "torch", "2.14.0+cpu")
    assert machine.set_up() == FOR_CPU
    assert machine.build == "2.14.0+cpu"


@pytest.mark.ci
def test_a_download_that_fails_says_what_helps_and_installs_nothing(machine, wheels):
    for file in wheels.rglob("*.whl"):
        file.write_bytes(file.read_bytes()[:1000])
    done = machine.run("tools/install_torch.py")
    assert done.returncode
    assert done.stderr.startswith("Set-up failed: ERROR: ")
    assert "TORCH=cuda takes the build that PyPI has" in done.stderr


def test_another_build_is_refused_by_name(machine):
    done = machine.run("tools/install_torch.py", "gpu")
    assert done.returncode
    assert done.stderr == "TORCH=gpu must be cpu or cuda; without it, an NVIDIA GPU is looked for.\n"


@pytest.mark.parametrize("system", ["darwin", "win32"])
@pytest.mark.parametrize("wish", ["", "cuda"])
def test_elsewhere_there_is_nothing_to_decide(machine, system, wish):
    there = f"import runpy, sys; sys.platform = {system!r}; sys.argv[1:] = [{wish!r}]"
    done = machine.run("-c", f"{there}; runpy.run_path('tools/install_torch.py', run_name='__main__')")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ("TORCH=cuda changes nothing here: it is for Linux.\n" if wish else "")
    assert not Indices.asked


@pytest.mark.ci
@pytest.mark.parametrize(
    ("platform", "suffix", "build"),
    [
        ("manylinux_2_28_x86_64", "+cpu", "2.13.0+cpu"),
        ("win_amd64", "+cpu", "2.13.0+cpu"),
        ("macosx_11_0_arm64", "", "2.13.0"),
    ],
)
def test_with_conda_too_pip_takes_the_build_for_the_cpu(machine, indices, wheels, platform, suffix, build):
    """Both indices have torch for each system; on macOS it is the same."""
    packages = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"][-1]["pip"]
    (option,) = (line for line in packages if "index" in line)
    shutil.rmtree(wheels)
    for place, version in (("cpu", f"2.13.0{suffix}"), ("pypi", "2.13.0")):
        lay_wheel(wheels / place, "torch", version, f"py3-none-{platform}")
    place = option.replace(INDEX, f"{indices}/cpu").split()
    wanted = ["-c", "constraints.txt", "torch", "--only-binary", ":all:", "--platform", platform]
    done = machine.run("-m", "pip", "download", *place, *wanted, "--no-deps", "--dest", "taken")
    assert not done.returncode, done.stderr
    (taken,) = (machine.folder / "taken").iterdir()
    assert taken.name.startswith(f"torch-{build}-")
