"""A server trains the models of all lessons beside it, at the lowest priority, and ends that with itself."""

import asyncio

import nbformat
import psutil
import pytest

from mha_lib.classroom.ahead import train, trained_ahead
from mha_lib.classroom.lesson.language import ENGLISH
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
FAILS = "train = missing"
NOTES = "with open('noted', 'a') as noted: noted.write('train')"
WAITS = """
import os, time
with open("begun.part", "w") as begun:
    print(os.getpid(), os.nice(0) if hasattr(os, "nice") else 19, file=begun)
os.replace("begun.part", "begun")
while "train":
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
            cells[0].metadata["tags"] = ["setup"]
            nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / f"0{number}_lesson.ipynb")
        return folder

    return lay


def test_what_lessons_train_is_kept_once_and_one_that_fails_stops_no_other(lay, course):
    folder = lay(FAILS, TRAINS, NOTES)
    for _ in range(2):
        asyncio.run(train(course, ENGLISH))
        assert (folder / "steps").read_text().split() == ["0", "1", "2"]
        assert (folder / "noted").read_text() == "train"
    lay(TRAINS, NOTES)  # other lessons, whose training is the same
    asyncio.run(train(course, ENGLISH))
    assert (folder / "steps").read_text().split() == ["0", "1", "2"]
    assert (folder / "noted").read_text() == "traintrain"


def test_it_runs_beside_a_server_at_the_lowest_priority_and_ends_with_it(lay, course):
    begun = lay(WAITS) / "begun"
    with trained_ahead(course, ENGLISH):
        eventually(begun.exists, "the training")
        kernel, priority = map(int, begun.read_text().split())
        assert priority == 19
    eventually(lambda: not psutil.pid_exists(kernel), "the end of its kernel")
