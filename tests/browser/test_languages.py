"""A language is added without a line of code: one whose every sentence is ⟦…⟧ leaves no English anywhere.

The language is made here, from the English words. Its course has one small lesson and one figure. What
people see of it is collected from the deck and the command line, with the text that is drawn on a canvas or
in a plot. What is left after the ⟦…⟧ must be code or data. Pages are read in tests/classroom/pages.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import expect

from mha_lib.classroom.lesson.language import read_words, words_in
from tests.brackets import bracketed, outside_brackets, write_words
from tests.browser.explorers import SPY_ON_TEXT
from tests.browser.lecture import foot_says
from tests.browser.new_lesson import cell, lay_lesson, new_lesson, open_deck, status_of
from tests.browser.waiting import answer_of, measure, text_of, texts_of, until
from tests.drawings import words_of_drawing

pytestmark = pytest.mark.ci

ROOT = Path(__file__).parents[2]
WORDS = "mha_lib/classroom/words"
ENGLISH = read_words(ROOT / WORDS / "en")
LANGUAGE = "qps"  # a code that no language has
FIGURE = "masks.svg"

NAMES = {"ValueError", "UserWarning", "ZeroDivisionError", "Traceback"}
NAMES_OF_COMMANDS = """lab present handouts slides notes site overview doctor
    translations python lesson student instructor LANGUAGE NAME PORT"""
SETUP = "from mha_lib.classroom import begin_lesson, check, explore, show_heads"
SETUP += f"\n\nbegin_lesson('01', {LANGUAGE!r})"
EXPLORER = """
import numpy as np

def weights_of(a=2, on=True):
    if a == 4: raise ValueError("4")
    return np.full((2, a, 3, 5), 0.2), np.arange(5) < 3 + on

