"""A lesson for students to download: one file that holds its figures and no notes for the instructor."""

import base64
import json
import mimetypes
import re
from pathlib import Path

from mha_lib.classroom.course.figures import SHARED, read_figure
from mha_lib.classroom.course.files import as_json
from mha_lib.classroom.course.slides import source
from mha_lib.classroom.course.working_copy import without_notes, without_outputs

FIGURE = re.compile(rf"\]\({re.escape(SHARED)}(?P<name>[\w.-]+)\)")


def students_notebook(lesson: Path) -> str:
    """The notebook as a working copy has it; a cell names its figures, and their data stand at its end.

    The figures are no attachments, for JupyterLab shows no SVG from attachments.
    """
    notebook = json.loads(without_notes(without_outputs(lesson.read_bytes())))
    images, language = lesson.parents[2] / "img", lesson.parent.name
    for cell in notebook["cells"]:
        names = dict.fromkeys(FIGURE.findall(source(cell))) if cell["cell_type"] == "markdown" else {}
        if names:
            text = FIGURE.sub(r"][\g<name>]", source(cell))
            data = (f"[{name}]: {as_address(images / name, language)}" for name in names)
            cell["source"] = "\n".join([text, "", *data]).splitlines(keepends=True)
    return as_json(notebook)


def as_address(figure: Path, language: str) -> str:
    """An address that holds the whole figure, with its words in the language."""
    kind, _ = mimetypes.guess_type(figure.name)
    return f"data:{kind};base64,{base64.b64encode(read_figure(figure, language)).decode()}"
