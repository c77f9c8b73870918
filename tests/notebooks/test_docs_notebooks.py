"""The notebooks of docs/ run from start to end, with a small model in the place of a real one."""

import os

import nbformat
import pytest
from nbclient import NotebookClient

from mha_lib.classroom.lesson.translations import without_words
from mha_lib.classroom.pages.execution import LONGEST_CELL
from tests.lessons import ROOT

pytest.importorskip("transformers")

from tests.classroom.models.small_models import saved

NOTEBOOKS = sorted((ROOT / "docs").glob("*/*.ipynb"))
FIRST, *OTHERS = NOTEBOOKS
REAL = "openai-community/gpt2"
VIEW = "application/vnd.jupyter.widget-view+json"


def read(path):
    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize(
    "path",
    [FIRST, *(pytest.param(path, marks=pytest.mark.ci) for path in OTHERS)],
    ids=lambda path: path.parent.name,
)
def test_it_runs_with_another_model_and_shows_its_heads(path, tmp_path):
    notebook = read(path)
    (parameters,) = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    assert REAL in parameters.source
    parameters.source = f"MODEL = {saved(tmp_path, 'gpt2')!r}\nTEXT = 'the cat sat the cat'"
    client = NotebookClient(notebook, timeout=LONGEST_CELL, resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env=os.environ | {"HF_HUB_OFFLINE": "1"})
    outputs = {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}
    *_, model = [
        output.data[VIEW]["model_id"] for output in outputs["explore"] if VIEW in output.get("data", {})
    ]
    states = notebook.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    assert len(states[model]["state"]["controls"][0]["texts"]) == 3  # the overview and two layers
    assert f'<html lang="{path.parent.name}"' in (tmp_path / "heads.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_it_is_kept_without_outputs_and_has_the_cells_of_the_english_one(path):
    cells, english = read(path).cells, read(path.parents[1] / "en" / path.name).cells
    assert cells[1].source.endswith(f'speak("{path.parent.name}")')
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
    assert [(cell.id, cell.cell_type) for cell in cells] == [(cell.id, cell.cell_type) for cell in english]
    code, english_code = (
        [without_words(cell.source) for cell in each if cell.cell_type == "code"] for each in (cells, english)
    )
    assert code == english_code
