"""The form of a lesson's file of answers, as students hand them in, and the exercises that judge them.

Each exercise of ``lesson_07_name.py`` has its ``Answers`` there, under its name. ``test_answers.py`` finds
the file by its name and judges all that stands in it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

import mha_lib
from mha_lib.classroom.exercises import find_exercises
from mha_lib.classroom.exercises.judge import Answer

EXERCISES = {exercise.name: exercise for exercise in find_exercises()}

Changes = dict[str, str]  # a piece of an answer's text, and the piece that replaces it


class Answers(NamedTuple):
    """Answers to one exercise. An answer is a function, or changes to ``text``, which is a right one.

    Each row of ``right`` is an answer, or an answer and a piece of its verdict. Each row of ``wrong`` is the
    name of its mistake, or the names of two; the answer; and pieces of the verdict where its sentence is not
    the same for every answer. Each row of ``together`` names two of these mistakes that are made in one text.
    """

    text: str = ""
    right: Sequence[Any] = ()
    wrong: Sequence[tuple[Any, ...]] = ()
    together: Sequence[tuple[str, ...]] = ()

    def function(self, answer: Any) -> Any:
        """The function that an answer stands for."""
        return written(self.text, answer) if isinstance(answer, dict) else answer

    def changes(self, mistake: str) -> Changes:
        """The first changes to the text that make this mistake."""
        return next(row[1] for row in self.wrong if row[0] == mistake and isinstance(row[1], dict))


def written(text: str, *changes: Changes) -> Answer:
    """The function ``answer`` of the text, with the changes made one after the other."""
    for before, after in (change for each in changes for change in each.items()):
        assert before in text, before
        text = text.replace(before, after)
    scope: dict[str, Any] = {"torch": torch, "mha_lib": mha_lib}
    exec(text, scope)
    answer: Answer = scope["answer"]
    return answer
