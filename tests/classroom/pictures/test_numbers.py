"""Pictures of a few numbers: what they draw, and what they refuse."""

import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from mha_lib import causal_mask
from mha_lib.classroom import look
from mha_lib.classroom.pictures.grammar import SHADES, said
from mha_lib.classroom.pictures.numbers import show_bars, show_cells, show_dots, show_lines
from mha_lib.classroom.pictures.theme import alt_of

NUMBER, THIS = look.LIGHT["number"], look.LIGHT["this"]


def texts(axes):
    return [text.get_text() for text in axes.texts]


def patches(axes):
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def faces(axes):
    return [to_hex(patch.get_facecolor()) for patch in patches(axes)]


def names(axis):
    return [label.get_text() for label in axis.get_ticklabels()], axis.get_label_text()


def test_bars_stand_on_zero_on_one_scale_and_say_their_numbers():
    figure = show_bars({"a": torch.tensor([0.25, 0.75]), "b": [3, -1]}, ["left", "right"], this="right")
    first, second = figure.axes
    assert [bar.get_height() for bar in patches(first)] == [0.25, 0.75]
    assert texts(first) + texts(second) == ["0.25", "0.75", "3", "−1"]
    assert names(second.xaxis) == (["left", "right"], "")
    assert first.get_ylim() == second.get_ylim() == pytest.approx((-1.6, 3.6))
    assert all(line.get_ydata() == [0, 0] for axes in figure.axes for line in axes.lines)
    assert faces(first) == [NUMBER, THIS]


def test_the_scale_of_shares_and_weights_ends_at_one_and_weights_alone_are_in_viridis():
    figure = show_bars({"seen": [0.0, 1.0], "right": [0.1, 0.2]}, ["a", "b"], role={"seen": "weights"})
    first, second = figure.axes
    assert first.get_ylim()[1] == second.get_ylim()[1] == pytest.approx(1.15)
    assert show_bars({"right": [0.1]}, ["a"], role="shares").axes[0].get_ylim() == first.get_ylim()
    assert show_bars({"right": [0.1]}, ["a"]).axes[0].get_ylim()[1] == pytest.approx(0.115)
    assert (faces(first), faces(second)) == (["#440154", "#fde725"], [NUMBER] * 2)


def test_heads_have_their_colours_where_an_axis_or_a_line_names_them():
    heads = ["0.0", "0.1", "1.0", "even"]
    (axes,) = show_bars({"right": [0.1, 0.2, 0.3, 0.4]}, heads, xlabel="head").axes
    wanted = [look.LIGHT[name] for name in ("head0", "head1", "head4", "number")]
    assert faces(axes) == wanted
    assert faces(show_bars({"right": [0.1, 0.2]}, ["0.0", "0.1"], xlabel="T").axes[0]) == [NUMBER] * 2
    (axes,) = show_lines([1, 2], {f"head {h}": [0, 1] for h in heads}, xlabel="step", ylabel="right").axes
    assert [line.get_color() for line in axes.lines[:4]] == wanted
    nine = {f"head {h}": [0, 1] for h in range(9)}
    (axes,) = show_lines([1, 2], nine, xlabel="step", ylabel="right").axes
    assert {line.get_color() for line in axes.lines[:9]} == {NUMBER}, "more heads than colours have none"


def test_cells_are_the_deeper_the_larger_their_number_and_negative_ones_have_a_frame():
    panels = {"scores": [[1.0, -2.0], [0.0, 0.5]], "column": [[1], [2]]}
    figure = show_cells(
        panels, ["q", "r"], {"scores": ["k", "l"]}, xlabel={"column": "values"}, this=("r", 0)
    )
    first, second = figure.axes
    cells = patches(first)[:4]
    assert [cell.get_alpha() for cell in cells] == pytest.approx([0.3, 0.6, 0.0, 0.15])
    assert [to_hex(cell.get_facecolor()) if cell.get_fill() else "" for cell in cells][::2] == [NUMBER] * 2
    assert [cell.get_linewidth() > 0 for cell in cells] == [False, True, False, False]
    assert to_hex(cells[1].get_edgecolor()) == NUMBER
    assert cells[1].get_facecolor()[3] == 0
    assert texts(first) == ["1.00", "−2.00", "0.00", "0.50"]
    assert texts(second) == ["1", "2"]
    assert [names(first.yaxis), names(first.xaxis)] == [(["q", "r"], ""), (["k", "l"], "")]
    assert [names(second.yaxis), names(second.xaxis)] == [([], ""), ([], "values")]
    assert second.xaxis.label.get_color() == look.LIGHT["v"]
    accent = patches(first)[-1]
    assert (accent.get_xy(), to_hex(accent.get_edgecolor())) == ((0, 1), THIS)


