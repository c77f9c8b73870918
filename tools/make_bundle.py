"""Make one folder for a USB stick or a share, from which a class sets up without a network: ``make bundle``.

pip downloads wheels for other systems, but decides by this machine what a package needs: on Linux it asks for
NVIDIA's libraries, also for a Mac. So it fetches packages alone, and this script reads what they need.
"""

import argparse
import re
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from mha_lib.classroom.lesson import make_working_copy
from mha_lib.classroom.lesson.lessons import written_languages
from tools.install_torch import CONSTRAINTS, GPU_SIZE, INDEX, is_offered, pinned_version

ROOT = Path(__file__).parents[1]
STARTERS = Path(__file__).parent / "bundle"
BUNDLE = ROOT / "build" / "bundle"
HANDOUTS = ROOT / "build" / "handouts"
FROM_SOURCE = ["scour"]  # pure Python of which PyPI has no wheel
MEGABYTES = 260  # of one system and one Python, with PyTorch for the CPU
MANYLINUX = [f"manylinux_2_{minor}_x86_64" for minor in range(28, 4, -1)]
MANYLINUX += [f"manylinux{year}_x86_64" for year in ("2014", "2010", "1")]
MARKERS = ("os_name", "sys_platform", "platform_system", "platform_machine")
SYSTEMS = {  # for each its name, the tags of its wheels and its values of MARKERS
    "linux": ("Linux x86-64", MANYLINUX, ("posix", "linux", "Linux", "x86_64")),
    "windows": ("Windows x86-64", ["win_amd64"], ("nt", "win32", "Windows", "AMD64")),
    "macos": ("macOS arm64", ["macosx_14_0_arm64"], ("posix", "darwin", "Darwin", "arm64")),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--platforms", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--pythons", nargs="+", default=["3.12", "3.13", "3.14"], metavar="3.X")
    options = parser.parse_args()
    megabytes = MEGABYTES * len(options.platforms) * len(options.pythons)
    print(f"Some {megabytes} MB to download, less what pip has kept from earlier times.", flush=True)
    shutil.rmtree(BUNDLE, ignore_errors=True)
    wheels = BUNDLE / "wheels"
    wheels.mkdir(parents=True)
    pip("wheel", "--no-deps", "--wheel-dir", wheels, "-c", CONSTRAINTS, ROOT, *FROM_SOURCE)
    for system in options.platforms:
        for python in options.pythons:
            fetch(system, python, wheels)
    write_starters(BUNDLE, options.pythons, [SYSTEMS[system][0] for system in options.platforms])
    write_lessons(BUNDLE / "lessons")
    size = sum(file.stat().st_size for file in BUNDLE.rglob("*") if file.is_file())
    print(f"{BUNDLE}, {size / 1e6:.0f} MB: copy it to a stick or a share. README.txt says how to start.")


