"""The notebooks of docs/ run from start to end, with a small model in the place of a real one."""

import os
import re

import nbformat
import pytest
from nbclient import NotebookClient

from mha_lib.classroom.lesson.translations import without_words
from mha_lib.classroom.pages.execution import LONGEST_CELL
from tests.lessons import ROOT

pytest.importorskip("transformers")

from tests.classroom.heads.small_models import saved

NOTEBOOKS = sorted((ROOT / "docs").glob("*/*.ipynb"))
LOOKING, MEASURING = (
    [path for path in NOTEBOOKS if path.stem == name] for name in ("your_models_heads", "measure_heads")
)
REAL = "openai-community/gpt2"
VIEW = "application/vnd.jupyter.widget-view+json"


def read(path):
    return nbformat.read(path, as_version=4)


def each_of(paths, others_in):
    """The first language always, the others where more time is: their code is the same but for its words."""
    first, *others = paths
    marked = [first, *(pytest.param(path, marks=others_in) for path in others)]
    return pytest.mark.parametrize("path", marked, ids=lambda path: path.parent.name)


def run(notebook, folder):
    """Run the notebook, and return what each cell has printed."""
    client = NotebookClient(notebook, timeout=LONGEST_CELL, resources={"metadata": {"path": str(folder)}})
    client.execute(env=os.environ | {"HF_HUB_OFFLINE": "1"})
    return {
        cell.id: "".join(output.text for output in cell.outputs if output.get("name") == "stdout")
        for cell in notebook.cells
        if cell.cell_type == "code"
    }


@each_of(LOOKING, pytest.mark.ci)
def test_it_runs_with_another_model_and_shows_its_heads(path, tmp_path):
    notebook = read(path)
    (parameters,) = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    assert REAL in parameters.source
    parameters.source = f"MODEL = {saved(tmp_path, 'gpt2')!r}\nTEXT = 'the cat sat the cat'"
    printed = run(notebook, tmp_path)
    outputs = {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}
    *_, model = [
        output.data[VIEW]["model_id"] for output in outputs["explore"] if VIEW in output.get("data", {})
    ]
    states = notebook.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    assert len(states[model]["state"]["controls"][0]["texts"]) == 3  # the overview and two layers
    lines = printed["importance"].splitlines()
    assert len(lines) == 5
    without, restored = (float(line[:5]) for line in printed["without"].splitlines())
    grown = float(lines[0].split("：" if path.parent.name == "zh" else ": ")[-1])
    assert without - restored == pytest.approx(grown, abs=0.0021)


@pytest.mark.ci
@each_of(MEASURING, pytest.mark.whole)
def test_the_claim_is_refuted_as_the_notebook_says(path, tmp_path):
    """One of four induction heads can be spared, all four can't; guessing has a loss of log 20 = 3."""
    notebook = read(path)
    printed = run(notebook, tmp_path)

    def numbers(name):
        return [float(number) for number in re.findall(r"-?\d+\.\d+", printed[name])]

    induction, control = numbers("claimed")
    with_all, grown = numbers("refuted")
    assert induction > 0.6 > 0.2 > control
    assert re.match(r"layer 1 |第 1 层", printed["claimed"])
    assert with_all < 0.1
    assert grown < 0.1
    without = numbers("together")
    assert without[0] == pytest.approx(with_all, abs=0.006)
    assert len(without) == 5
    assert without[-1] > 2 > 0.2 > without[1]


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
