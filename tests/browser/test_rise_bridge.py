"""Widgets live in a RISE deck, and the keys pressed inside them stay there."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import Page, expect

INTERACT = """
import matplotlib.pyplot as plt
from ipywidgets import interact

@interact(height=(1, 9))
def bar(height=3):
    plt.figure(figsize=(2, 1))
    plt.bar([0], [height])
    plt.ylim(0, 9)
    plt.show()
"""
ANYWIDGET = """
import anywidget, traitlets
from IPython.display import display
from ipywidgets import IntSlider

class Square(anywidget.AnyWidget):
    _esm = '''
    export default { render({ model, el }) {
      const canvas = document.createElement("canvas");
      const draw = () => { canvas.width = canvas.height = canvas.dataset.size = model.get("size"); };
      model.on("change:size", draw);
      draw();
      el.append(canvas);
    } }'''
    size = traitlets.Int(10).tag(sync=True)

square, slider = Square(), IntSlider(10, 0, 99)
doubled = lambda change: setattr(square, "size", 2 * change.new)
slider.observe(doubled, "value")
display(slider, square)
"""

NO_BRIDGE = """
const get = async () => () => ({__esModule: true, default: []});
window._JUPYTERLAB["mha-rise-bridge"] = {init() {}, get};
"""


def slide(cell: dict, kind: str = "slide") -> dict:
    cell["metadata"]["slideshow"] = {"slide_type": kind}
    return cell


@pytest.fixture(scope="session")
def deck(jupyter):
    cells = [
        slide(new_markdown_cell("# Widgets in a deck")),
        slide(new_code_cell(INTERACT)),
        slide(new_code_cell(ANYWIDGET)),
        slide(new_markdown_cell("## The end")),
    ]
    notebook = new_notebook(cells=cells, metadata={"rise": {"theme": "white", "transition": "none"}})
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, jupyter.folder / "widgets.ipynb")
    return jupyter.address("rise", "widgets.ipynb")


def open_slide(page: Page, deck: str, number: int, through_bridge: bool = True) -> None:
    """Open the deck and go to a slide, the first being 0, and run its code cell."""
    page.goto(deck)
    expect(page.locator("section.present section.present")).to_have_id("slide-0-0", timeout=30_000)
    for shown in range(1, number + 1):
        page.keyboard.press("Space")
        expect(page.locator("section.present section.present")).to_have_id(f"slide-{shown}-0")
    expect(page.locator(".present .present .jp-Cell.jp-mod-active")).to_be_visible()
    if not through_bridge:
        page.locator(".jp-Notebook").focus()
    page.keyboard.press("Control+Enter")


def test_interact_slider_redraws_its_figure_through_the_kernel(page, deck):
    open_slide(page, deck, 1)
    figure = page.locator(".present .jp-OutputArea-output img")
    before = figure.get_attribute("src", timeout=30_000)
    handle = page.locator(".present .noUi-handle")
    handle.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".present .widget-readout")).to_have_text("4")
    expect(figure).not_to_have_attribute("src", before, timeout=10_000)
    assert page.locator("section.present section.present").get_attribute("id") == "slide-1-0"


def test_anywidget_follows_the_kernel(page, deck, watch):
    open_slide(page, deck, 2)
    canvas = page.locator(".present canvas")
    expect(canvas).to_have_attribute("data-size", "10", timeout=30_000)
    page.locator(".present .noUi-handle").focus()
    page.keyboard.press("ArrowRight")
    expect(canvas).to_have_attribute("data-size", "22")
    assert [error for error in watch.errors if "console" in error] == []


def test_without_the_bridge_no_widget_lives(page, deck):
    """Shows what the bridge is for; when this fails, RISE has learnt it and the bridge can go."""
    page.route("**/mha-rise-bridge/static/*", lambda route: route.fulfill(body=NO_BRIDGE))
    open_slide(page, deck, 1, through_bridge=False)
    expect(page.locator(".present .jp-RenderedText")).to_contain_text("interactive(", timeout=30_000)
    expect(page.locator(".present .noUi-handle")).to_have_count(0)
