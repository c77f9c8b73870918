"""In a kernel the text of a check is an output of its own, whose metadata tells its state."""

import io
import sys

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from mha_lib.classroom.exercises import names_by_lesson
from mha_lib.classroom.exercises.progress import Progress
from mha_lib.classroom.exercises.reports import named, read_report
from mha_lib.classroom.lesson import make_working_copy
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.lesson.outputs import CHECK, check_metadata, report_metadata, says_not_yet
from mha_lib.classroom.lesson.shell import show_text
from tests.lessons import copy_course

WORDS = words_in("zh")
EXERCISES = names_by_lesson()["03_multi_head_attention"]
BEGIN = """
from mha_lib.classroom import begin_lesson, check, explore
assert callable(explore)
begin_lesson("03", "zh")
"""
CELLS = [
    BEGIN,
    "print('before')\ncheck.split_heads(lambda x, h: ...)\nprint('between')\n"
    "check.split_heads(lambda x, h: x.unflatten(2, (h, -1)).transpose(1, 2))\n"
    "check.multi_head(3)\nprint('after')",
    "check.report('王小明')",
]
RESTARTED = [BEGIN, "check.multi_head(lambda *_: ...)\ncheck.report('王小明')"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A student's lessons in Chinese."""
    course = copy_course(tmp_path_factory.mktemp("course"), "03_multi_head_attention.ipynb")
    return make_working_copy(course, "zh")[0]


def run(sources, folder):
    notebook = new_notebook(cells=list(map(new_code_cell, sources)))
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=120, allow_errors=True, resources=resources).execute()
    return notebook.cells


@pytest.fixture(scope="module")
def cells(folder):
    return run(CELLS, folder)


def shown(output):
    return output.get("text") or output.data["text/plain"]


def test_a_terminal_of_chinese_windows_gets_stand_ins_for_the_marks(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="gbk", write_through=True))
    show_text("✓ 对 ✗ 错 ○ 未", {CHECK: {}})
    assert written.getvalue().decode("gbk") == "[v] 对 [x] 错 ○ 未\n"


def test_checks_and_prints_keep_their_order(cells):
    said = [shown(output).split("：")[0].rstrip("\n") for output in cells[1].outputs]
    split, multi = (named(exercise, WORDS) for exercise in ("split_heads", "multi_head"))
    assert said == ["before", f"○ {split}", "between", f"✓ {split}", f"✗ {multi}", "after"]


def test_each_check_is_text_whose_metadata_tells_its_state(cells):
    checks = [output for output in cells[1].outputs if output.output_type == "display_data"]
    assert [{*output.data} for output in checks] == [{"text/plain"}] * 3
    assert [output.metadata for output in checks] == [
        check_metadata("split_heads", "not yet"),
        check_metadata("split_heads", "solved"),
        check_metadata("multi_head", "wrong"),
    ]
    assert [says_not_yet(output) for output in checks] == [True, False, False]


def test_the_report_is_one_text_whose_metadata_tells_the_state_of_each_exercise(cells):
    report, written = cells[2].outputs
    states = dict.fromkeys(EXERCISES, "not yet") | {"split_heads": "solved", "multi_head": "wrong"}
    solved = WORDS["checks"]["solved"].format(solved=1, all=len(EXERCISES))
    said = shown(report).splitlines()
    assert {f"✓ {named('split_heads', WORDS)}", f"✗ {named('multi_head', WORDS)}"} < {*said}
    assert shown(report).endswith(solved)
    assert report.metadata == report_metadata(states)
    assert "已写入 reports/multi_head_attention-王小明.report.json" in shown(written)


def test_a_restart_of_the_kernel_loses_nothing_that_was_solved_or_written(folder, cells):
    assert cells[0].outputs == [], "nothing is kept yet"
    begin, _ = run(RESTARTED, folder)
    (kept,) = begin.outputs
    assert shown(kept) == WORDS["begin"]["kept"].format(lesson="03", solved=1, all=len(EXERCISES))
    report = read_report(folder / "reports" / "multi_head_attention-王小明.report.json")
    assert report.language == "zh"
    assert report.exercises["split_heads"] == Progress("solved", "solved", checks=2)
    tried = Progress("not yet", "not yet", checks=2, mistakes={"not_a_function": 1})
    assert report.exercises["multi_head"] == tried
