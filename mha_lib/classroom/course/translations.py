"""How a translated lesson keeps in step with the English one.

A lesson in another language has the cells of the English lesson: the same ids in the same order, the same
slide types, tags and code. Its text is its own, and so are the comments of its code and the words that its
code shows to people. Each cell remembers in its metadata, under ``english``, the English cell that it was
translated from, as a hash of the source: when the English cell changes, the translated one is stale.
"""

import ast
import hashlib
from collections.abc import Collection, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

from mha_lib.classroom.course.chinese import TRADITIONAL
from mha_lib.classroom.course.files import as_json, write_whole
from mha_lib.classroom.course.language import ENGLISH
from mha_lib.classroom.course.lessons import CourseError, list_languages
from mha_lib.classroom.course.slides import Cell, read_lesson, slide_type, source, tags

ENGLISH_SOURCE = "english"  # in a translated cell's metadata: what it was translated from

Notebook = dict[str, Any]


class OutOfStep(NamedTuple):
    """A cell that is not as the English lesson has it: its id, and the name of a sentence in ``words/``."""

    cell: str
    what: str  # missing | stale | slide | code | gone | moved


def hash_of(cell: Cell) -> str:
    """What a translated cell remembers of the English cell that it was translated from."""
    return hashlib.sha256(f"{cell['cell_type']}\n{source(cell)}".encode()).hexdigest()[:12]


def out_of_step(english: Notebook, translated: Notebook) -> Iterator[OutOfStep]:
    """The cells of a translated lesson that are to be seen to, in the order of the English lesson."""
    cells = {cell["id"]: cell for cell in translated["cells"]}
    for cell in english["cells"]:
        mine = cells.get(cell["id"])
        if mine is None:
            yield OutOfStep(cell["id"], "missing")
        elif mine["metadata"].get(ENGLISH_SOURCE) != hash_of(cell):
            yield OutOfStep(cell["id"], "stale")
        elif place_of(mine) != place_of(cell):
            yield OutOfStep(cell["id"], "slide")
        elif mine["cell_type"] == "code" and without_words(source(mine)) != without_words(source(cell)):
            yield OutOfStep(cell["id"], "code")
    order = [cell["id"] for cell in english["cells"]]
    yield from (OutOfStep(name, "gone") for name in cells if name not in order)
    shared = [name for name in order if name in cells]
    in_their_order = [name for name in cells if name in order]
    yield from (
        OutOfStep(name, "moved") for name, here in zip(shared, in_their_order, strict=True) if name != here
    )


def place_of(cell: Cell) -> tuple[str, str, list[str]]:
    return cell["cell_type"], slide_type(cell), tags(cell)


def brought_in_step(english: Notebook, translated: Notebook) -> Notebook:
    """The translated lesson with all that needs no translator done.

    It has the English cells in their order, with their slide types and tags. A cell that is as the English
    one was is as the English one is; a new one stands in English, and counts as stale.
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
            for name in {"room", "picture"} & mine["metadata"].keys():  # its words are longer or shorter
                cell["metadata"][name] = mine["metadata"][name]
        cells.append(cell)
    return {**translated, "cells": cells}


def marked_as_translated(english: Notebook, translated: Notebook, names: Collection[str]) -> Notebook:
    """The translated lesson, in which the cells of these ids count as translated from the English ones."""
    hashes = {cell["id"]: hash_of(cell) for cell in english["cells"] if cell["id"] in names}
    cells = deepcopy(translated["cells"])
    for cell in cells:
        if cell["id"] in hashes:
            cell["metadata"][ENGLISH_SOURCE] = hashes[cell["id"]]
    return {**translated, "cells": cells}


def see_to(
    root: Path, lessons: list[Path], *, update: bool = False, done: Collection[str] = ()
) -> list[tuple[str, str, str]]:
    """Lesson, cell and what is out of step, of every translation of these English lessons.

    ``update`` first brings in step what needs no translator; cells in ``done`` count as translated.
    """
    known = {cell["id"] for lesson in lessons for cell in read_lesson(lesson)["cells"]}
    if unknown := [name for name in done if name not in known]:
        raise CourseError(
            "no_cell", cell=", ".join(unknown), lessons=", ".join(each.stem for each in lessons)
        )
    found = []
    for language in list_languages(root):
        for lesson in lessons if language not in (ENGLISH, TRADITIONAL) else []:
            file = root / "notebooks" / language / lesson.name
            name = f"{language}/{lesson.stem}"
            if not file.exists():
                found.append((name, "-", "no_lesson"))
                continue
            english, translated = read_lesson(lesson), read_lesson(file)
            changed = brought_in_step(english, translated) if update else translated
            changed = marked_as_translated(english, changed, done)
            if changed != translated:
                write_whole(file, as_json(changed))
            found += [(name, cell, what) for cell, what in out_of_step(english, changed)]
    return found


class WithoutWords(ast.NodeTransformer):
    """Leaves out what a translation may change: the text of strings, and where in it a value stands."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        values = [value for value in node.values if isinstance(value, ast.FormattedValue)]
        for value in values:
            value.value = self.visit(value.value)  # and its format (:7.2f) stays, for it is no text
        return ast.JoinedStr(sorted(values, key=ast.dump))


def without_words(code: str) -> str:
    """The syntax tree of a cell's code with its strings blanked; the code itself where it can't be parsed."""
    try:
        tree = ast.parse(code)
    except SyntaxError:  # a magic command, say
        return code
    return ast.dump(WithoutWords().visit(tree))
