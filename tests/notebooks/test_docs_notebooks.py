"""The notebooks of docs/ run from start to end, with a small random model in the place of a real one."""

import os

import nbformat
import pytest
from nbclient import NotebookClient

from mha_lib.classroom.pages.execution import LONGEST_CELL
from tests.lessons import ROOT

pytest.importorskip("transformers")

from tests.classroom.heads.small_models import saved

NOTEBOOKS = sorted((ROOT / "docs").glob("*/*.ipynb"))
REAL = "openai-community/gpt2"
VIEW = "application/vnd.jupyter.widget-view+json"


def read(path):
    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize(
    "path",
    [NOTEBOOKS[0], *(pytest.param(path, marks=pytest.mark.ci) for path in NOTEBOOKS[1:])],
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
    controls = states[model]["state"]["controls"]
    assert controls[0]["name"] == {"en": "layer", "zh": "层"}[path.parent.name]
    assert len(controls[0]["texts"]) == 3  # the overview and two layers
    printed = {
        name: "".join(output.text for output in found if output.get("name") == "stdout")
        for name, found in outputs.items()
    }
    lines = printed["importance"].splitlines()
    assert len(lines) == 5
    without, restored = (float(line[:5]) for line in printed["without"].splitlines())
    grown = float(lines[0].split("：" if path.parent.name == "zh" else ": ")[-1])
    assert without - restored == pytest.approx(grown, abs=0.0021)


def test_languages_have_the_same_cells():
    english, *others = [read(ROOT / "docs" / name / "your_models_heads.ipynb") for name in ("en", "zh")]
    for other in others:
        assert [(cell.id, cell.cell_type) for cell in other.cells] == [
            (cell.id, cell.cell_type) for cell in english.cells
        ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.parent.name)
def test_it_is_kept_without_outputs(path):
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in read(path).cells)
