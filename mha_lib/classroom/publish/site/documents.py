"""The pages of the site that come from ``docs/<language>/*.md``."""

import posixpath
import re
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from nbformat.v4 import new_markdown_cell, new_notebook

from mha_lib.classroom.publish.build import Build
from mha_lib.classroom.publish.handout.links import AddressOf
from mha_lib.classroom.publish.handout.notebook import STUDENT
from mha_lib.classroom.publish.handout.page import HandoutPage

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
            notebook = new_notebook(
                cells=[new_markdown_cell(text, id=file.stem)], metadata={"lang": language}
            )
            page = HandoutPage(
                notebook,
                file.stem,
                root / "notebooks" / language,  # from where ../../img/ leads to the figures too
                STUDENT,
                build.warn_of(file.name),
                links_from(file, root, language, lessons),
            )
            documents.append(Document(page, f"{file.stem}.html"))
    return documents


def links_from(document: Path, root: Path, language: str, lessons: Set[str]) -> AddressOf:
    """Leads a link to a README to the front page, and one to a document or a lesson to its page.

    A link to another file of the repository becomes plain words.
    """
    folder = document.parent.relative_to(root).as_posix()

    def address_of(file: PurePosixPath) -> str | None:
        path = PurePosixPath(posixpath.normpath(posixpath.join(folder, file)))
        if re.fullmatch(r"README[\w.]*\.md", str(path)):
            return "index.html"
        is_document = path.parent == PurePosixPath(folder) and path.suffix == ".md" and (root / path).exists()
        is_lesson = path.parent == PurePosixPath("notebooks", language) and path.stem in lessons
        if is_document or is_lesson:
            return f"{quote(path.stem)}.html"
        return "" if (root / path).exists() else None

    return address_of
