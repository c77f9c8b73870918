"""A bundle has what each system of a class needs, and sets up from it without a network."""

import os
import shutil
import subprocess
import sys

import pytest

from mha_lib.classroom.lesson import list_lessons
from tests.wheels import wheel
from tools import install_torch, make_bundle

PYTHON = ".".join(map(str, sys.version_info[:2]))
OF_COURSE = ["torch", "mha-lib[lesson]; extra == 'classroom'", "pictures; extra == 'lesson'"]
OF_COURSE += [
    f"console{place}; sys_platform == '{place}' and extra == 'classroom'" for place in ("win32", "linux")
]
OF_COURSE += ["hub; extra == 'hub'", "parts>=1; extra == 'classroom'"]
OF_TORCH = ["nvidia; platform_system == 'Linux'", "parts<2"]
OTHERS = ("pictures", "consolewin32", "consolelinux", "nvidia", "hub", "parts")
PRINT = "import os, sys; print(*sys.argv[1:], os.getcwd(), sep='\\n')"

not_windows = pytest.mark.skipif(os.name == "nt", reason="start.sh is for the other systems")


def lay(folder, *wheels):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in wheels:
        (folder / name).write_bytes(content)


def lay_index(folder, *wheels):
    """An index of packages, as pip reads it from a disk."""
    for name, content in wheels:
        of_package = folder / name.split("-")[0]
        lay(of_package, (name, content))
        links = [
            f'<a href="{file.name.replace("+", "%2B")}">{file.name}</a>' for file in of_package.glob("*.whl")
        ]
        (of_package / "index.html").write_text("".join(links))
    return folder.as_uri()


