"""The explorer in JupyterLab: with a kernel, and in a notebook that was saved and opened again."""

import re

import pytest
import torch
from playwright.sync_api import expect

from mha_lib import masked_softmax
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.pages.handout import HandoutExporter
from tests.browser.explorers import HEADS, UNSAVED, Lab, assert_shows
from tests.browser.lecture import end_kernels
from tests.browser.waiting import act, answer_of, becomes, saved_when
from tests.offline_notebook.pages import STATE

pytestmark = pytest.mark.ci

LIVE = """
import time, torch
from mha_lib import causal_mask, masked_softmax
from mha_lib.classroom import explore

def weights_of(shift, text="abc", pause=0):
    if pause: time.sleep(pause)
    if text == "bad": raise KeyError("no such text")
    scores = torch.randn(2, len(text) or 1, 8, generator=torch.Generator().manual_seed(shift))
    return masked_softmax(3 * scores)

explorer = explore(weights_of, shift=range(2000), text="abc", pause=[0, 1])
explorer
"""


def live_weights(shift, text="abc"):
    scores = torch.randn(2, len(text) or 1, 8, generator=torch.Generator().manual_seed(shift))
    weights = masked_softmax(3 * scores)[None]
    return weights, torch.ones(weights.shape, dtype=torch.bool)


def test_through_the_kernel(page, jupyter):
    """In one notebook, since a kernel takes seconds to start: missing settings, two views, the next cell."""
    told = "print(explorer.settings, explorer.weights.sum().item(), len(explorer._alive))"
    lab = Lab(page, jupyter, "live.ipynb", LIVE, "explorer", told)
    view = lab.run(0)
    shift, text, status = view.get_by_label("shift"), view.get_by_label("text"), view.get_by_role("status")

    # 500 moves through settings that only the kernel can compute: the last one is shown in the end
    text.fill("abcd")
    drag = """input => { for (let i = 0; i < 500; i++) {
      input.value = (i * 37) % 2000; input.dispatchEvent(new Event("input", { bubbles: true })); } }"""
    act(shift, drag)
    busy = view.locator(".stage")
    expect(busy).to_have_attribute("aria-busy", "false")
    last = 499 * 37 % 2000
    assert_shows(view, *live_weights(last, "abcd"))

    # while a slow setting is computed, once, the page says so
    move = """async (input, value) => {
      input.value = value; input.dispatchEvent(new Event("input", { bubbles: true }));
      const stage = document.querySelector(".stage");
      return [document.querySelector("[role=status]").textContent, stage.ariaBusy]; }"""
    pause = view.get_by_label("pause")
    assert answer_of(pause, move, 1) == [words_in("en")["explorer"]["computing"], "true"]
    expect(status).to_contain_text("Largest weight")
    for value in (0, 1):  # the browser has kept both
        assert answer_of(pause, move, value)[1] == "false"

    # a second display is in step with the first, and the next cell has the state
    second = lab.run(1)
    expect(second.locator(HEADS).first).to_be_visible()
    assert_shows(second, *live_weights(last, "abcd"))
    second.get_by_label("shift").fill("7")
    expect(busy).to_have_attribute("aria-busy", "false")
    expect(shift).to_have_value("7")
    assert_shows(view, *live_weights(7, "abcd"))
    total = live_weights(7, "abcd")[0].sum().item()
    settings = {"shift": 7, "text": "abcd", "pause": 1}
    expect(lab.run(2)).to_have_text(f"{settings} {total} 1")

    # an exception of the kernel's is shown in place, with its traceback
    text.fill("bad")
    expect(view.get_by_role("alert")).to_contain_text("KeyError: 'no such text'")
    text.fill("abc")
    expect(view.get_by_role("alert")).to_be_hidden()

    # JupyterLab does not get the explorer's keys, nor bare keys that would change the notebook
    shift.press("d")
    shift.press("d")
    view.locator(HEADS).first.press("x")
    text.press("Control+A")
    text.press("Control+X")
    expect(text).to_have_value("")
    expect(page.locator(".jp-CodeCell")).to_have_count(3)

    # it gets the others
    for element in (shift, text, view.locator(HEADS).first):
        lab.make_unsaved()
        element.press("Control+s")
        expect(page.locator(UNSAVED)).to_have_count(0)
    shift.press("Control+Enter")  # runs the cell again; Shift+Enter keeps what is set, and goes on
    lab.runs += 1
    expect(lab.cell(0).locator(".jp-InputArea-prompt")).to_have_text(f"[{lab.runs}]:")

    # where no cell shows it any more, the former explorer is closed
    lab.run(1)
    expect(lab.run(2)).to_have_text(re.compile(r" 1\s*$"))

    # Escape hands the focus back to the notebook, whose keys work then
    lab.cell(0).get_by_label("shift").press("Escape")
    becomes(page, "document.activeElement.closest('.mha-explorer')", None)
    page.keyboard.press("b")
    expect(page.locator(".jp-CodeCell")).to_have_count(4)


EXPLORER = """
import numpy as np
from mha_lib.classroom import explore

explore(lambda num_heads=2: np.full((num_heads, 3, 5), 0.2), num_heads=[1, 2, 4])
"""


def test_a_reopened_notebook_and_its_handout_show_the_explorer_again(
    page, watch, jupyter, caplog, monkeypatch
):
    lab = Lab(page, jupyter, "saved.ipynb", EXPLORER)
    lab.run(0)
    expect(page.locator(HEADS)).to_have_count(2)
    page.keyboard.press("Control+s")
    file = jupyter.folder / "saved.ipynb"
    saved_when(file, lambda notebook: STATE in notebook.metadata.get("widgets", {}), "the explorer's state")

    end_kernels(jupyter)
    page.goto(jupyter.address("lab", "saved.ipynb") + "&reset")
    expect(page.locator(HEADS)).to_have_count(2)
    expect(page.locator(".jp-CodeCell .jp-InputArea-prompt")).not_to_have_text("[*]:")
    page.get_by_label("num_heads").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(HEADS), "drawn from what was saved, since nothing has run").to_have_count(4)

    monkeypatch.setenv("JUPYTER_DATA_DIR", str(jupyter.home / "data"))  # where the server has signed it
    html, _ = HandoutExporter().from_filename(str(file))
    assert caplog.records == []
    handout = file.with_suffix(".html")
    handout.write_text(str(html), encoding="utf-8")
    page.goto(handout.as_uri())
    expect(page.locator(HEADS)).to_have_count(2)
