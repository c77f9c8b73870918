"""Reads a lesson from its file: once, and validated by nbformat."""

import hashlib
import json
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mha_lib.classroom.lesson.files import as_json
from mha_lib.classroom.lesson.grammar import Identity, identity_of
from mha_lib.classroom.lesson.language import ENGLISH
from mha_lib.classroom.lesson.lessons import CourseError
from mha_lib.classroom.lesson.slides import STEP, Slide, read_stacks, source, title_of

if TYPE_CHECKING:
    from nbformat import NotebookNode

IDS_SINCE = 5  # nbformat 4.5: in older notebooks cells have no ids
CHINESE, KANA = re.compile("[\u4e00-\u9fff]"), re.compile("[\u3040-\u30ff]")  # kana: it is Japanese
AT_ONCE = 64  # lessons that are kept read: those of some languages


@dataclass(frozen=True)
class Lesson:
    """A lesson as it was read. Others hold it too: whoever changes its notebook changes a ``copy``."""

    file: Path  # in which it lies, or from whose place its links lead
    notebook: "NotebookNode"

    @property
    def name(self) -> str:
        return self.file.stem

    @property
    def folder(self) -> Path:
        return self.file.parent

    @property
    def cells(self) -> list[Any]:
        cells: list[Any] = self.notebook["cells"]
        return cells

    @cached_property
    def identity(self) -> Identity | None:
        return identity_of(self.notebook)

    @property
    def language(self) -> str:
        """The language that the notebook says it is written in; where it says none, that of its letters."""
        named = self.identity.language if self.identity else language_of_text(self.cells)
        return str(self.notebook["metadata"].get("lang") or named)

    @property
    def title(self) -> str:
        return title_of(self.notebook, self.name)

    @cached_property
    def stacks(self) -> list[list[Slide]]:
        """The slides along the top, each with those below it, and with their notes."""
        return read_stacks(self.cells)

    @property
    def slides(self) -> list[Slide]:
        return [slide for stack in self.stacks for slide in stack]

    def copy(self) -> "NotebookNode":
        """A notebook that may be changed."""
        return deepcopy(self.notebook)


def language_of_text(cells: list[Any]) -> str:
    """Chinese where a tenth of the letters of the texts are; else English."""
    text = "".join(source(cell) for cell in cells if cell["cell_type"] == "markdown")
    letters = sum(map(str.isalpha, text))
    is_chinese = len(CHINESE.findall(text)) * 10 > letters and not KANA.search(text)
    return "zh" if is_chinese else ENGLISH


def read_lesson(file: Path) -> Lesson:
    """The lesson in a file; a ``CourseError`` says why there is none that everybody here could read."""
    try:
        return lesson_of(file, file.read_bytes())
    except OSError as error:
        raise CourseError("file_unusable", file=file, reason=error.strerror) from None


@lru_cache(AT_ONCE)
def lesson_of(file: Path, content: bytes) -> Lesson:
    """The lesson whose file holds this content; the same content is parsed and validated once."""
    try:
        tree = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise no_notebook(file, error) from None
    if not isinstance(tree, dict) or "worksheets" not in tree:  # where formats before 4 have their cells
        require_entries(tree, file)
    try:
        notebook = as_it_is(content)
    except Exception as error:  # nbformat raises a dozen kinds, some of which name a line of its own
        raise no_notebook(file, error) from None
    return Lesson(file, checked(notebook, file))


def as_it_is(content: bytes) -> "NotebookNode":
    """The notebook whose file holds this content, in format 4: neither validated nor given ids."""
    import nbformat.reader  # here: the kernel of a lesson need not have it

    notebook: NotebookNode = nbformat.convert(nbformat.reader.reads(content.decode("utf-8-sig")), 4)
    return notebook


def checked(notebook: "NotebookNode", name: object) -> "NotebookNode":
    """The notebook, with an id for each cell; a ``CourseError`` says why it is none that a page can show."""
    import nbformat.validator  # here: the kernel of a lesson need not have it

    require_entries(notebook, name)
    notebook = deepcopy(notebook)
    notebook["nbformat_minor"] = max(IDS_SINCE, notebook.get("nbformat_minor", 0))
    give_ids(notebook["cells"])
    try:
        nbformat.validate(notebook, relax_add_props=True)
    except Exception as error:
        raise no_notebook(name, error) from None
    return notebook


def give_ids(cells: list[Any]) -> None:
    """Give each cell without an id of its own one that is the same at each reading: a hash of its text."""
    taken = {cell.get("id") for cell in cells}
    first = {cell.get("id"): cell for cell in reversed(cells)}
    for cell in (cell for cell in cells if "id" not in cell or first[cell["id"]] is not cell):
        text = f"{cell['cell_type']}:{''.join(cell['source'])}"
        name = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:8]
        numbered = (f"{name}-{number}" for number in count(2))
        cell["id"] = next(free for free in chain([name], numbered) if free not in taken)
        taken.add(cell["id"])


def no_notebook(name: object, error: Exception) -> CourseError:
    entry = (
        str(getattr(error, "json_path", "")).removeprefix("$").removeprefix(".")
    )  # of an error of the schema
    said = next(iter(str(error).splitlines()), "") or type(error).__name__
    reason = f"{entry}: {said}" if entry else said
    return CourseError("no_notebook", file=name, reason=reason[:200])


def require_entries(tree: Any, file: object) -> None:
    """Raise a ``CourseError`` that names the first entry that the lesson's grammar could not read."""
    if wrong := next((entry for entry, is_right in entries_of(tree) if not is_right), None):
        raise CourseError("wrong_entry", file=file, entry=wrong)


def entries_of(tree: Any) -> Iterator[tuple[str, bool]]:
    """The entries that a lesson is read by, each with whether it is right; a wrong one is the last.

    nbformat asks for more, but knows neither ``slideshow`` nor ``choices``, and says less of the others.
    """

    def inside(table: Any, name: str, default: Any = None) -> Any:
        return table.get(name, default) if isinstance(table, dict) else None

    def are_texts(value: Any) -> bool:
        return isinstance(value, list) and all(isinstance(text, str) for text in value)

    cells, about = inside(tree, "cells"), inside(tree, "metadata")
    yield "cells", isinstance(cells, list)
    yield "metadata", isinstance(about, dict)
    yield "metadata.language", isinstance(inside(about, "language", ""), str)  # nbconvert reads it
    for number, cell in enumerate(cells):
        kind, text, its = (inside(cell, name) for name in ("cell_type", "source", "metadata"))
        step = inside(its, STEP, {})
        yield f"cells[{number}].cell_type", kind in ("code", "markdown", "raw")
        yield f"cells[{number}].source", isinstance(text, str) or are_texts(text)
        yield f"cells[{number}].metadata", isinstance(its, dict)
        yield f"cells[{number}].metadata.slideshow", isinstance(inside(its, "slideshow", {}), dict)
        yield f"cells[{number}].metadata.{STEP}", isinstance(inside(step, "address", ""), str)
        yield f"cells[{number}].metadata.tags", are_texts(inside(its, "tags", []))
        yield f"cells[{number}].metadata.choices", are_texts(inside(its, "choices", []))


def as_file(notebook: Any) -> str:
    """The text of a notebook's file, as the repository holds it: each line of a source on its own line."""
    import nbformat.v4.rwbase

    return as_json(nbformat.v4.rwbase.split_lines(nbformat.from_dict(notebook)))
