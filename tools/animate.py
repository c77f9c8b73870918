"""Make the moving pictures of the README: the explorer of lesson 03, and the page of lesson 07 that writes.

``.venv/bin/python tools/animate.py zh`` (or ``en``) writes the lessons' handouts, as ``make handouts`` does,
opens them in an installed Chromium or Chrome, moves sliders and chooses tokens there, and writes
``img/explorer-zh.gif`` and ``img/who-said-zh.gif``; ``who-said`` behind the language makes that one alone.
It needs what ``make lint`` sets up, and takes some minutes.
"""

import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page, ViewportSize, sync_playwright

from mha_lib.classroom.pages.browser import require_browser

ROOT = Path(__file__).parents[1]
WIDTH = 840  # as GitHub shows a README
SHARPNESS = 2  # pixels of the picture for each pixel of the page
COLOURS = 256
# A widget fills a room of one size, as on a slide: nothing jumps when a setting changes.
STYLE = """
:root { --explorer-room: 420px; }
body::after { content: ""; position: fixed; inset: 0; z-index: 8; background: white; }
.widget.filmed { position: fixed; inset: 0; z-index: 9; margin: 8px 0; max-width: none; border: 0; }
.filmed .mha-explorer { box-shadow: none; font-size: 15px; }
#hand { position: fixed; z-index: 10; width: 22px; }
"""
HAND = """
<svg id="hand" viewBox="0 0 11 16" stroke="white"><path d="M.5.5v12l3-2.6 2 5 2.2-1-2-4.8h4z"/></svg>
"""
# At the thumb of a slider, or in the middle of a button.
PLACE_HAND = """(chosen) => {
  const { left, top, width, height } = chosen.getBoundingClientRect();
  const [thumb, hand] = [16, document.querySelector("#hand").style];
  const across = chosen.max ? thumb / 2 + (chosen.value / chosen.max) * (width - thumb) : width / 2;
  hand.left = `${left + across}px`;
  hand.top = `${top + height / 2}px`;
}"""
# The stops of each slider, by their number, with the milliseconds for which each is shown.
SLIDERS = {
    "num_heads": [(0, 1400), (1, 1100), (2, 1100), (3, 1100), (4, 1800), (3, 1400)],
    "valid_lens": [(7, 500), (6, 500), (5, 500), (4, 500), (3, 500), (2, 1600), (7, 1000)],
}
WRITING = 110  # milliseconds for each token that the model writes
CHOSEN = 2200  # for each token that is chosen
ASKED = 4  # tokens that are chosen
Frames = Iterator[tuple[Image.Image, int]]


def picture(page: Page) -> Image.Image:
    page.wait_for_timeout(200)  # the picture follows within a frame or two
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def move_sliders(explorer: Locator) -> Frames:
    """Move the sliders through their stops; yields each picture with its milliseconds."""
    for name, stops in SLIDERS.items():
        slider = explorer.get_by_label(name, exact=True)
        for number, milliseconds in stops:
            slider.fill(str(number))
            slider.evaluate(PLACE_HAND)
            yield picture(explorer.page), milliseconds


def ask_who_said(writer: Locator) -> Frames:
    """Let the text grow to its end, then ask who said a part of a name, each time that it is said."""
    writer.locator(".text[aria-busy=false]").wait_for()
    yield picture(writer.page), CHOSEN  # what is seen where pictures don't move
    tokens = writer.locator(".text button")
    written = tokens.count() - writer.locator(".text button.typed").count()
    hidden = writer.page.add_style_tag(content=".answer { visibility: hidden; }")
    names = tokens.evaluate_all("(all) => all.map((each) => each.firstChild.textContent)")
    first = len(names) - written
    for shown in range(first, len(names) + 1):
        tokens.evaluate_all(SHOW_SOME, shown)
        yield picture(writer.page), WRITING
    hidden.evaluate("(style) => style.remove()")
    for place in [at for at in range(first, len(names)) if names[at] == names[first]][:ASKED]:
        tokens.nth(place).click()
        tokens.nth(place).evaluate(PLACE_HAND)
        yield picture(writer.page), CHOSEN


SHOW_SOME = "(all, count) => all.forEach((each, at) => (each.style.opacity = at < count ? 1 : 0))"
# The pictures: their names, the lessons, the height, the widget within the cell of that id, and its film.
FILMS: list[tuple[str, str, int, str, Callable[[Locator], Frames]]] = [
    ("explorer", "03_multi_head_attention", 420, "explorer", move_sliders),
    ("who-said", "07_small_language_model", 340, "who-page", ask_who_said),
]


def film(
    language: str, name: str, lesson: str, height: int, cell: str, frames_of: Callable[..., Frames]
) -> Path:
    """Write one picture in one language; returns its file."""
    command = [sys.executable, "-m", "mha_lib.classroom", "--language", language, "handouts", lesson]
    subprocess.run(command, cwd=ROOT, check=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=require_browser())
        size = ViewportSize(width=WIDTH, height=height)
        page = browser.new_page(viewport=size, device_scale_factor=SHARPNESS, color_scheme="light")
        page.goto((ROOT / "build" / "handouts" / language / f"{lesson}.html").as_uri())
        for button in page.locator(f"section:has(#{cell}) .ask button").all():
            button.click()  # the result of a guess waits behind it
        page.add_style_tag(content=STYLE)
        widget = page.locator(f"#{cell} .widget")
        widget.evaluate("(figure, hand) => figure.insertAdjacentHTML('beforeend', hand)", HAND)
        widget.evaluate("(figure) => figure.classList.add('filmed')")
        frames, durations = zip(*frames_of(widget), strict=True)
    # One palette for all frames: a colour of its own in each would flicker.
    strip = Image.new("RGB", (frames[0].width, len(frames) * frames[0].height))
    for number, frame in enumerate(frames):
        strip.paste(frame, (0, number * frame.height))
    palette = strip.quantize(COLOURS, Image.Quantize.MAXCOVERAGE)
    first, *others = (frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames)
    file = ROOT / "img" / f"{name}-{language}.gif"
    first.save(file, save_all=True, append_images=others, duration=durations, loop=0, optimize=False)
    return file


if __name__ == "__main__":
    wanted = sys.argv[2:] or [name for name, *_ in FILMS]
    for described in (each for each in FILMS if each[0] in wanted):
        made = film(sys.argv[1], *described)
        print(f"{made}  {made.stat().st_size / 1000:.0f} KB")
