"""Lessons that are made for a test."""

from nbformat import NotebookNode
from nbformat.v4 import new_notebook


def new_lesson(cells: list[NotebookNode], **metadata: str) -> NotebookNode:
    """A notebook of these cells, with the kernel and the theme that every lesson has."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    always = {"kernelspec": kernel, "rise": {"theme": "white"}}
    lesson: NotebookNode = new_notebook(cells=cells, metadata=always | metadata)
    return lesson
