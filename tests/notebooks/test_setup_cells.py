"""The cells tagged ``setup`` run alone in a fresh kernel, in their order: what the key S of a deck does."""

import shutil
from pathlib import Path

import pytest
import torch

from mha_lib.classroom.lessons.slides import read_lesson, source, tags

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("*/*.ipynb"))


@pytest.fixture(autouse=True)
def same_threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_setup_cells_need_no_other_cell(lesson, lay_translator, tmp_path, monkeypatch):
    place = tmp_path / "notebooks" / lesson.parent.name
    shutil.copytree(lesson.parent, place)
    lay_translator(lesson, tmp_path)
    monkeypatch.chdir(place)  # what a lesson keeps is kept there
    namespace = {"__name__": lesson.stem}
    for cell in read_lesson(lesson)["cells"]:
        if "setup" in tags(cell):
            exec(compile(source(cell), cell["id"], "exec"), namespace)
