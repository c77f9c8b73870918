"""Makes the lessons in traditional Chinese, in ``build/zh-Hant/``, from those in ``notebooks/zh/``.

Nobody edits them. Comments, strings and Markdown are converted. A string that stands in the English lesson
too was not translated: it is data, such as the numeral 万, and stays. Phrases that OpenCC and the terms of
the course get wrong in these lessons stand in ``notebooks/zh/taiwan.json``.
"""

import ast
import io
import json
import tokenize
from functools import cache
from itertools import accumulate
from pathlib import Path

from mha_lib.classroom.course.chinese import (
    SIMPLIFIED,
    TRADITIONAL,
    Phrases,
    markdown_to_traditional,
    to_traditional,
)
from mha_lib.classroom.course.files import as_json, write_whole
from mha_lib.classroom.course.language import ENGLISH, lesson_folder, source_folder, words_in
from mha_lib.classroom.course.lessons import CourseError, list_lessons
from mha_lib.classroom.course.slides import ENVIRONMENT, Cell, read_lesson, source

PHRASES = "taiwan.json"  # beside the lessons: simplified and traditional phrases
WORDS_OF_DECK = "words.json"  # beside the lessons: the deck, in the browser, can't convert


def prepare_lessons(root: Path, language: str) -> list[Path]:
    """The lessons of a language, ready to be read: those in traditional Chinese are made now."""
    lessons = list_lessons(root, language)
    if language == TRADITIONAL:
        make_traditional(root)
    return lessons


def make_traditional(root: Path) -> Path:
    """Bring ``build/zh-Hant/`` in step with ``notebooks/zh/``; returns it. A file in step stays untouched."""
    simplified, folder = source_folder(root, TRADITIONAL), lesson_folder(root, TRADITIONAL)
    files = {file.name: file.read_bytes() for file in simplified.iterdir() if file.is_file()}
    files.pop(PHRASES, None)
    phrases = read_phrases(simplified / PHRASES)
    for name in files:
        if name.endswith(".ipynb"):
            files[name] = as_json(traditional_lesson(root, simplified / name, phrases)).encode()
    files[WORDS_OF_DECK] = as_json(words_in(TRADITIONAL)).encode()
    for name, content in files.items():
        file = folder / name
        if not file.exists() or file.read_bytes() != content:
            write_whole(file, content)
    for file in folder.iterdir():
        if file.is_file() and file.name not in files:
            file.unlink()
    return folder


def read_phrases(file: Path) -> Phrases:
    try:
        return tuple(json.loads(file.read_text(encoding="utf-8")).items()) if file.exists() else ()
    except (ValueError, AttributeError) as error:
        raise CourseError("file_unusable", file=file, reason=error) from None


def traditional_lesson(root: Path, lesson: Path, phrases: Phrases) -> dict[str, object]:
    original = source_folder(root, ENGLISH) / lesson.name
    english = {cell["id"]: cell for cell in read_lesson(original)["cells"]} if original.exists() else {}
    notebook = read_lesson(lesson)
    cells = [
        cell | {"source": traditional_source(cell, english.get(cell["id"]), phrases)}
        for cell in notebook["cells"]
    ]
    metadata = notebook["metadata"]
    metadata |= {
        name: to_traditional(metadata[name], phrases) for name in ("title", "summary") if name in metadata
    }
    return notebook | {"cells": cells, "metadata": metadata}


def traditional_source(cell: Cell, english: Cell | None, phrases: Phrases) -> list[str]:
    if cell["cell_type"] == "code":
        text = code_to_traditional(source(cell), source(english) if english else "", phrases)
        if cell["id"] == ENVIRONMENT:  # this cell names the language of the lesson
            text = text.replace(f'"{SIMPLIFIED}"', f'"{TRADITIONAL}"')
    else:
        text = markdown_to_traditional(source(cell), phrases)
    return text.splitlines(keepends=True)


@cache  # a command makes the lessons more than once
def code_to_traditional(code: str, english: str, phrases: Phrases = ()) -> str:
    """Python code with its comments and its strings converted, except for strings that are data.

    A string that stands in the English code too was not translated, so it is data.
    """
    strings = spans_of_strings(code)
    if strings is None:  # a magic command, say
        return code
    raw = code.encode()
    data = {english.encode()[begin:end] for begin, end in spans_of_strings(english) or ()}
    shown = [(begin, end) for begin, end in strings if raw[begin:end] not in data]
    for begin, end in sorted(shown + spans_of_comments(code), reverse=True):
        raw = raw[:begin] + to_traditional(raw[begin:end].decode(), phrases).encode() + raw[end:]
    return raw.decode()


def spans_of_strings(code: str) -> list[tuple[int, int]] | None:
    """Begin and end, in bytes, of every string with its quotes; None where Python can't parse the code."""
    try:
        todo: list[ast.AST] = [ast.parse(code)]
    except SyntaxError:
        return None
    starts, spans = starts_of_lines(code), []
    while todo:
        node = todo.pop()
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str)
        ):
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            begin = starts[node.lineno - 1] + node.col_offset
            spans.append((begin, starts[node.end_lineno - 1] + node.end_col_offset))
        else:
            todo += ast.iter_child_nodes(node)
    return spans


def spans_of_comments(code: str) -> list[tuple[int, int]]:
    """Begin and end, in bytes, of every comment."""
    lines, starts, spans = code.split("\n"), starts_of_lines(code), []
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            begin = starts[row - 1] + len(lines[row - 1][:column].encode())
            spans.append((begin, begin + len(token.string.encode())))
    return spans


def starts_of_lines(code: str) -> list[int]:
    """Where each line begins, in bytes."""
    return list(accumulate((len(line.encode()) + 1 for line in code.split("\n")), initial=0))
