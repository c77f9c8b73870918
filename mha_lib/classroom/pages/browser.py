"""The browser that prints slides, and runs the browser tests."""

import os
import shutil
from pathlib import Path

from mha_lib.classroom.lesson import CourseError

# The first is Chromium without windows, as Debian has it: a page of JupyterLab takes it a third less.
NAMES = ["chromium-headless-shell", "chromium", "chromium-browser"]
NAMES += ["google-chrome", "google-chrome-stable", "chrome", "msedge"]
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)


def find_browser() -> str | None:
    """The path of an installed Chromium or Chrome; CHROMIUM=/path/to/it goes before all others."""
    candidates = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES), *PLACES]
    return next((path for path in candidates if path and Path(path).exists()), None)


def require_browser() -> str:
    browser = find_browser()
    if browser is None:
        raise CourseError("no_browser")
    return browser


def is_administrator() -> bool:
    """Whether this runs as root: Chromium refuses to run in its sandbox then."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
