"""JupyterLab 4.7 in the place of 4.6. The script can't install it: the tests here compare the files alone."""

import re
from pathlib import Path

from tests.errands.edits import add_above

HEADING = "Move to a new JupyterLab"
TESTS = ["tests/test_environment.py", "-k", "pinned or conda"]


def make(root: Path) -> None:
    for name, former, new in (
        ("pyproject.toml", '"jupyterlab>=4.6,<5"', '"jupyterlab>=4.7,<5"'),
        ("constraints.txt", r"jupyterlab==4\.6\.\d+", "jupyterlab==4.7.0"),
    ):
        file = root / name
        text, count = re.subn(former, new, file.read_text(encoding="utf-8"))
        assert count == 1, f"{name} names JupyterLab {count} times"
        file.write_text(text, encoding="utf-8")
    add_above(root / "CHANGELOG.md", "### ", "- The course runs in JupyterLab 4.7.\n\n")
