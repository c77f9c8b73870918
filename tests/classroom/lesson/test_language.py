"""A folder tells its language, and a language code finds the nearest words."""

import json
import string

import pytest

from mha_lib.classroom.lesson import language
from mha_lib.classroom.lesson.language import (
    course_of,
    has_words,
    identity_by_place,
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


def test_a_nearer_file_goes_before_a_farther_one(words):
    write_words(words / "zh-Hant", {"deck": {"next": "下一頁"}})
    assert words_in("zh-Hant-TW")["deck"]["next"] == "下一頁"
    assert words_in("zh-Hans")["deck"]["next"] == "下一页"


MACHINES = {
    "zh": ["zh_CN.UTF-8", "zh_SG", "Chinese (Simplified)_China.936"],
    "zh-Hant": ["zh_TW.UTF-8", "zh_HK", "zh_Hant_TW", "Chinese (Traditional)_Taiwan.950"],
    "en": ["en_US.UTF-8", "de_DE", "C.UTF-8", ""],
}


@pytest.mark.parametrize(("language", "machine"), [(key, name) for key in MACHINES for name in MACHINES[key]])
def test_the_language_of_the_machine_is_taken_where_the_course_has_it(monkeypatch, machine, language):
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", machine)
    assert language_of_machine(["en", "zh", "zh-Hant"]) == language
    assert language_of_machine(["en"]) == "en"
    monkeypatch.setenv("LC_ALL", "C")
    assert language_of_machine(["en", "zh", "zh-Hant"]) == "en", "LC_ALL goes before LANG"


@pytest.mark.parametrize("code", ["fr", "fr-CA", "", "../zh", "zh/../zh", "z", "ﬁ"])
def test_an_unknown_language_has_no_words_and_is_english(words, code):
    assert not has_words(code)
    assert words_in(code) == words_in("en")


def test_the_words_of_each_lesson_join_those_of_the_interface(words):
    lesson = {"mistakes": {"heads": {"few": "too few"}}, "numerals": {"nothing": "type"}}
    interface = {"mistakes": {"shared": {"shape": "wrong shape"}}}
    write_words(words / "fr", interface)
    (words / "fr" / "lesson_05_trained_heads.json").write_text(json.dumps(lesson), encoding="utf-8")
    assert read_words(words / "fr") == {
        "mistakes": {"shared": {"shape": "wrong shape"}, "heads": {"few": "too few"}},
        "numerals": {"nothing": "type"},
    }


def test_every_language_keeps_each_group_in_the_file_in_which_english_keeps_it():
    """The deck reads interface.json alone, so what it says must stand there."""

    def places(folder):
        files = {file.name: json.loads(file.read_text(encoding="utf-8")) for file in folder.glob("*.json")}
        return {
            (group, name if group in ("exercises", "mistakes", "remarks") else ""): file
            for file, words in files.items()
            for group, said in words.items()
            for name in said
        }

    english = places(language.WORDS / "en")
    for folder in language.WORDS.iterdir():
        assert places(folder).items() <= english.items(), folder.name


FOLDERS = {
    "zh": ["notebooks/zh", "work/zh", "work/deck-zh"],
    "zh-Hant": ["build/zh-Hant", "work/zh-Hant", "work/deck-zh-Hant"],
    "en": ["work/main", "work/fr", "mine/zh", "zh", "notebooks/zh/mine", "build/zh", "build/handouts/zh"],
}


@pytest.mark.parametrize(("language", "folder"), [(key, name) for key in FOLDERS for name in FOLDERS[key]])
def test_a_folder_of_the_course_tells_its_language_and_any_other_none(tmp_path, language, folder):
    """Traditional Chinese is made in build/, and belongs to the course of the simplified."""
    assert course_of(tmp_path / folder) is None
    (tmp_path / "notebooks" / "zh").mkdir(parents=True)
    is_course = language != "en"
    assert course_of(tmp_path / folder) == (tmp_path if is_course else None)
    identity = identity_by_place(tmp_path / folder, "lesson")
    assert (identity.language if identity else None) == (language if is_course else None)


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
