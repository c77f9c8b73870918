"""A language code finds the nearest words, and a folder is known as one of the course."""

import string

import pytest

from mha_lib.classroom.lesson import language
from mha_lib.classroom.lesson.language import (
    course_of,
    has_words,
    language_of_machine,
    read_words,
    words_in,
)
from tests.brackets import write_words


@pytest.fixture
def words(tmp_path, monkeypatch):
    """A folder with a few words in English, and half of them in Chinese."""
    english = {"language": {"unknown": "no {language}"}, "deck": {"next": "next", "back": "back"}}
    for name, known in {"en": english, "zh": {"deck": {"next": "下一页"}}}.items():
        write_words(tmp_path / name, known)
    monkeypatch.setattr(language, "WORDS", tmp_path)
    words_in.cache_clear()
    yield tmp_path
    words_in.cache_clear()


NEAREST = {"en": "next", "zh": "下一页", "zh-CN": "下一页", "zh-Hans-CN": "下一页", "zh-Hant": "下一頁"}


@pytest.mark.parametrize("code", NEAREST)
def test_a_code_finds_the_nearest_words_and_a_missing_sentence_is_said_in_english(words, code):
    """Traditional words are made from simplified ones."""
    assert has_words(code)
    assert words_in(code)["deck"] == {"next": NEAREST[code], "back": "back"}


MACHINES = {
    "zh_CN.UTF-8": "zh",
    "Chinese (Simplified)_China.936": "zh",
    "zh_HK": "zh-Hant",
    "Chinese (Traditional)_Taiwan.950": "zh-Hant",
    "de_DE": "en",
}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_language_of_the_machine_is_taken_where_the_course_has_it(monkeypatch, machine):
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", machine)
    assert language_of_machine(["en", "zh", "zh-Hant"]) == MACHINES[machine]
    assert language_of_machine(["en"]) == "en"
    monkeypatch.setenv("LC_ALL", "C")
    assert language_of_machine(["en", "zh", "zh-Hant"]) == "en", "LC_ALL goes before LANG"


@pytest.mark.parametrize("code", ["fr-CA", "", "zh/../zh"])
def test_an_unknown_language_has_no_words_and_is_english(words, code):
    assert not has_words(code)
    assert words_in(code) == words_in("en")


FOLDERS = {
    "zh": ["notebooks/zh", "work/zh", "work/deck-zh"],
    "zh-Hant": ["build/zh-Hant", "work/deck-zh-Hant"],
    "en": ["work/fr", "mine/zh", "notebooks/zh/mine", "build/zh"],
}


@pytest.mark.parametrize(("language", "folder"), [(key, name) for key in FOLDERS for name in FOLDERS[key]])
def test_a_folder_of_the_course_is_known_and_any_other_is_not(tmp_path, language, folder):
    """Traditional Chinese is made in build/, and belongs to the course of the simplified."""
    assert course_of(tmp_path / folder) is None
    (tmp_path / "notebooks" / "zh").mkdir(parents=True)
    is_course = language != "en"
    assert course_of(tmp_path / folder) == (tmp_path if is_course else None)


def sentences(words, name=""):
    """Each sentence of a language, by the names of its groups and its own."""
    if not isinstance(words, dict):
        return {name: words}
    return {path: said for key in words for path, said in sentences(words[key], f"{name}/{key}").items()}


def gaps(sentence):
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}


def test_a_translation_has_the_gaps_of_the_english_sentence():
    """A gap that nobody fills would raise an error, and one that was lost would keep something secret."""
    english = sentences(read_words(language.WORDS / "en"))
    for folder in language.WORDS.iterdir():
        for name, sentence in sentences(read_words(folder)).items():
            assert name in english, f"{folder.name} has a sentence that English lacks"
            assert gaps(sentence) == gaps(english[name]), f"{folder.name}: {name}"
