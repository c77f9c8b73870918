"""Still figures on the page: in the theme of the page, whatever the system prefers."""

import io
from urllib.parse import quote

import matplotlib.pyplot as plt
import pytest

from mha_lib.classroom.pictures.theme import to_svg
from tests.browser.waiting import picture_of, until

pytestmark = pytest.mark.ci


@pytest.mark.parametrize(
    ("scheme", "paper", "drawn"), [("light", [255] * 3, [0] * 3), ("dark", [17] * 3, [236] * 3)]
)
def test_a_figure_follows_the_page_and_not_the_system(page, scheme, paper, drawn):
    figure = plt.figure(figsize=(2, 2))
    figure.patches.append(plt.Rectangle((0.2, 0.2), 0.6, 0.6, color="black", transform=figure.transFigure))
    figure.add_axes((0, 0, 1, 1)).set_axis_off()
    plt.close(figure)
    page.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
    drawing = quote(to_svg(figure) or "")
    page.set_content(f'<img style="color-scheme: {scheme}" src="data:image/svg+xml,{drawing}">')
    until(page.locator("img"), "({ naturalWidth }) => naturalWidth > 0")
    picture = plt.imread(io.BytesIO(picture_of(page.locator("img"))))
    pixels = (255 * picture[..., :3]).round().astype(int)
    assert pixels[2, 2].tolist() == paper
    assert pixels[len(pixels) // 2, len(pixels) // 2].tolist() == drawn
