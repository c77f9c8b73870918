"""The statements of lesson 05 that need none of its trainings."""

from pathlib import Path

import pytest

from benchmarks.translator import read_table
from mha_lib.classroom.course.slides import read_lesson, source

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("en/05_trained_heads.ipynb"))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.parent.name)
def test_the_table_of_heads_and_seeds_is_the_measured_one(lesson):
    cell = next(cell for cell in read_lesson(lesson)["cells"] if cell["id"] == "heads-and-seeds")
    found: dict = {}
    exec(source(cell), found)
    expected = {
        int(heads): {
            time: [tuple(round(share, 3) for share in result) for result in results]
            for time, results in by_time.items()
        }
        for heads, by_time in read_table().items()
    }
    assert found["heads_and_seeds"] == expected
