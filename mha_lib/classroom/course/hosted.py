"""The one address of the course's repository, and what leads from it to a hosted notebook.

``course.json`` beside the lessons names it: ``{"repository": "https://github.com/OWNER/NAME"}``, with
``/tree/BRANCH`` behind it where the branch is not main. From it come the links that open a lesson in Colab
and in Binder. Each lesson's cell ``environment`` holds the archive that is installed where the software is
missing: a notebook that is alone can look nothing up. ``write_repository`` writes both.
"""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from mha_lib.classroom.course.chinese import TRADITIONAL
from mha_lib.classroom.course.files import as_json, write_whole
from mha_lib.classroom.course.language import ENGLISH, course_of, language_of
from mha_lib.classroom.course.lessons import (
    COURSE,
    CourseError,
    list_languages,
    list_lessons,
    read_course,
    setting,
)
from mha_lib.classroom.course.slides import Cell, read_lesson, source
from mha_lib.classroom.course.translations import ENGLISH_SOURCE, hash_of

REPOSITORY = "repository"  # its name in course.json
ENVIRONMENT = "environment"  # the id of the cell that makes the environment
ARCHIVE = re.compile(r'^archive = "[^"]*"', re.MULTILINE)  # the line of that cell which holds the address
ADDRESS = re.compile(
    r"https://github\.com/(?P<owner>[\w-]+)/(?P<name>[\w.-]+?)(\.git)?(/tree/(?P<branch>[\w.-]+))?/?",
    re.ASCII,
)
MAIN = "main"


class Repository(NamedTuple):
    """A repository on GitHub, and a branch or tag of it."""

    owner: str
    name: str
    branch: str

    @property
    def archive(self) -> str:
        """What ``pip install`` takes, without git."""
        return f"https://github.com/{self.owner}/{self.name}/archive/{self.branch}.zip"

    def in_colab(self, path: str) -> str:
        place = f"{self.owner}/{self.name}/blob/{self.branch}/{quote(path)}"
        return f"https://colab.research.google.com/github/{place}"

    def in_binder(self, path: str) -> str:
        place = f"{self.owner}/{self.name}/{self.branch}?urlpath={quote(f'lab/tree/{path}', safe='')}"
        return f"https://mybinder.org/v2/gh/{place}"


def read_repository(address: str) -> Repository | None:
    """The repository of an address; None of none."""
    if not address:
        return None
    found = ADDRESS.fullmatch(address)
    if not found:
        raise CourseError("bad_repository", address=address)
    return Repository(found["owner"], found["name"], found["branch"] or MAIN)


def links_to(lesson: Path) -> dict[str, str]:
    """Where a lesson opens without being installed: ``{"colab": address, "binder": address}``.

    The lesson is one of ``notebooks/`` or of a working copy. Empty where ``course.json`` names no repository,
    and for a notebook that is none of the course's. What a link is called stands in ``words/``: "hosted".
    Colab opens the file in the repository; Binder the student's copy, which ``postBuild`` makes there.
    """
    course, language = course_of(lesson.parent), language_of(lesson.parent)
    if course is None or not (course / "notebooks" / language / lesson.name).exists():
        return {}
    repository = read_repository(setting(lesson.parent, REPOSITORY))
    if repository is None:
        return {}
    links = {
        "colab": repository.in_colab(f"notebooks/{language}/{lesson.name}"),
        "binder": repository.in_binder(f"work/{language}/{lesson.name}"),
    }
    if language == TRADITIONAL:  # made from the simplified when asked for: no file in the repository
        del links["colab"]
    return links


def configured_repository(root: Path) -> str:
    """The address that is configured, "" where there is none."""
    return setting(root / "notebooks" / ENGLISH, REPOSITORY)


def write_repository(root: Path, address: str) -> list[Path]:
    """Write the address into every ``course.json`` and into a cell of every lesson; "" takes it out.

    Returns the files that have changed.
    """
    repository = read_repository(address)
    archive = repository.archive if repository else ""
    written = {}
    for language in list_languages(root):
        if language == TRADITIONAL:
            continue
        lessons = list_lessons(root, language)
        file = lessons[0].with_name(COURSE)
        settings = read_course(file.parent) | {REPOSITORY: address}
        written[file] = json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
        for lesson in lessons:
            english = root / "notebooks" / ENGLISH / lesson.name
            original = read_lesson(english) if language != ENGLISH and english.exists() else None
            written[lesson] = as_json(with_archive(read_lesson(lesson), archive, original))
    changed = [
        file
        for file, content in written.items()
        if not file.exists() or file.read_bytes() != content.encode()
    ]
    for file in changed:
        write_whole(file, written[file])
    return changed


def with_archive(
    notebook: dict[str, Any], archive: str, english: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The lesson, in which the cell ``environment`` installs this archive.

    ``english`` is the lesson that it translates: a cell that was in step with the English one stays so.
    """
    here = cell_of(notebook)
    if here is None:
        return notebook
    changed = here | {"source": naming(here, archive).splitlines(keepends=True)}
    there = cell_of(english) if english else None
    if there is not None and here["metadata"].get(ENGLISH_SOURCE) == hash_of(there):
        there_too = there | {"source": naming(there, archive)}
        changed["metadata"] = here["metadata"] | {ENGLISH_SOURCE: hash_of(there_too)}
    return notebook | {"cells": [changed if cell is here else cell for cell in notebook["cells"]]}


def naming(cell: Cell, archive: str) -> str:
    return ARCHIVE.sub(lambda _: f'archive = "{archive}"', source(cell))


def cell_of(notebook: dict[str, Any]) -> dict[str, Any] | None:
    return next((cell for cell in notebook["cells"] if cell["id"] == ENVIRONMENT), None)
