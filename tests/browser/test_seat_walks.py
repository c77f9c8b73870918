"""A student walks through a lesson or route by Shift+Enter alone, and types an answer to each exercise."""

import re

import nbformat
import pytest
import torch
from playwright.sync_api import expect

from mha_lib.classroom.exercises.small import Small
from mha_lib.classroom.lesson import make_working_copy
from mha_lib.classroom.lesson.grammar import has_role
from mha_lib.classroom.lesson.routes import list_routes, make_route
from tests.browser.seats import WORDS, Seat
from tests.browser.waiting import until
from tests.classroom.exercises.answers import EXERCISES
from tests.lessons import ENGLISH, ROOT

PLACE = """() => {  // the number of the active cell, and what the field for a guess says that has the focus
  const active = document.querySelector(".jp-Notebook .jp-Cell.jp-mod-active");
  const { placeholder } = document.activeElement;
  return `${active.dataset.windowedListIndex} ${placeholder ?? ""}`;
}"""
MOVED = f"(before) => {{ const now = ({PLACE})(); return now !== before && now; }}"


def cases():
    """All lessons and routes; in CI one of each."""
    walks = [*(lesson.stem for lesson in ENGLISH), *(f"route_{name}" for name in list_routes(ROOT, "en"))]
    for name in walks:
        is_sample = name.startswith("01") or name == "route_45"
        yield pytest.param(name, marks=pytest.mark.ci if is_sample else pytest.mark.whole, id=name)


def answer_to(cells, number):
    """Return what a student types into the exercise of this number: the value, or the solution renamed."""
    cell = cells[number]
    if name := cell.metadata.get("checks"):
        exercise = EXERCISES[name]
        assert isinstance(exercise, Small)
        return cell.source.replace("...", str(torch.as_tensor(exercise.answer).tolist()), 1)
    solution = next(each.source for each in cells[number:] if has_role(each, "solution"))
    (mine,) = re.findall(r"(?:def|class) (\w+)", cell.source)
    return re.sub(r"\b\w+_solution\b", mine, solution.partition("\n\n\ncheck.")[0])


def walk(seat):
    """Press Shift+Enter from the first cell to the last."""
    cells = nbformat.read(seat.file, 4).cells
    seat.page.locator(".jp-Cell").first.click()
    place = until(seat.page, PLACE)
    while (number := int(place.split()[0])) < len(cells) - 1:
        if has_role(cells[number], "exercise"):
            editor = seat.page.locator(".jp-Cell.jp-mod-active .cm-content")
            editor.fill(answer_to(cells, number))
        seat.page.keyboard.press("Shift+Enter")
        place = until(seat.page, MOVED, place)
    seat.page.keyboard.press("Shift+Enter")


def expect_ended(seat, core):
    """All core steps are done; or else name the code that has not run, as JupyterLab has saved it."""
    try:
        ended = WORDS["steps"].format(done=core, steps=core)
        expect(seat.progress).to_contain_text(ended, timeout=600_000)  # models are trained first
    except AssertionError as error:
        cells = [cell for cell in nbformat.read(seat.file, 4).cells if cell.cell_type == "code"]
        errors = [f"{cell.id}: {each.evalue}" for cell in cells for each in cell.outputs if "evalue" in each]
        left = [cell.id for cell in cells if cell.execution_count is None]
        raise AssertionError(f"have not run: {left}; have failed: {errors}") from error


@pytest.mark.parametrize("name", list(cases()))
def test_a_walk_by_shift_enter_alone_ends_every_step_and_is_kept(name, page, jupyter):
    if name.startswith("route"):
        make_route(jupyter.folder, "en", name.removeprefix("route_"))
    make_working_copy(jupyter.folder, "en")
    seat = Seat(page, jupyter, f"work/en/{name}.ipynb").open()
    walk(seat)
    cells = nbformat.read(seat.file, 4).metadata["mha_original"]["cells"]
    steps = [cell["metadata"]["mha_step"] for cell in cells if "mha_step" in cell["metadata"]]
    core = sum(not step["is_optional"] for step in steps)
    asked = {cell["metadata"]["checks"] for cell in cells if "checks" in cell["metadata"]}
    for _ in ("today", "the second day"):
        expect_ended(seat, core)
        expect(seat.progress).to_contain_text(
            WORDS["exercises"].format(solved=len(asked), exercises=len(asked)) if asked else ""
        )
        seat.save()
        seat.restart()
        seat.open()
