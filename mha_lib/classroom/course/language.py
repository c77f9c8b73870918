"""Which language a folder of lessons is in, and what the software says in it.

Everything the software says stands in ``words/<language>.json``, each sentence once. A language code
finds the nearest file there is: ``zh-CN`` finds ``zh.json``, and so does ``zh-Hant``, which converts it. A
sentence that a language lacks is said in English, and so is everything in a language that has no file.
"""

import json
import locale
import os
import re
import warnings
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

from mha_lib.classroom.course.chinese import SIMPLIFIED, TRADITIONAL, is_traditional, words_to_traditional

WORDS = Path(__file__).parents[1] / "words"
ENGLISH = "en"
LANGUAGE_ALONE = "MHA_LANGUAGE"  # in the environment of a kernel: set by a lesson's cell "environment"
TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")  # such as zh, zh-CN, zh-Hant


def language_of(folder: Path) -> str:
    """The language of the lessons in a folder: ``zh`` of notebooks/zh, work/zh and work/deck-zh.

    English in every folder that is not one of a course, such as ~/work/mine.
    """
    return folder.absolute().name.removeprefix("deck-") if course_of(folder) else ENGLISH


def course_of(folder: Path) -> Path | None:
    """The folder of the course to which a folder of lessons belongs; None where it belongs to none."""
    folder = folder.absolute()
    course, language = folder.parent.parent, folder.name.removeprefix("deck-")
    has_lessons = (course / "notebooks" / language).is_dir()
    return course if has_lessons and folder.parent.name in ("notebooks", "work") else None


def language_of_machine(known: Collection[str]) -> str:
    """The language that this machine speaks where the course has it, or else English."""
    names = [os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG")]
    named = next(filter(None, names), None) or locale.getlocale()[0] or ""
    region = named.split(".")[0].replace("_", "-")
    if region.startswith(("zh-", "Chinese")):
        is_traditional = re.search(r"Hant|TW|HK|MO|Traditional|Taiwan|Hong Kong|Macao", region)
        region = TRADITIONAL if is_traditional else SIMPLIFIED
    return next((language for language in (region, region.split("-")[0]) if language in known), ENGLISH)


def find_for_language(folder: Path, language: str) -> Path | None:
    """The JSON file in the folder that is nearest to the language code: zh-CN.json, or else zh.json."""
    if not TAG.fullmatch(language):
        return None
    parts = language.split("-")
    files = [folder / f"{'-'.join(parts[:end])}.json" for end in range(len(parts), 0, -1)]
    return next((file for file in files if file.is_file()), None)


def language_with_words(language: str) -> str:
    """The language itself where it has words, or else English."""
    return language if find_for_language(WORDS, language) else ENGLISH


@cache
def words_in(language: str) -> dict[str, Any]:
    """The words of a language, by who says them: ``words_in("en")["explorer"]["masked"]``.

    A language without words of its own is said in a warning, and gets the English ones.
    """
    english = read_words(WORDS / f"{ENGLISH}.json")
    file = find_for_language(WORDS, language)
    if file is None:
        warnings.warn(english["language"]["unknown"].format(language=language), stacklevel=2)
        return english
    words = filled_up(read_words(file), english)
    return words_to_traditional(words) if is_traditional(language) else words


def name_of_language(language: str) -> str:
    """Its name in itself; its code where nothing is known of it."""
    if language_with_words(language) != language:
        return language
    words = words_in(language)["language"]
    return str(words["traditional" if is_traditional(language) else "name"])


def language_here() -> str:
    """The language of the lesson that is running: a notebook runs in the folder in which it lies.

    One that lies in no course, alone in Colab say, has told its language to its kernel.
    """
    here = Path.cwd()
    return language_of(here) if course_of(here) else os.environ.get(LANGUAGE_ALONE) or ENGLISH


def words_here() -> dict[str, Any]:
    """The words of the lesson that is running."""
    return words_in(language_here())


def read_words(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8"))


def filled_up(words: Any, english: Any) -> Any:
    """``words``, with the English ones in the place of those that are missing."""
    if not isinstance(english, dict):
        return words
    return {name: filled_up(words[name], said) if name in words else said for name, said in english.items()}
