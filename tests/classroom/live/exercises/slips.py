"""Answers to exercises, written in plain torch, and the slips that students make in them.

A slip holds the changes to an answer, each a piece of its text with the piece that replaces it, and the one
or two mistakes that the check must then name.
"""

import math
from collections.abc import Mapping
from typing import Any

import pytest
import torch

import mha_lib
from mha_lib import ByAttention, merge_heads
from mha_lib.classroom.live.exercises import find_exercises
from mha_lib.classroom.live.exercises.judge import Answer, sentence_of

EXERCISES = {exercise.name: exercise for exercise in find_exercises()}

Changes = dict[str, str]
Slip = tuple[Any, ...]  # the changes, and one or two mistakes


def right_answer(exercise: str) -> Answer:
    return EXERCISES[exercise].answer


def written(source: str, *changes: Changes) -> Answer:
    """The function ``answer`` of the source, with the changes made one after the other."""
    for before, after in (change for each in changes for change in each.items()):
        assert before in source, before
        source = source.replace(before, after)
    scope: dict[str, Any] = {
        "torch": torch,
        "math": math,
        "mha_lib": mha_lib,
        "ByAttention": ByAttention,
        "merge_heads": merge_heads,
    }
    exec(source, scope)
    return scope["answer"]


def said(exercise: str, *mistakes: str) -> list[str]:
    return [sentence_of("mistakes", exercise, mistake) for mistake in mistakes]


def each_slip(slips: Mapping[str, list[Slip]]) -> pytest.MarkDecorator:
    """A test of every slip, given by exercise."""
    given = [(exercise, changes, names) for exercise in slips for changes, *names in slips[exercise]]
    ids = [f"{exercise}-{'-and-'.join(names)}" for exercise, _, names in given]
    return pytest.mark.parametrize(("exercise", "changes", "mistakes"), given, ids=ids)


def assert_right(exercise: str, answer: Answer) -> None:
    verdict = EXERCISES[exercise].judge(answer)
    assert verdict.state == "solved", verdict


def assert_named(exercise: str, answer: Answer, *mistakes: str) -> None:
    """One mistake: its sentence is the verdict. Two: the verdict says so, and has the sentences of both."""
    verdict = EXERCISES[exercise].judge(answer)
    sentences = said(exercise, *mistakes)
    if len(sentences) == 1:
        assert verdict[:2] == ("wrong", *sentences)
    else:
        assert verdict.state == "wrong", verdict
        assert verdict.sentence.startswith("there are two mistakes at once. First: "), verdict
        assert all(sentence in verdict.sentence for sentence in sentences), verdict
