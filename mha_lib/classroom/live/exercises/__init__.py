"""Exercises that check themselves and say in one sentence what went wrong.

    from mha_lib.classroom import check

    check.split_heads(my_split_heads)
    check.report()

``judge.py`` judges an answer, ``on_the_way.py`` finds out whether it loops or calls the library,
``newest_cell.py`` whether Python could read it, and ``record.py`` keeps the verdicts and writes them into a
file when asked. ``mistakes.py`` holds the mistakes that several exercises share, and each ``lesson_NN.py``
the exercises of a lesson in the lesson's order, some of them from files ``lesson_NN_….py`` beside it. A new
lesson needs only its file, which is found here. The sentences stand in ``words/``.
"""

import importlib
import pkgutil
import re
from dataclasses import replace

from mha_lib.classroom.live.exercises.judge import Check, Judged


def find_exercises() -> list[Judged]:
    """The exercises of all lessons, in the order of the lessons."""
    names = sorted(found.name for found in pkgutil.iter_modules(__path__))
    return [
        replace(exercise, lesson=name.removeprefix("lesson_"))
        for name in names
        if re.fullmatch(r"lesson_\d+", name)
        for exercise in importlib.import_module(f"{__name__}.{name}").EXERCISES
    ]


def names_by_lesson() -> dict[str, list[str]]:
    """The names of the exercises of each lesson, in the lesson's order: ``{"03": ["split_heads", …], …}``"""
    names: dict[str, list[str]] = {}
    for exercise in find_exercises():
        names.setdefault(exercise.lesson, []).append(exercise.name)
    return names


check = Check(*find_exercises())
