"""The handout in a browser: one file from disk, alive, asking for nothing."""

import base64

import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from mha_lib.classroom.handout import HandoutExporter

VIEW = "application/vnd.jupyter.widget-view+json"
ESM = """
export default {
  render({ model, el }) {
    const slider = Object.assign(document.createElement("input"), { type: "range", max: 9 });
    const bar = document.createElement("p");
    const draw = () => {
      const table = new Float32Array(model.get("table").buffer);
      bar.textContent = `${model.get("label")} ${table[model.get("n")]}`;
    };
    slider.value = model.get("n");
    slider.oninput = () => { model.set("n", Number(slider.value)); model.save_changes(); };
    model.on("change:n", draw);
    el.append(slider, bar);
    draw();
  },
};
"""
HOSTILE = "</script><img src=x onerror='window.hacked=1'>"


def stored(esm=ESM, **state):
    table = base64.b64encode(np.arange(10, dtype="f4").tobytes()).decode()
    return {
        "model_module": "anywidget",
        "model_name": "AnyModel",
        "model_module_version": "*",
        "state": {"_esm": esm, "_css": "p { --from-widget: 1 }", "n": 3, "label": HOSTILE, **state},
        "buffers": [{"encoding": "base64", "path": ["table"], "data": table}],
    }


@pytest.fixture
def lesson(tmp_path):
    """A page with formulas, a live widget, a broken one and everything hostile, on disk."""

    def show(model_id, text="a widget"):
        data = {VIEW: {"model_id": model_id, "version_major": 2, "version_minor": 0}, "text/plain": text}
        return new_code_cell("", outputs=[new_output("display_data", data=data)])

    cells = [
        new_markdown_cell("# A lesson\n\nWeights $\\frac{QK^\\top}{\\sqrt{d}}$."),
        new_markdown_cell("## Section\n\n" + HOSTILE.replace("<", "\\<")),
        show("good"),
        show("bad", "the bad one as text"),
        new_code_cell("print()", outputs=[new_output("stream", text=HOSTILE)]),
    ]
    models = {"good": stored(), "bad": stored(esm="export default { render() { throw new Error('no') } }")}
    metadata = {"widgets": {"application/vnd.jupyter.widget-state+json": {"state": models}}}
    notebook = new_notebook(cells=cells, metadata=metadata)
    page, _ = HandoutExporter().from_notebook_node(notebook, {"metadata": {"name": HOSTILE}})
    path = tmp_path / "lesson.html"
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


def test_the_page_is_alive_and_asks_for_nothing(page, watch, lesson):
    page.context.set_offline(True)
    page.goto(lesson)
    figure = page.locator("[data-widget=good]")
    figure.get_by_text(f"{HOSTILE} 3").wait_for()
    figure.locator("input").focus()
    page.keyboard.press("ArrowRight")
    figure.get_by_text(f"{HOSTILE} 4").wait_for()
    assert watch.requests_beyond(lesson) == []
    assert watch.errors == []
    assert page.evaluate("window.hacked") is None


def test_a_widget_that_fails_leaves_its_still_and_a_line(page, lesson):
    page.goto(lesson)
    figure = page.locator("[data-widget=bad]")
    figure.get_by_text("could not start here: no").wait_for()
    assert figure.get_by_text("the bad one as text").is_visible()


def test_formulas_are_seen_at_text_size(page, lesson):
    page.goto(lesson)
    box = page.locator(".formula svg").first.bounding_box()
    assert 15 < box["height"] < 60
    assert 15 < box["width"] < 100
