"""A notebook that was saved in JupyterLab: its explorers are there again, in JupyterLab and in a handout."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from playwright.sync_api import Page, Response, expect

from mha_lib.classroom.publish.handout import HandoutExporter
from tests.browser.new_lesson import new_lesson

if TYPE_CHECKING:
    from tests.browser.conftest import JupyterServer, Watch

pytestmark = pytest.mark.ci

STATE = "application/vnd.jupyter.widget-state+json"
EXPLORER = """
import numpy as np
from mha_lib.classroom import explore

explore(lambda num_heads=2: np.full((num_heads, 3, 5), 0.2), num_heads=[1, 2, 4])
"""
PICTURE = "[role=application]"  # one a head


def is_save(answer: Response) -> bool:
    return answer.request.method == "PUT" and "contents/saved.ipynb" in answer.url


def end_kernels(jupyter: JupyterServer) -> None:
    def ask(method: str, path: str) -> bytes:
        headers = {"Authorization": f"token {jupyter.token}"}
        request = urllib.request.Request(f"{jupyter.url}/api/{path}", headers=headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return bytes(answer.read())

    for kernel in json.loads(ask("GET", "kernels")):
        ask("DELETE", f"kernels/{kernel['id']}")


def test_a_reopened_notebook_and_its_handout_show_the_explorer_again(
    page: Page, watch: Watch, jupyter: JupyterServer, caplog
):
    file = jupyter.folder / "saved.ipynb"
    nbformat.write(new_lesson([new_code_cell(EXPLORER)]), file)
    page.goto(jupyter.address("lab", "saved.ipynb") + "&reset")
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
    page.locator(".jp-CodeCell .cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(page.locator(PICTURE)).to_have_count(2)
    with page.expect_response(is_save):
        page.keyboard.press("Control+s")
    assert STATE in json.loads(file.read_text(encoding="utf-8"))["metadata"].get("widgets", {})

    end_kernels(jupyter)
    page.goto(jupyter.address("lab", "saved.ipynb") + "&reset")
    expect(page.locator(PICTURE)).to_have_count(2)
    expect(page.locator(".jp-CodeCell .jp-InputArea-prompt")).not_to_have_text("[*]:")
    page.get_by_label("num_heads").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(PICTURE), "drawn from what was saved, since nothing has run").to_have_count(4)

    html, _ = HandoutExporter().from_filename(str(file))
    assert caplog.records == []
    handout = file.with_suffix(".html")
    handout.write_text(str(html), encoding="utf-8")
    page.goto(handout.as_uri())
    expect(page.locator(PICTURE)).to_have_count(2)
