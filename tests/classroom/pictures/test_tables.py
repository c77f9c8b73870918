"""Tables: where their cells stand, what is coloured, and what they refuse."""

import re

import pytest

from mha_lib.classroom.pictures.tables import show_table


def cells(table, kind):
    return re.findall(rf'<{kind} style="text-align: (\w+)">(.*?)</{kind}>', table.data)


def test_numbers_stand_at_the_right_marks_in_the_middle_and_text_at_the_left():
    table = show_table(["model", "GB", "kept"], [["GPT <2>", "1,000.5", "✓"], ["n = 3", "2e-07", "✗"]])
    assert cells(table, "th") == [("left", "model"), ("right", "GB"), ("center", "kept")]
    assert cells(table, "td")[:2] == [("left", "GPT &lt;2&gt;"), ("right", "1,000.5")]
    assert [side for side, _ in cells(table, "td")] == ["left", "right", "center"] * 2
    assert len({*re.findall("color: (#[0-9a-f]{6})", table.data)}) == 2


def test_the_longer_its_cells_the_smaller_the_letters_of_a_table():
    texts = ["w" * 30, "w" * 55, "头" * 28, "w" * 90]
    sizes = [re.findall(r"font-size: (\d+)%", show_table(["a"], [[text]]).data) for text in texts]
    assert sizes == [["170"], ["133"], ["131"], ["125"]]
    assert "font-size: 145%" in show_table(["w", f"{'w' * 46} w"], [["1", "1"]]).data, "or its name"
    assert "2e−07" in show_table(["off by"], [["2e-07"]]).data, "a line could end behind a hyphen"


def test_a_row_with_a_cell_too_few_is_refused():
    with pytest.raises(ValueError, match=r"must have 2 cells, as names does, got \['1'\]"):
        show_table(["a", "b"], [[1]])
