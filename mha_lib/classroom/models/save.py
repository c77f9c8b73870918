"""Writes an explorer of a model's heads as one HTML file that needs neither a kernel nor a network."""

from pathlib import Path

from ipywidgets.embed import embed_data
from nbconvert.exporters import get_exporter
from nbformat.v4 import new_code_cell, new_notebook, new_output

from mha_lib.classroom.explorer import Explorer
from mha_lib.classroom.lesson.language import language_here


def save_page(explorer: Explorer, file: str | Path, title: str) -> None:
    """Write the explorer as a handout, which Jupyter's nbconvert knows by that name."""
    view = {"model_id": explorer.model_id, "version_major": 2, "version_minor": 0}
    output = new_output("display_data", {"application/vnd.jupyter.widget-view+json": view})
    state = embed_data([explorer], drop_defaults=False)["manager_state"]
    widgets = {"application/vnd.jupyter.widget-state+json": state}
    notebook = new_notebook(
        cells=[new_code_cell(outputs=[output])],
        metadata={"title": title, "lang": language_here(), "widgets": widgets},
    )
    page, _ = get_exporter("handout")(made_widgets=True).from_notebook_node(notebook)
    Path(file).write_text(page, encoding="utf-8")
