"""Everything that handouts, their index and notes say comes from the words of their language."""

import json
import re

import pytest
from nbformat.v4 import new_notebook, writes

from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.pages.handout.index import write_index
from mha_lib.classroom.pages.notes import write_notes
from tests.brackets import outside_brackets, speak_in_brackets
from tests.classroom.pages.handout.cells import code, page_of, text
from tests.offline_notebook.pages import PIXEL, VIEW, read, shown, stored


@pytest.fixture
def lessons(tmp_path, monkeypatch):
    """A folder of lessons in a language whose every sentence is the English one in brackets."""
    speak_in_brackets(tmp_path / "words", monkeypatch)
    lessons = tmp_path / "notebooks" / "xx"
    lessons.mkdir(parents=True)
    yield lessons
    words_in.cache_clear()


def small_lesson():
    """A lesson that makes a handout say all that it can say. Its own words are numbers."""

    views = [shown({VIEW: {"model_id": name}}) for name in ("live", "other", "lost")]
    hidden = code("13")
    hidden.metadata["jupyter"] = {"source_hidden": True}
    cells = [
        text("# 1\n\n2\n\n## 3", slide="slide"),
        text("4 min. 5", slide="notes"),
        text("## 6", slide="subslide"),
        text("xyz, 7 min. 8", slide="notes"),
        code("9", shown({"image/png": PIXEL}), *views),
        code("10", tags=["solution"]),
        hidden,
        text("![11](12.png) $\\foo$ <video src=12.mp4>"),
    ]
    block = {"lesson": "01_lesson", "language": "xx"}
    widgets = stored(live=("Model", {"_esm": ""}), other=("Model", {"value": 7}))
    return new_notebook(cells=cells, metadata={"mha": block, "widgets": widgets})


def words_outside_brackets(text):
    return re.findall(r"[^\W\d_]{2,}", outside_brackets(text))


def said_by(page):
    """The text that a page shows or reads aloud, its title included."""
    soup = read(page)
    for unseen in soup.find_all(["script", "style", "math"]):
        unseen.decompose()
    attributes = [str(tag.get(name, "")) for tag in soup.find_all(True) for name in ("alt", "aria-label")]
    return " ".join([soup.get_text(" "), *attributes])


def test_a_handout_says_nothing_in_english(lessons):
    said: list[str] = []
    page = page_of(small_lesson(), "01_lesson", lessons, "instructor", complain=said.append)
    assert sorted(words_outside_brackets(said_by(page))) == ["foo", "min", "min", "xyz"]  # the lesson's own
    assert page.count("⟦") > 10
    assert len(said) == 5
    for sentence in said:
        assert words_outside_brackets(sentence) == []
    scripts = read(page).find_all("script")[-1].string
    spoken = json.loads(re.search(r"const WORDS = (\{.*\});", scripts)[1])
    assert words_outside_brackets(" ".join(map(str, spoken.values()))) == []


def test_index_and_notes_say_nothing_in_english(lessons, tmp_path, capsys):
    lesson = lessons / "01_lesson.ipynb"
    lesson.write_text(writes(small_lesson()))
    (tmp_path / "build" / "xx").mkdir(parents=True)
    (tmp_path / "build" / "xx" / "01_lesson.html").touch()
    index = write_index(tmp_path, tmp_path / "build", "student").read_text()
    assert words_outside_brackets(said_by(index)) == []
    write_notes(tmp_path, [lesson])
    page = (tmp_path / "build" / "notes" / "xx" / "01_lesson.html").read_text(encoding="utf-8")
    assert sorted(set(words_outside_brackets(said_by(page)))) == ["min", "xyz"]  # of the notes
    assert "⟦" in capsys.readouterr().out
