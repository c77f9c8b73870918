"""Every lesson runs from start to end in a fresh kernel, as a student's "Run all" does."""

import re
import unicodedata
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbclient import NotebookClient

from mha_lib.classroom.exercises.reports import named
from mha_lib.classroom.lesson.grammar import has_role
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.lesson.outputs import CHECK
from mha_lib.classroom.lesson.slides import IMPORTS, STARTS, core_minutes, read_slides, slide_type, source
from mha_lib.classroom.pages.execution import LONGEST_CELL
from tests.lessons import ENGLISH, MADE, ROOT, TRANSLATED, in_whole_runs, name_of

LESSONS = [*ENGLISH, *in_whole_runs(TRANSLATED + MADE)]

# This cell runs after the last one of the lesson, and moves every explorer to every setting.
DRIVE_EXPLORERS = """
from ipywidgets.widgets.widget import _instances
from mha_lib.classroom.explorer import Explorer
from mha_lib.classroom.explorer.table import Collection
_explorers = [widget for widget in list(_instances.values()) if isinstance(widget, Explorer)]
for _explorer in _explorers:
    for _setting in _explorer._source.settings():
        Collection(_explorer._source).add(_setting)
_moving = [each for each in _explorers if len(list(each._source.settings())) > 1 or each.view == "arcs"]
print("explorers driven:", len(_moving))
"""

# Students have no `transformers`: where it is missing, lesson 06 shows what was recorded.
WITHOUT_TRANSFORMERS = "import sys\nsys.modules['transformers'] = None\n"

# The kernel reads every picture that the lesson draws, while it still is a figure of matplotlib.
READ_PICTURES = f"""
import sys
sys.path.append({str(ROOT)!r})
from tests.grammar import read_pictures
_faults = read_pictures()
"""

# This one runs slides again, each a list of cells.
RUN_AGAIN = """
_failed = []
for _slide in {slides}:
    for _code in _slide:
        try:
            exec(_code, globals())
        except Exception as error:
            _failed.append((_code, repr(error)))
assert _failed == []
"""


@pytest.fixture(scope="module", params=LESSONS, ids=name_of)
def client(request, whole_course):
    """The client that has run the lesson; its kernel still holds all names of the lesson."""
    lesson = whole_course / request.param.relative_to(ROOT)
    notebook = nbformat.read(lesson, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(DRIVE_EXPLORERS, id="drive-explorers"))
    imports = next(cell for cell in notebook.cells if cell.id == IMPORTS)
    imports.source = WITHOUT_TRANSFORMERS + READ_PICTURES + imports.source
    resources = {"metadata": {"path": str(lesson.parent)}}
    client = NotebookClient(notebook, timeout=LONGEST_CELL, resources=resources)
    with client.setup_kernel():
        client.execute(cleanup_kc=False)
        notebook.metadata["language"] = lesson.parent.name
        yield client


@pytest.fixture(scope="module")
def executed(client):
    return client.nb


def states_in(cell):
    """The states of the answers that a cell checks, as its outputs tell them."""
    about = [output.get("metadata", {}).get(CHECK, {}) for output in cell.outputs]
    return [each["state"] for each in about if "state" in each]


def test_runs_without_an_error_although_no_exercise_is_solved(executed):
    assert all(cell.execution_count for cell in executed.cells if cell.cell_type == "code" and cell.source)
    checks = [c for c in executed.cells if "checks" in c.metadata]
    assert checks
    assert [cell.id for cell in checks if "not yet" not in states_in(cell)] == []


def test_solutions_pass_their_checks(executed):
    solutions = [cell for cell in executed.cells if "solution" in cell.metadata.get("tags", [])]
    assert solutions
    assert [cell.id for cell in solutions if states_in(cell) != ["solved"]] == []
    words = words_in(executed.metadata["language"])
    outputs = [output for cell in solutions for output in cell.outputs if CHECK in output.get("metadata", {})]
    said = {named(each.metadata[CHECK]["exercise"], words): each.data["text/plain"] for each in outputs}
    solution = words["checks"]["solution"].format
    wrong = [text for name, text in said.items() if not text.startswith(solution(exercise=name, sentence=""))]
    assert wrong == []


def test_every_explorer_has_a_picture_for_every_setting(executed):
    explorers = [cell for cell in executed.cells if "shows-explorer" in cell.metadata.get("tags", [])]
    shown = sum(bool(re.search(r"explore(_model)?\(", cell.source)) for cell in explorers)
    said = "".join(output.get("text", "") for output in executed.cells[-1].outputs)
    assert f"explorers driven: {shown}" in said


def test_prints_no_warning_or_machine_path(executed):
    for cell in executed.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                assert output.name != "stderr", output.text
                assert str(Path.home()) not in output.text