def pip(*arguments: object, subject: str = "The course's wheel") -> None:
    """Run pip, print each larger wheel that it downloads, and stop with its first error."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)]
    lines = []
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        for line in running.stdout or ():
            lines.append(line.strip())
            if found := re.search(r"Downloading (?:\S+/)?(\S+\.whl) \((\S+ [MG]B)\)", line):
                print("  {}: {}".format(*found.groups()), flush=True)
    if running.returncode:
        failure = next((line for line in lines if line.startswith("ERROR: ")), lines[-1])
        sys.exit(f"{subject}: {failure}\nCheck the network, or choose by PLATFORMS=… and PYTHONS=…")


def fetch(system: str, python: str, wheels: Path) -> None:
    """Download into the folder all that the course, whose wheel lies there, needs on a system."""
    name, tags, values = SYSTEMS[system]
    subject = f"{name}, Python {python}"
    target = ["--only-binary", ":all:", "--implementation", "cp", "--python-version", python]
    target += [option for tag in tags for option in ("--platform", tag)]
    environment = dict(zip(MARKERS, values, strict=True)) | {"implementation_name": "cpython"}
    environment |= {"python_version": python, "python_full_version": f"{python}.0"}
    with TemporaryDirectory(dir=wheels.parent) as folder:
        place = Path(folder)
        shutil.copy(next(wheels.glob("mha_lib-*.whl")), place)
        download = ["download", "--no-deps", "--progress-bar", "off", "--dest", place, *target]
        for_cpu = f"{pinned_version()}+cpu"
        if system == "linux" and is_offered(for_cpu, *target):
            pip(*download, "--index-url", INDEX, f"torch=={for_cpu}", subject=subject)
        elif system == "linux":
            print(
                f"PyTorch: {INDEX} can't be reached, or has no build for Python {python}, "
                f"so what pip finds elsewhere is taken: up to {GPU_SIZE} to download."
            )
        while lacking := list_lacking(place, environment):
            pip(*download, "--find-links", wheels, "-c", CONSTRAINTS, *lacking, subject=subject)
        found = list(place.iterdir())
        megabytes = sum(file.stat().st_size for file in found) / 1e6
        print(f"{subject}: {len(found)} wheels, {megabytes:.0f} MB", flush=True)
        for file in found:
            file.replace(wheels / file.name)


def list_lacking(place: Path, environment: dict[str, str]) -> list[str]:
    """The requirements, of the course and of all that it needs in turn, that no wheel in the folder meets."""
    wheels = [(file, *parse_wheel_filename(file.name)[:2]) for file in place.glob("*.whl")]
    todo, seen, lacking = [Requirement("mha-lib[classroom]")], set(), []
    while todo:
        wanted = todo.pop()
        if str(wanted) in seen:
            continue
        seen.add(str(wanted))
        for file, name, version in wheels:
            if name == canonicalize_name(wanted.name) and wanted.specifier.contains(version, True):
                todo += requirements_of(file, environment, ["", *wanted.extras])
                break
        else:
            lacking.append(str(wanted))
    return sorted(lacking)


def requirements_of(wheel: Path, environment: dict[str, str], extras: list[str]) -> list[Requirement]:
    with zipfile.ZipFile(wheel) as packed:
        (metadata,) = (name for name in packed.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
        lines = Parser().parsestr(packed.read(metadata).decode()).get_all("Requires-Dist", [])
    needed = []
    for requirement in map(Requirement, lines):
        marker, requirement.marker = requirement.marker, None  # pip would read it for this machine
        if not marker or any(marker.evaluate({**environment, "extra": extra}) for extra in extras):
            needed.append(requirement)
    return needed


def write_starters(bundle: Path, pythons: list[str], systems: list[str]) -> None:
    """Lay the starters into the bundle, and write which Pythons and systems it is for."""
    shutil.copytree(STARTERS / "setup", bundle / "setup")
    (bundle / "setup/pythons.txt").write_text("\n".join(pythons) + "\n", encoding="utf-8")
    for name in ("README.txt", "setup/needed.txt", "start.cmd"):  # with the line ends of Windows
        text = (STARTERS / name).read_text(encoding="utf-8")
        text = text.replace("PYTHONS", ", ".join(pythons)).replace("SYSTEMS", ", ".join(systems))
        (bundle / name).write_text(text, encoding="utf-8", newline="\r\n")
    for name in ("start.sh", "start.command"):
        shutil.copy(STARTERS / "start.sh", bundle / name)


def write_lessons(folder: Path) -> None:
    """Lay in the copies that students get, for any Jupyter, and the handouts, made where there are none."""
    with TemporaryDirectory() as place:
        for name in ("notebooks", "img"):
            unseen = shutil.ignore_patterns("*.gif", "*.png", ".ipynb_checkpoints")  # no lesson shows them
            shutil.copytree(ROOT / name, Path(place) / name, ignore=unseen)
        shutil.copytree(Path(place) / "img", folder.with_name("img"))
        for language in written_languages(ROOT):
            shutil.move(make_working_copy(Path(place), language)[0], folder / language)
            if not (HANDOUTS / language).is_dir():
                print(f"Handouts, {language}: each lesson runs once, which takes minutes", flush=True)
                command = [sys.executable, "-m", "mha_lib.classroom", "handouts", "--language", language]
                subprocess.run(command, cwd=ROOT)
            shutil.copytree(HANDOUTS / language, folder.with_name("handouts") / language)


if __name__ == "__main__":
    main()
