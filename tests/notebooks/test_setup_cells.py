"""The cells tagged ``setup`` run alone in a fresh kernel, in their order, as the key S runs them."""

import nbformat
import pytest
from nbclient import NotebookClient

from mha_lib.classroom.exercises.reports import named
from mha_lib.classroom.lesson.grammar import has_role, tags
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.lesson.needs import can_help, needed_by
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.lesson.slides import IMPORTS, source, steps_of
from tests.lessons import ENGLISH, MADE, TRANSLATED, name_of


@pytest.mark.usefixtures("made_lessons")
@pytest.mark.parametrize("lesson", [TRANSLATED[0], MADE[0]], ids=name_of)
def test_a_lesson_that_lies_alone_and_that_no_server_runs_speaks_its_language(lesson, tmp_path):
    notebook = nbformat.read(lesson, as_version=4)
    asks = nbformat.v4.new_code_cell("check.masked_softmax(lambda scores, mask: 3)")
    notebook.cells = [*(cell for cell in notebook.cells if cell.id == IMPORTS), asks]
    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    (output,) = notebook.cells[-1].outputs
    words = words_in(lesson.parent.name)
    assert output["data"]["text/plain"].startswith(f"✗ {named('masked_softmax', words)}")


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of tensors in plots
@pytest.mark.parametrize("lesson", ENGLISH, ids=name_of)
def test_a_step_needs_no_more_than_the_setup_and_the_cells_that_its_copy_names(lesson, in_course):
    """Whoever fell behind goes to a step by its address: JupyterLab runs these before it."""
    cells, names = read_lesson(lesson).cells, in_course(lesson)  # functions of the setup read them, too
    run([cell for cell in cells if has_role(cell, "setup")], names)
    after_setup = dict(names)
    for name, step in steps_of(cells).items():
        needed = [
            cell for cell in needed_by(step, cells[: cells.index(step[0])]) if not has_role(cell, "setup")
        ]
        shown = [cell for cell in step if can_help(cell) and not has_role(cell, "setup", "may_fail")]
        assert not {"exercise", "shows-check"} & {tag for cell in needed for tag in tags(cell)}, name
        run(needed + shown, names)
        names.clear()
        names.update(after_setup)


def run(cells, namespace):
    for cell in cells:
        exec(compile(source(cell), cell["id"], "exec"), namespace)
