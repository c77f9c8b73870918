"""In a kernel the text of a check is an output of its own, whose metadata tells its state."""

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from mha_lib.classroom.course.outputs import CHECK, check_metadata, report_metadata, says_not_yet
from mha_lib.classroom.live.cells import shell_here, show_text
from mha_lib.classroom.publish.handout import HandoutExporter

CELLS = [
    "from mha_lib import split_heads\nfrom mha_lib.classroom import check",
    "print('before')\ncheck.split_heads(lambda x, h: ...)\nprint('between')\n"
    "check.split_heads(split_heads)\ncheck.serial_heads(3)\nprint('after')",
    "check.report()",
    "def split_heads_solution(x, h): return split_heads(x, h)\ncheck.split_heads(split_heads_solution)",
]


@pytest.fixture(scope="module")
def cells():
    notebook = new_notebook(cells=list(map(new_code_cell, CELLS)))
    NotebookClient(notebook, timeout=120).execute()
    return notebook.cells


def shown(output):
    return output.get("text") or output.data["text/plain"]


def test_outside_ipython_it_is_printed(capsys):
    assert shell_here() is None
    show_text("said", {CHECK: {}})
    assert capsys.readouterr().out == "said\n"


def test_checks_and_prints_keep_their_order(cells):
    said = [shown(output).split(":")[0].rstrip("\n") for output in cells[1].outputs]
    assert said == ["before", "○ split_heads", "between", "✓ split_heads", "✗ serial_heads", "after"]


def test_each_check_is_text_whose_metadata_tells_its_state(cells):
    checks = [output for output in cells[1].outputs if output.output_type == "display_data"]
    assert [{*output.data} for output in checks] == [{"text/plain"}] * 3
    assert [output.metadata for output in checks] == [
        check_metadata("split_heads", "not yet"),
        check_metadata("split_heads", "solved"),
        check_metadata("serial_heads", "wrong"),
    ]
    assert [says_not_yet(output) for output in checks] == [True, False, False]


def test_in_a_handout_checks_look_like_prints(cells):
    page, _ = HandoutExporter().from_notebook_node(new_notebook(cells=cells[1:2]))
    assert page.count('<pre class="stdout">') == 6


def test_the_report_is_one_text_whose_metadata_tells_the_state_of_each_exercise(cells):
    (report,) = cells[2].outputs
    assert report.data == {"text/plain": "✓ split_heads\n✗ serial_heads\n1 of 2 solved"}
    assert report.metadata == report_metadata({"split_heads": "solved", "serial_heads": "wrong"})


def test_a_solution_tells_its_state_too(cells):
    (solution,) = cells[3].outputs
    assert solution.metadata == check_metadata("split_heads", "solved")
    assert "not your answer" in shown(solution)
