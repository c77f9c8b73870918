"""Lessons that are made for a test, and what a test looks at in a deck."""

from nbformat import NotebookNode
from nbformat.v4 import new_notebook
from playwright.sync_api import Locator, Page, expect

POSITION = """() => {  // of the deck: the slide, and how many of its steps are taken
    const slide = document.querySelector(".slides > .present > .present");
    const lines = [...slide.querySelectorAll("[data-taken]")].map((cell) => Number(cell.dataset.taken));
    return [slide.id, slide.querySelectorAll(".fragment.visible").length + lines.reduce((a, b) => a + b, 0)];
}"""


def new_lesson(cells: list[NotebookNode], **metadata: str) -> NotebookNode:
    """A notebook of these cells, with the kernel and the theme that every lesson has."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    always = {"kernelspec": kernel, "rise": {"theme": "white"}}
    lesson: NotebookNode = new_notebook(cells=cells, metadata=always | metadata)
    return lesson


def open_deck(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("body")).to_have_attribute("data-deck", "ready")


def current(page: Page) -> Locator:
    """The slide that is shown."""
    return page.locator("section.present > section.present")


def status_of(page: Page) -> Locator:
    return page.locator("#deck-foot output")