def test_cells_of_weights_are_in_viridis_on_named_axes_and_hatched_where_masked():
    mask = causal_mask(2, 2)
    scores = torch.tensor([[1.0, -torch.inf], [0.0, 1.0]])
    (axes,) = show_cells({"weights": scores}, role="weights", mask=mask, digits=1).axes
    assert texts(axes) == ["1.0", "0.0", "1.0"]
    plain = [patch for patch in patches(axes) if not patch.get_hatch()]
    wanted = ["#fde725", look.LIGHT["forbidden"], "#440154", "#fde725"]
    assert [to_hex(patch.get_facecolor()) for patch in plain] == wanted
    assert [patch.get_xy() for patch in patches(axes) if patch.get_hatch()] == [(1, 0)]
    for axis, kind in ((axes.yaxis, "queries"), (axes.xaxis, "keys")):
        assert names(axis) == ([], kind)
        assert axis.label.get_color() == look.LIGHT[kind[0]]


def test_lines_pass_through_their_numbers_and_have_names():
    given = {"one": [4.0, 64.0], "other": [1.0, 1.0]}
    figure = show_lines([4, 64], given, xlabel="d", ylabel="size", this="other", logarithmic=True)
    (axes,) = figure.axes
    drawn = [np.asarray(line.get_xydata()).tolist() for line in axes.lines]
    assert drawn == [[[4, 4], [64, 64]], [[4, 1], [64, 1]]]
    assert [line.get_color() for line in axes.lines] == [NUMBER, THIS]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["one", "other"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert "one, other" in alt_of(figure)
    (axes,) = show_lines([1, 2], {"one": [0.5, 0.6]}, xlabel="d", ylabel="right", role="shares").axes
    assert axes.get_ylim() == (0, 1.05)


def test_a_line_may_have_a_band_from_the_least_to_the_most():
    (axes,) = show_lines([1, 2], {"loss": [[1, 2], [2, 3], [5, 6]]}, xlabel="step", ylabel="loss").axes
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == [2, 3]
    (band,) = axes.collections
    assert {tuple(corner) for corner in np.asarray(band.get_paths()[0].vertices).tolist()} == {
        (1, 1),
        (2, 2),
        (2, 6),
        (1, 5),
    }


def test_dots_have_a_row_for_each_name_and_our_own_number_is_a_diamond():
    figure = show_dots(
        {"right": {"one": [0.1, 0.2], "two": [0.3]}, "loss": {"one": [-1.0]}}, this={"two": 0.4}
    )
    first, second = figure.axes
    drawn = [(np.asarray(line.get_xydata()).tolist(), line.get_color()) for line in first.lines[:3]]
    assert drawn == [([[0.1, 0], [0.2, 0]], NUMBER), ([[0.3, 1]], NUMBER), ([[0.4, 1]], THIS)]
    assert names(first.yaxis) == (["one", "two"], "")
    assert (first.get_xlim()[0], second.get_xlim()[0] < -1) == (0, True)
    assert [axes.get_title() for axes in figure.axes] == ["right", "loss"]
    with pytest.raises(ValueError, match=r"this must be numbers by names of the panels, got \['three'\]"):
        show_dots({"right": {"one": [1]}}, this={"three": 1})


def test_a_pair_is_a_dot_and_a_ring_on_one_scale_for_all_panels():
    panels = {"encoder": {"head 0": [0.5, 0.5]}, "decoder": {"head 0": [0.1, 0.9]}}
    figure = show_dots(panels, pair=("by zero", "by mean"), xlabel="right")
    for axes, rows in zip(figure.axes, panels.values(), strict=True):
        (number, other), *_ = rows.values()
        _, dot, ring, *_ = axes.lines
        assert [np.asarray(mark.get_xydata()).tolist() for mark in (dot, ring)] == [
            [[number, 0]],
            [[other, 0]],
        ]
        assert (dot.get_markerfacecolor(), ring.get_markerfacecolor()) == (NUMBER, "none")
        assert axes.get_xlim() == pytest.approx((-0.09, 0.99))
        assert names(axes.xaxis)[1] == "right"
        assert texts(axes) == []
    legend = figure.axes[1].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["by zero", "by mean"]


def test_many_cells_are_one_image_from_zero_to_the_largest_number():
    given = {"scores": [[1.0, -2.0], [0.5, 4.0]]}
    (axes,) = show_cells(given, digits=None, ylabel="queries", xlabel="keys").axes
    assert texts(axes) == []
    image = axes.images[0]
    assert (image.get_clim(), image.get_cmap().name) == ((0, 4), SHADES.name)
    assert np.asarray(image.get_array()).tolist() == given["scores"]


@pytest.mark.parametrize(
    ("number", "digits", "text"), [(-0.001, 2, "0.00"), (-1, 2, "−1"), (1234.5, 1, "1,234.5")]
)
def test_a_zero_has_no_sign(number, digits, text):
    assert said(number, digits) == text


@pytest.mark.parametrize(
    ("draw", "error"),
    [
        (lambda: show_bars({}, []), "wanted numbers by their titles"),
        (lambda: show_bars({"": [1]}, ["a"]), "a title must say in words what the numbers are, got ''"),
        (lambda: show_bars({"w": [1, 2, 3]}, ["a", "b"]), "panel 'w' must hold 2 numbers"),
        (lambda: show_bars({"w": [1]}, ["1.0"]), "xlabel must name the axis of labels"),
        (lambda: show_bars({"w": [1]}, ["a"], this="b"), r"this='b' must be one of \['a'\]"),
        (lambda: show_bars({"w": [1]}, ["a"], role="scores"), "role must be one of 'numbers', 'shares', 'w"),
        (lambda: show_bars({"w": [2]}, ["a"], role="shares"), "'w' must be from 0 to 1, as shares"),
        (lambda: show_cells({"w": [1.0]}), r"'w' must be a matrix, got shape \(1,\)"),
        (lambda: show_cells({"w": [[1.0]]}), "ylabel must name the axis of rows of 'w'"),
        (lambda: show_cells({"w": [[float("nan")]]}), "'w' must be finite where a mask"),
        (lambda: show_cells({"w": [[1.0]]}, ["a", "b"]), "rows of 'w' must hold 1 names, got 2"),
        (lambda: show_cells({"w": [[1.0]]}, mask=[[1]]), "mask of 'w' must be boolean"),
        (lambda: show_cells({"w": [[1.0]]}, ["a"], ["b"], this=("c", 0)), r"this must name one of \['a'\]"),
        (lambda: show_cells({"w": [[1.0]]}, ["a"], ["b"], this=(1, 0)), r"this=\(1, 0\) must be in"),
        (lambda: show_dots({"w": {"a": [1]}}, pair=("b", "c")), r"'a' must hold two numbers, \['b', 'c'\]"),
        (lambda: show_dots({"w": {"a": [1, 2]}}, pair=("b", "c"), this={"a": 1}), "stand without this"),
        (lambda: show_lines([1, 2], {"w": [1.0]}, xlabel="d", ylabel="y"), "line 'w' must hold 2 numbers"),
        (lambda: show_lines([1], {"w": [1.0]}, xlabel="d", ylabel=""), "ylabel must name the axis of y"),
    ],
)  # fmt: skip
def test_what_is_not_in_the_grammar_is_refused_with_what_was_wanted_and_what_came(draw, error):
    with pytest.raises(ValueError, match=error):
        draw()
