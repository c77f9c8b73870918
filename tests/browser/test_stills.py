"""Still figures on the page: in the theme of JupyterLab, whatever the system prefers."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING
from urllib.parse import quote

import matplotlib.pyplot as plt
import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook
from playwright.sync_api import Page, expect

from mha_lib.classroom.live.theme import draw

if TYPE_CHECKING:
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
        f'<img style="color-scheme: {scheme}" src="data:image/svg+xml,{quote(draw(figure) or "")}">'
    )
    image = page.locator("img")
    page.wait_for_function("document.querySelector('img').naturalWidth > 0")
    png = base64.b64encode(image.screenshot()).decode()
    assert page.evaluate(PIXELS, png) == [paper, drawn]


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
