"""The exercises of lesson 02, self-attention."""

from mha_lib.classroom.exercises.engine import Exercise

EXERCISES: tuple[Exercise, ...] = ()
