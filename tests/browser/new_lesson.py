"""Lessons that are made for a test, and what a test looks at in a deck."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_notebook
from playwright.sync_api import Locator, Page, expect

from mha_lib.classroom.lesson.carried import furnish_page, mark_steps
from tests.browser.waiting import saved_when

if TYPE_CHECKING:
    from tests.browser.conftest import JupyterServer

Make = Callable[..., NotebookNode]

POSITION = """() => {  // of the deck: the slide, and how many of its steps are taken
    const slide = document.querySelector(".slides > .present > .present");
    const lines = [...slide.querySelectorAll("[data-taken]")].map((cell) => Number(cell.dataset.taken));
    return [slide.id, slide.querySelectorAll(".fragment.visible").length + lines.reduce((a, b) => a + b, 0)];
}"""

ANYWIDGET = """
import anywidget, traitlets
from IPython.display import display
from ipywidgets import IntSlider

class Square(anywidget.AnyWidget):
    _esm = '''
    export default { render({ model, el }) {
      const canvas = document.createElement("canvas");
      const draw = () => { canvas.width = canvas.height = canvas.dataset.size = model.get("size"); };
      model.on("change:size", draw);
      draw();
      el.append(canvas);
    } }'''
    size = traitlets.Int(10).tag(sync=True)

square, slider = Square(), IntSlider(10, 0, 99)
slider.observe(lambda change: setattr(square, "size", 2 * change.new), "value")
display(slider, square)
"""


def new_lesson(
    cells: list[NotebookNode], language: str = "en", kind: str = "student", **metadata: str
) -> NotebookNode:
    """A notebook of these cells, with the kernel and the theme that every lesson has."""
    identity = {"lesson": "lesson", "language": language, "kind": kind}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    always = {"kernelspec": kernel, "rise": {"theme": "white"}, "mha": identity}
    lesson: NotebookNode = new_notebook(cells=cells, metadata=always | metadata)
    return lesson


def cell(kind: str, make: Make, source: str, name: str, tags: tuple[str, ...] = ()) -> NotebookNode:
    return make(source, id=name, metadata={"slideshow": {"slide_type": kind}, "tags": list(tags)})


def lay_lesson(
    server: JupyterServer,
    name: str,
    cells: list[NotebookNode],
    title: str = "A lesson",
    language: str = "en",
    kind: str = "student",
) -> str:
    """Write a copy, with the style beside it, into the server's folder, and return its deck's address."""
    file = server.folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    lesson = new_lesson(cells, language, kind, title=title)
    mark_steps(lesson)
    furnish_page(lesson, file.parent)
    nbformat.write(lesson, file)
    server.trust(file)
    return server.address("rise", name)


def cell_in_lab(page: Page, file: Path, name: str) -> Locator:
    """The cell of that id in JupyterLab, by its place in the saved notebook."""
    saved = saved_when(
        file, lambda notebook: name in [each.id for each in notebook.cells], f"the cell {name}"
    )
    number = [each.id for each in saved.cells].index(name)
    return page.locator(f'.jp-Cell[data-windowed-list-index="{number}"]')


def open_deck(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("body")).to_have_attribute("data-deck", "ready")


def current(page: Page) -> Locator:
    """The slide that is shown."""
    return page.locator("section.present > section.present")


def status_of(page: Page) -> Locator:
    return page.locator("#deck-foot output")


def press(page: Page, keys: str) -> None:
    """Press keys one after the other, such as "g 1 2 Enter"."""
    for key in keys.split():
        page.keyboard.press(key)
