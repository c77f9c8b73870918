"""Objectives are reached when all of their exercises are solved, in this session or before."""

from mha_lib.classroom.exercises.judge import Check
from mha_lib.classroom.exercises.lesson_01_single_head_attention import EXERCISES


def test_an_objective_is_reached_when_all_its_exercises_are_solved(capsys):
    check = Check(*EXERCISES)
    check.softmax_axis(1)
    check.cost_factor(4)
    capsys.readouterr()
    check.reached({"one": "softmax_axis", "two": "softmax_axis cost_factor"})
    assert capsys.readouterr().out == "✓ one: 1 of 1 solved\n○ two: 1 of 2 solved\n"