@pytest.fixture
def wheels(tmp_path, monkeypatch):
    """The folder of a bundle with the course's own wheel; PyTorch's index has no wheel yet, PyPI has all."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    tags = ("manylinux_2_28_x86_64", "win_amd64", "macosx_11_0_arm64")
    torch = [wheel("torch", "2.13.0", f"cp313-cp313-{tag}", OF_TORCH) for tag in tags]
    others = [wheel(name, "1") for name in OTHERS]
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    pypi = [*torch, *others, wheel("parts", "2"), wheel("torch", "2.14.0"), wheel("mha_lib", "99")]
    monkeypatch.setenv("PIP_INDEX_URL", lay_index(tmp_path / "pypi", *pypi))
    monkeypatch.setattr(install_torch, "LOG", tmp_path / "setup.log")
    for module in (install_torch, make_bundle):
        monkeypatch.setattr(module, "INDEX", (tmp_path / "cpu").as_uri())
    lay(tmp_path / "wheels", wheel("mha_lib", "9", requires=OF_COURSE))
    return tmp_path / "wheels"


def packages_in(wheels):
    return {"-".join(file.name.split("-")[:2]) for file in wheels.glob("*.whl")}


FOR_ALL = {"mha_lib-9", "torch-2.13.0", "pictures-1", "parts-1", "parts-2"}


@pytest.mark.ci
@pytest.mark.parametrize(
    ("system", "others"),
    [("windows", {"consolewin32-1"}), ("macos", set()), ("linux", {"consolelinux-1", "nvidia-1"})],
)
def test_a_system_gets_what_it_needs_and_no_more_whatever_this_one_is(wheels, capsys, system, others):
    """Two packages may ask for different versions of a third: pip chooses at set-up."""
    make_bundle.fetch(system, "3.13", wheels)
    assert packages_in(wheels) == FOR_ALL | others
    said = capsys.readouterr().out
    assert f"{make_bundle.SYSTEMS[system][0]}, Python 3.13: {len(FOR_ALL | others)} wheels, " in said
    assert ("up to 3.1 GB to download" in said) == (system == "linux")


@pytest.mark.ci
def test_linux_gets_the_build_for_the_cpu_where_pytorchs_index_has_it(wheels, tmp_path, capsys):
    lay_index(tmp_path / "cpu", wheel("torch", "2.13.0+cpu", "cp313-cp313-manylinux_2_28_x86_64"))
    make_bundle.fetch("linux", "3.13", wheels)
    assert packages_in(wheels) == {"mha_lib-9", "torch-2.13.0+cpu", "pictures-1", "parts-2", "consolelinux-1"}
    assert "3.1 GB" not in capsys.readouterr().out


def test_a_bundle_has_the_copies_of_students_and_the_handouts(tmp_path, monkeypatch):
    for language in ("en", "zh"):
        (tmp_path / "made" / language).mkdir(parents=True)
        (tmp_path / "made" / language / "01.html").touch()
    monkeypatch.setattr(make_bundle, "HANDOUTS", tmp_path / "made")
    make_bundle.write_lessons(tmp_path / "lessons")
    for language in ("en", "zh"):
        copies = {file.name for file in (tmp_path / "lessons" / language).glob("*.ipynb")}
        assert copies == {lesson.name for lesson in list_lessons(make_bundle.ROOT, language)}
        assert (tmp_path / "handouts" / language / "01.html").exists()
        assert (tmp_path / "lessons" / language / "../../img/masks.svg").exists()
    assert '"kind": "student"' in (tmp_path / "lessons/zh/04_layers.ipynb").read_text("utf-8")


class Stick:
    """A bundle whose course prints what it is asked, on a machine with one Python and no network."""

    def __init__(self, folder, pythons=PYTHON):
        self.bundle, self.home, self.programs = folder / "my stick 空/bundle", folder / "home", folder / "bin"
        for place in (self.bundle, self.home, self.programs):
            place.mkdir(parents=True)
        program = ("mha_lib/classroom/__main__.py", PRINT)
        lay(
            self.bundle / "wheels",
            wheel("mha_lib", "9", requires=["pictures; extra == 'classroom'"], files=[program]),
            wheel("pictures", "1"),
        )
        make_bundle.write_starters(self.bundle, [pythons], ["Linux x86-64"])
        for name in ("sh", "dirname", "cat"):
            (self.programs / name).symlink_to(shutil.which(name) or "")
        self.has_python(f'exec "{sys.executable}" "$@"')
        self.environment = {
            "HOME": str(self.home),
            "PATH": str(self.programs),
            "PIP_CONSTRAINT": "missing.txt",
        }

    def has_python(self, line):
        (self.programs / "python3").write_text(f"#!/bin/sh\n{line}\n")
        (self.programs / "python3").chmod(0o755)

    def start(self, *arguments, **more):
        command = [self.programs / "sh", self.bundle / "start.sh", *arguments]
        environment = self.environment | more
        done = subprocess.run(command, cwd="/", env=environment, capture_output=True, encoding="utf-8")
        return done.returncode, done.stdout.splitlines(), done.stderr


@not_windows
@pytest.mark.ci
def test_the_first_start_sets_up_beside_the_bundle_and_the_next_only_opens(tmp_path):
    stick = Stick(tmp_path)
    course = stick.bundle.with_name("mha-course")
    status, lines, error = stick.start()
    assert (status, lines[2:]) == (0, ["lab", str(course)]), error
    assert lines[0] == f"Setting up in {course}: some minutes, once."
    assert stick.start("lab", "--language", "zh") == (0, ["lab", "--language", "zh", str(course)], "")
    lay(stick.bundle / "wheels", wheel("pictures", "2"))
    assert stick.start()[1][0] == lines[0], "another edition of the bundle"
    shutil.rmtree(course / ".venv/bin")
    assert stick.start()[1][0] == lines[0], "its Python is gone"
    assert not list(stick.home.iterdir())


@not_windows
@pytest.mark.ci
def test_a_wheel_that_does_not_fit_this_machine_is_said_with_the_machines_that_do(tmp_path):
    stick = Stick(tmp_path)
    (stick.bundle / "wheels/pictures-1-py3-none-any.whl").unlink()
    lay(stick.bundle / "wheels", wheel("pictures", "1", "cp313-cp313-win_amd64"))
    status, _, error = stick.start()
    assert status == 1
    assert "ERROR: Could not find a version that satisfies the requirement pictures" in error
    assert f"This folder is for Linux x86-64, with Python {PYTHON} (64 bits)." in error
    assert f"本文件夹适用于 Linux x86-64，需要 Python {PYTHON}" in error
    assert not list(stick.bundle.parent.glob("mha-course/.venv/ready.txt")), "a set-up that failed is none"


@not_windows
def test_without_a_python_that_fits_the_way_out_is_said_in_both_languages(tmp_path):
    stick = Stick(tmp_path, "3.99")
    for line, found in ((f'exec "{sys.executable}" "$@"', PYTHON), ("exit 127", "")):
        stick.has_python(line)
        status, lines, error = stick.start()
        assert (status, lines) == (1, [])
        assert "with Python 3.99 (64 bits).\nInstall one of these" in error.replace("\r", "")
        assert "请从 https://www.python.org/downloads/ 安装其中一个" in error
        assert error.splitlines()[-1].split("Python:")[1].strip() == found
    assert not stick.bundle.with_name("mha-course").exists()
