"""Sets the course up from this bundle without a network, where that is not done yet, and opens it."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

BUNDLE = Path(__file__).resolve().parents[1]
WHEELS = BUNDLE / "wheels"
NEEDED = (BUNDLE / "setup/needed.txt").read_text(encoding="utf-8")
VENV = """On Debian and Ubuntu: apt install python3-venv
Debian 和 Ubuntu：请先运行 apt install python3-venv"""
FOLDER = """No folder can be written to: name one in MHA_FOLDER.
没有可以写入的文件夹：请用 MHA_FOLDER 指定一个。"""
BEGIN = """Setting up in {0}: some minutes, once.
正在安装到 {0}：需要几分钟，只有这一次。"""


def main() -> int:
    folder = choose_folder()
    environment, log = folder / ".venv", folder / "setup.log"
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ready = environment / "ready.txt"
    edition = "\n".join(sorted(f"{wheel.name} {wheel.stat().st_size}" for wheel in WHEELS.glob("*.whl")))
    is_ready = ready.exists() and ready.read_text(encoding="utf-8") == edition
    if not (is_ready and run(Path(os.devnull), python, "--version")):
        print(BEGIN.format(folder), flush=True)
        if not run(log, sys.executable, "-m", "venv", "--clear", environment):
            fail(log, VENV)
        pip = [python, "-m", "pip", "--isolated", "--disable-pip-version-check", "install", "--no-index"]
        if not run(log, *pip, "--find-links", WHEELS, "mha-lib[classroom]"):
            fail(log, NEEDED)
        ready.write_text(edition, encoding="utf-8")
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is for the course
    return subprocess.call([python, "-m", "mha_lib.classroom", *(sys.argv[1:] or ["lab"])], cwd=folder)


def choose_folder() -> Path:
    """The folder in MHA_FOLDER; or one beside the bundle, or else in the home folder.

    Beside the bundle only on the disk of the home folder: a stick goes from hand to hand, and is slow.
    """
    named, home = os.environ.get("MHA_FOLDER"), Path.home()
    for place in [Path(named).resolve()] if named else [BUNDLE.parent / "mha-course", home / "mha-course"]:
        with suppress(OSError):
            if named or place.parent.stat().st_dev == home.stat().st_dev:
                place.mkdir(parents=True, exist_ok=True)
                (place / "setup.log").touch()
                return place
    sys.exit(FOLDER)


def run(log: Path, *command: object) -> bool:
    """Whether a command succeeds; what it prints is in the log. No settings of pip's change anything."""
    with log.open("w", encoding="utf-8") as said, suppress(OSError):
        settings = os.environ | {"PIP_CONFIG_FILE": os.devnull}
        done = subprocess.run(list(map(str, command)), env=settings, stdout=said, stderr=subprocess.STDOUT)
        return not done.returncode
    return False


def fail(log: Path, way_out: str) -> None:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    errors = [line for line in lines if line.startswith("ERROR: ")]
    sys.exit("\n".join(["Set-up failed / 安装失败：", *errors[:1], way_out, str(log)]))


if __name__ == "__main__":
    sys.exit(main())
