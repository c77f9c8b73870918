"""Every lesson runs from start to end in a fresh kernel, as a student's "Run all" does."""

import re
import shutil
import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from mha_lib.classroom.course.language import words_in
from mha_lib.classroom.course.outputs import CHECK
from tests.lessons import CHINESE, ENGLISH, ROOT, TRADITIONAL, in_whole_runs, name_of

SAMPLE = TRADITIONAL[3]  # its data are Chinese, and must stay as they are
LESSONS = [*ENGLISH, SAMPLE, *in_whole_runs(CHINESE + [each for each in TRADITIONAL if each != SAMPLE])]

# Runs in the lesson's kernel after its last cell: every explorer, every setting.
DRIVE_EXPLORERS = """
from ipywidgets.widgets.widget import _instances
from mha_lib.classroom.live.explorer import Explorer, drive
_explorers = [widget for widget in list(_instances.values()) if isinstance(widget, Explorer)]
print("explorers driven:", sum(drive(explorer) > 1 for explorer in _explorers))
"""


@pytest.fixture(scope="module", params=LESSONS, ids=name_of)
def executed(request, tmp_path_factory, lay_translator):
    folder = tmp_path_factory.mktemp("course")
    shutil.copytree(ROOT / "img", folder / "img")
    place = folder / "notebooks" / request.param.parent.name
    shutil.copytree(request.param.parent, place)
    lay_translator(request.param, folder)
    notebook = nbformat.read(request.param, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(DRIVE_EXPLORERS, id="drive-explorers"))
    started = time.perf_counter()
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(place)}}).execute()
    notebook.metadata["language"] = request.param.parent.name
    return notebook, time.perf_counter() - started


def states_in(cell):
    """The states of the answers that a cell checks, as its outputs tell them."""
    about = [output.get("metadata", {}).get(CHECK, {}) for output in cell.outputs]
    return [each["state"] for each in about if "state" in each]


def text_of(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


def test_runs_without_an_error_although_no_exercise_is_solved(executed):
    notebook, _ = executed
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code" and cell.source)
    checks = [c for c in notebook.cells if c.source.startswith("check.") and "report" not in c.source]
    assert checks
    assert [cell.id for cell in checks if "not yet" not in states_in(cell)] == []


def test_solutions_pass_their_checks(executed):
    notebook, _ = executed
    solutions = [cell for cell in notebook.cells if "solution" in cell.metadata.get("tags", [])]
    assert solutions
    assert [cell.id for cell in solutions if states_in(cell) != ["solved"]] == []
    words = words_in(notebook.metadata["language"])["checks"]
    said = words["solution"].format(exercise=r"\w+", sentence=".*")
    outputs = [output for cell in solutions for output in cell.outputs if CHECK in output.get("metadata", {})]
    assert [text for each in outputs if not re.fullmatch(said, text := each.data["text/plain"])] == []


def test_every_explorer_has_a_picture_for_every_setting(executed):
    notebook, _ = executed
    shown = sum("explore(" in cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert f"explorers driven: {shown}" in text_of(notebook.cells[-1])


def test_prints_no_warning_or_machine_path(executed):
    for cell in executed[0].cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                assert output.name != "stderr", output.text
                assert str(Path.home()) not in output.text
