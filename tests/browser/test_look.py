"""The look of a page: figures in its theme, masked cells as explorers draw them, Chinese letters."""

import io
from urllib.parse import quote

import matplotlib.pyplot as plt
import numpy as np
import pytest
from playwright.sync_api import Locator, Page

from mha_lib.classroom.explorer import explore
from mha_lib.classroom.look import CSS, DARK, HATCH, LIGHT
from mha_lib.classroom.pictures.plots import show_heads
from mha_lib.classroom.pictures.theme import to_svg
from tests.browser.explorers import expect_paper, handout_page
from tests.browser.pages import new_page
from tests.browser.waiting import box_of, each_of, picture_of, until
from tests.colours import channels_of

pytestmark = pytest.mark.ci


def pixels_of(picture: Locator) -> np.ndarray:
    return (255 * plt.imread(io.BytesIO(picture_of(picture)))[..., :3]).round().astype(int)


def show_still(page: Page, drawing: str, theme: str) -> Locator:
    page.set_content(f'<img style="color-scheme: {theme}" src="data:image/svg+xml,{quote(drawing)}">')
    until(page.locator("img"), "({ naturalWidth }) => naturalWidth > 0")
    return page.locator("img")


@pytest.mark.parametrize(
    ("scheme", "paper", "drawn"), [("light", [255] * 3, [0] * 3), ("dark", [17] * 3, [236] * 3)]
)
def test_a_figure_follows_the_page_and_not_the_system(page, scheme, paper, drawn):
    figure = plt.figure(figsize=(2, 2))
    figure.patches.append(plt.Rectangle((0.2, 0.2), 0.6, 0.6, color="black", transform=figure.transFigure))
    figure.add_axes((0, 0, 1, 1)).set_axis_off()
    plt.close(figure)
    page.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
    pixels = pixels_of(show_still(page, to_svg(figure) or "", scheme))
    assert pixels[2, 2].tolist() == paper
    assert pixels[len(pixels) // 2, len(pixels) // 2].tolist() == drawn


def masked_cells(picture: Locator, ground: str) -> np.ndarray:
    """The pixels of the masked cells in a picture on the page: the rows and columns full of their ground."""
    pixels = pixels_of(picture)
    has_ground = (pixels == channels_of(ground)).all(-1)
    for axis in (1, 0):
        pixels = pixels.compress(has_ground.mean(axis) > has_ground.mean(axis).max() / 2, axis=1 - axis)
    return pixels[10:-10, 10:-10]


def share(pixels: np.ndarray, colour: str) -> float:
    """How many of the pixels have the colour, where a browser may round it."""
    return float((np.abs(pixels - channels_of(colour)) <= 1).all(-1).mean())


@pytest.mark.parametrize(("theme", "colours"), [("light", LIGHT), ("dark", DARK)])
def test_a_masked_cell_looks_the_same_in_stills_and_explorers(browser, tmp_path, theme, colours):
    weights, mask = np.zeros((1, 4, 4)), np.zeros((4, 4), bool)
    still = to_svg(show_heads(weights, mask)) or ""
    with new_page(browser, device_scale_factor=4, color_scheme=theme) as page:  # small pixels are mixtures
        drawn = [masked_cells(show_still(page, still, theme), colours["forbidden"])]
        page.goto(handout_page(explore(lambda: (weights, mask)), tmp_path / "lesson.html"))
        expect_paper(page, theme)
        drawn.append(masked_cells(page.locator("canvas"), colours["forbidden"]))
    for pixels in drawn:
        assert min(pixels.shape[:2]) > 100
        assert share(pixels, colours["forbidden"]) > 0.5
        assert share(pixels, colours["hatching"]) > 0.05
        covered = 1 - share(pixels, colours["forbidden"])
        assert covered == pytest.approx(HATCH["line"] / HATCH["gap"], abs=0.13)


LETTERS = """<html lang="{lang}"><style>{css}
p, ul {{ font: 40px var(--marks,) "DejaVu Sans", sans-serif }}</style>
<p><em>键 1</em></p><p><span>键 1</span></p><p><b>“</b></p>
<p class="cm-line"><i>键 1</i></p>
<ul><li><em>键</em></li><li><span>键</span></li></ul><ul><li><em>a</em></li><li><span>a</span></li></ul>"""


@pytest.mark.parametrize(("lang", "is_chinese"), [("zh-Hant", True), ("en", False)])
def test_emphasis_is_upright_and_marks_are_wide_in_chinese_alone(page: Page, lang, is_chinese):
    page.set_content(LETTERS.format(lang=lang, css=CSS))
    for tag, what in (("em", "an emphasized sentence"), ("i", "a comment in code")):
        here, plain = (picture_of(page.locator(f"p {one}").first) for one in (tag, "span"))
        assert (here == plain) is is_chinese, f"{what} is upright, with its numbers"
    slanted, upright = (each_of(page.locator(f"ul {tag}")) for tag in ("em", "span"))
    same = [picture_of(one) == picture_of(other) for one, other in zip(slanted, upright, strict=True)]
    assert same == [is_chinese, False], "in a list, what is slanted has italics"
    assert (box_of(page.locator("b"))["width"] == pytest.approx(40, abs=1)) is is_chinese
