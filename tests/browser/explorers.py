"""Explorers for the tests, on a handout page, where they have only their table, and in JupyterLab."""

from pathlib import Path

import matplotlib as mpl
import nbformat
import numpy as np
import torch
from ipywidgets.embed import embed_data
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Locator, Page, expect

from mha_lib import masked_softmax, padding_mask
from mha_lib.classroom.explorer import explore
from tests.browser.new_lesson import new_lesson
from tests.browser.waiting import act, becomes, box_of, expect_idle, measure, until
from tests.classroom.pages.handout.cells import page_of, widget
from tests.offline_notebook.pages import STATE

B, Q, K = 2, 6, 8
WORDS = ["<img src=x onerror=window.hacked=1>", "", "the", "the", "注意力机制", "🙂", "long " * 99, "a\nb"]
UNSAVED = ".lm-TabBar-tab.jp-mod-dirty"
HEADS = "[role=application]"
# An init script that keeps the texts written on canvases, with the last colour of each.
SPY_ON_TEXT = """{
  window.written = [];
  window.colourOf = {};
  window.endOf = {}; // in pixels of the canvas, of a text that is written from the left
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    window.written.push(text);
    window.colourOf[text] = this.fillStyle;
    window.endOf[text] = this.getTransform().e + place[0] + this.measureText(text).width;
    fillText.call(this, text, ...place);
  };
}"""


def weights_of(num_heads=4, valid_lens=(7, 3)):
    scores = 3 * torch.randn(B, num_heads, Q, K, generator=torch.Generator().manual_seed(num_heads))
    mask = padding_mask(torch.tensor(valid_lens), K)
    return masked_softmax(scores, mask[:, None]), mask


def some_explorer(**labels):
    return explore(weights_of, num_heads=[1, 4, 8], valid_lens=[range(1, 9), range(0, 4)], **labels)


def handout_page(explorer, path: Path, **beside: str) -> str:
    """Write a handout with the explorer in it, and other outputs beside it; returns its address."""
    states = {STATE: embed_data([explorer], drop_defaults=False)["manager_state"]}
    notebook = new_notebook(cells=[widget(explorer.model_id, **beside)], metadata={"widgets": states})
    path.write_text(page_of(notebook), encoding="utf-8")
    return path.as_uri()


WRONG = """(canvas, [queries, keys, expected]) => {  // the cells of another colour; null is any grey
  const ctx = canvas.getContext("2d"), found = [];
  for (const head of canvas.parentElement.querySelectorAll("[role=application]")) {
    const [x, y, w, h] = ["left", "top", "width", "height"].map((name) => parseFloat(head.style[name]));
    for (let q = 0; q < queries; q++) for (let k = 0; k < keys; k++)
      found.push([...ctx.getImageData(x + (k + 0.5) * w / keys, y + (q + 0.5) * h / queries, 1, 1).data]);
  }
  if (found.length !== expected.length) return `${found.length} cells`;
  const isRight = ([r, g, b], cell) => cell
    ? [r, g, b].every((channel, at) => Math.abs(channel - cell[at]) <= 6) : r === g && g === b;
  return found.flatMap((cell, at) => (isRight(cell, expected[at]) ? [] : [[at, cell, expected[at]]]));
}"""


def assert_shows(page: Page | Locator, weights, mask, sample=0, top=1.0):
    """Each cell gets the colour of its weight, or, if the mask forbids it, the grey of the hatching."""
    weights = weights.numpy()[sample]  # (H, Q, K)
    allowed = np.broadcast_to(mask.numpy()[sample], weights.shape)
    colours = 255 * mpl.colormaps["viridis"](np.round(255 * weights / top).astype(int))[..., :3]
    cells = zip(colours.reshape(-1, 3).tolist(), allowed.flat, strict=True)
    expected = [colour if is_allowed else None for colour, is_allowed in cells]
    becomes(page.locator("canvas"), WRONG, [], [*weights.shape[1:], expected])


def expect_written(page: Page, *texts: str) -> None:
    """Wait until these texts are drawn on canvases."""
    missing = "(texts) => texts.filter((text) => !written.some((drawn) => drawn.trim() === text))"
    becomes(page, missing, [], texts)


def expect_paper(page: Page, theme: str) -> None:
    """Wait until the picture is painted on paper of the theme."""
    corner = """(isDark) => {
      const canvas = document.querySelector("canvas");
      if (!canvas) return false; // not on the page yet
      const pixel = canvas.getContext("2d").getImageData(canvas.width - 1, canvas.height - 1, 1, 1).data;
      return isDark ? pixel[0] < 40 : pixel[0] === 255;
    }"""
    until(page, corner, theme == "dark")


def slider(page: Page, name: str):
    return page.get_by_label(name, exact=True)


GIVE_ROOM = """([room, letters]) => {
  const root = document.querySelector(".mha-explorer"), slide = root.parentElement;
  slide.style.cssText = `position: fixed; z-index: 9; inset: 10vh 4vw auto; --explorer-room: ${room}px;
                         font-size: ${letters}px; max-width: none; background: #fff`;
}"""


def boxes_of(page: Page, selector: str) -> list[dict[str, float]]:
    """The rectangles of all elements that a selector names, read at once."""
    rectangles = """(selector) => [...document.querySelectorAll(selector)]
        .map((element) => element.getBoundingClientRect().toJSON())"""
    return list(measure(page, rectangles, selector))


def give_room(page: Page, room: int, letters: float = 18) -> None:
    """Tell the explorer how much of a slide is left, as the deck does; it is as wide as a slide's content."""
    act(page, GIVE_ROOM, [room, letters])
    expect(page.locator(".mha-explorer")).to_have_css("max-height", f"{room}px")


def middle_of(page: Page, head: int, query: int, key: int) -> tuple[float, float]:
    box = box_of(page.locator(HEADS).nth(head))
    return box["x"] + (key + 0.5) / K * box["width"], box["y"] + (query + 0.5) / Q * box["height"]


class Lab:
    """A notebook in JupyterLab whose cells are run by number."""

    def __init__(self, page: Page, jupyter, name: str, *sources: str, language: str = "en"):
        self.page, self.runs = page, 0
        cells = [new_code_cell(source) for source in sources]
        nbformat.write(new_lesson(cells, language), jupyter.folder / name)
        jupyter.trust(jupyter.folder / name)
        page.goto(jupyter.address("lab", name) + "&reset")  # without the tabs of an earlier test
        expect_idle(page)

    def cell(self, number: int):
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(number)

    def run(self, number: int):
        self.runs += 1
        editor = self.cell(number).locator(".cm-content")
        editor.click()
        expect(editor).to_be_focused()
        editor.press("Control+Enter")
        prompt = self.cell(number).locator(".jp-InputArea-prompt")
        expect(prompt).to_have_text(f"[{self.runs}]:")
        return self.cell(number).locator(".jp-OutputArea")

    def make_unsaved(self) -> None:
        """Change something in the last cell."""
        editor = self.page.locator(".jp-Notebook .jp-CodeCell .cm-content").last
        editor.click()
        editor.press("Space")
        expect(self.page.locator(UNSAVED)).to_have_count(1)
