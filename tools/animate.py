"""Make the moving picture of the README: the explorer of lesson 03, while its sliders move.

``.venv/bin/python tools/animate.py zh`` (or ``en``) writes the lesson's handout, as ``make handouts`` does,
opens it in an installed Chromium or Chrome, moves the sliders there, and writes ``img/explorer-zh.gif``.
It needs what ``make lint`` sets up, and takes about a minute.
"""

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, ViewportSize, sync_playwright

from mha_lib.classroom.pages.browser import require_browser

ROOT = Path(__file__).parents[1]
LESSON = "03_multi_head_attention"
SIZE = ViewportSize(width=840, height=420)  # as wide as GitHub shows a README
SHARPNESS = 2  # pixels of the picture for each pixel of the page
COLOURS = 256
# The explorer fills a room of one size, as on a slide: nothing jumps when the number of heads changes.
STYLE = f"""
:root {{ --explorer-room: {SIZE["height"]}px; }}
body::after {{ content: ""; position: fixed; inset: 0; z-index: 8; background: white; }}
#explorer .widget {{ position: fixed; inset: 0; z-index: 9; max-width: none; margin: 8px 0; border: 0; }}
#explorer .mha-explorer {{ box-shadow: none; font-size: 15px; input {{ outline: 0; }} }}
#hand {{ position: fixed; z-index: 10; width: 22px; }}
"""
HAND = """
<svg id="hand" viewBox="0 0 11 16" stroke="white"><path d="M.5.5v12l3-2.6 2 5 2.2-1-2-4.8h4z"/></svg>
"""
PLACE_HAND = """(slider) => {
  const { left, top, width, height } = slider.getBoundingClientRect();
  const [thumb, hand] = [16, document.querySelector("#hand").style];
  hand.left = `${left + thumb / 2 + (slider.value / slider.max) * (width - thumb)}px`;
  hand.top = `${top + height / 2}px`;
}"""
# The stops of each slider, by their number, with the milliseconds for which each is shown.
TOUR = {
    "num_heads": [(0, 1400), (1, 1100), (2, 1100), (3, 1100), (4, 1800), (3, 1400)],
    "valid_lens": [(7, 500), (6, 500), (5, 500), (4, 500), (3, 500), (2, 1600), (7, 1000)],
}


def take_frames(explorer: Locator) -> Iterator[tuple[Image.Image, int]]:
    """Move the sliders through the tour; yields each picture with its milliseconds."""
    for name, stops in TOUR.items():
        slider = explorer.get_by_label(name, exact=True)
        for number, milliseconds in stops:
            slider.fill(str(number))
            slider.evaluate(PLACE_HAND)
            explorer.page.wait_for_timeout(200)  # the picture follows within a frame or two
            yield Image.open(io.BytesIO(explorer.page.screenshot())).convert("RGB"), milliseconds


def animate(language: str) -> Path:
    """Write the picture for one language; returns its file."""
    command = [sys.executable, "-m", "mha_lib.classroom", "--language", language, "handouts", LESSON]
    subprocess.run(command, cwd=ROOT, check=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=require_browser())
        page = browser.new_page(viewport=SIZE, device_scale_factor=SHARPNESS, color_scheme="light")
        page.goto((ROOT / "build" / "handouts" / language / f"{LESSON}.html").as_uri())
        explorer = page.locator("#explorer .widget")
        page.add_style_tag(content=STYLE)
        explorer.evaluate("(figure, hand) => figure.insertAdjacentHTML('beforeend', hand)", HAND)
        frames, durations = zip(*take_frames(explorer), strict=True)
    # One palette for all frames: a colour of its own in each would flicker.
    strip = Image.new("RGB", (frames[0].width, len(frames) * frames[0].height))
    for number, frame in enumerate(frames):
        strip.paste(frame, (0, number * frame.height))
    palette = strip.quantize(COLOURS, Image.Quantize.MAXCOVERAGE)
    first, *others = (frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames)
    file = ROOT / "img" / f"explorer-{language}.gif"
    first.save(file, save_all=True, append_images=others, duration=durations, loop=0, optimize=False)
    return file


if __name__ == "__main__":
    file = animate(*sys.argv[1:])
    print(f"{file}  {file.stat().st_size / 1000:.0f} KB")
