"""Cells and outputs from which the tests of handouts make their notebooks, and the pages of these."""

import logging

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from mha_lib.classroom.pages.handout import HandoutExporter
from tests.offline_notebook.pages import VIEW, read, shown


def text(source, slide="-", tags=(), **more):
    return new_markdown_cell(source, metadata=about(slide, tags), **more)


def code(source, *outputs, slide="-", tags=(), **more):
    return new_code_cell(source, outputs=list(outputs), metadata=about(slide, tags), **more)


def about(slide, tags):
    return {"slideshow": {"slide_type": slide}, "tags": list(tags)}


def widget(model_id, **beside):
    return code("", shown({VIEW: {"model_id": model_id}, **beside}))


class Handout:
    """The page of some cells, and what was said while it was made."""

    def __init__(self, *cells, audience="student", name="03_lesson", folder=".", handouts=(), **metadata):
        self.said: list[str] = []
        log = logging.Logger("handout")
        log.addFilter(lambda record: bool(self.said.append(record.getMessage())))
        notebook = new_notebook(cells=list(cells), metadata=metadata)
        resources = {"metadata": {"name": name, "path": str(folder)}, "handouts": {*handouts}}
        self.html, _ = HandoutExporter(audience=audience, log=log).from_notebook_node(notebook, resources)
        self.soup = read(self.html)
        self.main = self.soup.main
        self.cells = self.main.find_all(class_="cell")
        self.notes = [note.get_text() for note in self.main.find_all(class_="note")]
