"""The statements of lesson 05 that need none of its trainings: its tables are the measured ones."""

from statistics import mean

import pytest

from evidence import translator, translator_seeds
from evidence.heads import run_cells
from evidence.tables import read_table
from tests.lessons import ROOT

LESSONS = sorted(ROOT.glob("notebooks/*/05_trained_heads.ipynb"))
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.parent.name)


@each_lesson
def test_the_table_of_heads_and_seeds_is_the_measured_one(lesson):
    expected = {
        int(heads): {
            time: [tuple(round(share, 3) for share in result) for result in results]
            for time, results in by_time.items()
        }
        for heads, by_time in read_table(translator.TABLE).items()
    }
    assert run_cells(lesson, "heads-and-seeds")["heads_and_seeds"] == expected


@each_lesson
def test_the_twelve_seeds_of_the_slide_are_the_measured_ones(lesson):
    table = read_table(translator_seeds.TABLE)
    removal, draw = table["removal"], table["draw"]
    means = [
        list(map(mean, zip(*(removal[f"right without {name} {head}"] for head in range(4)), strict=True)))
        for name in translator_seeds.ATTENTIONS
    ]
    expected = [
        table["learning"]["step 1000: alignment, best head"],
        table["maps"]["best head for “万: “thousand””"],
        table["patch"]["its word swapped: follows"],
        *means,
        removal["spare heads of the encoder, even together"],
        removal["all heads of encoder evened"],
        *(draw[f"{name}: rare ones right"] for name in ("before", "old draw", "mended draw")),
    ]
    shown = run_cells(lesson, "twelve-seeds")["twelve_seeds"]
    assert list(shown.values()) == [pytest.approx(row, abs=0.0051) for row in expected]
