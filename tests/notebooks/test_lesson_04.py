"""The table holds all that lesson 04 says of several seeds: each range, and the number of its seeds."""

import pytest

from evidence import layers
from evidence.layers import FOUR_HEADS, KEYS_BEFORE, MYSTERY, ONE_LAYER, TWO_LAYERS
from evidence.tables import read_table
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.lesson.slides import source
from tests.lessons import ROOT

TABLE = read_table(layers.TABLE)
LESSONS = sorted(ROOT.glob("notebooks/*/04_layers.ipynb"))
WORDS = {"en": (" to ", "seeds"), "zh": (" 到 ", "种子")}
COUNTS = {24: ("twenty-four", "二十四"), 28: ("twenty-eight", "二十八")}
LARGEST = "rows with their largest"
SAID = {  # the rows of the table on which a cell rests, and with how many digits it says their ranges
    "one-layer-why": [("right", f"1 layer, {n}", 2) for n in ("1 head", "4 heads", "8 heads")],
    "keys-before-why": [("right", KEYS_BEFORE, 2)],
    "train-two-why": [
        ("right", TWO_LAYERS, 2),
        ("right", "1 layer, 2 heads, each 64 wide", 2),
        ("right", "2 layers, 2 heads", 2),
        ("right", "2 layers, 1 head, learnt positions", 2),
        ("right", "2 layers, 1 head, feed-forward", 2),
    ],
    "watch-why": [
        (TWO_LAYERS, "previous-token score of layer 0", 2),
        (TWO_LAYERS, "induction score of layer 1", 2),
    ],
    "typed-why": [(TWO_LAYERS, "typed: weight of the last I on the C", 2)],
    "stream-parts-why": [
        (TWO_LAYERS, "right without layer 0", 2),
        (TWO_LAYERS, "right without layer 1", 2),
        (TWO_LAYERS, "right by what layer 1 writes alone", 2),
    ],
    "which-way-why": [
        (TWO_LAYERS, "right, layer 0 hidden from the queries and values", 2),
        (TWO_LAYERS, "right, layer 0 hidden from the keys", 2),
    ],
    "turn-way-notes": [(MYSTERY, "right, from the values", 2)],
    "circuit-why": [
        (TWO_LAYERS, f"QK through the keys: {LARGEST} score on the diagonal", 2),
        (TWO_LAYERS, f"OV: {LARGEST} logit on the diagonal", 2),
    ],
    "composition-why": [
        (TWO_LAYERS, f"composition with layer 0 of the {kind}", 3) for kind in ("queries", "keys", "values")
    ],
    "beyond-why": [
        *((TWO_LAYERS, f"right, blocks of {size}", 2) for size in (17, 5, 22)),
        *((ONE_LAYER, f"right, blocks of {size}", 2) for size in (17, 5)),
    ],
    "shares-why": [
        (FOUR_HEADS, "share of the head that adds most", 2),
        (FOUR_HEADS, "right without the head that adds most", 2),
    ],
}


def said(numbers, digits, language):
    """The range of the numbers as the lesson writes it."""
    ends = [f"{end:.{digits}f}" for end in (min(numbers), max(numbers))]
    if language == "en":
        ends = [end.lstrip("0") if end.startswith("0.") else end for end in ends]
    return WORDS[language][0].join(dict.fromkeys(ends))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.parent.name)
def test_each_range_over_seeds_is_that_of_its_row_and_no_other_cell_speaks_of_seeds(lesson):
    language = lesson.parent.name
    cells = {c["id"]: source(c) for c in read_lesson(lesson).cells if c["cell_type"] == "markdown"}
    assert {name for name, text in cells.items() if WORDS[language][1] in text} == {*SAID}
    for name, rows in SAID.items():
        for part, row, digits in rows:
            numbers = TABLE[part][row]
            assert said(numbers, digits, language) in cells[name], f"{name}: {row}"
            assert COUNTS[len(numbers)][language == "zh"] in cells[name], f"{name}: {len(numbers)} seeds"
