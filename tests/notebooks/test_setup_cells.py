"""The cells tagged ``setup`` run alone in a fresh kernel, in their order: what the key S of a deck does."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from mha_lib.classroom.lessons.slides import read_lesson, source, tags

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("*/*.ipynb"))


each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: f"{path.parent.name}/{path.stem}")


@each_lesson
def test_setup_cells_need_no_other_cell(lesson):
    namespace = {"__name__": lesson.stem}
    for cell in read_lesson(lesson)["cells"]:
        if "setup" in tags(cell):
            exec(compile(source(cell), cell["id"], "exec"), namespace)


@pytest.mark.whole
@each_lesson
def test_the_others_run_after_all_setup_cells(lesson):
    """What an instructor does after S, and what the key K does."""
    notebook = nbformat.read(lesson, as_version=4)
    notebook.cells.sort(key=lambda cell: "setup" not in cell.metadata.get("tags", []))  # else in their order
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(lesson.parent)}}).execute()
