"""Still pictures: their maps, scales, labels and fonts."""

import numpy as np
import pytest
import torch
from matplotlib import font_manager
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from mha_lib import causal_mask, masked_softmax, padding_mask
from mha_lib.classroom import look
from mha_lib.classroom.lesson.language import speak, words_in
from mha_lib.classroom.pictures import grammar, plots
from mha_lib.classroom.pictures.plots import show_heads, show_overview

B, H, Q, K = 2, 5, 3, 7


def weights(*shape):
    return masked_softmax(torch.randn(*shape, generator=torch.Generator().manual_seed(1)))


def panels(figure):
    return [axes for axes in figure.axes if axes.get_visible() and axes.get_label() != "<colorbar>"]


def test_every_head_is_drawn_on_one_scale_with_one_colour_bar():
    given = weights(H, Q, K)
    figure = show_heads(given)
    images = [axes.images[0] for axes in panels(figure)]
    for image, head in zip(images, given, strict=True):
        np.testing.assert_allclose(image.get_array(), head)
    assert {image.get_clim() for image in images} == {(0, 1)}
    assert sum(axes.get_label() == "<colorbar>" for axes in figure.axes) == 1
    assert show_heads(given, to_max=True).axes[0].images[0].get_clim() == (0, given.max().item())


def test_what_the_figure_says_comes_from_the_words_and_its_colours_from_the_palette(monkeypatch):
    words = {name: f"⟦{said}⟧" for name, said in words_in("en")["plots"].items()}
    for module in (plots, grammar):
        monkeypatch.setattr(module, "words_here", lambda: {"plots": words})
    figure = show_heads(weights(1, 2, Q, K), to_max=True)
    assert [axes.get_title(loc="left") for axes in panels(figure)] == ["⟦head 0⟧", "⟦head 1⟧"]
    titles = [axes.get_title(loc="left") for axes in panels(show_heads(weights(2, 2, Q, K)))]
    assert titles[1:3] == ["⟦sample 0, head 1⟧", "⟦sample 1, head 0⟧"]
    titles = [axes.get_title(loc="left") for axes in panels(show_heads(weights(B, 1, Q, K)))]
    assert titles == ["⟦sample 0⟧", "⟦sample 1⟧"], "what is alone has no number"
    first = panels(figure)[0]
    assert (first.get_ylabel(), first.get_xlabel()) == ("⟦queries⟧", "⟦keys⟧")
    assert figure.axes[-1].get_ylabel() == "⟦weight⟧"
    assert first.yaxis.label.get_color() == look.LIGHT["q"]
    assert first.xaxis.label.get_color() == look.LIGHT["k"]


def test_heads_with_layers_have_their_names_and_a_line_of_their_colour():
    figure = show_heads(weights(2, Q, K), head_labels=["1.0", "1.1"])
    assert [axes.get_title(loc="left") for axes in panels(figure)] == ["head 1.0", "head 1.1"]
    lines = [axes.spines["top"].get_edgecolor() for axes in panels(figure)]
    assert [to_hex(colour) for colour in lines] == [look.LIGHT["head4"], look.LIGHT["head5"]]
    with pytest.raises(ValueError, match="head_labels must hold 2 names, got 1"):
        show_heads(weights(2, Q, K), head_labels=["1.0"])


def hatched(axes):
    """The hatched cells: the hatching shows through the holes of the map above it."""
    (patch,) = axes.patches
    assert isinstance(patch, Rectangle)
    assert patch.get_hatch()
    assert patch.get_bbox().bounds == (-0.5, -0.5, K, Q)
    map_below, map_above = axes.images
    assert map_below.zorder < patch.zorder < map_above.zorder
    assert map_above.get_cmap().get_bad()[3] == 0  # transparent
    allowed = ~map_above.get_array().mask
    np.testing.assert_allclose(map_above.get_array()[allowed], map_below.get_array()[allowed])
    assert map_above.get_clim() == map_below.get_clim()
    return ~allowed