explore(weights_of, a=[1, 2, 4], on=True)
"""
PLOT = """
import warnings
from matplotlib.text import Text
figure = show_heads(np.full((2, 2, 3, 3), 0.3), np.tri(3) > 0, key_labels=["1", "2", "\\U00013000"])
print(*(text.get_text() for text in figure.findobj(Text)), sep="\\n")
"""
CHECKS = """
check.masked_softmax(lambda scores, mask: ...)
check.masked_softmax(lambda scores, mask: 1 / 0)
check.masked_softmax(lambda scores, mask: "1")
check.masked_softmax(lambda scores, mask: scores.softmax(-1))
check.masked_softmax(lambda scores, mask: scores + 1)
check.masked_softmax(lambda scores, mask: scores[0])
check.masked_softmax(3)
check.masked_softmax(lambda scores, mask: scores.masked_fill(~mask, -1e9).softmax(-1))
check.crossover(lambda *sizes: 7)
check.crossover(lambda *sizes: "7")
check.report()
"""


CELLS = [  # a word as its name would count as English
    cell("slide", new_markdown_cell, "# ⟦1⟧", "c0"),
    cell("notes", new_markdown_cell, "3 分。⟦1⟧", "c1"),
    cell("skip", new_code_cell, SETUP, "c2", ("setup",)),
    cell("slide", new_markdown_cell, f"## ⟦2⟧\n\n![⟦3⟧](../../img/{FIGURE})", "c3"),
    cell("notes", new_markdown_cell, "4, 2 分。⟦5⟧", "c4"),
    cell("slide", new_code_cell, EXPLORER, "c5"),
    cell("slide", new_code_cell, PLOT, "c6"),
    cell("slide", new_code_cell, CHECKS, "c7", ("exercise",)),
]
CELLS[6].metadata["jupyter"] = {"source_hidden": True}
WORDS_OF_FIGURE = words_of_drawing((ROOT / "img" / FIGURE).read_bytes())


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the library with the words of one more language, and nothing else."""
    folder = tmp_path_factory.mktemp("library")
    shutil.copytree(ROOT / "mha_lib", folder / "mha_lib", ignore=shutil.ignore_patterns("__pycache__"))
    write_words(folder / WORDS / LANGUAGE, bracketed(ENGLISH))
    return folder


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course in that language: one lesson, and the words of one figure."""
    root = tmp_path_factory.mktemp("course")
    lesson = root / "notebooks" / LANGUAGE / "01_small.ipynb"
    lesson.parent.mkdir(parents=True)
    nbformat.write(new_lesson(CELLS, LANGUAGE), lesson)
    (root / "img" / "words").mkdir(parents=True)
    shutil.copy(ROOT / "img" / FIGURE, root / "img")
    figure_words = {word: f"⟦{word}⟧" for word in WORDS_OF_FIGURE}
    (root / "img" / "words" / f"{LANGUAGE}.json").write_text(json.dumps({FIGURE: figure_words}))
    return root


def english_in(text: str) -> list[str]:
    """Words of three letters and more that stand in no ⟦…⟧ and are no names: of files, options, functions."""
    text = outside_brackets(text)
    text = re.sub(r"\S*[/\\_=<>-]\S*|`[^`]*`|\S+\.(?:ipynb|html|pdf|png|svg)\b", " ", text)
    return re.findall(r"[^\W\d_]{3,}", text)


@pytest.mark.parametrize("arguments", [["lab", "--help"], ["handouts", "09"]], ids=str)
def test_the_command_line_says_nothing_in_english(library: Path, course: Path, arguments: list[str]) -> None:
    command = [sys.executable, "-m", "mha_lib.classroom", "--language", LANGUAGE, *arguments]
    environment = os.environ | {"PYTHONPATH": str(library)}
    result = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    said = result.stdout + result.stderr
    assert "⟦" in said
    assert set(english_in(said)) <= set(NAMES_OF_COMMANDS.split())


def test_the_deck_its_figures_and_its_speakers_window_speak_the_language(page, serve, library, course):
    arguments = f"find_root(), {LANGUAGE!r}"
    for made in (f"make_deck_copy({arguments}, '01_small.ipynb')", f"make_working_copy({arguments})"):
        code = f"from mha_lib.classroom.lesson import *; {made}"
        environment = os.environ | {"PYTHONPATH": str(library)}
        subprocess.run([sys.executable, "-c", code], cwd=course, env=environment, check=True)
    server = serve(course, library=library)
    server.trust(course / f"work/deck-{LANGUAGE}/01_small.ipynb")
    page.add_init_script(SPY_ON_TEXT)
    open_deck(page, server.address("rise", f"work/deck-{LANGUAGE}/01_small.ipynb"))
    page.keyboard.press("Shift+R")
    finished = bracketed(ENGLISH["deck"]["finished"]).format(run="⟦All⟧", ran=3, count=4, seconds="?")
    expect(status_of(page)).to_contain_text(re.compile(re.escape(finished).replace(r"\?", r"\d+")))
    expect(page.locator(".mha-explorer canvas")).to_be_attached()
    until(page, "written.some((text) => text.includes('⟦'))")
    figure = page.locator(f"img[src*='{FIGURE}']")
    drawing = answer_of(figure, "async (image) => (await fetch(image.src)).text()")
    assert words_of_drawing(drawing.encode()) <= {f"⟦{word}⟧" for word in WORDS_OF_FIGURE}
    outputs = "[...document.querySelectorAll('.reveal .jp-OutputArea-output')].map((one) => one.textContent)"
    texts = [text for text in measure(page, outputs) if "Traceback" not in text]
    drawn = measure(page, "written")
    assert "⟦" in "".join(texts)
    assert set(english_in("\n".join([*texts, *drawn]))) <= NAMES
    page.keyboard.press("?")
    help_lines = page.locator("#deck-help > *")
    expect(help_lines).to_have_count(2 * len(ENGLISH["deck"]["help"]))
    expect(help_lines.last).to_be_visible()
    said = texts_of(help_lines)
    page.keyboard.press("?")
    with page.expect_popup() as opened:
        page.keyboard.press("t")
    speaker = opened.value
    expect(speaker.locator("aside p").last).to_contain_text("⟦")
    said += [text_of(speaker.locator("body")), until(speaker, "document.title")]
    said.append(text_of(page.locator("#deck-foot")))
    assert not re.findall(r"[a-z]{2,}", outside_brackets("\n".join(said)))


PLACES = {  # the language of the lesson there, and what its deck says first
    "mine/made": ("zh-Hant", words_in("zh-Hant")["deck"]["keys_hint"]),  # the copy carries the words
    "notebooks/xx": (
        "xx",
        f"{ENGLISH['language']['unknown'].format(language='xx')}\n{ENGLISH['deck']['keys_hint']}",
    ),
    "mine/moved": ("fr-CA", "? montre les touches"),
}


def test_the_lesson_tells_the_language_and_english_fills_its_gaps(page, serve, tmp_path):
    """Of French nothing is said but one sentence."""
    server = serve(tmp_path)
    write_words(server.extension / "words" / "fr", {"deck": {"keys_hint": "? montre les touches"}})
    cells = [cell("slide", new_markdown_cell, "# 1", "a"), cell("slide", new_code_cell, "1", "b", ("setup",))]
    for place, (language, _) in PLACES.items():
        lay_lesson(server, f"{place}/lesson.ipynb", cells, language=language)
    for place, (_, said) in PLACES.items():
        open_deck(page, server.address("rise", f"{place}/lesson.ipynb"))
        expect(status_of(page)).to_have_text(said)
    foot_says(page, "s", re.compile("Setup: 1 of 1 cells ran"))
