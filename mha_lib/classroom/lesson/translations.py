"""Keeps translated lessons in step with the English ones.

A lesson in another language has the cells of the English lesson: the same ids in the same order, the same
slide types, tags, highlighted lines and code, and as many choices of a guess. Its text is its own, and so are
the comments of its code and the words that the code shows to people. The metadata of each cell holds, under
``english``, a hash of the English cell from which it was translated: when the English cell changes, the
translated one is stale.
"""

import ast
import hashlib
from collections.abc import Collection, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from mha_lib.classroom.lesson.files import write_whole
from mha_lib.classroom.lesson.grammar import Cell, tags
from mha_lib.classroom.lesson.language import ENGLISH, source_folder
from mha_lib.classroom.lesson.lessons import written_languages
from mha_lib.classroom.lesson.reading import as_file, read_lesson
from mha_lib.classroom.lesson.slides import slide_type, source

ENGLISH_SOURCE = "english"  # in the metadata of a translated cell: the hash of its English cell

Notebook = dict[str, Any]


def hash_of(cell: Cell) -> str:
    """The hash of an English cell that its translations hold."""
    return hashlib.sha256(f"{cell['cell_type']}\n{source(cell)}".encode()).hexdigest()[:12]


def out_of_step(english: Notebook, translated: Notebook) -> Iterator[tuple[str, str]]:
    """The cells of a translated lesson that a translator must look at, in the order of the English lesson.

    For each its id, and what is wrong by the name of a sentence in ``words/``.
    """
    cells = {cell["id"]: cell for cell in translated["cells"]}
    for cell in english["cells"]:
        mine = cells.get(cell["id"])
        if mine is None:
            yield cell["id"], "missing"
        elif mine["metadata"].get(ENGLISH_SOURCE) != hash_of(cell):
            yield cell["id"], "stale"
        elif place_of(mine) != place_of(cell):
            yield cell["id"], "slide"
        elif mine["cell_type"] == "code" and without_words(source(mine)) != without_words(source(cell)):
            yield cell["id"], "code"
    order = [cell["id"] for cell in english["cells"]]
    yield from ((name, "gone") for name in cells if name not in order)
    shared = [name for name in order if name in cells]
    in_their_order = [name for name in cells if name in order]
    yield from ((name, "moved") for name, here in zip(shared, in_their_order, strict=True) if name != here)


def place_of(cell: Cell) -> tuple[Any, ...]:
    its = cell["metadata"]
    alike = [its.get(name) for name in ("highlight", "checks", "beside")]
    return cell["cell_type"], slide_type(cell), tags(cell), *alike, len(its.get("choices", []))


def brought_in_step(english: Notebook, translated: Notebook) -> Notebook:
    """The translated lesson after all changes that need no translator.

    It has the English cells in their order, with their slide types, tags and highlighted lines. A cell that
    was equal to the English one becomes equal to the new one. A new cell stands there in English, and counts
    as stale.
    """
    former = {cell["id"]: cell for cell in translated["cells"]}
    cells = []
    for theirs in english["cells"]:
        cell = deepcopy(theirs)
        mine = former.get(cell["id"])
        if mine is not None:
            remembered = mine["metadata"].get(ENGLISH_SOURCE)
            if hash_of(mine) == remembered:  # nothing in it was translated
                remembered = hash_of(theirs)
            else:
                cell["source"] = mine["source"]
            cell["metadata"][ENGLISH_SOURCE] = remembered
            cell["metadata"].pop("choices", None)  # only a translator can write them
            for name in {"room", "picture", "choices"} & mine["metadata"].keys():  # its words are its own
                cell["metadata"][name] = mine["metadata"][name]
        cells.append(cell)
    return {**translated, "cells": cells}


def marked_as_translated(english: Notebook, translated: Notebook, names: Collection[str]) -> Notebook:
    """The translated lesson, with the cells of these ids marked as translated from the English ones now."""
    hashes = {cell["id"]: hash_of(cell) for cell in english["cells"] if cell["id"] in names}
    cells = deepcopy(translated["cells"])
    for cell in cells:
        if cell["id"] in hashes:
            cell["metadata"][ENGLISH_SOURCE] = hashes[cell["id"]]
    return {**translated, "cells": cells}


def see_to(
    root: Path, lesson: Path, *, update: bool = False, done: Collection[str] = ()
) -> Iterator[tuple[str, str, str]]:
    """Translation, cell and name of the difference, for each that a translation has from the lesson.

    ``update`` first makes all changes that need no translator; cells in ``done`` are marked as translated.
    """
    for language in written_languages(root):
        if language == ENGLISH:
            continue
        file = source_folder(root, language) / lesson.name
        name = f"{language}/{lesson.stem}"
        if not file.exists():
            yield name, "-", "no_lesson"
            continue
        english, translated = (read_lesson(each).notebook for each in (lesson, file))
        changed = brought_in_step(english, translated) if update else translated
        changed = marked_as_translated(english, changed, done)
        if changed != translated:
            write_whole(file, as_file(changed))
        for cell, what in out_of_step(english, changed):
            yield name, cell, what


class WithoutWords(ast.NodeTransformer):
    """Blanks the parts that a translation may change: the text of strings, and the order of values in it."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        values = [value for value in node.values if isinstance(value, ast.FormattedValue)]
        for value in values:
            value.value = self.visit(value.value)  # its format (:7.2f) is no text, and stays
        return ast.JoinedStr(sorted(values, key=ast.dump))


def without_words(code: str) -> str:
    """The syntax tree of the code with its strings blanked; the code itself where Python can't parse it."""
    try:
        tree = ast.parse(code)
    except SyntaxError:  # a magic command, say
        return code
    return ast.dump(WithoutWords().visit(tree))