def test_exactly_what_the_mask_forbids_is_hatched():
    mask = padding_mask(torch.tensor([4, 6]), K)
    figure = show_heads(masked_softmax(torch.zeros(B, H, Q, K), mask[:, None]), mask)
    for i, axes in enumerate(panels(figure)):
        assert np.array_equal(hatched(axes), np.broadcast_to(~mask[i // H], (Q, K)))
    causal = causal_mask(Q, K)
    assert np.array_equal(hatched(panels(show_heads(weights(H, Q, K), causal))[0]), ~causal)
    assert not panels(show_heads(weights(H, Q, K)))[0].patches


def test_labels_are_drawn_as_text_and_thin_out():
    words = ["$x$", "the", "the", "", "?", "a label that is far too long to be drawn", "7"]
    figure = show_heads(weights(1, K, K), query_labels=words, key_labels=words)
    figure.canvas.draw()
    drawn = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert drawn[:4] == ["$x$", "the", "the", ""]
    assert drawn[5].endswith("…")
    ticks = panels(show_heads(weights(1, 64, 64)))[0].get_xticks()
    assert 5 < len(ticks) < 30


def test_long_keys_are_turned_and_chinese_ones_are_written_downwards():
    for word, drawn, rotation in (("弄坏了", "弄\n坏\n了", 0), ("猫 cat", "猫 cat", 90)):
        figure = show_heads(weights(1, 9, 9), key_labels=[word] * 9)
        label = figure.axes[0].get_xticklabels()[0]
        assert (label.get_text(), label.get_rotation()) == (drawn, rotation)


@pytest.fixture
def other_fonts():
    """Lets a test change the installed fonts: found fonts are forgotten before and after it."""
    listed = list(font_manager.fontManager.ttflist)
    plots._families.cache_clear()
    yield
    font_manager.fontManager.ttflist[:] = listed
    plots._families.cache_clear()


def test_a_system_without_the_font_says_so_once_and_draws_on(monkeypatch, other_fonts):
    monkeypatch.setattr(plots, "CJK_FAMILIES", ())

    def draw():
        plots.write_chinese()
        show_heads(weights(1, 2, 2), key_labels=["注", "b"]).canvas.draw()

    with pytest.warns(UserWarning, match="fonts-noto-cjk; macOS, Windows: open its file") as caught:
        draw()
    assert len(caught) == 1


def test_traditional_chinese_is_drawn_with_taiwans_strokes(monkeypatch, other_fonts):
    speak("zh-Hant")
    monkeypatch.setattr(font_manager, "get_font_names", lambda: ["Noto Sans CJK SC", "Noto Sans CJK TC"])
    assert plots._families()[1:] == ["Noto Sans CJK TC"]


def test_what_cannot_be_drawn_is_an_error_that_says_why():
    """The tests of the explorer have the others."""
    with pytest.raises(ValueError, match=r"must be \(Q,K\), \(H,Q,K\) or"):
        show_heads([0.5])
    with pytest.raises(ValueError, match="key_labels must hold 2 labels, got 1"):
        show_heads([[0.5, 0.5]], key_labels=["a"])


@pytest.mark.parametrize(("count", "rows", "lines"), [(6, ["layer 0", "layer 1"], 2), (4, [], 2)])
def test_an_overview_has_each_map_in_its_place_and_none_where_there_is_no_head(count, rows, lines):
    """Three heads a row. Layers may have other numbers of heads: then rows have no names."""
    maps = weights(count, 4, 4).numpy()
    (axes,) = show_overview(maps, rows, ["0", "1", "2"], "head").axes
    drawn = axes.images[0].get_array()
    assert drawn is not None
    sheet = np.ma.filled(drawn, np.nan)
    assert sheet.shape == (lines * 5, 3 * 5)  # a gap of one cell behind each map
    for head in range(3 * lines):
        place = sheet[head // 3 * 5 :, head % 3 * 5 :][:4, :4]
        assert np.array_equal(place, maps[head]) if head < count else np.isnan(place).all()
    assert [label.get_text() for label in axes.get_yticklabels()] == (rows or [""] * lines)
