"""The cells tagged ``setup`` run alone in a fresh kernel, in their order: what the key S of a deck does."""

from pathlib import Path

import pytest

from mha_lib.classroom.lessons.slides import read_lesson, source, tags

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("*/*.ipynb"))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_setup_cells_need_no_other_cell(lesson):
    namespace = {"__name__": lesson.stem}
    for cell in read_lesson(lesson)["cells"]:
        if "setup" in tags(cell):
            exec(compile(source(cell), cell["id"], "exec"), namespace)
