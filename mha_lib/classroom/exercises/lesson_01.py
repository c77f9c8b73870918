"""The exercises of lesson 01, single-head attention."""

from mha_lib.classroom.exercises.engine import Exercise

EXERCISES: tuple[Exercise, ...] = ()
