"""The lessons in traditional Chinese: ``notebooks/zh-Hant/``, made from ``notebooks/zh/`` when asked for.

Nobody edits them. In code, comments and what is shown to people are converted, and strings that are data
stay: what stands in the English lesson too was not translated, so it is data, such as the numeral 万.
"""

import ast
import io
import tokenize
from functools import cache
from itertools import accumulate
from pathlib import Path

from mha_lib.classroom.course.chinese import (
    SIMPLIFIED,
    TRADITIONAL,
    markdown_to_traditional,
    to_traditional,
)
from mha_lib.classroom.course.files import as_json, write_whole
from mha_lib.classroom.course.hosted import ENVIRONMENT
from mha_lib.classroom.course.language import ENGLISH, words_in
from mha_lib.classroom.course.slides import Cell, read_lesson, source

WORDS_OF_DECK = "words.json"  # beside the lessons: the deck, in the browser, can't convert


def write_traditional_lessons(root: Path) -> None:
    """Make ``notebooks/zh-Hant/`` what ``notebooks/zh/`` says; a file that is so already stays."""
    simplified, folder = root / "notebooks" / SIMPLIFIED, root / "notebooks" / TRADITIONAL
    files = {file.name: file.read_bytes() for file in simplified.iterdir() if file.is_file()}
    for name in files:
        if name.endswith(".ipynb"):
            files[name] = as_json(traditional_lesson(root, simplified / name)).encode()
    files[WORDS_OF_DECK] = as_json(words_in(TRADITIONAL)).encode()
    for name, content in files.items():
        file = folder / name
        if not file.exists() or file.read_bytes() != content:
            write_whole(file, content)
    for file in folder.iterdir() if folder.exists() else []:
        if file.is_file() and file.name not in files:
            file.unlink()


def traditional_lesson(root: Path, lesson: Path) -> dict[str, object]:
    english_file = root / "notebooks" / ENGLISH / lesson.name
    english = {}
    if english_file.exists():
        english = {cell["id"]: cell for cell in read_lesson(english_file)["cells"]}
    notebook = read_lesson(lesson)
    cells = [
        cell | {"source": traditional_source(cell, english.get(cell["id"]))} for cell in notebook["cells"]
    ]
    metadata = notebook["metadata"]
    metadata |= {name: to_traditional(metadata[name]) for name in ("title", "summary") if name in metadata}
    return notebook | {"cells": cells, "metadata": metadata}


def traditional_source(cell: Cell, english: Cell | None) -> list[str]:
    if cell["cell_type"] == "code":
        text = code_to_traditional(source(cell), source(english) if english else "")
        if cell["id"] == ENVIRONMENT:  # which names the lesson's language
            text = text.replace(f'"{SIMPLIFIED}"', f'"{TRADITIONAL}"')
    else:
        text = markdown_to_traditional(source(cell))
    return text.splitlines(keepends=True)


@cache  # a command asks for the lessons more than once
def code_to_traditional(code: str, english: str) -> str:
    """Python code with its comments and its words for people converted.

    A string that stands in the English code too was not translated: it is data, and stays.
    """
    strings = spans_of_strings(code)
    if strings is None:  # a magic command, say
        return code
    raw = code.encode()
    data = {english.encode()[begin:end] for begin, end in spans_of_strings(english) or ()}
    shown = [(begin, end) for begin, end in strings if raw[begin:end] not in data]
    for begin, end in sorted(shown + spans_of_comments(code), reverse=True):
        raw = raw[:begin] + to_traditional(raw[begin:end].decode()).encode() + raw[end:]
    return raw.decode()


def spans_of_strings(code: str) -> list[tuple[int, int]] | None:
    """Begin and end, in bytes, of every string with its quotes; None where the code can't be parsed."""
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
