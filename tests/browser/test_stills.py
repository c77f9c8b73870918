"""Still figures on the page: in the theme of JupyterLab, whatever the system prefers."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING
from urllib.parse import quote

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook
from playwright.sync_api import Page, expect

from mha_lib.classroom.live.explorer import explore
from mha_lib.classroom.live.plots import show_heads
from mha_lib.classroom.live.theme import to_svg
from mha_lib.classroom.look import DARK, HATCH, LIGHT
from tests.browser.conftest import PATIENCE
from tests.browser.explorers import expect_paper, handout_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

    from tests.browser.conftest import JupyterServer

pytestmark = pytest.mark.ci

# The colours of the paper, at a corner, and of what is drawn in the middle, as the page shows them.
PIXELS = """async (png) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    const at = (x, y) => [...pen.getImageData(x, y, 1, 1).data.slice(0, 3)];
    return [at(2, 2), at(image.width / 2, image.height / 2)];
}"""


@pytest.mark.parametrize(
    ("scheme", "paper", "drawn"), [("light", [255] * 3, [0] * 3), ("dark", [17] * 3, [236] * 3)]
)
def test_a_figure_follows_the_page_and_not_the_system(page: Page, scheme, paper, drawn) -> None:
    figure = plt.figure(figsize=(2, 2))
    figure.patches.append(plt.Rectangle((0.2, 0.2), 0.6, 0.6, color="black", transform=figure.transFigure))
    figure.add_axes((0, 0, 1, 1)).set_axis_off()
    plt.close(figure)
    page.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
    page.set_content(
        f'<img style="color-scheme: {scheme}" src="data:image/svg+xml,{quote(to_svg(figure) or "")}">'
    )
    image = page.locator("img")
    page.wait_for_function("document.querySelector('img').naturalWidth > 0")
    png = base64.b64encode(image.screenshot()).decode()
    assert page.evaluate(PIXELS, png) == [paper, drawn]


def masked_cells(picture: Locator, ground: str) -> np.ndarray:
    """The pixels of the masked cells in a picture on the page: the rows and columns full of their ground."""
    pixels = (255 * plt.imread(io.BytesIO(picture.screenshot()))[..., :3]).round().astype(int)
    has_ground = (pixels == rgb(ground)).all(-1)
    for axis in (1, 0):
        pixels = pixels.compress(has_ground.mean(axis) > has_ground.mean(axis).max() / 2, axis=1 - axis)
    return pixels[10:-10, 10:-10]


def rgb(colour: str) -> list[int]:
    return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]


def share(pixels: np.ndarray, colour: str) -> float:
    """How many of the pixels have the colour, where a browser may round it."""
    return float((np.abs(pixels - rgb(colour)) <= 1).all(-1).mean())


def rise(pixels: np.ndarray, ground: str, step: int = 4) -> float:
    """Above 0 if the lines on the ground rise to the right, below 0 if they fall."""
    line = (pixels != rgb(ground)).any(-1)
    rising = line[step:, :-step] & line[:-step, step:]
    falling = line[:-step, :-step] & line[step:, step:]
    return float(rising.mean() - falling.mean())


@pytest.mark.parametrize(("theme", "colours"), [("light", LIGHT), ("dark", DARK)])
def test_a_masked_cell_looks_the_same_in_stills_and_explorers(browser: Browser, tmp_path, theme, colours):
    weights, mask = np.zeros((1, 4, 4)), np.zeros((4, 4), bool)
    still = to_svg(show_heads(weights, mask)) or ""
    page = browser.new_page(device_scale_factor=4, color_scheme=theme)  # large pixels would be mixtures
    page.set_default_timeout(PATIENCE)
    page.set_content(f'<img style="color-scheme: {theme}" src="data:image/svg+xml,{quote(still)}">')
    page.wait_for_function("document.querySelector('img').naturalWidth > 0")
    drawn = [masked_cells(page.locator("img"), colours["forbidden"])]
    page.goto(handout_page(explore(lambda: (weights, mask)), tmp_path / "lesson.html"))
    expect_paper(page, theme)
    drawn.append(masked_cells(page.locator("canvas"), colours["forbidden"]))
    page.close()
    for pixels in drawn:
        assert min(pixels.shape[:2]) > 100
        assert share(pixels, colours["forbidden"]) > 0.5
        assert share(pixels, colours["hatching"]) > 0.05
        assert np.sign(rise(pixels, colours["forbidden"])) == np.sign(HATCH["angle"])
        assert 1 - share(pixels, colours["forbidden"]) == pytest.approx(
            HATCH["line"] / HATCH["gap"], abs=0.13
        )


def test_jupyterlab_tells_pictures_its_theme(page: Page, jupyter: JupyterServer) -> None:
    cell = new_markdown_cell("![masks](img/masks.svg)")
    nbformat.write(new_notebook(cells=[cell]), jupyter.folder / "picture.ipynb")
    page.goto(jupyter.address("lab", "picture.ipynb"))
    image = page.locator(".jp-Notebook img")
    expect(image).to_be_visible()
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "true")
    expect(image).to_have_css("color-scheme", "light")
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    expect(image).to_have_css("color-scheme", "dark")
