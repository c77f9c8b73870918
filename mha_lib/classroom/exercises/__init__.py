"""Exercises that check themselves and say in one sentence what went wrong.

    from mha_lib.classroom import check

    check.split_heads(my_split_heads)
    check.report()

``judge.py`` judges an answer and ``newest_cell.py`` sees whether Python could read it. ``mistakes.py`` holds
what several exercises share, and each ``lesson_NN.py`` the exercises of a lesson; where they are many, a file
``lesson_NN_….py`` beside it has the rest. A new lesson needs its file and nothing else: the files are found
here. The sentences stand in ``words/``.
"""

import importlib
import pkgutil

from mha_lib.classroom.exercises.judge import Check, Judged


def find_exercises() -> list[Judged]:
    """The exercises of all lessons, in the order of the lessons."""
    modules = sorted(found.name for found in pkgutil.iter_modules(__path__))
    lessons = [
        importlib.import_module(f"{__name__}.{name}") for name in modules if name.startswith("lesson_")
    ]
    return [exercise for lesson in lessons for exercise in lesson.EXERCISES]


check = Check(*find_exercises())
