"""The packages of a release are whole, and the wheel works in an empty environment, decks and all."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell
from playwright.sync_api import expect

from tests.browser.new_lesson import cell, current, lay_lesson, open_deck
from tests.browser.waiting import attribute_of
from tests.lessons import ROOT
from tools import make_release

pytestmark = pytest.mark.ci

INTERACT = """
import matplotlib.pyplot as plt
from ipywidgets import interact

@interact(height=(1, 9))
def bar(height=3):
    plt.figure(figsize=(2, 1))
    plt.bar([0], [height])
    plt.ylim(0, 9)
    plt.show()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Beside it lies the source archive."""
    return make_release.make_packages(tmp_path_factory.mktemp("packages"))


@pytest.fixture(scope="module")
def fresh(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has nothing but the wheel and what it needs."""
    return make_release.install(wheel, sys.executable, tmp_path_factory.mktemp("fresh"), oldest=False)


def pip_install(fresh: Path, *arguments: object) -> None:
    command = [fresh / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*map(str, command), *map(str, arguments)], check=True)


def install_alone(fresh: Path, *package: object) -> None:
    pip_install(fresh, "--no-deps", "--force-reinstall", *package)


def test_the_packages_are_whole(wheel):
    (archive,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(archive) as packed, zipfile.ZipFile(wheel) as installed:
        inside = {name.partition("/")[2] for name in packed.getnames()}
        modules = {name for name in installed.namelist() if name.endswith(".py")}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert modules <= inside
    assert set(listed.stdout.split("\n")[:-1]) - inside == set()


def test_the_wheel_works_alone(wheel, fresh, tmp_path):
    """With the pinned PyTorch; ``make release`` tries the oldest one too, which is 3 GB on Linux."""
    install_alone(fresh, wheel)
    make_release.try_alone(fresh, tmp_path, oldest=False)


@pytest.mark.parametrize("way", ["from a wheel", "editable", "with the fallback"])
def test_widgets_live_in_a_deck(page, serve, wheel, fresh, tmp_path, way):
    if way == "from a wheel":
        install_alone(fresh, wheel)
    elif way == "editable":
        install_alone(fresh, "-e", ROOT)
    elif way == "with the fallback":
        pip_install(fresh, "-r", ROOT / "constraints-fallback.txt")
    cells = [cell("slide", new_code_cell, INTERACT, "interact")]
    server = serve(tmp_path, str(fresh / "python"))
    open_deck(page, lay_lesson(server, "widgets.ipynb", cells))
    page.keyboard.press("Control+Enter")
    figure, slider = (current(page).locator(part) for part in (".jp-OutputArea-output img", ".noUi-handle"))
    before = attribute_of(figure, "src") or ""
    slider.press("ArrowRight")
    expect(current(page).locator(".widget-readout")).to_have_text("4")
    expect(figure).not_to_have_attribute("src", before)
    expect(current(page)).to_have_id("slide-0-0")