def shown_by(cell):
    """The tags that name a cell's outputs, its printed lines, and the rows of its tables."""
    kinds: set[str] = set()
    printed: list[str] = []
    rows: list[object] = []
    for output in cell.outputs:
        data = output.get("data", {})
        if any("widget-view" in kind for kind in data):
            kinds.add("shows-explorer")
        elif any(kind.startswith("image/") for kind in data):
            kinds.add("shows-picture")
        elif table := data.get("text/html"):
            kinds.add("shows-table")
            rows += BeautifulSoup(table, "html.parser").find_all("tr")
        elif output.output_type == "execute_result":
            kinds.add("shows-value")
        elif text := output.get("text") or data.get("text/plain"):  # nothing is left of a training's line
            printed.append(text if "text" in output else f"{text}\n")
    lines = "".join(printed).rstrip().split("\n")
    if lines != [""]:
        kinds.add("shows-check" if re.search(r"^check\.", cell.source, re.M) else "shows-text")
    return kinds, [*filter(None, lines[:1]), *lines[1:]], rows


def test_every_picture_keeps_to_the_grammar_of_pictures(client, executed):
    client.nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("assert _faults == []")])
    client.execute(cleanup_kc=False)


def columns_of(line):
    return sum(5 / 3 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line)


def code_on_slides(notebook):
    lesson = notebook.cells[:-1]  # without the cell that drives the explorers
    code = [cell for cell in lesson if cell.cell_type == "code"]
    return [cell for cell in code if cell.metadata.get("slideshow", {}).get("slide_type") != "skip"]


def tags(cell):
    return {*cell.metadata.get("tags", [])}


def test_tags_tell_what_each_cell_of_a_slide_shows(executed):
    wrong = {}
    for cell in code_on_slides(executed):
        kinds, _, _ = shown_by(cell)
        if not kinds and not {"setup", "exercise"} & tags(cell):
            kinds = {"shows-nothing"}
        if kinds != {tag for tag in tags(cell) if tag.startswith("shows-")}:
            wrong[cell.id] = sorted(kinds)
    assert wrong == {}, "the cells should have these tags"


def test_a_folded_cell_shows_no_value(executed):
    """A student would see it below nothing but the cell's bar."""
    folded = [cell for cell in executed.cells if cell.cell_type == "code" and slide_type(cell) == "skip"]
    assert [cell.id for cell in folded if "shows-value" in shown_by(cell)[0]] == []


def test_the_deck_keeps_room_for_pictures_of_their_size(executed):
    wrong = {}
    for cell in code_on_slides(executed):
        for svg in filter(None, (output.get("data", {}).get("image/svg+xml") for output in cell.outputs)):
            points = re.findall(r'<svg[^>]*? width="([\d.]+)pt" height="([\d.]+)pt"', svg)[0]
            size = [round(float(each) * 4 / 3) for each in points]  # in pixels
            kept = map(int, cell.metadata.get("picture", "0 x 0").split(" x "))
            if any(abs(one - other) > 12 for one, other in zip(size, kept, strict=True)):
                wrong[cell.id] = "{} x {}".format(*size)
    assert wrong == {}, "the metadata `picture` of the cells should be"


def test_the_deck_keeps_room_for_as_many_lines_as_a_cell_prints(executed):
    wrong = {}
    for cell in code_on_slides(executed):
        _, printed, rows = shown_by(cell)
        lines = len(printed) + len(rows)
        columns = round(max(map(columns_of, printed), default=0))
        kept_lines, kept_columns = map(int, cell.metadata.get("room", f"{lines} x {columns}").split(" x "))
        needs_room = "shows-text" in tags(cell) and "room" not in cell.metadata
        is_as_wide = rows or abs(columns - kept_columns) <= 6  # measured times differ
        if needs_room or not (lines == kept_lines and is_as_wide):
            wrong[cell.id] = f"{lines} x {columns}"
    assert wrong == {}, "the cells should have this room"


def core_slides(cells):
    """The code of each core slide, its helpers among it; cells that may fail are left out."""
    slides: list[list] = []
    for cell in cells:
        if slide_type(cell) in STARTS:
            slides.append([])
        slides[-1].append(cell)
    core = [slide for slide in slides if core_minutes(read_slides(slide))]
    return [
        [source(c) for c in slide if c.cell_type == "code" and not has_role(c, "may_fail")] for slide in core
    ]


@pytest.mark.ci
def test_core_slides_run_again_last_to_first(client, executed):
    again = RUN_AGAIN.format(slides=core_slides(executed.cells[:-1])[::-1])
    client.nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(again)])
    client.execute(cleanup_kc=False)
