"""Handouts of notebooks of others: stored widgets do not run, and metadata may be of any form."""

import json
from contextlib import closing

import nbformat
import pytest
from nbformat.sign import NotebookNotary
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from mha_lib.classroom.jupyter import SETTINGS
from mha_lib.classroom.lesson import CourseError
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.pages.handout import HandoutExporter
from tests.classroom.pages.handout.cells import page_of, widget
from tests.offline_notebook.pages import PIXEL, STATE, VIEW, read, stored

STORED = stored(w=("AnyModel", {"_esm": "attack()"}))
ODD = ["text", 5, None, [], {}, True, {"a": ["b"]}, float("inf"), float("nan"), "9" * 6000]


@pytest.fixture
def lay(tmp_path, monkeypatch):
    """Writes a notebook; servers of the course have their secret and their signatures beside it."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))

    def lay(*cells, **metadata):
        nbformat.write(new_notebook(cells=list(cells), metadata=metadata), tmp_path / "one.ipynb")
        return tmp_path / "one.ipynb"

    return lay


def sign(file):
    """Sign a notebook as the course's servers do."""
    settings = PyFileConfigLoader(str(SETTINGS / "jupyter_server_config.py")).load_config()
    notary = settings.ServerApp.contents_manager_class().notary
    with closing(notary.store):
        notary.sign(nbformat.read(file, 4))


def exported(file, **settings):
    page, _ = HandoutExporter(config=Config(**settings)).from_filename(str(file))
    return page


def test_stored_widgets_live_where_a_server_of_the_course_has_signed_the_notebook(lay):
    file = lay(widget("w", **{"image/png": PIXEL}), widgets=STORED)
    sign(file)
    page = exported(file)
    assert "attack()" in page
    assert read(page).select("[data-widget=w] img")
    file.write_text(file.read_text().replace("attack()", "attack(1)"))
    page = exported(file)
    assert "attack" not in page
    assert read(page).select("main img")
    assert not read(page).select("[data-widget]")


def test_no_metadata_and_no_other_signature_bring_stored_widgets_alive(lay):
    cell = widget("w", **{"text/plain": "as text"})
    cell.metadata["trusted"] = True
    mine = {"mha": {"lesson": "03_multi_head_attention", "language": "en"}, "signature": "sha256:0"}
    file = lay(cell, widgets=STORED, trusted=True, **mine)
    plain = NotebookNotary(data_dir=str(file.parent))
    with closing(plain.store):
        plain.sign(nbformat.read(file, 4))
    page = exported(file)
    assert "attack" not in page
    assert "as text</pre>" in page


def test_widgets_of_an_execution_live_and_those_stored_before_do_not(lay):
    made = "import anywidget\nclass Mine(anywidget.AnyWidget):\n    _esm = 'draw()'\nMine()"
    cells = [new_code_cell(made), widget("w", **{"text/plain": "as text"})]
    page = exported(lay(*cells, widgets=STORED), ExecutePreprocessor={"enabled": True})
    assert "draw()" in page
    assert "attack" not in page
    assert len(read(page).select("[data-widget]")) == 1


def bundle(data, **metadata):
    """An output of any form: nbformat makes none that it does not know."""
    return nbformat.from_dict({"output_type": "display_data", "data": data, "metadata": metadata})


def odd_notebooks(odd):
    """Notebooks that nbformat reads, in which all else that a handout reads is of another form."""
    models = {"w": odd, "v": {"state": odd}, "u": {"model_name": odd, "state": {"_esm": odd}}}
    models |= {"t": {"state": {"_esm": "a", "_css": odd}, "buffers": odd}}
    models |= {"s": {"state": {"_esm": "a"}, "buffers": [odd, {"path": odd, "data": odd}]}}
    kinds = ["text/html", "text/markdown", "text/plain", "image/png", "image/svg+xml", "a/b+json", VIEW]
    about = {"alt": odd, "width": odd, "mha_check": odd, "mha_progress": odd}
    outputs = [
        *(bundle({kind: odd}) for kind in kinds),
        *(bundle({VIEW: {"model_id": name}}) for name in (*models, odd)),
        *(
            bundle({"image/png": PIXEL}, **given)
            for given in (about, {"image/png": odd}, {"image/png": about})
        ),
        *(bundle({}, mha_check={name: odd}) for name in ("exercise", "state", "report")),
    ]
    roles = {"steps": odd, "checks": odd}
    cells = [
        new_code_cell("1", metadata=roles),
        new_markdown_cell(f'<img width="{odd}" src="data:image/png;base64,{PIXEL}">', metadata=roles),
        new_markdown_cell("the end", metadata={"slideshow": {"slide_type": odd}}),
    ]
    cells[0].outputs = outputs
    mine = {"lesson": "03", "language": "zh"}
    for metadata in (
        {"mha": odd, "widgets": {STATE: {"state": models}}, "lang": odd, "summary": odd},
        {"mha": mine | {"lesson": odd}, "widgets": {STATE: {"state": odd}}},
        {"mha": mine | {"language": odd}, "widgets": {STATE: odd}},
        {"widgets": odd},
    ):
        yield nbformat.from_dict(new_notebook() | {"cells": cells, "metadata": metadata})


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: str(odd)[:9])
def test_metadata_and_outputs_of_any_form_end_no_handout(tmp_path, odd):
    folder = tmp_path / "notebooks" / "zh"
    folder.mkdir(parents=True)
    (folder / "course.json").write_text("{}")
    file = folder / "01_odd.ipynb"
    for notebook in odd_notebooks(odd):
        file.write_text(json.dumps(notebook))
        assert "the end" in page_of(read_lesson(file).notebook, file.stem, folder)


@pytest.mark.parametrize(
    ("metadata", "entry"),
    [
        ({"mha_step": "text"}, "cells[0].metadata.mha_step"),
        ({"mha_step": {"address": 3}}, "cells[0].metadata.mha_step"),
        ({"slideshow": []}, "cells[0].metadata.slideshow"),
    ],
)
def test_what_only_this_course_writes_is_refused_by_name_where_it_is_of_another_form(metadata, entry):
    notebook = new_notebook(cells=[new_markdown_cell("a", metadata=metadata)])
    with pytest.raises(CourseError, match="is not a notebook this can read") as refusal:
        HandoutExporter().from_notebook_node(notebook)
    assert refusal.value.details["entry"] == entry


def test_the_address_of_a_step_is_text():
    hostile = "<script>attack()</script>"
    cell = new_markdown_cell(
        "# A", metadata={"slideshow": {"slide_type": "slide"}, "mha_step": {"address": hostile}}
    )
    page, _ = HandoutExporter().from_notebook_node(new_notebook(cells=[cell]))
    assert read(page).select_one(".address").get_text() == hostile
