"""The slides of a lesson as a PDF, made by the command on a small course."""

import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from tests.browser.conftest import install_deck
from tests.browser.new_lesson import cell, new_lesson

pytestmark = pytest.mark.ci

ROOT = Path(__file__).parents[2]
EXPLORER = """
import numpy as np
from mha_lib.classroom import explore
explore(lambda heads=2: np.full((heads, 3, 5), 0.2), heads=[1, 2])
"""
GOOD = [  # slide type, source; each Greek letter stands in one place alone
    ("slide", "# A title α"),
    ("slide", EXPLORER),
    ("subslide", "print(chr(946), 6 * 7)"),
    ("notes", "Optional, 2 min. γ"),
    ("slide", "## The end, $\\delta$"),
    ("fragment", "A step ε"),
    ("fragment", "<details><summary>Why?</summary>\n\nThe answer η\n\n</details>"),
    ("skip", "Nothing of this: ζ"),
]
BROKEN = [("slide", "# Broken"), ("slide", "1 / 0")]
KB = "… KB"
IS_CODE = re.compile(r"print|1 / 0|\nimport")


LONG = "\n".join(f"    {chr(0x400 + number)}()" for number in range(60))  # each letter stands there once
PRINTED = "\n".join(chr(0x43C + number) for number in range(36))  # those that follow
FAILED = new_output("error", ename="ZeroDivisionError", evalue="", traceback=["ZeroDivisionError"])


def command(home):
    """The command, and the environment in which it finds the deck of the working tree."""
    install_deck(home)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "JUPYTER_PATH": str(home)}
    return [sys.executable, "-m", "mha_lib.classroom", "slides"], environment


def test_a_notebook_of_ones_own_is_printed_to_the_end_of_its_longest_slide(tmp_path):
    file = tmp_path / "50% #1.ipynb"
    (tmp_path / "img").mkdir()
    lines = "\n".join(f"- line {chr(0x3B1 + number)}" for number in range(24))
    cells = [
        new_markdown_cell(f"# One\n\n{lines}"),
        new_markdown_cell("## Two"),
        new_code_cell(f"def f():\n{LONG}"),
        new_markdown_cell("## Three"),
        new_code_cell("1 / 0", outputs=[new_output("stream", text=PRINTED), FAILED]),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), file)
    asked, environment = command(tmp_path / "home")
    said = subprocess.run([*asked, file], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (said.returncode, said.stderr) == (0, "")
    pdf = file.with_suffix(".pdf").read_bytes()
    assert len(re.findall(rb"/MediaBox", pdf)) > 3
    assert {chr(0x3B1 + number) for number in range(24)} <= letters_of(pdf)
    assert {chr(0x400 + number) for number in range(96)} <= letters_of(pdf)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course whose slides were written, and the result of the command."""
    root, home = tmp_path_factory.mktemp("course"), tmp_path_factory.mktemp("home")
    folder = root / "notebooks" / "en"
    folder.mkdir(parents=True)
    for name, cells in {"01_good": GOOD, "02_broken": BROKEN}.items():
        made = [
            cell(kind, new_code_cell if IS_CODE.match(source) else new_markdown_cell, source, f"c{number}")
            for number, (kind, source) in enumerate(cells)
        ]
        nbformat.write(new_lesson(made), folder / f"{name}.ipynb")
    asked, environment = command(home)
    return root, subprocess.run(asked, cwd=root, env=environment, capture_output=True, text=True)


def test_each_slide_is_a_page_of_text_with_its_outputs_and_steps(course):
    root, _ = course
    pdf = (root / "build" / "slides" / "en" / "01_good.pdf").read_bytes()
    assert re.findall(rb"/MediaBox \[([^]]*)\]", pdf) == [b"0 0 960 540"] * 4
    letters = letters_of(pdf)
    assert set("αβε") <= letters
    assert not set("γζη") & letters
    titles = [title.decode("utf-16") for title in re.findall(rb"/Title \((\xfe\xff[^)]*)\)", pdf)]
    assert any("The end" in title for title in titles) or b"(The end" in pdf, "the outline"
    assert b"/Subtype /Image" in pdf, "the explorer's heatmaps"


def letters_of(pdf: bytes) -> set[str]:
    """The characters of the text, from the tables by which a reader copies it."""
    letters = set()
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        try:
            content = zlib.decompress(stream)
        except zlib.error:
            continue
        if b"beginbfchar" in content or b"beginbfrange" in content:
            for first, last, start in re.findall(rb"<(\w{4})> <(\w{4})> <(\w{4})>", content):
                count = int(last, 16) - int(first, 16) + 1
                letters |= {chr(int(start, 16) + step) for step in range(count)}
            letters |= {chr(int(code, 16)) for code in re.findall(rb"^<\w{4}> <(\w{4})>$", content, re.M)}
    return letters


def test_a_lesson_that_fails_is_one_line_and_the_others_are_written(course):
    root, said = course
    assert said.returncode == 1
    made = [f"executed/en/01_good.ipynb  {KB}", f"slides/en/01_good.pdf  {KB}"]
    assert re.sub(r"\d+ KB", KB, said.stdout).splitlines() == [f"{root}/build/{one}" for one in made]
    assert re.fullmatch(r"\S+/02_broken\.ipynb, .*: ZeroDivisionError: division by zero\n", said.stderr)
    assert not (root / "build" / "slides" / "en" / "02_broken.pdf").exists()
    assert not (root / "work").exists(), "neither lessons nor working copies are touched"
