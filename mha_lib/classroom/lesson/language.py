"""The language of a folder of lessons, and what the software says in that language.

Everything the software says stands once in ``words/<language>/``: in ``interface.json``, and what belongs to
one lesson in a file such as ``lesson_03_multi_head_attention.json``. A language code finds the nearest folder
there is: ``zh-CN`` finds ``zh``, and so does ``zh-Hant``, whose words are converted. A sentence that a
language lacks is said in English, and so is everything in a language without words.
"""

import json
import locale
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mha_lib.classroom.lesson.chinese import chinese_of
from mha_lib.classroom.lesson.grammar import Identity, identity_in
from mha_lib.classroom.lesson.made import made_language, said_in, written_language

WORDS = Path(__file__).parents[1] / "words"
INSTALLED = WORDS.with_name("course")  # notebooks/ and img/ in an installed package; a checkout has none here
COURSE = "course.json"
ENGLISH = "en"
FILE_OF_KERNEL = "JPY_SESSION_NAME"  # in the environment of a kernel: Jupyter's server names the notebook
TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")  # such as zh, zh-CN, zh-Hant


def brings_lessons() -> bool:
    """Whether the installed package brings the lessons: built for the hub, it doesn't."""
    return (INSTALLED / "notebooks").is_dir()


def is_installed(root: Path) -> bool:
    """Whether the lessons of this folder are those of the installed package: it has no course of its own."""
    return brings_lessons() and not any((root / "notebooks").glob(f"*/{COURSE}"))


def source_root(root: Path) -> Path:
    """The folder that holds ``notebooks/`` and ``img/``; nothing is written into the installed one."""
    return INSTALLED if is_installed(root) else root


def source_folder(root: Path, language: str) -> Path:
    """The folder of the lessons that authors write; a language made from another has those of the other."""
    return source_root(root) / "notebooks" / written_language(language)


def lesson_folder(root: Path, language: str) -> Path:
    """The folder of the lessons that others read.

    Those of a language that is made from another lie in ``build/``, and so do copies of the installed ones.
    """
    is_made = made_language(language) or is_installed(root)
    return root / ("build" if is_made else "notebooks") / language


def route_folder(root: Path, language: str) -> Path:
    """The folder of the notebooks that are made of routes."""
    return root / "build" / f"route-{language}"


def course_of(folder: Path) -> Path | None:
    """The folder of the course to which a folder of lessons belongs; None where it belongs to none."""
    folder = folder.absolute()
    course, language = folder.parent.parent, language_named_by(folder)
    made = route_folder if folder.name.startswith("route-") else lesson_folder
    places = ("notebooks", "work", made(course, language).parent.name)
    return course if folder.parent.name in places and source_folder(course, language).is_dir() else None


def language_named_by(folder: Path) -> str:
    """The language in the name of a folder such as ``zh``, ``deck-zh`` and ``route-zh``."""
    return folder.name.removeprefix("deck-").removeprefix("route-")


def language_of_machine(known: Collection[str]) -> str:
    """The language that this machine speaks where the course has it, or else English."""
    names = [os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG")]
    named = next(filter(None, names), None) or locale.getlocale()[0] or ""
    region = named.split(".")[0].replace("_", "-")
    if region.startswith(("zh-", "Chinese")):
        region = chinese_of(region)
    return next((language for language in (region, region.split("-")[0]) if language in known), ENGLISH)


def find_for_language(folder: Path, language: str, suffix: str = "") -> Path | None:
    """The file or folder that is named by the code nearest to the language: zh-CN, or else zh."""
    if not TAG.fullmatch(language):
        return None
    parts = language.split("-")
    named = [folder / f"{'-'.join(parts[:end])}{suffix}" for end in range(len(parts), 0, -1)]
    return next((path for path in named if path.exists()), None)


def has_words(language: str) -> bool:
    """Whether the software speaks the language, or one near to it; in any other it speaks English."""
    return find_for_language(WORDS, language) is not None


@cache
def words_in(language: str) -> dict[str, Any]:
    """The words of a language, by who says them: ``words_in("en")["explorer"]["masked"]``."""
    english = read_words(WORDS / ENGLISH)
    folder = find_for_language(WORDS, language)
    if folder is None:
        return english
    words: dict[str, Any] = said_in(language, filled_up(read_words(folder), english))
    return words


def name_of_language(language: str) -> str:
    """The name of a language in itself; its code where the software has no words in it."""
    if not has_words(language):
        return language
    words = words_in(language)["language"]
    return str(words.get(language, words["name"]))


@dataclass
class Running:
    """The lesson that runs in this process, as its own first cell has told: ``begin_lesson("03", "zh")``."""

    number: str = ""
    language: str = ENGLISH


RUNNING = Running()


def speak(language: str) -> None:
    """From now on everything the software says in this process is said in a language, such as ``"zh"``."""
    RUNNING.language = language


def language_here() -> str:
    """The language of the lesson that is running."""
    return RUNNING.language


IDENTITIES: dict[Path, Identity] = {}  # of files; a lesson keeps its identity while it runs


def files_here() -> list[Path]:
    """The files in this folder that may be the notebook that runs.

    Jupyter's server names the file to the kernel. Other programs, such as VS Code, do not: there it is a file
    with the lesson's number.
    """
    here, name = Path.cwd(), Path(os.environ.get(FILE_OF_KERNEL) or "").name
    if name:
        return [here / name]
    return sorted(here.glob(f"{RUNNING.number}_*.ipynb")) if RUNNING.number else []


def identity_here() -> Identity | None:
    """The identity of the lesson that runs, as its file in this folder names it; None without such a file.

    A file names none while Jupyter saves it, and so it is read again the next time.
    """
    for file in files_here():
        if identity := IDENTITIES.get(file) or identity_in(file):
            IDENTITIES[file] = identity
            return identity
    return None


def words_here() -> dict[str, Any]:
    """The words of the lesson that is running."""
    return words_in(language_here())


def read_words(folder: Path) -> dict[str, Any]:
    """All files of a language as one tree: each file may add to a group, such as "mistakes"."""
    words: dict[str, Any] = {}
    for file in sorted(folder.glob("*.json")):
        for group, said in json.loads(file.read_bytes()).items():
            words[group] = words.get(group, {}) | said
    return words


def filled_up(words: Any, english: Any) -> Any:
    """``words``, with the English ones in the place of those that are missing."""
    if not isinstance(english, dict):
        return words
    return {name: filled_up(words[name], said) if name in words else said for name, said in english.items()}
