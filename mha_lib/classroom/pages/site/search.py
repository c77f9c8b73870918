"""The search index of the site, made by Pagefind: one for each language, with Chinese cut into words."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

from mha_lib.classroom.lesson import CourseError

FOLDER = "pagefind"  # in the site
LICENCE = Path(__file__).with_name("PAGEFIND-LICENSE.txt")  # must accompany Pagefind's programs
# Pagefind's own search boxes, for sites that have none.
UNUSED = ("*-ui.*", "*-component-ui*", "pagefind-highlight.js")


def require_pagefind() -> None:
    """Raise where Pagefind is missing; a class does not need it, so it may not be installed."""
    if importlib.util.find_spec("pagefind") is None:
        raise CourseError("no_pagefind")


def write_search_index(site: Path) -> None:
    """Index the pages that have a ``data-pagefind-body``: lessons and documents, by their headings."""
    command = [sys.executable, "-m", "pagefind", "--silent", "--site", str(site), "--output-subdir", FOLDER]
    command += ["--include-characters", "_", "--exclude-selectors", ".anchor, .kicker, main > footer"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        last_line = " ".join((done.stderr or done.stdout).strip().splitlines()[-1:])
        raise CourseError("no_index", folder=site, reason=last_line)
    for pattern in UNUSED:
        for file in (site / FOLDER).glob(pattern):
            file.unlink()
    shutil.copyfile(LICENCE, site / FOLDER / "LICENSE.txt")
