"""A hint comes folded after the second miss, and says what an earlier slide of the lesson says."""

import json
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_notebook

from mha_lib.classroom.exercises import find_exercises, hints
from mha_lib.classroom.exercises.checks import Check
from mha_lib.classroom.exercises.hints import hint_in
from mha_lib.classroom.exercises.progress import FILE
from mha_lib.classroom.exercises.small import Small
from mha_lib.classroom.lesson import shell
from mha_lib.classroom.lesson.language import FILE_OF_KERNEL, RUNNING
from mha_lib.classroom.lesson.outputs import hint_metadata, is_hint
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.lesson.slides import STEP, steps_of
from tests.classroom.pages.handout.cells import text
from tests.lessons import ENGLISH, TRANSLATED, name_of

LONGEST = 110  # words
SAID = "## Norms\n\nRMSNorm gives the **mean square** 1. *Guess: what is left?*\n\n![a](b.svg)"
SMALL = Small("block_parameters", 196608, hint="norms", lesson="04_layers")


@pytest.mark.parametrize("lesson", ENGLISH + TRANSLATED, ids=name_of)
def test_each_exercise_has_a_hint_from_an_earlier_slide(lesson):
    read = read_lesson(lesson)
    steps = steps_of(read.cells)
    place = {cell["id"]: number for number, its in enumerate(steps.values()) for cell in its}
    checks = {cell["metadata"].get("checks"): place[cell["id"]] for cell in read.cells if cell["id"] in place}
    for exercise in find_exercises():
        if exercise.lesson == lesson.stem:
            hint = hint_in(read.notebook, exercise)
            assert hint, f"{exercise.name}: {exercise.hint!r} is no cell"
            assert place[exercise.hint] < checks[exercise.name], exercise.name
            assert 0 < len(hint.text.split()) <= LONGEST, exercise.name


def lesson_of(lesson, prefix="", **metadata):
    cells = [
        text("# Layers", "slide", id=f"{prefix}title"),
        text(SAID, "slide", ["guess"], id=f"{prefix}norms"),
    ]
    cells[1].metadata.update(metadata)
    identity = {"lesson": lesson, "language": "en", "kind": "student"}
    return new_notebook(cells=cells, metadata={"mha": identity})


def test_a_route_knows_the_cell_by_the_number_of_its_lesson_and_its_address_there():
    route = lesson_of("route_90", "04-", **{STEP: {"address": "4.17"}})
    assert hint_in(route, SMALL) == hints.Hint("4.17", "RMSNorm gives the mean square 1.")
    assert hint_in(lesson_of("05_other"), SMALL) is None, "another lesson has a cell of that name"


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """A student's lesson in the folder of the test; what its checks show, with the metadata."""
    outputs = []
    kernel = SimpleNamespace(
        display_pub=SimpleNamespace(publish=lambda data, metadata: outputs.append((data, metadata)))
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(FILE_OF_KERNEL, raising=False)
    monkeypatch.setattr(RUNNING, "number", "04")
    monkeypatch.setattr(shell, "shell_here", lambda: kernel)
    (tmp_path / "04_layers.ipynb").write_text(json.dumps(lesson_of("04_layers")))
    return outputs


def test_the_hint_comes_after_the_second_miss_folded_and_in_every_kernel_after(shown, tmp_path):
    check = Check(SMALL)
    for answer, hint_is_shown in [(..., False), (3, False), (..., False), (196608, False), (4, True)]:
        shown.clear()
        check.block_parameters(answer)
        assert any(is_hint({"metadata": metadata}) for _, metadata in shown) == hint_is_shown
    data, metadata = shown[-1]
    summary = "<details><summary>Hint, from step 4.2</summary>\n\n"
    assert data["text/markdown"] == f"{summary}RMSNorm gives the mean square 1.\n\n</details>"
    assert metadata == hint_metadata("block_parameters")
    assert (tmp_path / FILE).exists()
    shown.clear()
    Check(SMALL).block_parameters(5)  # in another kernel
    assert len(shown) == 2


@pytest.mark.parametrize("content", ["{}", "[]", "half a fi"])
def test_without_its_cell_there_is_no_hint_and_the_verdict_stands(shown, tmp_path, content):
    (tmp_path / "04_layers.ipynb").write_text(content)
    check = Check(SMALL)
    for answer in (3, 4):
        check.block_parameters(answer)
    assert len(shown) == 2
