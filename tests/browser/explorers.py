"""Explorers for the tests, on a handout page, where they have only their table, and in JupyterLab."""

import base64
from pathlib import Path

import matplotlib as mpl
import nbformat
import numpy as np
import torch
from ipywidgets.widgets.widget import _remove_buffers
from nbformat.v4 import new_code_cell, new_notebook, new_output
from playwright.sync_api import Page, expect

from mha_lib import masked_softmax, padding_mask
from mha_lib.classroom.live.explorer import explore
from mha_lib.classroom.publish.handout import HandoutExporter
from tests.browser.new_lesson import new_lesson

B, Q, K = 2, 6, 8
WORDS = ["<img src=x onerror=window.hacked=1>", "", "the", "the", "注意力机制", "🙂", "long " * 99, "a\nb"]
UNSAVED = ".lm-TabBar-tab.jp-mod-dirty"
HEADS = "[role=application]"
# An init script that keeps the texts written on canvases, with the last colour of each.
SPY_ON_TEXT = """{
  window.written = [];
  window.colourOf = {};
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    window.written.push(text);
    window.colourOf[text] = this.fillStyle;
    fillText.call(this, text, ...place);
  };
}"""


def weights_of(num_heads=4, valid_lens=(7, 3)):
    scores = 3 * torch.randn(B, num_heads, Q, K, generator=torch.Generator().manual_seed(num_heads))
    mask = padding_mask(torch.tensor(valid_lens), K)
    return masked_softmax(scores, mask[:, None]), mask


def some_explorer(**labels):
    return explore(weights_of, num_heads=[1, 4, 8], valid_lens=[range(1, 9), range(0, 4)], **labels)


def handout_page(explorer, path: Path) -> str:
    """Write a handout with the explorer in it; returns its address."""
    state, paths, buffers = _remove_buffers(explorer.get_state())
    kept = [
        {"encoding": "base64", "path": place, "data": base64.b64encode(buffer).decode()}
        for place, buffer in zip(paths, buffers, strict=True)
    ]
    model = {"model_name": "AnyModel", "model_module": "anywidget", "state": state, "buffers": kept}
    view = {"application/vnd.jupyter.widget-view+json": {"model_id": "it", "version_major": 2}}
    cells = [new_code_cell("", outputs=[new_output("display_data", data=view)])]
    states = {"application/vnd.jupyter.widget-state+json": {"state": {"it": model}}}
    html, _ = HandoutExporter().from_notebook_node(new_notebook(cells=cells, metadata={"widgets": states}))
    path.write_text(html, encoding="utf-8")
    return path.as_uri()


PIXELS = """(canvas, [queries, keys]) => {
  const ctx = canvas.getContext("2d"), colours = [];
  for (const head of canvas.parentElement.querySelectorAll("[role=application]")) {
    const [x, y, w, h] = ["left", "top", "width", "height"].map((name) => parseFloat(head.style[name]));
    for (let q = 0; q < queries; q++) for (let k = 0; k < keys; k++)
      colours.push([...ctx.getImageData(x + (k + 0.5) * w / keys, y + (q + 0.5) * h / queries, 1, 1).data]);
  }
  return colours;
}"""


def assert_shows(page: Page, weights, mask, sample=0, top=1.0):
    """Each cell has the colour of its weight, or, if the mask forbids it, the grey of the hatching."""
    weights = weights.numpy()[sample]  # (H, Q, K)
    forbidden = ~np.broadcast_to(mask.numpy()[sample], weights.shape)
    colours = np.array(page.locator("canvas").evaluate(PIXELS, weights.shape[1:]))[:, :3]
    colours = colours.reshape(*weights.shape, 3).astype(int)
    expected = 255 * mpl.colormaps["viridis"](np.round(255 * weights / top).astype(int))[..., :3]
    assert np.abs(colours - expected)[~forbidden].max(initial=0) <= 6
    assert np.ptp(colours, axis=-1)[forbidden].max(initial=0) == 0


def expect_paper(page: Page, theme: str) -> None:
    """Wait until the picture is painted on paper of the theme."""
    corner = """(isDark) => {
      const canvas = document.querySelector("canvas");
      if (!canvas) return false; // not on the page yet
      const pixel = canvas.getContext("2d").getImageData(canvas.width - 1, canvas.height - 1, 1, 1).data;
      return isDark ? pixel[0] < 40 : pixel[0] === 255;
    }"""
    page.wait_for_function(corner, arg=theme == "dark")


def slider(page: Page, name: str):
    return page.get_by_label(name, exact=True)


def middle_of(page: Page, head: int, query: int, key: int) -> tuple[float, float]:
    box = page.locator(HEADS).nth(head).bounding_box()
    assert box
    return box["x"] + (key + 0.5) / K * box["width"], box["y"] + (query + 0.5) / Q * box["height"]


class Lab:
    """A notebook in JupyterLab whose cells are run by number."""

    def __init__(self, page: Page, jupyter, name: str, *sources: str):
        self.page, self.runs = page, 0
        cells = [new_code_cell(source) for source in sources]
        nbformat.write(new_lesson(cells), jupyter.folder / name)
        page.goto(jupyter.address("lab", name) + "&reset")  # without the tabs of an earlier test
        expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()

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
