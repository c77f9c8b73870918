"""Exercises that check themselves and say in one sentence what went wrong.

    from mha_lib.classroom import check

    check.split_heads(my_split_heads)
    check.report()

``judge.py`` judges an answer, ``newest_cell.py`` sees whether Python could read it, and ``record.py`` keeps
what was said and writes it into a file when asked. ``mistakes.py`` holds what several exercises share, and
each ``lesson_NN.py`` the exercises of a lesson; where they are many, a file ``lesson_NN_….py`` beside it has
the rest. A new lesson needs its file and nothing else: the files are found here. The sentences stand in
``words/``.
"""

import importlib
import pkgutil

from mha_lib.classroom.live.exercises.judge import Check, Judged


def find_exercises() -> list[Judged]:
    """The exercises of all lessons, in the order of the lessons."""
    return [exercise for _, exercise in exercises_with_lesson()]


def exercises_with_lesson() -> list[tuple[str, Judged]]:
    """The number of its lesson with each exercise: 05 for what stands in ``lesson_05_models.py``."""
    modules = sorted(found.name for found in pkgutil.iter_modules(__path__))
    return [
        (name.split("_")[1], exercise)
        for name in modules
        if name.startswith("lesson_")
        for exercise in importlib.import_module(f"{__name__}.{name}").EXERCISES
    ]


def names_by_lesson() -> dict[str, list[str]]:
    """The names of the exercises of each lesson, such as ``{"03": ["split_heads", …]}``, in its order."""
    names: dict[str, list[str]] = {}
    for lesson, exercise in exercises_with_lesson():
        names.setdefault(lesson, []).append(exercise.name)
    return names


check = Check(
    *find_exercises(), lessons={exercise.name: lesson for lesson, exercise in exercises_with_lesson()}
)
