"""Which language a folder is in, and which words a language code finds."""

import json
import string

import pytest

from mha_lib.classroom.course import language
from mha_lib.classroom.course.language import language_of, language_of_machine, words_in


@pytest.fixture
def words(tmp_path, monkeypatch):
    """A folder of words of its own: English, half of Chinese."""
    english = {"language": {"unknown": "no {language}"}, "deck": {"next": "next", "back": "back"}}
    for name, known in {"en": english, "zh": {"deck": {"next": "下一页"}}}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(known), encoding="utf-8")
    monkeypatch.setattr(language, "WORDS", tmp_path)
    words_in.cache_clear()
    yield tmp_path
    words_in.cache_clear()


@pytest.mark.parametrize("code", ["zh", "zh-CN", "zh-Hans-CN"])
def test_a_code_finds_the_nearest_words(words, code):
    assert words_in(code)["deck"]["next"] == "下一页"


def test_a_nearer_file_goes_before_a_farther_one(words):
    (words / "zh-Hant.json").write_text(json.dumps({"deck": {"next": "下一頁"}}), encoding="utf-8")
    assert words_in("zh-Hant-TW")["deck"]["next"] == "下一頁"
    assert words_in("zh-Hans")["deck"]["next"] == "下一页"


def test_traditional_words_are_made_from_simplified_ones(words):
    assert words_in("zh-Hant")["deck"]["next"] == "下一頁"
    assert words_in("zh-Hant")["deck"]["back"] == "back"


@pytest.mark.parametrize(
    ("machine", "language"),
    [
        ("zh_CN.UTF-8", "zh"),
        ("zh_SG", "zh"),
        ("zh_TW.UTF-8", "zh-Hant"),
        ("zh_HK", "zh-Hant"),
        ("zh_Hant_TW", "zh-Hant"),
        ("Chinese (Simplified)_China.936", "zh"),
        ("Chinese (Traditional)_Taiwan.950", "zh-Hant"),
        ("en_US.UTF-8", "en"),
        ("de_DE", "en"),
        ("C.UTF-8", "en"),
        ("", "en"),
    ],
)
def test_the_language_of_the_machine_is_taken_where_the_course_has_it(monkeypatch, machine, language):
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", machine)
    assert language_of_machine(["en", "zh", "zh-Hant"]) == language
    assert language_of_machine(["en"]) == "en"
    monkeypatch.setenv("LC_ALL", "C")
    assert language_of_machine(["en", "zh", "zh-Hant"]) == "en", "LC_ALL goes before LANG"


def test_a_sentence_that_is_missing_is_said_in_english(words):
    assert words_in("zh")["deck"]["back"] == "back"


@pytest.mark.parametrize("code", ["fr", "fr-CA", "", "../zh", "zh/../zh", "z", "ﬁ"])
def test_an_unknown_language_says_so_and_is_english(words, code):
    with pytest.warns(UserWarning, match=f"no {code}"):
        assert words_in(code)["deck"]["next"] == "next"


def test_the_language_is_that_of_the_lessons_in_the_folder(tmp_path):
    (tmp_path / "notebooks" / "zh-CN").mkdir(parents=True)
    for folder in ("notebooks/zh-CN", "work/zh-CN", "work/deck-zh-CN"):
        assert language_of(tmp_path / folder) == "zh-CN"


@pytest.mark.parametrize("folder", ["work/main", "work/fr", "mine/zh", "zh", "notebooks/zh/mine"])
def test_any_other_folder_is_english(tmp_path, folder):
    (tmp_path / "notebooks" / "zh").mkdir(parents=True)
    assert language_of(tmp_path / folder) == "en"


def test_every_gap_of_an_english_sentence_is_in_its_translations():
    """A translation may leave a gap out, but it can't name one that nobody fills."""
    english = json.loads((language.WORDS / "en.json").read_text(encoding="utf-8"))
    for file in language.WORDS.glob("*.json"):
        check_gaps(json.loads(file.read_text(encoding="utf-8")), english, file.name)


def check_gaps(words, english, where):
    assert set(words) <= set(english), f"{where} has sentences that English lacks"
    for name, sentence in words.items():
        if isinstance(sentence, dict):
            check_gaps(sentence, english[name], f"{where}: {name}")
        else:
            assert gaps(sentence) <= gaps(english[name]), f"{where}: {name}"


def gaps(sentence):
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}
