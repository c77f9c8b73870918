"""A lesson for students to download: one file that holds its figures and no notes for the instructor."""

import re
from pathlib import Path

from mha_lib.classroom.lesson import language_in
from mha_lib.classroom.lesson.figures import SHARED
from mha_lib.classroom.lesson.reading import as_file, read_lesson
from mha_lib.classroom.lesson.slides import source
from mha_lib.classroom.lesson.working_copy import clear_outputs, prepare_for_students
from mha_lib.classroom.pages.cleaner import pictures_of

FIGURE = re.compile(rf"\]\({re.escape(SHARED)}(?P<name>[\w.-]+)\)")


def students_notebook(lesson: Path, solutions: bool) -> str:
    """The notebook as a working copy has it; a cell names its figures, and their data stand at its end.

    The figures are no attachments, for JupyterLab shows no SVG from attachments.
    """
    notebook = read_lesson(lesson).copy()
    clear_outputs(notebook)
    prepare_for_students(notebook, solutions)
    pictures = pictures_of(lesson.parent, language_in(lesson))
    for cell in notebook["cells"]:
        names = dict.fromkeys(FIGURE.findall(source(cell))) if cell["cell_type"] == "markdown" else {}
        if names:
            text = FIGURE.sub(r"][\g<name>]", source(cell))
            figures = ((name, pictures.read(SHARED + name)) for name in names)
            data = (f"[{name}]: {figure.address}" for name, figure in figures if figure)
            cell["source"] = "\n".join([text, "", *data])
    return as_file(notebook)
