"""The statements of lesson 05 that need none of its trainings: its numbers are the measured ones."""

import re
from statistics import median

import pytest

from evidence import translator, translator_seeds
from evidence.heads import run_cells, source_of
from evidence.tables import read_table
from mha_lib.classroom.lesson.grammar import has_role
from mha_lib.classroom.lesson.reading import read_lesson
from tests.lessons import ROOT

LESSONS = sorted(ROOT.glob("notebooks/*/05_trained_heads.ipynb"))
TABLE = read_table(translator_seeds.TABLE)
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.parent.name)
SPARE = [f"by_{way}: {name}, spare" for name in ("encoder", "cross") for way in ("zero", "mean")]
# The rows of the table that a why tells: their median and their whole range.
TOLD = {
    "museum-why": [("museum", "no_causal_mask: right")],
    "watch-why": [("learning", f"step {step}: alignment, best head") for step in (50, 150, 400, 1000)],
    "measure-why": [("learning", f"step 1000: alignment, {which} head") for which in ("best", "worst")],
    "jobs-why": [
        ("maps", f"best head for “{kind}”")
        for kind in ("万: “thousand”", "零: next word", "1 to 9: its word")
    ],
    "turned-why": [("patches", f"heads: cross, {which}") for which in ("best", "least")],
    "shares-why": [("shares", f"{part}, of the lead") for part in ("cross", "network")],
    "remove-why": [("removals", spare) for spare in SPARE],
    "cheaper-why": [
        ("orders", f"right without two heads by {way}")
        for way in ("removal", "gradient", "gradient at step 400", "entropy")
    ],
    "why-spare-why": [("kinds", kind) for kind in ("encoder: digits", "cross: digits", "encoder: 零")],
    "explanation-why": [("evened", f"encoder, {which}") for which in ("best alone", "all four")],
    "breaks-why": [
        ("draw", row)
        for row in (
            "rare ones right",
            "drawn of the kind",
            "alignment of the wrong ones",
            "alignment of the right ones",
        )
    ],
}


def above(some, others):
    """How many seeds have more in the first row of the removals than in the second."""
    rows = (TABLE["removals"][f"by_zero: {name}, mean"] for name in (some, others))
    return sum(a > b for a, b in zip(*rows, strict=True))


SHOWN = [  # the rows of the slide of seeds
    ("learning", "step 1000: alignment, best head"),
    ("maps", "best head for “万: “thousand””"),
    ("patches", "heads: cross, best"),
    *(("removals", f"by_zero: {name}, mean") for name in translator_seeds.ATTENTIONS),
    ("evened", "encoder, all four"),
    ("orders", "right without two heads by entropy"),
    ("draw", "rare ones right"),
]


def written(number, digits, language):
    text = f"{number:.{digits}f}"
    if digits and float(text) in (0, 1):
        return text[0]
    return text.removeprefix("0") if digits and language == "en" else text


def told(numbers, language):
    """The median of a row and its range, as the lesson tells them."""
    digits = 0 if max(numbers) > 1 else 2
    middle = f"{median(numbers):g}" if not digits else written(median(numbers), digits, language)
    low, high = (written(choose(numbers), digits, language) for choose in (min, max))
    if low == high:
        return middle
    return f"{middle} ({low} to {high})" if language == "en" else f"{middle}（{low} 到 {high}）"


@each_lesson
def test_each_number_of_a_why_that_rests_on_seeds_is_measured(lesson):
    language = lesson.parent.name
    for cell in filter(lambda cell: has_role(cell, "why"), read_lesson(lesson).cells):
        text = source_of(lesson, cell["id"])
        expected = [told(TABLE[part][row], language) for part, row in TOLD.get(cell["id"], [])]
        assert [numbers for numbers in expected if numbers not in text] == [], cell["id"]
        if cell["id"] != "papers-why":
            shown = re.findall(r"(?<!\d)0?\.\d+", text)
            assert [number for number in shown if number not in " ".join(expected)] == [], cell["id"]


@each_lesson
def test_the_counts_of_seeds_and_the_briefly_trained_are_the_measured_ones(lesson):
    language = lesson.parent.name
    counts = {
        "shares-why": [f"{sum(TABLE['shares']['largest share turns most']):g}"],
        "seeds-why": [str(above("encoder", "cross")), str(above("encoder", "decoder"))],
    }
    brief = read_table(translator.TABLE)
    counts["papers-why"] = [
        written(choose(hard for _, hard in brief[heads][time]), 2, language)
        for heads, time in (("1", "late"), ("1", "early"), ("4", "early"))
        for choose in (min, max)
    ]
    for cell, numbers in counts.items():
        for number in numbers:
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", source_of(lesson, cell)), (cell, number)


@each_lesson
def test_the_seeds_of_the_slide_are_the_measured_ones(lesson):
    shown = run_cells(lesson, "imports", "many-seeds")["many_seeds"]
    assert list(shown.values()) == [pytest.approx(TABLE[part][row], abs=0.0051) for part, row in SHOWN]
