"""Writes into a copy of a lesson what the page that shows it asks for.

The page reads no grammar itself, and no file of the course: a copy shows the same wherever it lies.
"""

from pathlib import Path
from typing import Any

from mha_lib.classroom.lesson.grammar import has_role, identity_of
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.lesson.lessons import read_course
from mha_lib.classroom.lesson.made import made_language
from mha_lib.classroom.lesson.names import names_in
from mha_lib.classroom.lesson.needs import needed_by
from mha_lib.classroom.lesson.slides import STEP, addresses_of, read_slides, source

PAGE = "mha_page"  # in the metadata of a copy: words, handouts and style, for its page
SAID_BY_PAGE = ("deck", "speaker", "seat", "withheld")  # groups of words
STYLE = "course.css"  # beside the lessons: the look of all decks
BINDS = "mha_binds"  # in the metadata of a code cell: the names that it binds


def mark_steps(notebook: Any) -> None:
    """Let the first cell of each step say what the step is, and each code cell which names it binds.

    Of a step that is its address, its title, its minutes, whether it is optional, and the cells that it needs
    besides the setup.
    """
    cells = notebook["cells"]
    slides = [slide for slide in read_slides(cells) if slide.cells]
    addresses = addresses_of(slides, identity_of(notebook))
    begins = [cells.index(slide.cells[0]) for slide in slides]
    for slide, begin, end in zip(slides, begins, [*begins, len(cells)][1:], strict=True):
        needed = needed_by(cells[begin:end], cells[:begin])
        cells[begin]["metadata"][STEP] = {
            "address": addresses.get(cells[begin].get("id"), ""),
            "title": slide.title,
            "minutes": slide.minutes,
            "is_optional": slide.is_optional,
            "needs": [cell["id"] for cell in needed if not has_role(cell, "setup")],
        }
    for cell in cells:
        if cell["cell_type"] == "code":
            cell["metadata"][BINDS] = sorted(names_in(source(cell))[0])


def furnish_page(notebook: Any, lessons: Path) -> None:
    """Bring into a copy what its page shows of the course to which this folder of lessons belongs.

    That is the text of ``course.css``, the address of the handouts, which ``course.json`` names, with its QR
    code, and the page's words where their language is made from another: a page can't convert.
    """
    metadata, page = notebook["metadata"], dict[str, Any]()
    identity, style = identity_of(notebook), lessons / STYLE
    if identity and made_language(identity.language):
        words = words_in(identity.language)
        page["words"] = {group: words[group] for group in SAID_BY_PAGE}
    if style.is_file():
        page["style"] = style.read_text(encoding="utf-8")
    if address := str(read_course(lessons).get("handouts") or ""):
        import segno  # here: most courses name no address

        code = segno.make(address, micro=False).svg_data_uri(scale=8, light="white")
        page["handouts"] = {"address": address, "code": code}
    metadata[PAGE] = page
