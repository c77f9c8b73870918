"""The deck speaks the language of its lesson, as the lesson says it, wherever it lies."""

import json
import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import expect

from mha_lib.classroom.lesson.language import words_in
from tests.brackets import write_words
from tests.browser.lecture import foot_says
from tests.browser.new_lesson import cell, lay_lesson, open_deck, status_of

pytestmark = pytest.mark.ci

ENGLISH = words_in("en")
HINT = ENGLISH["deck"]["keys_hint"]
CELLS = [
    cell("slide", new_markdown_cell, "# 1", "title"),
    cell("slide", new_code_cell, "1", "code", ("setup",)),
]


@pytest.fixture(scope="module")
def course(serve, tmp_path_factory):
    """A course in several languages: of French nothing is said but one sentence."""
    server = serve(tmp_path_factory.mktemp("languages"))
    write_words(server.extension / "words" / "fr", {"deck": {"keys_hint": "? montre les touches"}})
    for place, (language, _) in PLACES.items():
        lay_lesson(server, f"{place}/lesson.ipynb", CELLS, title="1", language=language)
    words = {"deck": {"keys_hint": "? 列出按鍵"}}  # made from simplified Chinese
    (server.folder / "build/zh-Hant/words.json").write_text(json.dumps(words), encoding="utf-8")
    return server


PLACES = {  # the language of the lesson there, and what its deck says first
    "build/zh-Hant": ("zh-Hant", "? 列出按鍵"),
    "work/zh-Hant": ("zh-Hant", "? 列出按鍵"),  # a student's copy holds no words.json
    "notebooks/xx": ("xx", f"{ENGLISH['language']['unknown'].format(language='xx')}\n{HINT}"),
    "mine/moved": ("fr-CA", "? montre les touches"),
}


def test_the_lesson_tells_the_language_and_english_fills_its_gaps(page, course):
    for place, (_, said) in PLACES.items():
        open_deck(page, course.address("rise", f"{place}/lesson.ipynb"))
        expect(status_of(page)).to_have_text(said)
    foot_says(page, "s", re.compile("Setup: 1 of 1 cells ran"))
