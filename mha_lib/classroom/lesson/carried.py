"""Writes into a copy of a lesson what the page that shows it asks for: the page reads no grammar itself."""

from typing import Any

from mha_lib.classroom.lesson.grammar import has_role, identity_of
from mha_lib.classroom.lesson.names import names_in
from mha_lib.classroom.lesson.needs import needed_by
from mha_lib.classroom.lesson.slides import STEP, addresses_of, read_slides, source

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
    for slide, begin, end in zip(slides, begins, [*begins[1:], len(cells)], strict=True):
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
