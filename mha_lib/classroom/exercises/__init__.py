"""Exercises that check themselves and say in one sentence what went wrong.

    from mha_lib.classroom.exercises import check

    check.split_heads(my_split_heads)
    check.report()

``judge.py`` judges an answer; ``lesson_03.py`` and its like hold the exercises of a lesson.
"""

from mha_lib.classroom.exercises import lesson_01, lesson_02, lesson_03
from mha_lib.classroom.exercises.judge import Check

check = Check(*lesson_01.EXERCISES, *lesson_02.EXERCISES, *lesson_03.EXERCISES)
