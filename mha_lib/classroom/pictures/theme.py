"""Shows matplotlib's figures as SVG in the theme of the page: of a deck, a handout, or JupyterLab.

A figure is drawn once, in colours for white paper. Its SVG names a dark colour for each, as the drawings in
``img/`` do: a colour of the palette gets the palette's dark one, and a grey gets the grey that is as far from
dark paper. Other colours stay, and so do pictures in the figure, such as heatmaps, where a colour is a
number.
"""

import re
import textwrap
from typing import Any

import matplotlib

from mha_lib.classroom import look
from mha_lib.classroom.lesson.language import words_here

LETTERS = 13  # points, of the smallest letters: 18 pixels on a slide
BLACK, WHITE = (0xEC, 0x11)  # the greys of letters and paper on a dark page
LONGEST_ALT = 300  # characters
COLOUR = re.compile(r"(?<=[a-z]: )#[0-9a-f]{6}(?=[;\"])")  # a colour in a style that matplotlib writes
LETTER = re.compile(r"[^\W\d_]")  # in words; matplotlib writes numbers as formulas
PALETTE = {light.lower(): dark for light, dark in zip(look.LIGHT.values(), look.DARK.values(), strict=True)}


def follow_the_theme(shell: Any) -> None:
    """Let the shell show figures as themed SVG, with letters for a slide."""
    matplotlib.rcParams["font.size"] = LETTERS
    display = shell.display_formatter

    def show(figure: Any, **_: Any) -> tuple[dict[str, str], dict[str, Any]]:
        display.formatters["image/png"].pop(type(figure), None)  # matplotlib's own, for white paper only
        svg, alt = to_svg(figure), alt_of(figure)
        return ({"image/svg+xml": svg} if svg else {}), ({"image/svg+xml": {"alt": alt}} if alt else {})

    # The formatter of SVG would not do: matplotlib clears it when it is loaded.
    display.mimebundle_formatter.for_type_by_name("matplotlib.figure", "Figure", show)


def to_svg(figure: Any) -> str | None:
    """The figure as SVG with both themes; None if the figure is empty."""
    from IPython.core.pylabtools import print_figure
    from matplotlib import rc_context
    from matplotlib.image import AxesImage

    for image in figure.findobj(AxesImage):
        if image.get_interpolation() in ("auto", "antialiased"):
            image.set_interpolation("none")  # sharp cells at any size
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": "the same figure, the same text"}):
        svg = print_figure(figure, "svg", dpi=192, metadata={"Date": None, "Creator": None})
    return svg and with_both_themes(svg)


def alt_of(figure: Any) -> str:
    """The alternative text: the words in the figure, since a screen reader finds only outlines in the SVG."""
    from matplotlib.text import Text

    hidden = [text for axes in figure.axes if not axes.get_visible() for text in axes.findobj(Text)]
    texts = [text.get_text() for text in figure.findobj(Text) if text.get_visible() and text not in hidden]
    named = [text for text in texts if LETTER.search(text.replace(r"\mathdefault", ""))]
    words = ", ".join(dict.fromkeys(" ".join(text.split()) for text in named))
    alt = words_here()["figures"]["alt"].format(words=words) if words else ""
    return textwrap.shorten(alt, LONGEST_ALT, placeholder=" …")


def with_both_themes(svg: str) -> str:
    """The SVG with a variable for each colour that has a dark one; letters are black by default."""
    lights = sorted({"#000000", *COLOUR.findall(svg)})
    pairs = {light: dark for light in lights if (dark := dark_of(light))}
    svg = COLOUR.sub(lambda found: f"var(--c{found[0][1:]})" if found[0] in pairs else found[0], svg)
    light_rule = "; ".join(f"--c{light[1:]}: {light}" for light in pairs)
    dark_rule = "; ".join(f"--c{light[1:]}: {dark}" for light, dark in pairs.items())
    style = (
        f"<style>svg {{ {light_rule}; fill: var(--c000000) }}\n"
        f"@media (prefers-color-scheme: dark) {{ svg {{ {dark_rule} }} }}</style>"
    )
    return re.sub("<svg[^>]*>", lambda start: f"{start[0]}\n{style}", svg, count=1)


def dark_of(light: str) -> str | None:
    """The colour on dark paper for one on white paper; None if it stays."""
    if light not in PALETTE and light == "#" + 3 * light[1:3]:
        return "#" + 3 * f"{round(BLACK + (WHITE - BLACK) * int(light[1:3], 16) / 255):02x}"
    return PALETTE.get(light)
