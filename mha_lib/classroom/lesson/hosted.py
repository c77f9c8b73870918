"""The address of the course's repository, and the links from it to hosted notebooks.

``course.json`` beside the lessons holds the address: ``{"repository": "https://github.com/OWNER/NAME"}``, or
one at gitee.com, with ``/tree/BRANCH`` at its end where the branch is not main. From it come the links that
open a lesson in Colab and in Binder. A notebook that is alone can look nothing up, so each lesson's cell
``environment`` holds the address of the archive to install. ``write_repository`` writes both.
"""

import json
import re
from copy import deepcopy
from pathlib import Path
from urllib.parse import quote

from mha_lib.classroom.lesson.chinese import TRADITIONAL
from mha_lib.classroom.lesson.files import as_json, write_changed
from mha_lib.classroom.lesson.grammar import Cell
from mha_lib.classroom.lesson.language import COURSE, ENGLISH, course_of, identity_at, source_folder
from mha_lib.classroom.lesson.lessons import (
    CourseError,
    hands_out_solutions,
    list_lessons,
    read_course,
    setting,
    written_languages,
)
from mha_lib.classroom.lesson.slides import ENVIRONMENT, read_lesson, source
from mha_lib.classroom.lesson.translations import ENGLISH_SOURCE, Notebook, hash_of

REPOSITORY = "repository"  # the name of the address in course.json
ARCHIVE = re.compile(r'^archive = "[^"]*"', re.MULTILINE)  # the line of the cell that holds the address
ADDRESS = re.compile(
    r"https://(?P<host>github|gitee)\.com/(?P<owner>[\w-]+)/(?P<name>[\w.-]+?)(\.git)?"
    r"(/tree/(?P<branch>[\w.-]+))?/?",
    re.ASCII,
)
COLAB = "https://colab.research.google.com/github/{owner}/{name}/blob/{branch}/"
# For each host: a branch as a zip, and the branch in Binder.
ZIP = {
    "github": "https://github.com/{owner}/{name}/archive/{branch}.zip",
    "gitee": "https://gitee.com/{owner}/{name}/repository/archive/{branch}.zip",
}
BINDER = {
    "github": "https://mybinder.org/v2/gh/{owner}/{name}/{branch}?urlpath=",
    "gitee": "https://mybinder.org/v2/git/https%3A%2F%2Fgitee.com%2F{owner}%2F{name}/{branch}?urlpath=",
}


def read_repository(address: str) -> dict[str, str]:
    """Host, owner, name, and branch or tag of the repository at an address; nothing for an empty address."""
    if not address:
        return {}
    found = ADDRESS.fullmatch(address)
    if not found:
        raise CourseError("bad_repository", address=address)
    return found.groupdict(default="main")


def links_to(lesson: Path) -> dict[str, str]:
    """The addresses that open a lesson where nothing is installed: ``{"colab": address, "binder": address}``.

    The lesson may be one of a working copy. Empty where ``course.json`` holds no address, and for a notebook
    that is not a lesson of the course. The names of the links stand in ``words/``: "hosted". Colab opens
    the file in a repository on GitHub, so it has none for lessons in traditional Chinese, which are made on
    each machine, and none where students get no solutions. Binder opens the student's copy, which
    ``postBuild`` makes there.
    """
    course, identity = course_of(lesson.parent), identity_at(lesson)
    if course is None or identity is None:
        return {}
    language, file_name = identity.language, f"{identity.lesson}.ipynb"  # a copy may have another name
    if not (source_folder(course, language) / file_name).exists():
        return {}
    repository = read_repository(setting(source_folder(course, language), REPOSITORY))
    if not repository:
        return {}
    copy_path = quote(f"lab/tree/work/{language}/{file_name}", safe="")
    links = {"binder": BINDER[repository["host"]].format(**repository) + copy_path}
    if repository["host"] == "github" and language != TRADITIONAL and hands_out_solutions(course):
        source_path = quote(f"notebooks/{language}/{file_name}")
        links = {"colab": COLAB.format(**repository) + source_path} | links
    return links


def configured_repository(root: Path) -> str:
    """The address in ``course.json``; "" where it holds none."""
    return setting(source_folder(root, ENGLISH), REPOSITORY)


def archive_of(address: str) -> str:
    """The address from which ``pip install`` installs the course without git; "" for an empty address."""
    repository = read_repository(address)
    return ZIP[repository["host"]].format(**repository) if repository else ""


def write_repository(root: Path, address: str) -> list[Path]:
    """Write the address into every ``course.json`` and into a cell of every lesson; "" removes it.

    Returns the files that have changed.
    """
    archive = archive_of(address)
    written = {}
    for language in written_languages(root):
        folder = source_folder(root, language)
        settings = read_course(folder) | {REPOSITORY: address}
        written[folder / COURSE] = json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
        for lesson in list_lessons(root, language):
            english = source_folder(root, ENGLISH) / lesson.name
            original = read_lesson(english) if language != ENGLISH and english.exists() else None
            written[lesson] = as_json(with_archive(read_lesson(lesson), archive, original))
    return write_changed({file: content.encode() for file, content in written.items()})


def with_archive(notebook: Notebook, archive: str, english: Notebook | None = None) -> Notebook:
    """The lesson with this archive in its cell ``environment``.

    ``english`` is the lesson that it translates: a cell that was in step with the English one stays so.
    """

    def naming(cell: Cell) -> str:
        return ARCHIVE.sub(lambda _: f'archive = "{archive}"', source(cell))

    notebook = deepcopy(notebook)
    translated = {cell.get("id"): cell for cell in english["cells"]} if english else {}
    for cell in notebook["cells"]:
        if cell.get("id") == ENVIRONMENT:
            there = translated.get(ENVIRONMENT)
            if there and cell["metadata"].get(ENGLISH_SOURCE) == hash_of(there):
                cell["metadata"][ENGLISH_SOURCE] = hash_of({**there, "source": naming(there)})
            cell["source"] = naming(cell).splitlines(keepends=True)
    return notebook
