"""What the course gives the package that makes its pages: figures, in the reader's language."""

import json
import re
from urllib.parse import unquote

import pytest

from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.pages.cleaner import pictures_of
from tests.offline_notebook.pages import SENTENCES, read

DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><text>keys</text></svg>'


@pytest.fixture
def disk(tmp_path):
    """A course with figures, a folder of one's own, and pictures elsewhere."""
    for name in ("img/a.svg", "notebooks/en/b.svg", "work/en/sub/c.svg", "mine/notebooks/d.svg", "e.svg"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(DRAWING)
    (tmp_path / "work" / "deck-en").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("folder", "taken", "left_out"),
    [
        ("notebooks/en", ["b.svg", "../../img/a.svg"], ["../../e.svg", "../../work/en/sub/c.svg"]),
        ("work/en", ["../../img/a.svg", "sub/c.svg"], []),
        ("mine", ["notebooks/d.svg"], ["../e.svg", "../img/a.svg"]),
    ],
)
def test_pictures_come_from_the_notebooks_folder_and_the_figures_of_its_course(disk, folder, taken, left_out):
    pictures = pictures_of(disk / folder, "en")
    assert all(map(pictures.read, taken))
    assert not any(map(pictures.read, left_out))


def test_a_figure_has_the_words_of_the_pages_language(disk):
    (disk / "img" / "words").mkdir()
    (disk / "img" / "words" / "zh.json").write_text(json.dumps({"a.svg": {"keys": "键"}}))

    def words(language):
        picture = pictures_of(disk / "notebooks" / "en", language).read("../../img/a.svg")
        return read(unquote(picture.address_in_html)).find("text").get_text()

    assert words("zh") == words("zh-CN") == "键"
    assert words("en") == "keys"


def test_the_course_has_each_sentence_of_the_package_with_the_same_gaps():
    """All languages have the gaps of the English sentences: ``lesson/test_language.py``."""
    words = words_in("en")
    known = words["rendering"] | words["handout"]
    gaps = {name: set(re.findall(r"{\w+}", sentence)) for name, sentence in SENTENCES.items()}
    assert {name: set(re.findall(r"{\w+}", known[name])) for name in SENTENCES} == gaps
