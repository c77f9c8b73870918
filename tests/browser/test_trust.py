"""A notebook of somebody else runs nothing in the name of whoever opens it, until they trust it."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import anywidget
import nbformat
import pytest
from ipywidgets.embed import dependency_state, embed_data
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import Page, expect

from mha_lib.classroom.lesson.language import words_in
from tests.browser.conftest import Watch
from tests.browser.lecture import saves
from tests.browser.new_lesson import ANYWIDGET, new_lesson
from tests.browser.pages import expect_accessible
from tests.browser.waiting import expect_idle
from tests.offline_notebook.pages import STATE, VIEW, shown
from tests.waiting import eventually

WORDS = words_in("en")["withheld"]
CALLING = "<img src='x' onerror=\"fetch('/{}-has-run')\">"
ATTACK = """
const { baseUrl } = JSON.parse(document.getElementById("jupyter-config-data").textContent);
const headers = { "X-XSRFToken": document.cookie.match(/_xsrf=([^;]*)/)[1] };
const { id } = await (await fetch(`${baseUrl}api/kernels`, { method: "POST", headers, body: "{}" })).json();
const channel = new WebSocket(`${location.origin.replace("http", "ws")}${baseUrl}api/kernels/${id}/channels`);
const header = { msg_id: "1", msg_type: "execute_request", session: "1", version: "5.3" };
const content = { code: CODE, silent: false };
const message = { header, content, parent_header: {}, metadata: {}, channel: "shell", buffers: [] };
channel.onopen = () => channel.send(JSON.stringify(message));
export default { render() {} };
"""


def lay_hostile(folder: Path) -> tuple[Path, Path]:
    """A notebook whose stored widget makes a file, beside a cell that shows a harmless one; and that file."""
    mark, file = folder.parent / "has-run", folder / "hostile.ipynb"

    class Hostile(anywidget.AnyWidget):
        _esm = ATTACK.replace("CODE", json.dumps(f"open({str(mark)!r}, 'w').close()"))

    hostile = Hostile()
    outputs = [shown({"text/html": CALLING.format("output")}), shown({VIEW: {"model_id": hostile.model_id}})]
    claims_trust = new_code_cell("1", outputs=outputs, metadata={"trusted": True})
    notebook = new_lesson([new_markdown_cell("# Hello"), claims_trust, new_code_cell(ANYWIDGET)])
    embedded = embed_data([hostile], state=dependency_state([hostile], drop_defaults=False))
    notebook.metadata.widgets = {STATE: embedded["manager_state"]}
    notebook.metadata.rise["overlay"] = CALLING.format("overlay")
    folder.mkdir()
    nbformat.write(notebook, file)
    return file, mark


def press_trust(page: Page, answer: str) -> None:
    """Press the button that trusts the notebook, and answer the browser's question."""
    with page.expect_event("dialog") as asked:
        page.once("dialog", lambda question: getattr(question, answer)())
        page.get_by_text(WORDS["trust"]).click()
    assert asked.value.message == WORDS["sure"]


def attacks(watch: Watch) -> list[str]:
    """The addresses that only the notebook's stored widget, output and overlay ask for."""
    return [url for url in watch.requests if url.endswith(("/api/kernels", "-has-run"))]


@pytest.mark.parametrize("view", ["lab", pytest.param("rise", marks=pytest.mark.ci)])
def test_what_a_notebook_has_stored_never_runs_until_it_is_trusted(page, watch, serve, tmp_path, view):
    file, mark = lay_hostile(tmp_path / "served")
    stored = nbformat.read(file, 4).metadata
    server = serve(file.parent)
    page.goto(server.address(view, file.name))
    expect(page.locator(".mha-withheld")).to_contain_text(WORDS["notice"])
    expect_accessible(page, ".mha-withheld")
    if view == "lab":
        expect_idle(page)  # before there is a kernel, JupyterLab asks for one
    page.locator(".jp-CodeCell .cm-content").last.click()
    page.keyboard.press("Shift+Enter")
    # The page restores what is stored before it draws the widgets of its own cells.
    expect(page.locator("canvas[data-size='10']")).to_be_attached()
    with page.expect_response(lambda answer: saves(answer.request)):
        page.keyboard.press("Control+s")
    now = nbformat.read(file, 4).metadata
    assert now.rise == stored.rise
    assert stored.widgets[STATE]["state"].items() <= now.widgets[STATE]["state"].items()
    page.goto(server.address(view, file.name))
    expect(page.locator(".mha-withheld")).to_contain_text(WORDS["notice"])
    assert attacks(watch) == []
    assert not mark.exists()
    press_trust(page, "dismiss")
    expect(page.locator(".mha-withheld")).to_be_visible()
    press_trust(page, "accept")
    eventually(mark.exists, "the file that the stored widget makes")
    expect(page.locator(".mha-withheld")).to_have_count(0)
    ran = ["/api/kernels", "/output-has-run", *["/overlay-has-run"] * (view == "rise")]
    assert {urlsplit(url).path for url in attacks(watch)} == {*ran}


SPY = "<script>try { document.title = document.cookie } catch ({ name }) { document.title = name }</script>"


def test_what_the_server_makes_of_a_notebook_cannot_act_for_its_reader(page, jupyter):
    """A notebook as HTML and a page beside it run scripts, but in a place that has no login."""
    notebook = new_notebook(
        cells=[new_code_cell("", outputs=[new_output("display_data", {"text/html": SPY})])]
    )
    notebook.metadata.widgets = {STATE: "a stored state"}
    nbformat.write(notebook, jupyter.folder / "spy.ipynb")
    (jupyter.folder / "spy.html").write_text(SPY)
    page.goto(jupyter.address("lab", ""))  # the login
    for path in ("nbconvert/html/spy.ipynb", "files/spy.html"):
        page.goto(f"{jupyter.url}/{path}", wait_until="commit", referer=f"{jupyter.url}/lab")
        expect(page).to_have_title("SecurityError")
        assert "a stored state" not in page.content()
