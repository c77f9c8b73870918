"""Cells and outputs from which the tests of handouts make their notebooks, and the pages of these."""

from pathlib import Path

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from mha_lib.classroom.lesson.reading import Lesson
from mha_lib.classroom.pages.handout.handout_page import HandoutPage
from offline_notebook import among
from tests.offline_notebook.pages import VIEW, read, shown


def text(source, slide="-", tags=(), **more):
    return new_markdown_cell(source, metadata=about(slide, tags), **more)


def code(source, *outputs, slide="-", tags=(), **more):
    return new_code_cell(source, outputs=list(outputs), metadata=about(slide, tags), **more)


def about(slide, tags):
    return {"slideshow": {"slide_type": slide}, "tags": list(tags)}


def widget(model_id, **beside):
    return code("", shown({VIEW: {"model_id": model_id}, **beside}))


def page_of(notebook, name="03_lesson", folder=".", audience="student", handouts=(), complain=print):
    """The page of a notebook as after an execution of our own: its widgets live."""
    lesson = Lesson(Path(folder) / f"{name}.ipynb", notebook)
    return HandoutPage(lesson, audience, complain, among({*handouts, name})).render()


class Handout:
    """The page of some cells, and what was said while it was made."""

    def __init__(self, *cells, audience="student", name="03_lesson", folder=".", handouts=(), **metadata):
        self.said: list[str] = []
        notebook = new_notebook(cells=list(cells), metadata=metadata)
        self.html = page_of(notebook, name, folder, audience, handouts, self.said.append)
        self.soup = read(self.html)
        self.main = self.soup.main
        self.cells = self.main.find_all(class_="cell")
        self.notes = [note.get_text() for note in self.main.find_all(class_="note")]
