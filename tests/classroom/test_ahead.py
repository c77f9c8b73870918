"""A server trains the models of all lessons beside it, at the lowest priority, and ends that with itself."""

import asyncio

import nbformat
import psutil
import pytest

from mha_lib.classroom.ahead import train, trained_ahead
from mha_lib.classroom.lesson.grammar import has_role
from mha_lib.classroom.lesson.language import ENGLISH as ENGLISH_CODE
from tests.lessons import ENGLISH, TRANSLATED, name_of
from tests.waiting import eventually

TRAINS = """
import torch
from mha_lib.classroom.trainings import kept_steps
torch.manual_seed(0)
model = torch.nn.Linear(2, 1)
for step in kept_steps(3, model):
    with open("steps", "a") as made:
        print(step, file=made)
"""
FAILS = "missing"
NOTES = "with open('noted', 'a') as noted: noted.write('noted ')"
TALKS = "open('talked', 'w')  # of a model that another lesson will train"
WAITS = """
import os, time
with open("begun.part", "w") as begun:
    print(os.getpid(), os.nice(0) if hasattr(os, "nice") else 19, file=begun)
os.replace("begun.part", "begun")
while True:
    time.sleep(0.1)
"""


@pytest.fixture
def lay(course):
    """Lays lessons with one cell for the set-up, and one more."""
    folder = course / "notebooks" / "en"

    def lay(*setups):
        for lesson in folder.glob("*.ipynb"):
            lesson.unlink()
        for number, setup in enumerate(setups, 1):
            cells = [nbformat.v4.new_code_cell(code) for code in (setup, "open('steps', 'a').write('more')")]
            cells[0].metadata["tags"] = ["setup"] if setup == TALKS else ["setup", "trains"]
            nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / f"0{number}_lesson.ipynb")
        return folder

    return lay


def test_what_lessons_train_is_kept_once_and_one_that_fails_stops_no_other(lay, course):
    folder = lay(FAILS, TRAINS, NOTES, TALKS)
    for _ in range(2):
        asyncio.run(train(course, ENGLISH_CODE))
        assert (folder / "steps").read_text().split() == ["0", "1", "2"]
        assert (folder / "noted").read_text() == "noted "
    lay(TRAINS, NOTES)  # other lessons, whose training is the same
    asyncio.run(train(course, ENGLISH_CODE))
    assert (folder / "steps").read_text().split() == ["0", "1", "2"]
    assert (folder / "noted").read_text() == "noted noted "
    assert not (folder / "talked").exists()


@pytest.mark.parametrize("lesson", [*ENGLISH, *TRANSLATED], ids=name_of)
def test_a_lesson_whose_set_up_trains_says_so(lesson):
    cells = [cell for cell in nbformat.read(lesson, as_version=4).cells if has_role(cell, "trains")]
    assert all(has_role(cell, "setup") for cell in cells)
    assert bool(cells) == ("02" <= lesson.stem[:2] <= "07")


def test_it_runs_beside_a_server_at_the_lowest_priority_and_ends_with_it(lay, course):
    begun = lay(WAITS) / "begun"
    with trained_ahead(course, ENGLISH_CODE):
        eventually(begun.exists, "the training")
        kernel, priority = map(int, begun.read_text().split())
        assert priority == 19
    eventually(lambda: not psutil.pid_exists(kernel), "the end of its kernel")
