"""The cells tagged ``setup`` run alone in a fresh kernel, in their order, as the key S runs them."""

import shutil

import nbformat
import pytest
from nbclient import NotebookClient

from mha_lib.classroom.lesson.grammar import tags
from mha_lib.classroom.lesson.slides import read_lesson, source
from mha_lib.classroom.pages.execution import LONGEST_CELL
from tests.lessons import ENGLISH, TRANSLATED, in_whole_runs, name_of

pytestmark = pytest.mark.ci

each_lesson = pytest.mark.parametrize("lesson", [*ENGLISH, *in_whole_runs(TRANSLATED)], ids=name_of)


def own_course(lesson, folder, share_trainings):
    """The folder of the lesson in a course of its own, where the lesson may keep files."""
    place = folder / "notebooks" / lesson.parent.name
    shutil.copytree(lesson.parent, place)
    share_trainings(folder)
    return place


@each_lesson
def test_setup_cells_need_no_other_cell(lesson, share_trainings, tmp_path, monkeypatch):
    monkeypatch.chdir(own_course(lesson, tmp_path, share_trainings))
    namespace = {"__name__": lesson.stem}
    for cell in read_lesson(lesson)["cells"]:
        if "setup" in tags(cell):
            exec(compile(source(cell), cell["id"], "exec"), namespace)


@pytest.mark.whole
@each_lesson
def test_the_others_run_after_all_setup_cells(lesson, share_trainings, tmp_path):
    """An instructor runs them so after S, and the key K does."""
    notebook = nbformat.read(lesson, as_version=4)
    notebook.cells.sort(key=lambda cell: "setup" not in cell.metadata.get("tags", []))  # a stable sort
    place = own_course(lesson, tmp_path, share_trainings)
    NotebookClient(notebook, timeout=LONGEST_CELL, resources={"metadata": {"path": str(place)}}).execute()
