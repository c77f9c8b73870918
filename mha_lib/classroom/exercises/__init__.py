"""Exercises that check themselves and say in one sentence what went wrong.

    from mha_lib.classroom import check

    check.split_heads(my_split_heads)
    check.report()

``judge.py`` judges an answer, and ``on_the_way.py`` finds out whether it loops or calls the library.
``checks.py`` shows the verdict, ``progress.py`` keeps it, and ``reports.py`` writes the files that students
hand in. ``mistakes.py`` holds the mistakes that several exercises share. The exercises of the lesson
``03_multi_head_attention.ipynb`` stand in ``lesson_03_multi_head_attention.py``, in the lesson's order. A new
lesson needs only its file, which is found here. The sentences stand in ``words/``.
"""

import importlib
import pkgutil
from dataclasses import replace

from mha_lib.classroom.exercises.checks import Check
from mha_lib.classroom.exercises.judge import Judged


def find_exercises() -> list[Judged]:
    """The exercises of all lessons, in the order of the lessons."""
    names = sorted(found.name for found in pkgutil.iter_modules(__path__))
    return [
        replace(exercise, lesson=name.removeprefix("lesson_"))
        for name in names
        if name.startswith("lesson_")
        for exercise in importlib.import_module(f"{__name__}.{name}").EXERCISES
    ]


def names_by_lesson() -> dict[str, list[str]]:
    """The names of the exercises by lesson: ``{"03_multi_head_attention": ["split_heads", …], …}``"""
    names: dict[str, list[str]] = {}
    for exercise in find_exercises():
        names.setdefault(exercise.lesson, []).append(exercise.name)
    return names


check = Check(*find_exercises())
