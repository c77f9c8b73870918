"""The pages of the site that come from ``docs/<language>/*.md``."""

import os
import re
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from nbformat.v4 import new_markdown_cell, new_notebook

from mha_lib.classroom.lesson.reading import Lesson
from mha_lib.classroom.pages.build import Build
from mha_lib.classroom.pages.handout.handout_page import HandoutPage
from mha_lib.classroom.pages.handout.notebook import STUDENT
from offline_notebook import AddressOf

# A document begins with a link to itself in another language; on the site the bar has it.
OTHER_LANGUAGE = re.compile(r"\A\[[^\]]*\]\(\.\./[\w-]+/[\w-]+\.md\)\n+")


@dataclass
class Document:
    page: HandoutPage
    address: str  # in the folder of its language


def read_documents(root: Path, language: str, lessons: Set[str], build: Build) -> list[Document]:
    """The documents in a language, in alphabetical order; one that fails stops no other."""
    documents = []
    for file in sorted((root / "docs" / language).glob("*.md")):
        with build.attempt(file):
            text = OTHER_LANGUAGE.sub("", file.read_text(encoding="utf-8"))
            documents.append(document_of(file, text, root, lessons, build))
    return documents


def document_of(file: Path, text: str, root: Path, lessons: Set[str], build: Build) -> Document:
    """The page of Markdown that lies, or might lie, in a file in ``docs/<language>/``."""
    language = file.parent.name
    cell = new_markdown_cell(text, id=file.stem)
    beside_lessons = root / "notebooks" / language / file.name  # from where ../../img/ leads to the figures
    page = HandoutPage(
        Lesson(beside_lessons, new_notebook(cells=[cell], metadata={"lang": language})),
        STUDENT,
        build.warn_of(file.name),
        links_from(file, root, lessons),
    )
    return Document(page, f"{file.stem}.html")


def links_from(document: Path, root: Path, lessons: Set[str]) -> AddressOf:
    """Leads a link to a README to the front page, and one to a document or a lesson to its page.

    A link to another file of the repository becomes plain words.
    """
    folder, notebooks = document.parent, root / "notebooks" / document.parent.name

    def address_of(link: PurePosixPath) -> str | None:
        file = Path(os.path.normpath(folder / link))
        if file.parent == root and re.fullmatch(r"README[\w.]*\.md", file.name):
            return "index.html"
        is_document = file.parent == folder and file.suffix == ".md" and file.exists()
        if is_document or (file.parent == notebooks and file.stem in lessons):
            return f"{quote(file.stem)}.html"
        return "" if file.exists() else None

    return address_of
