"""The deck speaks the language of its lesson, as the lesson says it, wherever it lies."""

import json
import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import expect

from mha_lib.classroom.lesson.language import words_in
from tests.brackets import bracketed, outside_brackets, write_words
from tests.browser.lecture import foot_says
from tests.browser.new_lesson import cell, lay_lesson, open_deck, status_of
from tests.browser.waiting import text_of, texts_of, until

pytestmark = pytest.mark.ci

MARKED = "qaa"  # a language in which every sentence stands between ⟦ and ⟧
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
    french = {"deck": {"keys_hint": "? montre les touches"}}
    for language, words in {MARKED: bracketed(ENGLISH), "fr": french}.items():
        write_words(server.extension / "words" / language, words)
    for place in PLACES:
        lay_lesson(server, f"{place}/lesson.ipynb", CELLS, title="1", language=place.split("/")[1])
    lay_lesson(server, "mine/moved/lesson.ipynb", CELLS, title="1", language=MARKED)
    words = {"deck": {"keys_hint": "? 列出按鍵"}}  # made from simplified Chinese
    (server.folder / "build/zh-Hant/words.json").write_text(json.dumps(words), encoding="utf-8")
    return server


PLACES = {
    "build/zh-Hant": "? 列出按鍵",
    "work/zh-Hant": "? 列出按鍵",  # a student's copy holds no words.json
    "notebooks/xx": f"{ENGLISH['language']['unknown'].format(language='xx')}\n{HINT}",
    "notebooks/fr-CA": "? montre les touches",
}


def test_the_lesson_tells_the_language_and_english_fills_its_gaps(page, course):
    for place, said in PLACES.items():
        open_deck(page, course.address("rise", f"{place}/lesson.ipynb"))
        expect(status_of(page)).to_have_text(said)
    foot_says(page, "s", re.compile("Setup: 1 of 1 cells ran"))


def test_no_english_is_left_in_the_deck(page, course):
    """In the foot, the help and the speaker's window, before and after a run."""
    open_deck(page, course.address("rise", "mine/moved/lesson.ipynb"))
    page.keyboard.press("Shift+R")
    status = status_of(page)
    finished = bracketed(ENGLISH["deck"]["finished"]).format(run="⟦All⟧", ran=1, count=1, seconds="?")
    expect(status).to_have_text(re.compile(re.escape(finished).replace(r"\?", r"\d+")))
    page.keyboard.press("?")
    help_lines = page.locator("#deck-help > *")
    expect(help_lines).to_have_count(2 * len(ENGLISH["deck"]["help"]))
    expect(help_lines.last).to_be_visible()
    said = texts_of(help_lines)
    with page.expect_popup() as opened:
        page.keyboard.press("?")
        page.keyboard.press("t")
    speaker = opened.value
    expect(speaker.locator("aside p").last).to_contain_text("⟦")
    said += [text_of(speaker.locator("body")), until(speaker, "document.title")]
    said.append(text_of(page.locator("#deck-foot")))
    assert not re.findall(r"[a-z]{2,}", outside_brackets("\n".join(said)))
