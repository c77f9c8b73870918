"""A notebook that was saved in JupyterLab: its explorers are there again, in JupyterLab and in a handout."""

import pytest
from playwright.sync_api import expect

from mha_lib.classroom.pages.handout import HandoutExporter
from tests.browser.explorers import HEADS, Lab
from tests.browser.lecture import end_kernels
from tests.browser.waiting import saved_when
from tests.offline_notebook.pages import STATE

pytestmark = pytest.mark.ci

EXPLORER = """
import numpy as np
from mha_lib.classroom import explore

explore(lambda num_heads=2: np.full((num_heads, 3, 5), 0.2), num_heads=[1, 2, 4])
"""


def test_a_reopened_notebook_and_its_handout_show_the_explorer_again(page, watch, jupyter, caplog):
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

    html, _ = HandoutExporter().from_filename(str(file))
    assert caplog.records == []
    handout = file.with_suffix(".html")
    handout.write_text(str(html), encoding="utf-8")
    page.goto(handout.as_uri())
    expect(page.locator(HEADS)).to_have_count(2)
