"""A lesson as a student downloads it: one file, without the instructor's notes, its figures in it."""

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
    """The notebook by the rule of the working copies; a figure is named, and its data end the cell.

    They are no attachments, for JupyterLab shows no SVG from those.
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
    """The figure itself, with the words of the language, as an address."""
    kind, _ = mimetypes.guess_type(figure.name)
    return f"data:{kind};base64,{base64.b64encode(read_figure(figure, language)).decode()}"
