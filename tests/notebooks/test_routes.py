"""The notebooks of the course's routes run as a lecturer runs them."""

import nbformat
import pytest
from nbclient import NotebookClient

from mha_lib.classroom.lesson.grammar import has_role
from mha_lib.classroom.lesson.routes import list_routes, make_route
from mha_lib.classroom.lesson.slides import source
from mha_lib.classroom.pages.execution import LONGEST_CELL
from tests.lessons import ROOT, copy_course

# Runs cells as JupyterLab does, which tells the shell the id of each.
RUN = """
shell = get_ipython()
for name, code in {cells}:
    result = shell.run_cell(code, cell_id=name)
    assert result.success, (name, result.error_in_exec or result.error_before_exec)
"""


@pytest.mark.ci
@pytest.mark.parametrize("name", list_routes(ROOT, "en"))
def test_its_lessons_run_in_any_order_after_the_setup_of_all(name, tmp_path, share_trainings):
    """A name that two lessons have, such as ``train``, is that of the lesson whose cell runs."""
    share_trainings(copy_course(tmp_path))
    route, _ = make_route(tmp_path, "en", name)
    notebook = nbformat.read(route, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and not has_role(cell, "may_fail")]
    setup = [cell for cell in code if has_role(cell, "setup")]
    slides: dict[str, list] = {}
    for cell in code:
        if cell not in setup:
            slides.setdefault(cell.id.split("-")[0], []).append(cell)
    backwards = [cell for lesson in reversed(slides.values()) for cell in lesson]
    cells = [(cell.id, source(cell)) for cell in setup + backwards]
    notebook.cells = [nbformat.v4.new_code_cell(RUN.format(cells=cells))]
    resources = {"metadata": {"path": str(route.parent)}}
    NotebookClient(notebook, timeout=LONGEST_CELL, resources=resources).execute()
