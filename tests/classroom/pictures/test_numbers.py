"""Pictures of a few numbers: what they draw, and what they refuse."""

import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from mha_lib.classroom import look
from mha_lib.classroom.pictures.numbers import show_bars, show_cells, show_lines
from mha_lib.classroom.pictures.theme import alt_of


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_bars_have_the_heights_of_the_numbers_on_one_scale_and_say_them():
    figure = show_bars({"a": torch.tensor([0.25, 0.75]), "b": [2, -1]}, ["left", "right"], highest=3.0)
    first, second = figure.axes
    assert [bar.get_height() for bar in first.patches if isinstance(bar, Rectangle)] == [0.25, 0.75]
    assert texts(first) + texts(second) == ["0.25", "0.75", "2", "−1"]
    assert [label.get_text() for label in second.get_xticklabels()] == ["left", "right"]
    assert first.get_ylim()[1] == second.get_ylim()[1] == pytest.approx(1.15 * 3)


def test_cells_are_the_deeper_the_larger_their_number_and_tell_signs_by_colour():
    figure = show_cells({"scores": [[1.0, -2.0], [0.0, 0.5]], "column": [[1], [2]]}, ["q", "r"], ["k", "l"])
    first, second = figure.axes
    cells = [patch for patch in first.patches if isinstance(patch, Rectangle)]
    assert [cell.get_alpha() for cell in cells] == pytest.approx([0.3, 0.6, 0.0, 0.15])
    assert [to_hex(cell.get_facecolor()) for cell in cells] == [look.LIGHT[name] for name in "qkqq"]
    assert texts(first) == ["1.00", "−2.00", "0.00", "0.50"]
    assert texts(second) == ["1", "2"]
    assert [label.get_text() for label in first.get_yticklabels()] == ["q", "r"]
    assert [label.get_text() for label in first.get_xticklabels()] == ["k", "l"]
    assert [*second.get_xticks(), *second.get_yticks()] == []


def test_lines_pass_through_their_numbers_and_have_names():
    figure = show_lines([4, 64], {"one": [4.0, 64.0], "other": [1.0, 1.0]}, xlabel="d", logarithmic=True)
    (axes,) = figure.axes
    drawn = [np.asarray(line.get_xydata()).tolist() for line in axes.lines]
    assert drawn == [[[4, 4], [64, 64]], [[4, 1], [64, 1]]]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["one", "other"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert "one, other" in alt_of(figure)


def test_what_cannot_be_drawn_is_refused_with_what_was_wanted_and_what_came():
    with pytest.raises(ValueError, match="wanted numbers by their titles"):
        show_bars({}, [])
    with pytest.raises(ValueError, match="panel 'w' must hold 2 numbers, as labels does, got 3"):
        show_bars({"w": [1, 2, 3]}, ["a", "b"])
    with pytest.raises(ValueError, match=r"'w' must be a matrix, got shape \(1,\)"):
        show_cells({"w": [1.0]})
    with pytest.raises(ValueError, match="'w' must be finite, got NaN or infinity"):
        show_cells({"w": [[float("nan")]]})
    with pytest.raises(ValueError, match="line 'w' must hold 2 numbers, as x does, got 1"):
        show_lines([1, 2], {"w": [1.0]}, xlabel="d")
