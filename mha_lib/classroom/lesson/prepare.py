"""Makes the lessons of a language ready to be read.

Those of a language that is made from another, such as traditional Chinese, are made in ``build/zh-Hant/``
from those in ``notebooks/zh/``: nobody edits them. Comments, strings, Markdown and style sheets change.
A string or comment that stands in the English lesson too was not translated. It is data, such as the numeral
万, and stays. Phrases that the conversion gets wrong in these lessons stand in ``notebooks/zh/taiwan.json``.
"""

import io
import json
import tokenize
from contextlib import suppress
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from mha_lib.classroom.lesson.chinese import Phrases
from mha_lib.classroom.lesson.files import write_changed
from mha_lib.classroom.lesson.grammar import identified
from mha_lib.classroom.lesson.language import (
    COURSE,
    ENGLISH,
    is_installed,
    lesson_folder,
    source_folder,
)
from mha_lib.classroom.lesson.lessons import CourseError, list_lessons
from mha_lib.classroom.lesson.made import MadeLanguage, made_language
from mha_lib.classroom.lesson.reading import as_file, read_lesson
from mha_lib.classroom.lesson.slides import IMPORTS, source

PHRASES = "taiwan.json"  # beside the lessons: simplified and traditional phrases
FOR_AUTHORS = (PHRASES, "glossary.json")  # beside the lessons, and in no copy of them


def prepare_lessons(root: Path, language: str) -> list[Path]:
    """The lessons of a language, ready to be read.

    Those of a language that is made from another are made now, and those of the installed package are copied.
    """
    lessons, folder = list_lessons(root, language), lesson_folder(root, language)
    if is_installed(root) and folder.exists() and any(folder.iterdir()) and not (folder / COURSE).exists():
        raise CourseError("others_in_build", folder=folder)
    if made := made_language(language):
        make_lessons(root, made)
    elif is_installed(root):
        files = filter(Path.is_file, source_folder(root, language).iterdir())
        read = [file for file in files if file.name not in FOR_AUTHORS]
        bring_in_step(folder, {folder / file.name: file.read_bytes() for file in read})
    return lessons


def make_lessons(root: Path, language: MadeLanguage) -> None:
    """Bring ``build/zh-Hant/`` in step with ``notebooks/zh/``. A file in step stays untouched."""
    written, folder = source_folder(root, language.code), lesson_folder(root, language.code)
    phrases = phrases_of(written)
    made: dict[Path, bytes] = {}
    for file in written.iterdir():
        if file.is_file() and file.name not in FOR_AUTHORS:
            made[folder / file.name] = file.read_bytes()
        if file.suffix == ".css":  # the names of course, instructor and date
            made[folder / file.name] = language.convert(file.read_text(encoding="utf-8"), phrases).encode()
        if file.suffix == ".ipynb":
            with suppress(CourseError):  # a file that is no notebook stays as it is: its readers say so
                made[folder / file.name] = as_file(made_lesson(root, file, language, phrases)).encode()
    bring_in_step(folder, made)


def bring_in_step(folder: Path, made: dict[Path, bytes]) -> None:
    """Let the folder hold these files and no others. By the settings, written first, we know it as ours."""
    write_changed(dict(sorted(made.items(), key=lambda item: item[0].name != COURSE)))
    for file in folder.iterdir():
        if file.is_file() and file not in made:
            file.unlink()


def phrases_of(lessons: Path) -> Phrases:
    """The phrases of these lessons that the conversion gets wrong, each with the right one."""
    file = lessons / PHRASES
    try:
        return tuple(json.loads(file.read_bytes()).items()) if file.exists() else ()
    except (ValueError, AttributeError) as error:
        raise CourseError("file_unusable", file=file, reason=error) from None


def made_lesson(root: Path, lesson: Path, language: MadeLanguage, phrases: Phrases) -> dict[str, Any]:
    original = source_folder(root, ENGLISH) / lesson.name
    english = {cell["id"]: source(cell) for cell in read_lesson(original).cells} if original.exists() else {}
    notebook = read_lesson(lesson).copy()
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            text = converted_code(source(cell), english.get(cell["id"], ""), language, phrases)
            if cell["id"] == IMPORTS:  # begin_lesson names the language of the lesson
                text = text.replace(f'"{language.made_from}")', f'"{language.code}")')
        else:
            text = language.convert_markdown(source(cell), phrases)
        cell["source"] = text
        if choices := cell["metadata"].get("choices"):
            cell["metadata"]["choices"] = [language.convert(choice, phrases) for choice in choices]
    identified(notebook, language=language.code)
    for name in {"title", "summary", "guess"} & notebook["metadata"].keys():
        notebook["metadata"][name] = language.convert(notebook["metadata"][name], phrases)
    return notebook


@cache  # a command makes the lessons more than once
def converted_code(code: str, english: str, language: MadeLanguage, phrases: Phrases = ()) -> str:
    """Python code with its comments and strings converted, except for those that are data.

    A text that stands in the English code too was not translated, so it is data.
    """
    pieces, data = texts_and_code(code), texts_in(english)
    pieces[1::2] = [text if text in data else language.convert(text, phrases) for text in texts_in(code)]
    return "".join(pieces)


def texts_in(code: str) -> list[str]:
    """The strings, with their quotes, and the comments of Python code."""
    return texts_and_code(code)[1::2]


def texts_and_code(code: str) -> list[str]:
    """Python code cut into pieces: every second one is a string or a comment. Other code is one piece."""
    lines = list(accumulate((len(line) + 1 for line in code.split("\n")), initial=0))  # where each begins
    cuts, depth = [0], 0  # depth: how many f-strings lie around the token
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            kind, begin = tokenize.tok_name[token.type], lines[token.start[0] - 1] + token.start[1]
            begins, ends = kind.endswith("STRING_START"), kind.endswith("STRING_END")  # from Python 3.12 on
            is_whole = kind in ("STRING", "COMMENT")
            if depth == 0 and (begins or is_whole):
                cuts.append(begin)
            depth += begins - ends
            if depth == 0 and (ends or is_whole):
                cuts.append(begin + len(token.string))
    except (SyntaxError, tokenize.TokenError):  # a magic command, say
        return [code]
    return [code[begin:end] for begin, end in pairwise([*cuts, len(code)])]
