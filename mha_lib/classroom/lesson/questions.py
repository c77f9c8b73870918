"""Reads the questions that a class answers before the lessons and again after them, and their key.

Both lie beside the lessons: ``questions.json`` holds what students read, ``questions-key.json`` the right
answers, which no student's copy has. A question has two forms with other numbers. Their choices have the same
names in another order, since each stands for the same belief in both.
"""

import json
from pathlib import Path
from typing import Any

from mha_lib.classroom.lesson.chinese import Phrases
from mha_lib.classroom.lesson.language import source_folder
from mha_lib.classroom.lesson.lessons import CourseError
from mha_lib.classroom.lesson.made import MadeLanguage, made_language
from mha_lib.classroom.lesson.prepare import KEY, QUESTIONS, phrases_of

FORMS = ("before", "after")


def has_questions(root: Path, language: str) -> bool:
    return (source_folder(root, language) / QUESTIONS).exists()


def read_questions(root: Path, language: str) -> dict[str, Any]:
    return read_beside_lessons(root, language, QUESTIONS)


def read_key(root: Path, language: str) -> dict[str, Any]:
    """For each question its step (lesson and cell), the right choice, and why each other one is wrong."""
    return read_beside_lessons(root, language, KEY)


def read_beside_lessons(root: Path, language: str, name: str) -> dict[str, Any]:
    file = source_folder(root, language) / name
    try:
        tree = {**json.loads(file.read_text(encoding="utf-8"))}
    except (ValueError, TypeError) as error:
        raise CourseError("file_unusable", file=file, reason=error) from None
    if made := made_language(language):
        tree = converted(tree, made, phrases_of(file.parent))
    return tree


def converted(tree: Any, language: MadeLanguage, phrases: Phrases) -> Any:
    """A tree of JSON with each text converted, except for the names in it and for code."""
    if isinstance(tree, dict):
        return {name: converted(part, language, phrases) for name, part in tree.items()}
    if isinstance(tree, list):
        return [converted(part, language, phrases) for part in tree]
    return language.convert_markdown(tree, phrases) if isinstance(tree, str) else tree
