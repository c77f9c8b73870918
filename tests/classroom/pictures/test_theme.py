"""Figures by matplotlib have a colour for each theme in one SVG."""

import re
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from mha_lib.classroom import look
from mha_lib.classroom.pictures.theme import dark_of, follow_the_theme, to_svg
from tests.colours import contrast


@pytest.fixture
def figure():
    figure, axes = plt.subplots(figsize=(4, 3), layout="constrained")
    axes.plot([1, 2], [3, 4], color="0.5", label="grey")
    axes.set_xlabel("queries", color=look.LIGHT["q"].upper())
    axes.imshow(np.arange(6).reshape(2, 3) / 6)
    axes.legend()
    plt.close(figure)
    return figure


def test_every_colour_of_letters_lines_and_paper_has_a_dark_one(figure):
    svg = to_svg(figure) or ""
    light, dark = (
        dict(re.findall(r"(--c\w{6}): (#\w{6})", rule)) for rule in re.findall(r"svg \{ (.*?) \}", svg)
    )
    colours = [(light[name], dark[name]) for name in light]
    assert {("#ffffff", "#111111"), ("#000000", "#ececec"), (look.LIGHT["q"], look.DARK["q"])} <= {*colours}
    body = svg[svg.index("</style>") :]
    assert not re.findall("(?:fill|stroke): (?:#000000|#ffffff|#808080)", body)
    assert {*re.findall(r"var\((--c\w{6})\)", body)} <= {f"--c{light[1:]}" for light, _ in colours}


@pytest.mark.parametrize("grey", [0, 128, 204])
def test_a_grey_is_about_as_far_from_dark_paper(grey):
    light = f"#{grey:02x}{grey:02x}{grey:02x}"
    assert contrast(dark_of(light) or "", "#111111") > min(4.5, 0.6 * contrast(light, "#ffffff"))


def test_the_colour_of_a_number_stays(figure):
    assert dark_of("#21918c") is None
    svg = to_svg(figure) or ""
    assert svg.count("<image") == 1
    assert "pixelated" in svg


def test_a_cell_shows_svg_alone(figure):
    shell: Any = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    follow_the_theme(shell)
    for formatter in shell.display_formatter.formatters.values():  # as matplotlib does when it is loaded
        formatter.pop(type(figure), None)
    shell.display_formatter.formatters["image/png"].for_type(type(figure), lambda _: b"white")
    shown, about = shell.display_formatter.format(figure)
    assert {*shown} - {"text/plain"} == {"image/svg+xml"}
    assert about["image/svg+xml"]["alt"] == "Figure drawn by the code above, with the words: queries, grey"
